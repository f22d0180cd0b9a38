#!/usr/bin/env python3
"""bench/results/sufficiency.json for the README's table, from the sufficiency-*.jsonl files and
nothing else.

python3 bench/sufficiency_summary.py
"""

from __future__ import annotations

import glob
import json
import os
import sys
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import machine

READER, FIRST = 20000, 1  # the budget and the distance that the table quotes
FEWEST = 20  # cases; with fewer the interval says nothing, the results file has them all the same


def row(
    rows: list[dict[str, Any]], name: str, budget: int, hops: int, dropped: float
) -> dict[str, Any] | None:
    """The one measured row of a setting, None when it was not measured."""
    found = [
        one
        for one in rows
        if (one["set"], one["budget"], one["hops"], one["dropped"]) == (name, budget, hops, dropped)
        and one["n"]
    ]
    return found[0] if found else None


def share(one: dict[str, Any] | None) -> str:
    """A row's share with its interval, "-" without one."""
    if one is None:
        return "-"
    return (
        f"{100 * one['files'] / one['n']:.1f} % ({100 * one['interval'][0]:.0f} to "
        f"{100 * one['interval'][1]:.0f})"
    )


def quoted(path: str) -> dict[str, str] | None:
    """The README row of one results file."""
    with open(path, encoding="utf-8") as stream:
        head, *rows = [json.loads(line) for line in stream if line.strip()]
    whole = row(rows, "ranked", READER, FIRST, 0.0)
    if whole is None or whole["n"] < FEWEST:
        return None
    near = row(rows, "closure", READER, FIRST, 0.0)
    cut = row(rows, "closure", READER, FIRST, 0.8)
    lone = share(row(rows, "ranked", READER, FIRST, 0.8)).partition(" (")[0]
    bare = share(row(rows, "bare frame", READER, FIRST, 0.0)).partition(" (")[0]
    far = [share(row(rows, "ranked", READER, hops, 0.0)).partition(" (")[0] for hops in (2, 3)]
    return {
        "number": (
            f"{head['repository']}: raise site's file inside a slice of at most 20k tokens, from "
            "the message and a caller's frame"
        ),
        "value": f"{share(whole)}; 2 and 3 calls away {', '.join(far)}",
        "baseline": (
            f"80 % of import edges deleted: {lone} (words carry it), kept to the graph "
            f"{share(cut)} instead of {share(near).partition(' (')[0]}; neither message nor code "
            f"line: {bare}"
        ),
        "n": str(whole["n"]),
        "worst": (
            f"raise line {100 * whole['lines'] / whole['n']:.0f} %; {int(whole['tokens'])} "
            f"tokens, {100 * whole['token_rate']:.2f} % of the repository's"
        ),
    }


def main() -> int:
    """The exit code: 1 when there is no results file."""
    paths = sorted(glob.glob(os.path.join(machine.RESULTS, "sufficiency-*.jsonl")))
    with_rows = [(path, quoted(path)) for path in paths]
    rows = [one for _, one in with_rows if one]
    if not rows:
        sys.stderr.write(f"sufficiency_summary.py: no results in {machine.RESULTS}\n")
        return 1
    with open(paths[-1], encoding="utf-8") as stream:
        facts = json.loads(stream.readline())["machine"]
    machine.write(
        "sufficiency",
        {"readme": rows, "machine": facts, "files": [os.path.basename(path) for path in paths]},
    )
    print(
        machine.markdown(
            ["number", "value", "beside it", "n", "spread"],
            [[one[key] for key in ("number", "value", "baseline", "n", "worst")] for one in rows],
        )
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
