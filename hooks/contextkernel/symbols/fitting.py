"""A symbol's slice within a budget: nearest parts first, the rest an outline."""

from __future__ import annotations

from typing import NamedTuple

from contextkernel import lines, tokens
from contextkernel.symbols.classes import Part

Range = tuple[int, int]
# of a budget that is too small, one in so many tokens goes to the outline of what did not fit
OUTLINE_SHARE = 10


class SymbolSlice(NamedTuple):
    """What a symbol needs.  `ranges`: 1-based inclusive lines, ascending, disjoint.  `parts`:
    the same by reason.
    """

    ranges: tuple[Range, ...]
    notes: tuple[str, ...]
    found: bool
    parts: tuple[Part, ...] = ()


class Fitted(NamedTuple):
    """A slice within a budget.  `outline`: parts that did not fit.  `cost`: tokens of the
    numbered lines.
    """

    ranges: tuple[Range, ...]
    outline: tuple[Part, ...]
    cost: int


def within(source: str, found: SymbolSlice, budget: int | None) -> Fitted:
    """As much of a slice as a budget of tokens holds, nearest parts first; what does not fit is
    the outline.
    """
    text = source.split("\n")
    if budget is None or cost(text, found.ranges) <= budget:
        return Fitted(found.ranges, (), cost(text, found.ranges))
    taken: list[Part] = []
    outline: list[Part] = []
    spent, budget = 0, budget - budget // OUTLINE_SHARE
    for part in sorted(found.parts, key=lambda part: (part.distance, part.first)):
        price = cost(text, ((part.first, part.last),))
        if spent + price <= budget:
            taken.append(part)
            spent += price
        else:
            outline.append(part)
    ranges = tuple(
        lines.spans(
            sorted({number for part in taken for number in range(part.first, part.last + 1)})
        )
    )
    return Fitted(ranges, tuple(sorted(outline)), cost(text, ranges))


def cost(text: list[str], ranges: tuple[Range, ...]) -> int:
    """Tokens of lines as they are shown: number, tab, text, line break."""
    return sum(
        tokens.estimate(f"{number}\t{text[number - 1]}\n")
        for first, last in ranges
        for number in range(first, last + 1)
    )


def head_line(text: list[str], part: Part) -> str:
    """The line that best says what a part is: its `def` or `class` line, else its first."""
    for line in text[part.first - 1 : part.last]:
        if line.lstrip().startswith(("def ", "async def ", "class ")):
            return line.strip()
    return text[part.first - 1].strip()
