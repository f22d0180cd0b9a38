"""Lines and line numbers: a line ends at "\\n" and nowhere else; numbers are 1-based."""

from __future__ import annotations

import re

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from collections.abc import Iterable

_RANGE = re.compile(r"(\d{1,12})(?:-(\d{1,12}))?")


def spans(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Ascending numbers as inclusive runs: [3, 4, 5, 9] gives [(3, 5), (9, 9)]."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


def in_words(runs: Iterable[tuple[int, int]]) -> str:
    """Runs as text: [(3, 5), (9, 9)] gives "3-5,9"."""
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def part(text: str, first: int, last: int) -> str:
    """Lines `first` to `last` of a text (1-based, inclusive; ends are clipped), line breaks kept
    between them.
    """
    return "\n".join(text.split("\n")[max(0, first - 1) : last])


def merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same lines as ranges that neither overlap nor touch, in order."""
    kept: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if kept and first <= kept[-1][1] + 1:
            kept[-1] = kept[-1][0], max(last, kept[-1][1])
        elif first <= last:
            kept.append((first, last))
    return kept


def count(ranges: Iterable[tuple[int, int]]) -> int:
    """Number of lines in ranges that do not overlap."""
    return sum(last - first + 1 for first, last in ranges)


def as_text(ranges: Iterable[tuple[int, int]]) -> str:
    """The ranges, merged, as words."""
    return " ".join(
        f"{first}-{last}" if last > first else str(first) for first, last in merged(ranges)
    )


def of_text(text: str) -> list[tuple[int, int]]:
    """The ranges that words name; what is no range is left out."""
    found = (_RANGE.fullmatch(word) for word in text.split())
    return merged(
        (int(match.group(1)), int(match.group(2) or match.group(1))) for match in found if match
    )
