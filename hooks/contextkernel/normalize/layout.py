"""The layout for an output: blocks with ranks, and the choice of those that fit the room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from contextkernel import marks
from contextkernel.normalize.commands import Command
from contextkernel.normalize.document import Document


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


class Ask(NamedTuple):
    """What a format may know besides the document."""

    handle: str
    exit_code: int = 0
    room: int = 6500  # characters to aim at
    hard: int = 29500  # characters never to reach
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
    digest: object = None  # callable (first, last line) -> words for a gap's mark
    room: int = 0  # overrides Ask.room
    document: Document | None = None  # the one that the blocks speak of, when not the given one


class Segment(NamedTuple):
    """Lines and what stands for them; `lines` None: themselves."""

    first: int
    last: int
    lines: list[str] | None
    rule: str


MARK_COST = 74  # characters of an ordinary gap mark with its line break
RESERVE = 1200  # characters that facts leave to notable lines
SMALL_GAP = 150  # characters; a gap of fewer is shown, since mark and break in reading cost as much


def fit(document: Document, layout: Layout, ask: Ask) -> list[Segment]:
    """The segments of a document: chosen blocks, small gaps, and marks for everything else."""
    blocks = layout.blocks
    chosen = _chosen(document, blocks, layout.room or ask.room, ask.hard)
    segments: list[Segment] = []
    at = 0
    for block, taken in zip(blocks, chosen):
        if not taken:
            continue
        if block.first > at:
            segments += _gap(document, layout, ask, at, block.first - 1)
        segments.append(
            Segment(
                block.first,
                block.last,
                None if block.lines is None else list(block.lines),
                block.rule,
            )
        )
        at = block.last + 1
    if at < len(document.lines):
        segments += _gap(document, layout, ask, at, len(document.lines) - 1)
    return segments


def cost(document: Document, block: Block) -> int:
    """Characters a block takes when shown, line breaks included."""
    if block.lines is not None:
        return sum(map(len, block.lines)) + len(block.lines)
    return (
        sum(map(len, document.lines[block.first : block.last + 1])) + block.last - block.first + 1
    )


def _chosen(document: Document, blocks: Sequence[Block], room: int, hard: int) -> list[bool]:
    """Which blocks are shown: by rank and order, each with the price of the gap it opens."""
    taken = [False] * len(blocks)
    used = 160  # the verdict and one mark
    limits = {
        Rank.MUST: hard,
        Rank.FACT: hard - RESERVE,
        Rank.NOTABLE: min(hard, room + 2 * RESERVE),
        Rank.LAST: 0,
    }
    limits = [limits.get(rank, room) for rank in range(Rank.LAST + 1)]
    for index in _ordered(blocks):
        block = blocks[index]
        near = index > 0 and taken[index - 1] and blocks[index - 1].last + 1 == block.first
        near_after = (
            index + 1 < len(blocks)
            and taken[index + 1]
            and blocks[index + 1].first == block.last + 1
        )
        price = cost(document, block) + (
            -MARK_COST if near and near_after else 0 if near or near_after else MARK_COST
        )
        limit = limits[block.rank]
        if used + price <= limit:
            taken[index] = True
            used += price
    return taken


def _ordered(blocks: Sequence[Block]) -> list[int]:
    """Indexes by rank, then order, then place."""
    groups: dict[tuple[int, int], list[int]] = {}
    for index, block in enumerate(blocks):
        groups.setdefault((block.rank, block.order), []).append(index)
    return [index for key in sorted(groups) for index in groups[key]]


def _gap(document: Document, layout: Layout, ask: Ask, first: int, last: int) -> list[Segment]:
    """A hidden range as its mark, or the lines themselves when they are no longer than one."""
    if (
        last - first < 4
        and sum(map(len, document.lines[first : last + 1])) + last - first <= SMALL_GAP
    ):
        return [Segment(first, last, None, "gap")]
    words = layout.digest(first, last) if callable(layout.digest) else ""
    raw_first, raw_last = document.span(first, last)
    mark = (
        marks.gap(raw_first, raw_last, words, ask.handle)
        if last - first >= 7 or words
        else marks.short_gap(raw_first, raw_last, ask.handle)
    )
    return [Segment(first, last, [mark], "gap")]
