"""The account of a rewriting: which source lines a text shows, and what stands in for the
others.
"""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Callable


class Edit(namedtuple("Edit", "rule first last shown", defaults=(0,))):
    """A range of source lines that the new text does not show verbatim.

    `first` and `last` are 1-based and inclusive.  `shown` counts the lines of the new text that
    stand in for the range at its place: 0 for lines folded into a neighbour, 1 for a mark or a
    rewritten line.
    """

    __slots__ = ()
    if TYPE_CHECKING:
        rule: str
        first: int
        last: int
        shown: int


class Normalized(namedtuple("Normalized", "text edits head", defaults=((), 0))):
    """A new text with its account.  `head`: lines at its top that are not from the source.  No
    edits: same text.
    """

    __slots__ = ()
    if TYPE_CHECKING:
        text: str
        edits: tuple[Edit, ...]
        head: int


def accounting_error(source: str, normalized: Normalized, lines: list[str] | None = None) -> str:
    """What is wrong with the account of `normalized` over `source`, or "" when every line is
    accounted for.

    Complete means: edits ascend, do not overlap and stay in range; walking the source, every line
    outside the edits stands verbatim in the text, in order; each edit contributes exactly `shown`
    lines; nothing is left over.
    `lines`: the source already split into its lines, when the caller has them.
    """
    if not normalized.edits and not normalized.head:
        return "" if normalized.text == source else "text changed without an edit"
    lines = source.split("\n") if lines is None else lines
    new = normalized.text.split("\n")
    at, number = normalized.head, 1  # next line of `new` (0-based), next source line (1-based)
    for edit in normalized.edits:
        if not number <= edit.first <= edit.last <= len(lines):
            return f"edit {edit!r} overlaps, descends or leaves the source"
        kept = edit.first - number
        if new[at : at + kept] != lines[number - 1 : edit.first - 1]:
            return f"a line between {number} and {edit.first - 1} is not shown verbatim"
        at, number = at + kept + edit.shown, edit.last + 1
    if new[at:] != lines[number - 1 :]:
        return f"the lines from {number} on are not shown verbatim"
    return ""


def rebuild(normalized: Normalized, source_line: Callable[[int], str]) -> str:
    """The source text: shown lines from the new text, all others from `source_line` (1-based), byte
    for byte.

    `source_line` is asked only for lines inside edits.  The account must be complete
    (`accounting_error`).
    """
    if not normalized.edits and not normalized.head:
        return normalized.text
    new, lines, at, number = normalized.text.split("\n"), [], normalized.head, 1
    for edit in normalized.edits:
        kept = edit.first - number
        lines += new[at : at + kept]
        lines += [source_line(n) for n in range(edit.first, edit.last + 1)]
        at, number = at + kept + edit.shown, edit.last + 1
    return "\n".join(lines + new[at:])
