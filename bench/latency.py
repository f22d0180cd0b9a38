#!/usr/bin/env python3
"""What the hooks cost a turn of the real client: time from one model request to the next around
one Bash call.

    CLAUDE_BIN=/path/to/claude python3 bench/latency.py [--rounds 6] [--calls 20]

Rows: no hook | a no-op `mcp_tool` hook of a minimal server (PostToolUse alone, and on all events
that we use) | our resident lane | our script lane; each for a small output (passes) and a long
one (rewritten).  A round plays every row once, in rotating order, so that a busy minute hits all
alike; differences to the no-op hooks are taken call by call within a round, then their median.
Nothing leaves the machine: the model is the fake API of tests/harness.  Other work stretches the
median; p10 shows what a quiet moment costs. Writes bench/results/latency.json and prints its
table.
"""

from __future__ import annotations

import argparse
import json
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

NONE, NOOP, NOOP_ALL, RESIDENT, SCRIPT = (
    "no hook",
    "no-op mcp_tool hook",
    "no-op mcp_tool hooks, all our events",
    "resident lane",
    "script lane",
)
ROWS = (NONE, NOOP, NOOP_ALL, RESIDENT, SCRIPT)
OUTPUTS = {"small": "echo hi", "long": "cat build.log"}
TARGET_MS = 3.0
WARM_UPS = 2  # first calls of a session that are not counted


def noop_plugin(folder: str, every_event: bool) -> str:
    """The root of a plugin of our name whose server has no opinion."""
    hooks = events.plugin_hooks()["hooks"]
    if not every_event:
        hooks = {"PostToolUse": hooks["PostToolUse"]}
    resident = {
        name: [group for group in groups if group["hooks"][0]["type"] == "mcp_tool"]
        for name, groups in hooks.items()
    }
    manifest = {
        "name": "context-kernel",
        "version": "0.0.1",
        "description": "a hook without an opinion",
        "mcpServers": {
            "kernel": {
                "command": "python3",
                "args": ["-I", "-S", os.path.join(HERE, "noop_server.py")],
            }
        },
    }
    for path, content in (
        (".claude-plugin/plugin.json", manifest),
        ("hooks/hooks.json", {"hooks": {k: v for k, v in resident.items() if v}}),
    ):
        target = os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w", encoding="utf-8") as handle:
            json.dump(content, handle)
    return folder


def scenario(row: str, command: str, calls: int, root: str) -> dict:
    """One session of `calls` turns with one Bash call each, under the hooks of a row."""
    play = {
        "turns": [{"tools": [["Bash", {"command": command}]]} for _ in range(calls)] + ["done"],
        "timeout_s": 300,
        "env": {"PATH": os.path.join(root, "bin") + os.pathsep + os.environ["PATH"]},
        "files": {
            "build.log": {
                "repeat": ["[%d/400] building object module_%d.o with optimisation enabled\n", 400]
            }
        },
    }
    if row == SCRIPT:
        play["user_settings"] = {
            "hooks": events.settings_hooks(os.path.realpath(sys.executable), machine.ROOT)
        }
    elif row == RESIDENT:
        # as installed: without .git and whatever else lies in a work tree
        play["args"] = ["--plugin-dir", plugin.copy_to(root)]
    elif row in (NOOP, NOOP_ALL):
        play["args"] = ["--plugin-dir", noop_plugin(os.path.join(root, "noop"), row == NOOP_ALL)]
    return play


