"""The start and the true end of a text that no format could bring under the client's cap (binary,
or nothing but outliers).

The client itself would show 5,000 characters at each side of its first 30,000: never the end of a
longer text.
"""

from __future__ import annotations

from contextkernel import marks
from contextkernel.edits import Edit, Normalized

LONG = 1200  # characters; a longer line is clipped to its first and last
KEPT_START, KEPT_END = 700, 200
MARKS = 300  # characters for the verdict and the mark between the ends


def head_and_tail(text: str, source) -> Normalized:
    """The lines at both ends that fit into `source.max_chars` characters, under a verdict; the same text
    when all of it fits.

    Control characters and undecodable bytes stay as they are.
    """
    if len(text) <= source.max_chars:
        return Normalized(text)
    lines = text.split("\n")
    body = (
        lines[:-1] if not lines[-1] else lines
    )  # the empty one after a final newline is no line to a reader
    half = (source.max_chars - MARKS) // 2
    head = _taken(body, range(len(body)), half, source.handle)
    tail = _taken(body, range(len(body) - 1, len(head) - 1, -1), half, source.handle)[::-1]
    first, last = len(head) + 1, len(body) - len(tail)  # hidden, 1-based
    shown: list[str] = []
    edits: list[Edit] = []
    for number, line in enumerate(head, 1):
        shown.append(line)
        edits += [Edit("clipped", number, number, 1)] if line != body[number - 1] else []
    if first <= last:
        shown.append(marks.gap(first, last, "", source.handle))
        edits.append(Edit("ends", first, last, 1))
    for number, line in enumerate(tail, last + 1):
        shown.append(line)
        edits += [Edit("clipped", number, number, 1)] if line != body[number - 1] else []
    verdict = marks.verdict(source.exit_code, len(body), len(head) + len(tail), "", source.handle)
    return Normalized("\n".join([verdict] + shown + lines[len(body) :]), tuple(edits), 1)


def _taken(lines: list[str], order, room: int, handle: str) -> list[str]:
    """Lines in an order while they fit into so many characters, long ones clipped."""
    taken: list[str] = []
    for index in order:
        line = lines[index]
        if len(line) > LONG:
            line = "%s %s %s" % (
                line[:KEPT_START],
                marks.note(f"{len(line) - KEPT_START - KEPT_END} characters left out", handle),
                line[-KEPT_END:],
            )
        room -= len(line) + 1
        if room < 0:
            break
        taken.append(line)
    return taken
