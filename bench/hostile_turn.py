#!/usr/bin/env python3
"""What a hostile tool output costs the turns of the real client: the turn that reads it, and the
next one.

    CLAUDE_BIN=/path/to/claude python3 bench/hostile_turn.py [--rounds 5]

A session reads seven files of 300 KB, each made to be slow for the patterns of some output
format, by `cat`, and after each one runs `echo hi`.  Rows: no hook | our resident lane | our
script lane.  A round plays every row once, in rotating order; differences are taken turn by turn
within a round.  The reading turn may take as long as the CPU limit
(hooks/contextkernel/clients/cpu_limit.py); the next must be as fast as with a hook that does
nothing (latency.json).  The model is the fake API of tests/harness.  Writes
bench/results/hostile_turn.json.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [
    HERE,
    os.path.join(HERE, "..", "hooks"),
    os.path.join(HERE, "..", "tests", "harness"),
]
import machine
import plugin
import run_claude
from contextkernel.clients import events

NONE, RESIDENT, SCRIPT = "no hook", "resident lane", "script lane"
ROWS = (NONE, RESIDENT, SCRIPT)
SIZE = 300000  # bytes
UNITS = {  # a text, repeated on one line
    "marks": "[ck: ",
    "attributes": "<a b='",
    "comments": "<!--",
    "form feeds": "\x0c\x0b\x1c",
    "colons": ":",
    "backspaces": "a\b\b",
    "carriage returns": "x\r",
}
# over no hook, median of the next turn: what a no-op hook costs the client itself is 12
# (latency.json)
TARGET_MS = 15.0
WARM_UPS = 1


def scenario(row: str, root: str) -> dict:
    """One session: for each hostile file a `cat`, then an `echo`; before them one `echo` to warm
    up.
    """
    names = [f"hostile{number}.log" for number in range(len(UNITS))]
    echo = {"tools": [["Bash", {"command": "echo hi"}]]}
    turns = [echo] * WARM_UPS
    for name in names:
        turns += [{"tools": [["Bash", {"command": f"cat {name}"}]]}, echo]
    head = "".join(f"line {number} of the log\n" for number in range(60))
    play = {
        "turns": turns + ["done"],
        "timeout_s": 600,
        "env": {"PATH": os.path.join(root, "bin") + os.pathsep + os.environ["PATH"]},
        "files": {
            name: head + (unit * (SIZE // len(unit))) + "\n"
            for name, unit in zip(names, UNITS.values())
        },
    }
    if row == SCRIPT:
        play["user_settings"] = {
            "hooks": events.settings_hooks(os.path.realpath(sys.executable), machine.ROOT)
        }
    elif row == RESIDENT:
        play["args"] = ["--plugin-dir", plugin.copy_to(root)]
    return play


def turns_ms(row: str) -> tuple[list, list]:
    """Milliseconds from request to request of the reading turns and of those after them.  Raises
    AssertionError when the session broke.
    """
    root = tempfile.mkdtemp(prefix="ck-hostile-")
    try:
        os.mkdir(os.path.join(root, "bin"))
        os.symlink(os.path.realpath(sys.executable), os.path.join(root, "bin", "python3"))
        result = run_claude.run(scenario(row, root), root=os.path.join(root, "run"))
        assert result.exit_code == 0, result.stderr()
        times = [request["t"] for request in result.lane("main")]
        spent = [1000 * (after - before) for before, after in zip(times, times[1:])][WARM_UPS:]
        assert len(spent) == 2 * len(UNITS), len(spent)
        return spent[0::2], spent[1::2]
    finally:
        shutil.rmtree(root, ignore_errors=True)


def measure(rounds: int) -> dict:
    """row -> (reading turns, next turns), one list for each round."""
    values = {row: ([], []) for row in ROWS}
    for number in range(rounds):
        for place in range(len(ROWS)):
            row = ROWS[(place + number) % len(ROWS)]
            for kept, spent in zip(values[row], turns_ms(row)):
                kept.append(spent)
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
    return values


def summary(values: dict) -> list:
    """Rows: turn, lane, n, median, worst, and the median of the paired differences to the
    session without a hook.
    """
    rows = []
    for turn, which in (("reads 300 KB", 0), ("next", 1)):
        for row in ROWS:
            rounds, others = values[row][which], values[NONE][which]
            spent = [value for one in rounds for value in one]
            gaps = [own - other for pair in zip(rounds, others) for own, other in zip(*pair)]
            rows.append(
                {
                    "turn": turn,
                    "lane": row,
                    "n": len(spent),
                    "median_ms": round(machine.quantile(spent, 0.5), 1),
                    "p95_ms": round(machine.quantile(spent, 0.95), 1),
                    "worst_ms": round(max(spent), 1),
                    "over_no_hook_ms": round(machine.quantile(gaps, 0.5), 1),
                }
            )
    return rows


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args(argv)
    if not run_claude.available():
        print("hostile_turn.py: set CLAUDE_BIN to a Claude Code binary", file=sys.stderr)
        return 2
    facts = machine.facts(run_claude.default_client())
    rows = summary(measure(args.rounds))
    found = {(row["turn"], row["lane"]): row for row in rows}
    readme = [
        {
            "number": "Turn after a hostile `cat` of 300 KB, resident lane",
            "value": (
                f"{found['next', RESIDENT]['median_ms']:.0f} ms "
                f"({found['next', RESIDENT]['over_no_hook_ms']:+.1f} over no hook)"
            ),
            "baseline": f"no hook {found['next', NONE]['median_ms']:.0f} ms",
            "n": found["next", RESIDENT]["n"],
            "worst": (
                f"worst {found['next', RESIDENT]['worst_ms']:.0f} ms; the `cat` itself "
                f"{found['reads 300 KB', RESIDENT]['median_ms']:.0f}, worst "
                f"{found['reads 300 KB', RESIDENT]['worst_ms']:.0f} ms"
            ),
        }
    ]
    path = machine.write(
        "hostile_turn",
        {
            "machine": facts,
            "rounds": args.rounds,
            "size": SIZE,
            "target_over_no_hook_ms": TARGET_MS,
            "rows": rows,
            "readme": readme,
        },
    )
    columns = ["turn", "lane", "n", "median ms", "p95 ms", "worst ms", "over no hook ms"]
    print(machine.markdown(columns, [list(row.values()) for row in rows]))
    print(f"\n{path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
