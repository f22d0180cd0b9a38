"""Any text: templates shown by their first lines, everything rare, everything wrong, the head
and the tail.
"""

from __future__ import annotations

from contextkernel.normalize.document import Document
from contextkernel.normalize.layout import Block, Layout, Rank, Request
from contextkernel.normalize.render import LONG
from contextkernel.normalize.survey import COMMON, UNIQUE_MAX_CHARS, Survey, block_of, target_for

PROSE_TOOLS = ("Agent", "Task")
LONG_PROSE = 6000  # characters of a line with blanks that pass in a short text


def layout(document: Document, request: Request) -> Layout:
    """The layout for a text of unknown kind."""
    if request.tool in PROSE_TOOLS:
        return _prose_layout(document, request)
    survey = Survey(document.lines, bool(request.exit_code))
    ranks = survey.ranks()
    long = (
        LONG
        if request.exit_code or sum(map(len, document.lines)) > UNIQUE_MAX_CHARS
        else LONG_PROSE
    )
    blocks = [block_of(document, index, rank, long) for index, rank in sorted(ranks.items())]
    return Layout(blocks, digest=survey.digest, target_chars=target_for(document, survey, request))


def _prose_layout(document: Document, request: Request) -> Layout:
    """An agent's report: only lines that stand there word for word many times are folded."""
    same: dict[str, int] = {}
    ids = [same.setdefault(line, len(same)) for line in document.lines]
    counts = [0] * len(same)
    blocks: list[Block] = []
    for index, template in enumerate(ids):
        counts[template] += 1
        if counts[template] <= COMMON or len(document.lines[index]) < 20:
            blocks.append(Block(index, index, Rank.MUST))
    return Layout(blocks)
