#!/usr/bin/env python3
"""CPU of a hook process (user + system, all its children) over a bare `python3 -I -S`, on the
oldest and the newest Python here.

    python3 bench/startup.py [--n 40] [--python PATH]...

Writes bench/results/startup.json and prints its table.  CPU, not wall time: a loaded machine
stretches the one and hardly the other. The events alternate, so that a busy minute hits all rows
alike.  `folding` stores a text that was never seen before in every run.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import machine

GATED_MOST_MS = 4.0  # over `import json`
FOLDING_MOST_MS = 35.0  # over the bare interpreter
WARM_UPS = 3


def bash_event(stdout: str, number: int) -> bytes:
    """A PostToolUse event of a Bash call."""
    return json.dumps(
        {
            "hook_event_name": "PostToolUse",
            "session_id": "bench",
            "transcript_path": "",
            "cwd": machine.ROOT,
            "permission_mode": "default",
            "tool_name": "Bash",
            "tool_input": {"command": "make -C build all"},
            "tool_use_id": f"toolu_{number}",
            "tool_response": {
                "stdout": stdout,
                "stderr": "",
                "interrupted": False,
                "isImage": False,
            },
        }
    ).encode()


def long_output(number: int) -> str:
    """About 27,000 characters of a build log, different for every number."""
    return "\n".join(
        (
            f"[{n:4}/500] building object lib{number}/module_{n * 37 % 211}.o with optimisation "
            f"in {n * 7919 % 997} ms"
        )
        for n in range(1, 401)
    )


def cases(interpreter: str) -> dict:
    """Name -> (argv, stdin of the n-th run)."""
    hook = [interpreter, "-I", "-S", os.path.join(machine.ROOT, "hooks", "post_tool_use.py")]
    return {
        "bare": ([interpreter, "-I", "-S", "-c", "pass"], lambda n: b""),
        "import json": ([interpreter, "-I", "-S", "-c", "import json"], lambda n: b""),
        "gated": (hook, lambda n: bash_event("hi", n)),
        "folding": (hook, lambda n: bash_event(long_output(n), n)),
    }


def cpu_ms(argv: list, stdin: bytes, env: dict) -> tuple[float, bytes]:
    """CPU of one process in milliseconds, and its stdout.  Raises CalledProcessError when it
    fails.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        argv, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime), done.stdout


def measure(interpreter: str, n: int) -> dict:
    """Name -> CPU values of n runs.  Raises AssertionError when a hook did not do what its row
    says.
    """
    home = tempfile.mkdtemp(prefix="ck-startup-")
    env = {
        "HOME": home,
        "CK_DATA": os.path.join(home, "state"),
        "PATH": "/usr/bin:/bin",
        "LC_ALL": "C.UTF-8",
    }
    values = {name: [] for name in cases(interpreter)}
    try:
        for turn in range(-WARM_UPS, n):
            for name, (argv, stdin) in cases(interpreter).items():
                spent, said = cpu_ms(argv, stdin(turn + WARM_UPS), env)
                assert bool(said) is (name == "folding"), f"{name}: {said[:200]!r}"
                if turn >= 0:
                    values[name].append(spent)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    return values


def summary(version: str, values: dict) -> list:
    """Rows: Python, case, min and median CPU, the same over its baseline, target."""
    least = {name: min(spent) for name, spent in values.items()}
    middle = {name: machine.quantile(spent, 0.5) for name, spent in values.items()}
    rows = []
    for name, spent in values.items():
        base = {"gated": "import json", "bare": ""}.get(name, "bare")
        most = {"gated": GATED_MOST_MS, "folding": FOLDING_MOST_MS}.get(name)
        over = [round(kind[name] - kind[base], 1) for kind in (least, middle)] if base else ["", ""]
        rows.append(
            {
                "python": version,
                "case": name,
                "n": len(spent),
                "min_ms": round(least[name], 1),
                "median_ms": round(middle[name], 1),
                "worst_ms": round(max(spent), 1),
                "baseline": base,
                "min_over_ms": over[0],
                "median_over_ms": over[1],
                "target_over_ms": most,
            }
        )
    return rows


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--n", type=int, default=40)
    parser.add_argument(
        "--python", action="append", help="an interpreter (default: the oldest and the newest here)"
    )
    args = parser.parse_args(argv)
    here = machine.interpreters()
    chosen = [(path, path) for path in args.python] if args.python else sorted({here[0], here[-1]})
    facts = machine.facts()
    rows = [
        row
        for version, path in sorted(
            chosen, key=lambda pair: [int(part) for part in pair[0].split(".") if part.isdigit()]
        )
        for row in summary(version, measure(path, args.n))
    ]
    readme = [
        {
            "number": (
                f"CPU of a hook process, Python {row['python']}: "
                f"{'small' if row['case'] == 'gated' else 'rewritten'} event"
            ),
            "value": f"{row['median_over_ms']:+.1f} ms",
            "baseline": f"over `{'python3 -I -S' if row['baseline'] == 'bare' else 'import json'}`",
            "n": row["n"],
            "worst": f"target {row['target_over_ms']:g} ms",
        }
        for row in rows
        if row["target_over_ms"]
    ]
    path = machine.write("startup", {"machine": facts, "rows": rows, "readme": readme})
    columns = [
        "Python",
        "case",
        "n",
        "min ms",
        "median ms",
        "worst ms",
        "over",
        "min +ms",
        "median +ms",
        "target +ms",
    ]
    keys = [
        "python",
        "case",
        "n",
        "min_ms",
        "median_ms",
        "worst_ms",
        "baseline",
        "min_over_ms",
        "median_over_ms",
        "target_over_ms",
    ]
    print(
        machine.markdown(
            columns, [["" if row[key] is None else row[key] for key in keys] for row in rows]
        )
    )
    print(f"\n{path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
