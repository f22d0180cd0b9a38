"""Lines and line numbers: a line ends at "\\n" and nowhere else; numbers are 1-based."""

from __future__ import annotations

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from collections.abc import Iterable


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
