"""A source text cut into blocks: definitions with their decorators and comments, class heads,
the module's own lines.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from contextkernel.slicing.scan.definitions import Definition

DEEPEST = 8  # columns: deeper definitions stay inside the block around them
LONGEST, SHORTEST = 90, 60  # lines: a longer block is cut again, at the first empty line in between
_LEAD = re.compile(r"^[ \t]*(?:@|#|//|/\*|\*|\"\"\"|<!--|\[[A-Z])")
_UNCUT = frozenset(("name", "define", "namespace", "mod", "const", "let", "var"))


class Block(NamedTuple):
    """Lines `first` to `last` (1-based, inclusive).  `heads`: lines of the definitions around it,
    outermost first, and for a
    later piece of a long definition its own head.  `names`: what it defines."""

    first: int
    last: int
    heads: tuple[int, ...]
    names: tuple[str, ...]


def blocks_of(lines: Sequence[str], definitions: Sequence[Definition]) -> list[Block]:
    """The blocks of a text, in order; every line that is not blank lies in exactly one, blank
    lines in the one before.
    """
    starts: list[tuple[int, Definition]] = []
    for one in definitions:
        if one.indent <= DEEPEST and one.kind not in _UNCUT and one.line <= len(lines):
            floor = starts[-1][1].line if starts else 0
            starts.append((_lead(lines, one.line, floor), one))
    cuts: list[tuple[int, Definition | None]] = [(1, None), *starts]
    blocks: list[Block] = []
    around: list[Definition] = []
    for index, (first, definition) in enumerate(cuts):
        last = (cuts[index + 1][0] if index + 1 < len(cuts) else len(lines) + 1) - 1
        if definition is not None:
            around = [outer for outer in around if outer.indent < definition.indent]
        heads = tuple(outer.line for outer in around)
        blocks += _pieces(lines, first, last, heads, definition)
        if definition is not None:
            around.append(definition)
    names = sorted((one for one in definitions if one.kind in _UNCUT), key=lambda one: one.line)
    at = [one.line for one in names]
    for index, block in enumerate(blocks):
        inside = names[bisect_left(at, block.first) : bisect_right(at, block.last)]
        if inside:
            blocks[index] = block._replace(names=block.names + tuple(one.name for one in inside))
    return blocks


def _lead(lines: Sequence[str], line: int, floor: int) -> int:
    """The first of the decorators and comments right above a definition."""
    first = line
    while first - 1 > floor and _LEAD.match(lines[first - 2]):
        first -= 1
    return first


def _pieces(
    lines: Sequence[str], first: int, last: int, heads: tuple[int, ...], one: Definition | None
) -> list[Block]:
    pieces: list[Block] = []
    names = (one.name,) if one else ()
    while last - first >= LONGEST:
        cut = next(
            (
                at
                for at in range(first + SHORTEST, min(first + LONGEST, last))
                if not lines[at - 1].strip()
            ),
            first + SHORTEST,
        )
        pieces += _trimmed(lines, first, cut - 1, heads, names)
        first = cut
        heads = heads + (one.line,) if one and one.line not in heads else heads
    return pieces + _trimmed(lines, first, last, heads, names)


def _trimmed(
    lines: Sequence[str], first: int, last: int, heads: tuple[int, ...], names: tuple[str, ...]
) -> list[Block]:
    while first <= last and not lines[first - 1].strip():
        first += 1
    return [Block(first, last, heads, names)] if first <= last else []
