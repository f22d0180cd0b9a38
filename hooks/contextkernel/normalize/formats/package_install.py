"""Package managers: what was installed and what went wrong; repeats of a package's name in
another phase are folded.
"""

from __future__ import annotations

import re
from collections import Counter

from contextkernel.normalize.document import Document
from contextkernel.normalize.layout import Block, Layout, Rank, Request
from contextkernel.normalize.severity import CALM, severity
from contextkernel.normalize.survey import Survey, block_of

PHASES = re.compile(
    r"(?P<phase>Inst|Conf|Selecting previously unselected package|Preparing to unpack|Unpacking"
    r"|Get:\d+|Hit:\d+|Ign:\d+|Collecting|  Downloading|  Using cached|"
    r"Requirement already satisfied:|Downloading|Downloaded|\s+Downloaded|\s+Compiling|\s+Fresh"
    r"|\s+Adding|\s+Locking|Progress:|Fetching|Installing|Pulling|[0-9a-f]{12}: )(?=[\s:]"
    r"|$)\s*(?P<rest>.*)$"
)
QUIET = (
    "Conf",
    "Selecting previously unselected package",
    "Preparing to unpack",
    "Unpacking",
    "Hit",
    "  Downloading",
    "  Using cached",
    "Downloading",
    "Fetching",
)
_SIZE = r"(?: \([\d.,]+ ?[kKMGT]?i?B(?:ytes)?\))?"
_ARCHIVE = r"\S+\.(?:whl|tar\.\w+|tgz|zip|gem|deb|rpm|jar|pom|crate|egg|conda|metadata)"
_PACKAGE = r"[@\w][\w.+/@:-]* (?:v?\d+\.\d[\w.+~:-]*|\(v?\d[^()]*\))"
_FETCHED = re.compile(
    rf"(?:from \S+: )?(?:https?://\S+|{_ARCHIVE}|{_PACKAGE}){_SIZE}(?: \.\.\.)?\s*$"
)
# phase -> what must follow it: a script that says "Downloading" says something else behind it
FORMS = (
    ("Conf", re.compile(r"[\w.+:-]+ \(\S+ .*\)$")),
    ("Selecting", re.compile(r"[\w.+:-]+\.$")),
    ("Preparing", re.compile(r"\S+\.deb (?:\.\.\.|…)$")),
    ("Unpacking", re.compile(r"[\w.+:-]+ (?:\(\S+\) )?(?:over \(\S+\) )?(?:\.\.\.|…)$")),
    ("Hit", re.compile(r"(?:https?|ftp|file|cdrom|copy|mirror[^\s:]*):\S* \S")),
    ("", _FETCHED),
)
FEWEST = 12
FEWEST_OF_PHASE = 4  # rows of one phase, fewer are shown


def layout(document: Document, request: Request) -> Layout | None:
    """Folds phases that only repeat a package named elsewhere; None when there are few such
    lines.
    """
    phases = [PHASES.match(line) for line in document.lines]
    quiet = {i for i, match in enumerate(phases) if match and _only_repeats(match)}
    counts = Counter(_phase(phases[i]) for i in quiet)
    quiet = {i for i in quiet if counts[_phase(phases[i])] >= FEWEST_OF_PHASE}
    if not quiet or sum(match is not None for match in phases) < FEWEST:
        return None
    survey = Survey(document.lines, bool(request.exit_code))
    ranks = survey.ranks()
    named: dict[str, int] = {}
    for match in phases:
        if match and not match.group("phase").startswith(QUIET):
            named[_package(match.group("rest"))] = 1
    blocks: list[Block] = []
    for index, match in enumerate(phases):
        line = document.lines[index]
        if (
            index in quiet
            and severity(line) == CALM
            and (_package(match.group("rest")) in named or match.group("phase").strip() != "Conf")
        ):
            blocks.append(Block(index, index, Rank.MUST, (), "phase"))
        elif index in ranks:
            blocks.append(block_of(document, index, ranks[index]))
    if not any(block.lines == () for block in blocks):
        return None
    return Layout(blocks, "download and unpack lines folded", survey.digest)


def _only_repeats(match: re.Match) -> bool:
    """Whether a line is a quiet phase followed by a package, an archive or an address, and by
    nothing else.
    """
    phase = match.group("phase").strip()
    return (
        match.group("phase").startswith(QUIET)
        and next(form for start, form in FORMS if phase.startswith(start)).match(
            match.group("rest")
        )
        is not None
    )


def _phase(match: re.Match) -> str:
    return match.group("phase").strip().split(":")[0]


def _package(rest: str) -> str:
    return re.split(r"[\s(:=<>~!/\[]", rest.strip(), maxsplit=1)[0]
