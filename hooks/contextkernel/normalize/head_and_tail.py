"""The start and the true end of a text that no format could bring under the client's limit (binary,
or nothing but outliers).

The client itself would show 5,000 characters at each side of its first 30,000: never the end of a
longer text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from contextkernel import marks
from contextkernel.normalize.edits import Edit, Normalized

if TYPE_CHECKING:
    from contextkernel.normalize import Source

LONG = 1200  # characters; a longer line is clipped to its first and last
KEPT_START, KEPT_END = 700, 200
MARKS_CHARS = 300  # for the verdict and the mark between the ends


def head_and_tail(text: str, source: Source) -> Normalized:
    """The lines at both ends that fit into `source.max_chars` characters, under a verdict; the
    same text when all of it fits.

    Control characters and undecodable bytes stay as they are.
    """
    if len(text) <= source.max_chars:
        return Normalized(text)
    lines = text.split("\n")
    body = lines if lines[-1] else lines[:-1]  # to a reader, nothing is no line after the last one
    half = (source.max_chars - MARKS_CHARS) // 2
    head = _fitting(body, half, source.handle)
    tail = _fitting(reversed(body[len(head) :]), half, source.handle)[::-1]
    first, last = len(head) + 1, len(body) - len(tail)  # hidden, 1-based
    edits = _clips(body, head, 1)
    shown = list(head)
    if first <= last:
        shown.append(marks.gap(first, last, "", source.handle))
        edits.append(Edit("ends", first, last, 1))
    shown += tail
    edits += _clips(body, tail, last + 1)
    verdict = marks.verdict(source.exit_code, len(body), len(head) + len(tail), "", source.handle)
    return Normalized("\n".join([verdict] + shown + lines[len(body) :]), tuple(edits), 1)


def _fitting(lines: Iterable[str], max_chars: int, handle: str) -> list[str]:
    """The first of some lines that fit into so many characters, long ones clipped."""
    fitting: list[str] = []
    for line in lines:
        shown = _clipped(line, handle) if len(line) > LONG else line
        max_chars -= len(shown) + 1
        if max_chars < 0:
            break
        fitting.append(shown)
    return fitting


def _clipped(line: str, handle: str) -> str:
    """The start and the end of a line, with a mark between them."""
    hidden = len(line) - KEPT_START - KEPT_END
    mark = marks.note(f"{hidden} characters left out", handle)
    return f"{line[:KEPT_START]} {mark} {line[-KEPT_END:]}"


def _clips(body: list[str], shown: list[str], first: int) -> list[Edit]:
    """An edit for each line, from line `first` on (1-based), that is not shown as it is."""
    return [
        Edit("clipped", number, number, 1)
        for number, line in enumerate(shown, first)
        if line != body[number - 1]
    ]
