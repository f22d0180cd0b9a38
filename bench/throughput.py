#!/usr/bin/env python3
"""CPU and memory of T1 on very long outputs, beside `json.loads` + `split` of the same text.

    python3 bench/throughput.py [--lines 100000] [--long 1170000] [--n 5]

Writes bench/results/throughput.json and prints its table.  Every measurement is a process of its
own, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "hooks")]
import machine  # noqa: E402

TARGETS = {"short": "at most 3 x json.loads + split", "long": "at most 6 s and 6 x the input"}


def service_log(lines: int) -> str:
    """A log of so many lines, about 76 characters each, with one fault and one slow request in
    it.
    """
    draw = random.Random(1)
    services = ("gateway", "cache", "billing", "worker")
    made = [
        (
            f"2026-09-21T14:{i // 60 % 60:02}:{i % 60:02}.{i % 1000:03}Z INFO  "
            f"[{services[i % 4]}] GET /v1/items/{draw.randrange(9999)} 200 "
            f"{draw.randrange(40)}ms req={draw.getrandbits(32):08x}"
        )
        for i in range(lines)
    ]
    made[lines // 2] = "2026-09-21T14:36:08.579Z ERROR [billing] charge failed: ledger is closed"
    made[lines // 3] = made[lines // 3].replace("ms req=", "00000ms req=")
    return "\n".join(made)


def one(lines: int) -> dict:
    """CPU seconds of both, sizes, peak memory over the input; run in a process of its own."""
    from contextkernel.normalize import Source, normalize

    text = service_log(lines)
    encoded = json.dumps({"stdout": text})
    began = time.process_time()
    json.loads(encoded)["stdout"].split("\n")
    base = time.process_time() - began
    size = len(text)
    del encoded
    # modules load here; bench/startup.py counts them
    normalize(text[:20000], Source(command="cat service.log", handle="0" * 12))
    began = time.process_time()
    normal = normalize(text, Source(command="cat service.log", handle="0" * 12))
    spent = time.process_time() - began
    assert "ledger is closed" in normal.text
    assert normal.edits
    return {
        "bytes": size,
        "base_s": base,
        "cpu_s": spent,
        "shown": len(normal.text),
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        * (1 if sys.platform == "darwin" else 1024),
    }


def measured(lines: int, n: int) -> dict:
    """Least and worst of n processes."""
    rows = [
        json.loads(
            subprocess.run(
                [sys.executable, os.path.realpath(__file__), "--one", str(lines)],
                stdout=subprocess.PIPE,
                check=True,
            ).stdout
        )
        for _ in range(n)
    ]
    least = min(row["cpu_s"] for row in rows)
    base = min(row["base_s"] for row in rows)
    return {
        "lines": lines,
        "n": n,
        "megabytes": round(rows[0]["bytes"] / 1e6, 1),
        "shown_bytes": rows[0]["shown"],
        "base_ms": round(1000 * base, 1),
        "cpu_ms": round(1000 * least, 1),
        "worst_ms": round(1000 * max(row["cpu_s"] for row in rows), 1),
        "times_base": round(least / base, 2),
        "peak_times_input": round(max(row["peak"] for row in rows) / rows[0]["bytes"], 1),
    }


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lines", type=int, default=100000)
    parser.add_argument("--long", type=int, default=1170000)
    parser.add_argument("--n", type=int, default=5)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.one:
        print(json.dumps(one(args.one)))
        return 0
    facts = machine.facts()
    rows = [
        dict(measured(args.lines, args.n), target=TARGETS["short"]),
        dict(measured(args.long, max(1, args.n // 3)), target=TARGETS["long"]),
    ]
    readme = [
        {
            "number": f"CPU to normalize {row['megabytes']} MB ({int(row['lines'])} lines)",
            "value": f"{row['cpu_ms']:.0f} ms",
            "baseline": f"json.loads + split: {row['base_ms']:.0f} ms",
            "n": row["n"],
            "worst": f"{row['worst_ms']:.0f} ms",
        }
        for row in rows
    ]
    path = machine.write("throughput", {"machine": facts, "rows": rows, "readme": readme})
    keys = [
        "lines",
        "megabytes",
        "n",
        "base_ms",
        "cpu_ms",
        "worst_ms",
        "times_base",
        "peak_times_input",
        "shown_bytes",
        "target",
    ]
    print(machine.markdown(keys, [[row[key] for key in keys] for row in rows]))
    print(f"\n{path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
