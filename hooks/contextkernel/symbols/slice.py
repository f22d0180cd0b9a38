"""The lines of one file that one symbol needs.

symbol_slice(source, "Class.method")          ranges, notes, whether the symbol is there
within(source, found, budget)                 the same within a budget, and an outline of what did
not fit
"""

from __future__ import annotations

from typing import NamedTuple

from contextkernel import lines, tokens
from contextkernel.symbols.blocks import block_parts, mentions
from contextkernel.symbols.classes import Part
from contextkernel.symbols.python import NeedsWholeFileError, UnknownNameError, python_parts

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


def symbol_slice(source: str, name: str, language: str = "python") -> SymbolSlice:
    """The lines of `source` that `name` needs.  Not found: no ranges, and a note with near matches.

    Python is traced through the module; other languages give the definition's block and the file's
    imports.
    """
    source = source[1:] if source[:1] == "\ufeff" else source
    if language.lower() != "python":
        parts, notes = block_parts(source, name, language)
        return _sliced(source, parts, notes)
    if "\r" in source.replace("\r\n", ""):
        return _everything(source, name, "a lone carriage return makes line numbers ambiguous")
    try:
        parts, notes = python_parts(source, name)
    except UnknownNameError as fault:
        return SymbolSlice((), (str(fault),), False)
    except NeedsWholeFileError as fault:
        return _everything(source, name, str(fault))
    except SyntaxError as fault:
        return _everything(
            source, name, f"this Python cannot parse it ({fault.msg}, line {fault.lineno})"
        )
    except (ValueError, RecursionError, MemoryError) as fault:
        return _everything(source, name, f"this Python cannot parse it ({fault})")
    return _sliced(source, _with_comments(source, parts), notes)


def _everything(source: str, name: str, why: str) -> SymbolSlice:
    count = len(source.split("\n")) - source.endswith("\n")
    if not mentions(source.replace("\r", "\n"), name):
        return SymbolSlice((), (f"no symbol {name} in this file; {why}",), False)
    whole = Part(1, max(1, count), "the whole file: " + why, 0)
    return SymbolSlice(
        ((whole.first, whole.last),), ("the whole file is kept: " + why,), True, (whole,)
    )


def _sliced(source: str, parts: list[Part], notes: list[str]) -> SymbolSlice:
    if not parts:
        return SymbolSlice((), tuple(notes), False)
    return SymbolSlice(_joined(source, parts), tuple(dict.fromkeys(notes)), True, tuple(parts))


def _with_comments(source: str, parts: list[Part]) -> list[Part]:
    """The parts with the comment block right above the symbol itself."""
    text = source.split("\n")
    return [
        part._replace(first=_comment_above(text, part.first)) if part.distance == 0 else part
        for part in parts
    ]


def _comment_above(text: list[str], first: int) -> int:
    while first > 1 and text[first - 2].lstrip().startswith("#"):
        first -= 1
    return first


def _joined(source: str, parts: list[Part]) -> tuple[Range, ...]:
    """The parts as ranges; a gap of blank lines is closed."""
    text = source.split("\n")
    numbers = sorted({number for part in parts for number in range(part.first, part.last + 1)})
    filled: list[int] = []
    for number in numbers:
        if (
            filled
            and number - filled[-1] > 1
            and not any(line.strip() for line in text[filled[-1] : number - 1])
        ):
            filled += range(filled[-1] + 1, number)
        filled.append(number)
    return tuple(lines.spans(filled))


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