def turns_ms(row: str, output: str, calls: int) -> list:
    """Milliseconds from request to request, warm-ups left out.  Raises AssertionError when the
    lane did not do what its row says.
    """
    root = tempfile.mkdtemp(prefix="ck-latency-")
    try:
        os.mkdir(os.path.join(root, "bin"))
        os.symlink(os.path.realpath(sys.executable), os.path.join(root, "bin", "python3"))
        result = run_claude.run(
            scenario(row, OUTPUTS[output], calls, root), root=os.path.join(root, "run")
        )
        assert result.exit_code == 0, result.stderr()
        rewritten = ["[ck: " in text for text in result.tool_result_texts()][WARM_UPS:]
        assert len(rewritten) == calls - WARM_UPS, (row, output, rewritten)
        wanted = output == "long" and row in (RESIDENT, SCRIPT)
        assert set(rewritten) == {wanted}, (row, output, rewritten)
        times = [request["t"] for request in result.lane("main")]
        return [1000 * (after - before) for before, after in zip(times, times[1:])][WARM_UPS:]
    finally:
        shutil.rmtree(root, ignore_errors=True)


def measure(rounds: int, calls: int) -> dict:
    """(row, output) -> one list of turn times for each round."""
    values = {(row, output): [] for row in ROWS for output in OUTPUTS}
    for number in range(rounds):
        for output in OUTPUTS:
            for place in range(len(ROWS)):
                row = ROWS[(place + number) % len(ROWS)]
                values[row, output].append(turns_ms(row, output, calls))
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
    return values


def over(rounds: list, others: list) -> float:
    """Median of the differences between the same calls of the same rounds, in milliseconds."""
    gaps = [own - other for pair in zip(rounds, others) for own, other in zip(*pair)]
    return round(machine.quantile(gaps, 0.5), 1)


def summary(values: dict) -> list:
    """Rows: output, lane, n, median, p95, worst, and how far the lane is over both no-op hooks."""
    rows = []
    for (row, output), rounds in sorted(
        values.items(), key=lambda item: (item[0][1] != "small", ROWS.index(item[0][0]))
    ):
        spent = [value for values_of_round in rounds for value in values_of_round]
        rows.append(
            {
                "output": output,
                "lane": row,
                "n": len(spent),
                "p10_ms": round(machine.quantile(spent, 0.1), 1),
                "median_ms": round(machine.quantile(spent, 0.5), 1),
                "p95_ms": round(machine.quantile(spent, 0.95), 1),
                "worst_ms": round(max(spent), 1),
                "over_noop_ms": over(rounds, values[NOOP, output]),
                "over_noop_all_ms": over(rounds, values[NOOP_ALL, output]),
            }
        )
    return rows


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument(
        "--calls", type=int, default=20, help=f"calls of a session, {WARM_UPS} of them to warm up"
    )
    args = parser.parse_args(argv)
    if not run_claude.available():
        print("latency.py: set CLAUDE_BIN to a Claude Code binary", file=sys.stderr)
        return 2
    facts = machine.facts(run_claude.default_client())
    rows = summary(measure(args.rounds, args.calls))
    by_name = {(row["lane"], row["output"]): row for row in rows}
    readme = [
        {
            "number": f"Turn time, {lane}, {output} output",
            "value": (
                f"{by_name[lane, output]['median_ms']:.0f} ms "
                f"({by_name[lane, output]['over_noop_ms']:+.1f} over a no-op hook)"
            ),
            "baseline": (
                f"no hook {by_name[NONE, output]['median_ms']:.0f} ms, no-op hook "
                f"{by_name[NOOP, output]['median_ms']:.0f} ms"
            ),
            "n": by_name[lane, output]["n"],
            "worst": (
                f"p95 {by_name[lane, output]['p95_ms']:.0f}, worst "
                f"{by_name[lane, output]['worst_ms']:.0f} ms"
            ),
        }
        for output in OUTPUTS
        for lane in (RESIDENT, SCRIPT)
    ]
    path = machine.write(
        "latency",
        {
            "machine": facts,
            "rounds": args.rounds,
            "calls": args.calls,
            "target_over_noop_ms": TARGET_MS,
            "rows": rows,
            "readme": readme,
        },
    )
    columns = [
        "output",
        "lane",
        "n",
        "p10 ms",
        "median ms",
        "p95 ms",
        "worst ms",
        "over no-op ms",
        "over no-op, all events ms",
    ]
    print(machine.markdown(columns, [list(row.values()) for row in rows]))
    print(f"\n{path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
