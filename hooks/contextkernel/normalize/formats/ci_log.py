"""CI logs (GitHub Actions): job, step and time stamps once, then the lines as any other text."""

from __future__ import annotations

import re

from contextkernel.normalize.document import Document
from contextkernel.normalize.layout import Block, Layout, Rank, Request
from contextkernel.normalize.survey import Survey, block_of, target_for

STAMPED = re.compile(
    r"(?:(?P<job>[^\t\n]+)\t(?P<step>[^\t\n]*)\t)?"
    r"\ufeff?(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{5,7}Z) ?(?P<text>.*)$"
)
SHARE = 0.8


def layout(document: Document, request: Request) -> Layout | None:
    """The log without its prefixes; None when fewer than eight in ten lines have one."""
    matches = [STAMPED.match(line) for line in document.lines]
    if sum(match is not None for match in matches) < SHARE * sum(
        1 for line in document.lines if line.strip()
    ):
        return None
    texts = [match.group("text") if match else line for match, line in zip(matches, document.lines)]
    first = list(range(len(texts))) if document.first is None else document.first
    last = first if document.last is None else document.last
    bare = Document(texts, document.raw, first, last)
    survey = Survey(texts, bool(request.exit_code))
    blocks: list[Block] = []
    ranks = survey.ranks()
    before: tuple[str, str] = ("", "")
    for index, match in enumerate(matches):
        here = (match.group("job") or "", match.group("step") or "") if match else before
        if here != before and any(here):
            heading = "\t".join(here) + ":"
            blocks.append(Block(index, index, Rank.MUST, (heading, texts[index]), "prefix"))
            before = here
        elif index in ranks:
            is_annotation = texts[index].startswith(("##[error]", "##[warning]"))
            blocks.append(block_of(bare, index, Rank.FACT if is_annotation else ranks[index]))
    return Layout(
        blocks,
        "CI log, time stamps and job names hoisted",
        survey.digest,
        target_for(bare, survey, request),
        bare,
    )
