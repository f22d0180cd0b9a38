"""CI logs (GitHub Actions): job, step and time stamps once, then the lines as any other text."""

from __future__ import annotations

import re

from contextkernel.normalize.document import Page
from contextkernel.normalize.layout import Ask, Plan, Rank, Unit
from contextkernel.normalize.survey import Survey, room_for, unit_of

STAMPED = re.compile(
    r"(?:(?P<job>[^\t\n]+)\t(?P<step>[^\t\n]*)\t)?\ufeff?(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{5,7}Z) "
    r"?(?P<text>.*)$"
)
SHARE = 0.8


def plan(page: Page, ask: Ask) -> Plan | None:
    """The log without its prefixes; None when fewer than eight in ten lines have one."""
    matches = [STAMPED.match(line) for line in page.lines]
    if sum(match is not None for match in matches) < SHARE * sum(
        1 for line in page.lines if line.strip()
    ):
        return None
    texts = [match.group("text") if match else line for match, line in zip(matches, page.lines)]
    first = list(range(len(texts))) if page.first is None else page.first
    last = first if page.last is None else page.last
    bare = Page(texts, page.raw, first, last)
    survey = Survey(texts, bool(ask.exit_code))
    units: list[Unit] = []
    ranks = survey.ranks()
    before: tuple[str, str] = ("", "")
    for index, match in enumerate(matches):
        here = (match.group("job") or "", match.group("step") or "") if match else before
        if here != before and any(here):
            units.append(
                Unit(index, index, Rank.MUST, ("\t".join(here) + ":", texts[index]), "prefix")
            )
            before = here
        elif index in ranks:
            units.append(
                unit_of(
                    bare,
                    index,
                    Rank.FACT
                    if texts[index].startswith(("##[error]", "##[warning]"))
                    else ranks[index],
                )
            )
    return Plan(
        units,
        "CI log, time stamps and job names hoisted",
        survey.digest,
        room_for(bare, survey, ask),
        bare,
    )
