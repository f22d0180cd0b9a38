#!/usr/bin/env python3
"""Growth of CPU with the size of a hostile text: exponent over sizes, for every format and
everything else that sees such a text.

    python3 bench/scaling.py [--only WORDS] [--share 1/1] [--sizes 16000,64000,256000]
    python3 bench/scaling.py --self-test

Writes bench/results/scaling.json and prints its table; exit 1 where an exponent is above 1.2.
Each format's opening lines stand before each body (bench/hostile_texts.py), so that its parser
runs.  CPU time of the process, the least of some runs; a text that takes less than FLOOR at the
largest size has no exponent.  --share 2/4 takes the second of four parts of the cases.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import math
import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from typing import Callable, NamedTuple

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "hooks")]
import hostile_texts  # noqa: E402
import machine  # noqa: E402

SIZES = (16000, 64000, 256000)  # characters
MOST = 1.2  # exponent
FLOOR = 0.04  # CPU seconds at the largest size; less says nothing
SEEN = 0.005  # CPU seconds of a size that takes part in the fit
PATIENCE = 20.0  # CPU seconds of one call, which is then stopped
# an exponent, and CPU seconds at the largest size, that no noise explains
CLEAR, CLEAR_SECONDS = (1.7, 0.2)
RUNS, ROUNDS = 3, 3  # of a case whose exponent is above MOST; the least of all counts
# CPU microseconds a character at the largest size; above, named in the table (a megabyte would take
# longer than a hook may)
SLOWEST = 2.0


class Case(NamedTuple):
    """A callable of one text, and the body that it is given; `scale`: its sizes relative to
    SIZES.
    """

    target: str
    body: str
    call: Callable[[str], object]
    text: Callable[[int], str]
    scale: float = 1.0


class Row(NamedTuple):
    """What a case showed: CPU seconds by size; `exponent` None where they are too short to say;
    `stopped`: a call lost patience.
    """

    case: Case
    points: list[tuple[int, float]]
    exponent: float | None
    stopped: bool = False


class Stopped(Exception):
    """A call took longer than PATIENCE."""


def _stop(_signal, _frame) -> None:
    raise Stopped


@contextlib.contextmanager
def patience(seconds: float) -> Iterator[None]:
    """Raises Stopped in the block after so many CPU seconds; patterns obey it too."""
    before = signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def spent(case: Case, text: str) -> float:
    """CPU seconds of one call; PATIENCE when it was stopped."""
    gc.collect()
    began = time.process_time()
    try:
        with patience(PATIENCE):
            case.call(text)
    except Stopped:
        return PATIENCE
    except (ValueError, RecursionError):
        pass  # an operator that refuses a text is done with it
    return time.process_time() - began


def slope(points: list[tuple[int, float]]) -> float | None:
    """The exponent fitted to the three largest (size, seconds) by least squares over logarithms, or
    over the last two where that is less
    (a parser that stops at some size makes a step below it); None where the times are too short to
    say."""
    seen = [(math.log(size), math.log(seconds)) for size, seconds in points if seconds >= SEEN][-3:]
    if len(seen) < 2 or points[-1][1] < FLOOR:
        return None
    mean_x, mean_y = (sum(column) / len(seen) for column in zip(*seen))
    fitted = sum((x - mean_x) * (y - mean_y) for x, y in seen) / sum(
        (x - mean_x) ** 2 for x, _ in seen
    )
    (x1, y1), (x2, y2) = seen[-2:]
    return min(fitted, (y2 - y1) / (x2 - x1))


def measured(case: Case, sizes: tuple[int, ...]) -> Row:
    """The row of a case.  Measured again, and at four times the largest size, before an exponent
    that may be noise counts as too high.
    """
    sizes = tuple(int(size * case.scale) for size in sizes)
    points = _points(case, sizes[-1:], 1)
    if FLOOR <= points[-1][1] < PATIENCE:
        points = _points(case, sizes[:-1], 1) + points
    exponent = slope(points)
    for _ in range(ROUNDS):
        if (
            exponent is None
            or exponent <= MOST
            or exponent > CLEAR
            and points[-1][1] > CLEAR_SECONDS
        ):
            break
        again = _points(case, sizes[1:] + (4 * sizes[-1],) if case.scale == 1.0 else sizes, RUNS)
        points = [(size, min(seconds, dict(points).get(size, seconds))) for size, seconds in again]
        exponent = slope(points)
    return Row(case, points, exponent, points[-1][1] >= PATIENCE)


def _points(case: Case, sizes: tuple[int, ...], runs: int) -> list[tuple[int, float]]:
    points = []
    for size in sizes:
        text = case.text(size)
        points.append((len(text), min(spent(case, text) for _ in range(runs))))
        if points[-1][1] >= PATIENCE:
            break
    return points


def cases() -> Iterator[Case]:
    """Every format, and what else sees such texts, with every body."""
    from contextkernel import marks, masking, shell
    from contextkernel import reread as delta
    from contextkernel.clients.claude import shell_argument, truncation
    from contextkernel.normalize import Source, commands, head_and_tail, normalize
    from contextkernel.slicing.symptom import text as symptom

    bodies = hostile_texts.bodies()
    for name, opening in hostile_texts.OPENINGS.items():
        source = Source(
            "Agent" if name == "report" else "Bash",
            opening.command,
            opening.exit_code,
            "0123456789ab",
            9900 if opening.exit_code else 30000,
        )
        for body, made in list(bodies.items()) + list(
            hostile_texts.near_misses(opening.text).items()
        ):
            yield Case(
                name,
                body,
                lambda text, source=source: normalize(text, source),
                lambda size, head=opening.text, made=made: head + made(size) + "\n",
            )
    targets: dict[str, tuple[Callable[[str], object], float]] = {
        "symptom.read, 8 times": (
            lambda text: [symptom.read(text) for _ in range(8)],
            0.22,
        ),  # it reads 60,000 characters at most: once is too short to tell
        "symptom.read, a diff": (lambda text: symptom.read("", text), 0.22),
        "marks.handles_in": (marks.handles_in, 1.0),
        "head_and_tail": (
            lambda text: head_and_tail.head_and_tail(
                text, Source("Bash", "x", 1, "0123456789ab", 9900)
            ),
            1.0,
        ),
        "cut.cut_in": (lambda text: (truncation.cut_in(text), truncation.rewritten_in(text)), 1.0),
        "masked": (masking.masked, 1.0),
        "masked whole": (lambda text: masking.masked(text, 8000), 0.12),
        "re-read": (lambda text: delta.unified(text, text[::-1]), 1.0),
        "command, facts": (commands.facts, 1.0),
        "command, simple commands": (
            lambda text: (
                shell.simple_commands(text),
                shell.with_budget(text),
                shell.working_folder(text, "/w"),
            ),
            1.0,
        ),
        "command of a shell call": (
            lambda text: (
                shell_argument.command_in("eval " + text),
                shell_argument.wants_raw(text),
                shell_argument.key_of(text, "s"),
            ),
            1.0,
        ),
    }
    written = {
        f"command of {unit!r}": (lambda size, unit=unit: hostile_texts.filled(unit, size))
        for unit in hostile_texts.COMMANDS + hostile_texts.UNCLOSED
    }
    for name, (call, scale) in targets.items():
        for body, made in {
            **bodies,
            **(written if name.startswith(("command", "mask")) else {}),
        }.items():
            yield Case(name, body, call, made, scale)


def summary(rows: list[Row]) -> list[dict]:
    """One row a target: cases, those long enough for an exponent, the worst exponent, the
    slowest text.
    """
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.case.target, []).append(row)
    out = []
    for target, group in groups.items():
        worst = max(group, key=lambda row: row.exponent or 0.0)
        slow = max(group, key=lambda row: row.points[-1][1] / max(1, row.points[-1][0]))
        out.append(
            {
                "target": target,
                "cases": len(group),
                "measured": sum(row.exponent is not None for row in group),
                "too high": sum((row.exponent or 0.0) > MOST for row in group),
                "worst exponent": round(worst.exponent, 2) if worst.exponent else None,
                "its body": worst.case.body if worst.exponent else "",
                "slowest us/char": round(1e6 * slow.points[-1][1] / max(1, slow.points[-1][0]), 2),
                "slowest body": slow.case.body,
            }
        )
    return out


def self_test() -> int:
    """0 when a planted pattern that grows with the square is found, in a format and alone, and a
    linear one is not.
    """
    from contextkernel.normalize import Source, normalize, survey

    wrong = []
    line = lambda size: "a" * size  # noqa: E731
    for name, pattern, high in (("square", r"a*b", True), ("line", r"a+", False)):
        row = measured(
            Case(
                "planted",
                name,
                re.compile(pattern).search if high else re.compile(pattern).findall,
                line,
            ),
            (1000, 4000, 16000),
        )
        if (row.exponent is not None and row.exponent > MOST) != high:
            wrong.append(f"a planted {name}: exponent {row.exponent}")
    case = Case(
        "plain",
        "planted",
        lambda text: normalize(text, Source("Bash", "./deploy", 0, "0123456789ab")),
        lambda size: "\n".join([f"b{i}" for i in range(40)] + ["a" * size]),
    )
    sound, survey.WORD = survey.WORD, re.compile(r"[a-z]*1[a-z]*2")
    most, survey.LONG = survey.LONG, 10**9
    try:
        row = measured(
            case._replace(
                text=lambda size: "\n".join(
                    ["~" * (i + 1) + f"b{i}" for i in range(80)] + ["a" * size]
                )
            ),
            (1000, 4000, 16000),
        )
    finally:
        survey.WORD, survey.LONG = sound, most
    if row.exponent is None or row.exponent <= MOST:
        wrong.append(f"planted in a format: exponent {row.exponent}")
    print("self-test: " + ("; ".join(wrong) or "the planted patterns are told apart"))
    return int(bool(wrong))


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="cases whose target or body holds these words")
    parser.add_argument("--share", default="1/1")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--no-write", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args(argv)
    if args.self_test:
        return self_test()
    part, parts = map(int, args.share.split("/"))
    sizes = tuple(map(int, args.sizes.split(",")))
    facts = machine.facts()
    rows = []
    for number, case in enumerate(cases()):
        if number % parts == part - 1 and args.only in f"{case.target}: {case.body}":
            rows.append(measured(case, sizes))
            row = rows[-1]
            if (
                (row.exponent or 0.0) > MOST
                or row.stopped
                or row.points[-1][1] > SLOWEST * 1e-6 * row.points[-1][0]
                and row.points[-1][1] > FLOOR
            ):
                print(
                    (
                        f"{case.target} | {case.body}: exponent "
                        f"{row.exponent and round(row.exponent, 2)}, "
                        f"{' '.join(f'{size}:{spent:.3f}' for size, spent in row.points)}"
                    ),
                    file=sys.stderr,
                    flush=True,
                )
    if not rows:
        print(f"scaling.py: no case holds {args.only!r}", file=sys.stderr)
        return 2
    table = summary(rows)
    high = sum(row["too high"] for row in table) + sum(row.stopped for row in rows)
    worst = max((row["worst exponent"] or 0.0 for row in table), default=0.0)
    readme = [
        {
            "number": f"Growth of CPU with hostile text ({len(table)} targets x bodies)",
            "value": f"exponent at most {worst:.2f}",
            "baseline": "1 is linear, 2 a square",
            "n": len(rows),
            "worst": f"target: at most {MOST}",
        }
    ]
    if not args.no_write:
        results = {"machine": facts, "sizes": sizes, "share": args.share}
        results.update(rows=table, readme=readme)
        print(machine.write("scaling", results) + "\n")
    print(machine.markdown(list(table[0]), [list(row.values()) for row in table]))
    return int(high > 0)


if __name__ == "__main__":
    raise SystemExit(main())
