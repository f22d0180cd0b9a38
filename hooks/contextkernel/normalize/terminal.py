"""Terminal rendering: the last state of what a program repainted, and every state whose words
differ.
"""

from __future__ import annotations

import re

from contextkernel.normalize.document import Document

OSC = re.compile(r"\x1b[\]PX^_].*?(?:\x07|\x1b\\|$)")
REPAINT = re.compile(r"\x1b\[(?:[12]K|1?G|[023]?J|H|1;1H)")  # what follows is written over the line
UP = re.compile(r"\x1b\[(\d{0,9})[AF]")
ESCAPE = re.compile(r"\x1b(?:\[[0-9;:?<=>]*[ -/]*[@-~]|[()*+#%][0-9A-Za-z]|[ -/]*[0-~])")
MEASURE = re.compile(r"(?<!\S)[^\s\d]*\d\S*|\b(?:[kKMGT]?i?B(?:/s)?|it/s|eta|ETA|ms|[smh])\b")
WORD = re.compile(r"[^\W\d_]{2,}")


def rendered(raw: list[str]) -> Document:
    """The document of source lines that hold control characters."""
    starts = _blocks(raw)
    lines: list[str] = []
    first: list[int] = []
    last: list[int] = []
    number = 0
    for end in starts:
        states = _states(raw[number:end])
        for state in states:
            lines.append(state)
            first.append(number)
            last.append(end - 1)
        number = end
    return Document(lines, raw, first, last)


def _blocks(raw: list[str]) -> list[int]:
    """Ends (exclusive) of the runs of source lines that were painted over each other; most runs
    are one line.
    """
    # first source line of a repainted block -> its last source line
    merged_into: dict[int, int] = {}
    at_row: list[int] = []  # row -> the source line that first painted it
    ups: dict[str, int] = {}  # a repainting program prints few different lines
    row = -1
    for number, line in enumerate(raw):
        row += 1
        up = 0
        if "\x1b[" in line:
            if line not in ups:
                ups[line] = sum(int(n or 1) for n in UP.findall(line))
            up = ups[line]
        if up:
            row = max(0, row - up)
            merged_into[at_row[row] if row < len(at_row) else number] = number
        if row == len(at_row):
            at_row.append(number)
    ends: list[int] = []
    number = 0
    while number < len(raw):
        last = number
        probe = number
        while probe <= last:
            last = max(last, merged_into.get(probe, probe))
            probe += 1
        ends.append(last + 1)
        number = last + 1
    return ends


def _states(block: list[str]) -> list[str]:
    """What a block showed: the last state of each wording, in the order of their last
    appearance; at least one line.
    """
    if len(block) == 1 and "\x1b" not in block[0] and "\b" not in block[0]:
        line = block[0].rstrip("\r")
        if "\r" not in line:
            return [line]
    states: list[str] = []
    # of lines that are alike the last alone counts
    for line in reversed(dict.fromkeys(reversed(block))):
        states += _clean(line).split("\r")
    if len(block) == 1 and len(states) == 1:
        return states
    states = [state for state in states if state.strip()]
    latest: dict[tuple[str, ...], str] = {}
    for state in states:
        wording = tuple(WORD.findall(MEASURE.sub(" ", state)))
        latest.pop(wording, None)
        latest[wording] = state
    return list(latest.values()) or [""]


def _clean(line: str) -> str:
    """A line without escapes and backspaces; each jump to the line's start is one carriage
    return.
    """
    line = line.rstrip("\r")
    if "\x1b" in line:
        line = UP.sub("\r", REPAINT.sub("\r", OSC.sub("", line)))
        line = ESCAPE.sub("", line).replace("\x1b", "")
    return _without_backspaces(line) if "\b" in line else line


def _without_backspaces(line: str) -> str:
    """A line in which each backspace took the character before it that was still there."""
    first, *rest = line.split("\b")
    kept = list(first)
    for part in rest:
        del kept[-1:]
        kept += part
    return "".join(kept)
