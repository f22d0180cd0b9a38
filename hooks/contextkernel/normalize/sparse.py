"""Very many lines that are next to empty: the ends, and the few that hold something."""

from __future__ import annotations

from contextkernel.normalize.document import Document
from contextkernel.normalize.layout import Layout, Rank, Request
from contextkernel.normalize.survey import HEAD, TAIL, Survey, block_of

EMPTY = 3  # characters; lines of no more are shown at the ends only


def layout(document: Document, request: Request) -> Layout:
    """The layout of a document whose lines would each cost more work than they hold characters."""
    held = [index for index, line in enumerate(document.lines) if len(line) > EMPTY]
    ranks: dict[int, int] = {
        held[at]: rank
        for at, rank in Survey([document.lines[index] for index in held], bool(request.exit_code))
        .ranks()
        .items()
    }
    for index in list(range(HEAD)) + list(range(len(document.lines) - TAIL, len(document.lines))):
        ranks[index] = min(Rank.FACT, ranks.get(index, Rank.FACT))
    return Layout([block_of(document, index, rank) for index, rank in sorted(ranks.items())])
