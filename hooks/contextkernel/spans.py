"""Ranges of line numbers (1-based, inclusive) as text: "1-80 95"."""

from __future__ import annotations

import re

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from collections.abc import Iterable

_RANGE = re.compile(r"(\d{1,12})(?:-(\d{1,12}))?")


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
