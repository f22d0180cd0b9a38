"""The layout for an output: blocks with ranks, and the choice of those that fit the limits."""

from __future__ import annotations

from collections.abc import Sequence

from contextkernel import marks
from contextkernel.normalize.commands import Command
from contextkernel.normalize.document import Document
from contextkernel.records import NamedTuple

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Callable


class Rank:
    """How much a block matters: the first to stay, the last to go.

    Plain numbers: an IntEnum would cost each hook process 0.25 ms, and Python 3.9 three times as
    much for every look at a member.
    """

    MUST = 0  # shown as far as the client's limit allows
    FACT = 1  # a fault, an end of the text: may use all but a reserve for the next rank
    NOTABLE = 2  # a warning, an outlier: may use some more than the target
    CONTEXT = 3  # beside a fault, or the first of its kind
    RARE = 4  # like few others
    PLAIN = 5  # nothing speaks for it
    LISTED = 6  # behind everything else that is shown
    LAST = 7  # never shown but as part of a small gap


class Limits(NamedTuple):
    """How long the new text may be, in characters."""

    target_chars: int = 6500  # to aim at; facts may go beyond
    max_chars: int = 29500  # never to reach


class Request(NamedTuple):
    """What a format may know besides the document."""

    handle: str
    exit_code: int = 0
    limits: Limits = Limits()
    command: Command = Command()
    tool: str = "Bash"


class Block(NamedTuple):
    """Lines `first` to `last` (0-based, inclusive) that are shown together or not at all.

    `lines`: what stands in for them, or None for the lines themselves.  `order` sorts blocks of one
    rank.
    """

    first: int
    last: int
    rank: int
    lines: tuple[str, ...] | None = None
    rule: str = "gap"
    order: int = 0


class Layout(NamedTuple):
    """Blocks in order; lines in no block are hidden.   `words`: what the mark at the top
    says, "" for none.
    """

    blocks: list[Block]
    words: str = ""
    digest: Callable[[int, int], str] | None = None  # first, last line -> words for a gap's mark
    target_chars: int = 0  # instead of the request's
    document: Document | None = None  # the one that the blocks speak of, when not the given one


class Segment(NamedTuple):
    """Lines and what stands for them; `lines` None: themselves."""

    first: int
    last: int
    lines: list[str] | None
    rule: str


HEAD_COST = 160  # characters of the verdict and one mark
MARK_COST = 74  # characters of an ordinary gap mark with its line break
RESERVE = 1200  # characters that facts leave to notable lines
SMALL_GAP = 150  # characters; a gap of fewer is shown, since mark and break in reading cost as much
SMALL_GAP_LINES = 4
SHORT_GAP_LINES = 7  # up to here a gap without words has the short mark


def fit(document: Document, layout: Layout, request: Request) -> list[Segment]:
    """The segments of a document: chosen blocks, small gaps, and marks for everything else."""
    limits = request.limits
    if layout.target_chars:
        limits = limits._replace(target_chars=layout.target_chars)
    segments: list[Segment] = []
    at = 0
    for block, is_shown in zip(layout.blocks, _chosen(document, layout.blocks, limits)):
        if not is_shown:
            continue
        first, last, _, lines, rule, _ = block
        if first > at:
            segments += _gap(document, layout, request, at, first - 1)
        segments.append(Segment(first, last, None if lines is None else list(lines), rule))
        at = last + 1
    if at < len(document.lines):
        segments += _gap(document, layout, request, at, len(document.lines) - 1)
    return segments


def cost(document: Document, block: Block) -> int:
    """Characters a block takes when shown, line breaks included."""
    lines: Sequence[str] | None = block.lines
    if lines is None:
        lines = document.lines[block.first : block.last + 1]
    return sum(map(len, lines)) + len(lines)


def _chosen(document: Document, blocks: Sequence[Block], limits: Limits) -> list[bool]:
    """Which blocks are shown: by rank and order, each with the price of the gap it opens."""
    taken = [False] * len(blocks)
    used = HEAD_COST
    most_of = _limits_of_ranks(limits)
    for index in _ordered(blocks):
        block = blocks[index]
        joins_before = index > 0 and taken[index - 1] and blocks[index - 1].last + 1 == block.first
        joins_after = (
            index + 1 < len(blocks)
            and taken[index + 1]
            and blocks[index + 1].first == block.last + 1
        )
        # one mark more where it stands alone, one fewer where it closes a gap
        marks_more = 1 - joins_before - joins_after
        price = cost(document, block) + marks_more * MARK_COST
        if used + price <= most_of[block.rank]:
            taken[index] = True
            used += price
    return taken


def _limits_of_ranks(limits: Limits) -> list[int]:
    """Per rank the characters up to which its blocks are taken."""
    target_chars, max_chars = limits
    most_of = [target_chars] * (Rank.LAST + 1)
    most_of[Rank.MUST] = max_chars
    most_of[Rank.FACT] = max_chars - RESERVE
    most_of[Rank.NOTABLE] = min(max_chars, target_chars + 2 * RESERVE)
    most_of[Rank.LAST] = 0
    return most_of


def _ordered(blocks: Sequence[Block]) -> list[int]:
    """Indexes by rank, then order, then place."""
    groups: dict[tuple[int, int], list[int]] = {}
    for index, block in enumerate(blocks):
        groups.setdefault((block.rank, block.order), []).append(index)
    return [index for key in sorted(groups) for index in groups[key]]


def _gap(
    document: Document, layout: Layout, request: Request, first: int, last: int
) -> list[Segment]:
    """A hidden range as its mark, or the lines themselves when they are no longer than one."""
    lines = last - first + 1
    is_small = lines <= SMALL_GAP_LINES
    if is_small and sum(map(len, document.lines[first : last + 1])) + lines - 1 <= SMALL_GAP:
        return [Segment(first, last, None, "gap")]
    words = layout.digest(first, last) if layout.digest else ""
    raw_first, raw_last = document.span(first, last)
    if words or lines > SHORT_GAP_LINES:
        mark = marks.gap(raw_first, raw_last, words, request.handle)
    else:
        mark = marks.short_gap(raw_first, raw_last, request.handle)
    return [Segment(first, last, [mark], "gap")]
