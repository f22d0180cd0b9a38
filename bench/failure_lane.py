#!/usr/bin/env python3
"""What the failure lane adds to a command, in pairs: the same command with the wrapper and
without it, one after the other.

    python3 bench/failure_lane.py [--n 200] [--failing 20]

Writes bench/results/failure_lane.json and prints its table.  Each row is the difference within
pairs whose order alternates; `sh -c :` and `bash -c :` are what one start of a shell costs here.
The commands are what the client hands over, with a regular file as stdout.  CPU is user + system
of all processes of the command.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import machine

sys.path[:0] = [os.path.join(machine.ROOT, "hooks"), os.path.join(machine.ROOT, "tests", "harness")]
import lane as client
from contextkernel.clients.claude import shell_prefix

WARM_UPS = 5


def spent(words: list, out: str, env: dict) -> tuple[float, float, int]:
    """(wall ms, CPU ms, exit code) of one process with the file `out` as stdout."""
    handle = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=handle, stderr=handle, env=env)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    os.close(handle)
    return (
        1000 * wall,
        1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime),
        done.returncode,
    )


def pairs(ours: list, plain: list, n: int, out: str, env: dict, code: int) -> list:
    """[(wall difference, CPU difference, wall without)] of n pairs, the order alternating.
    Raises AssertionError on another exit code.
    """
    rows = []
    for turn in range(-WARM_UPS, n):
        first, second = (ours, plain) if turn % 2 else (plain, ours)
        values = {id(words): spent(words, out, env) for words in (first, second)}
        assert [values[id(ours)][2], values[id(plain)][2]] == [code, code], values
        if turn >= 0:
            rows.append(
                (
                    values[id(ours)][0] - values[id(plain)][0],
                    values[id(ours)][1] - values[id(plain)][1],
                    values[id(plain)][0],
                )
            )
    return rows


def row(case: str, values: list) -> dict:
    """Median, p95 and worst of the differences."""
    walls, cpus, plain = zip(*values)
    return {
        "case": case,
        "n": len(values),
        "without_ms": round(machine.quantile(list(plain), 0.5), 1),
        "median_ms": round(machine.quantile(list(walls), 0.5), 2),
        "p95_ms": round(machine.quantile(list(walls), 0.95), 1),
        "worst_ms": round(max(walls), 1),
        "cpu_median_ms": round(machine.quantile(list(cpus), 0.5), 2),
    }


def starts(name: str, words: list, n: int, out: str, env: dict) -> dict:
    """What one start of a shell costs, as a row of the same form."""
    values = [spent(words, out, env)[:2] for _ in range(WARM_UPS + n)][WARM_UPS:]
    return row(name, [(wall, cpu, 0.0) for wall, cpu in values])


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--failing", type=int, default=20)
    args = parser.parse_args(argv)
    home = tempfile.mkdtemp(prefix="ck-lane-")
    try:
        env = {
            "HOME": home,
            "CK_DATA": os.path.join(home, "state"),
            "PATH": os.environ["PATH"],
            "SHELL": client.SHELLS["bash"],
            "CLAUDE_CONFIG_DIR": home,
            "LC_ALL": "C.UTF-8",
        }
        os.environ["CK_DATA"] = env["CK_DATA"]
        wrapper, out = (
            shell_prefix.place(env["CK_DATA"], machine.ROOT, shell_prefix.interpreter()),
            os.path.join(home, "out"),
        )
        facts, rows = machine.facts(), []
        rows.append(starts("one start: sh -c :", ["/bin/sh", "-c", ":"], args.n, out, env))
        rows.append(
            starts("one start: bash -c :", [client.SHELLS["bash"], "-c", ":"], args.n, out, env)
        )
        for case, command, n, code in (
            ("added: success, one line", "echo fine", args.n, 0),
            ("added: short failure", "echo broken; exit 3", args.n, 3),
            ("added: failure, 100 KB rewritten", client.failing("pytest", 1700), args.failing, 1),
            ("added: failure, 1 MB rewritten", client.failing("pytest", 18000), args.failing, 1),
        ):
            argument = client.argument(command, home)
            rows.append(
                row(
                    case,
                    pairs(
                        [wrapper, argument],
                        [client.SHELLS["bash"], "-c", argument],
                        n,
                        out,
                        env,
                        code,
                    ),
                )
            )
        server = ["/bin/sh", "-c", '"$0" "$1"', wrapper, "exec true"]
        rows.append(
            row(
                "added: hook command",
                pairs(server, ["/bin/sh", "-c", "exec true"], args.n, out, env, 0),
            )
        )
    finally:
        shutil.rmtree(home, ignore_errors=True)
    by_case = {one["case"]: one for one in rows}
    success, bash = by_case["added: success, one line"], by_case["one start: bash -c :"]
    readme = [
        {
            "number": "Failure lane: added to a successful command",
            "value": f"+{success['median_ms']:.1f} ms",
            "baseline": f"one start of bash here: {bash['median_ms']:.1f} ms",
            "n": success["n"],
            "worst": f"p95 +{success['p95_ms']:.1f} ms, worst +{success['worst_ms']:.1f} ms",
        },
        {
            "number": "Failure lane: added to a failing command of 100 KB",
            "value": f"+{by_case['added: failure, 100 KB rewritten']['median_ms']:.0f} ms",
            "baseline": "the command without it",
            "n": args.failing,
            "worst": f"worst +{by_case['added: failure, 100 KB rewritten']['worst_ms']:.0f} ms",
        },
    ]
    path = machine.write("failure_lane", {"machine": facts, "rows": rows, "readme": readme})
    keys = ["case", "n", "without_ms", "median_ms", "p95_ms", "worst_ms", "cpu_median_ms"]
    print(
        machine.markdown(
            ["case", "n", "without ms", "median ms", "p95 ms", "worst ms", "CPU median ms"],
            [[one[key] for key in keys] for one in rows],
        )
    )
    print(f"\n{path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
