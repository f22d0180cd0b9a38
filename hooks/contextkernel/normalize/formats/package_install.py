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
AFTER_NAME = re.compile(r"[\s(:=<>~!/\[]")
FEWEST = 12
FEWEST_OF_PHASE = 4  # rows of one phase, fewer are shown


def layout(document: Document, request: Request) -> Layout | None:
    """Folds phases that only repeat a package named elsewhere; None when there are few such
    lines.
    """
    rows = {i: row for i, row in enumerate(map(PHASES.match, document.lines)) if row}
    quiet = {i: _phase(row) for i, row in rows.items() if _only_repeats(row)}
    counts = Counter(quiet.values())
    quiet = {i: phase for i, phase in quiet.items() if counts[phase] >= FEWEST_OF_PHASE}
    if not quiet or len(rows) < FEWEST:
        return None
    survey = Survey(document.lines, bool(request.exit_code))
    ranks = survey.ranks()
    named = {
        _package(row.group("rest"))
        for row in rows.values()
        if not row.group("phase").startswith(QUIET)
    }
    blocks: list[Block] = []
    is_folded = False
    for index, line in enumerate(document.lines):
        if index in quiet and severity(line) == CALM and _is_told(rows[index], named):
            blocks.append(Block(index, index, Rank.MUST, (), "phase"))
            is_folded = True
        elif index in ranks:
            blocks.append(block_of(document, index, ranks[index]))
    if not is_folded:
        return None
    return Layout(blocks, "download and unpack lines folded", survey.digest)


def _is_told(row: re.Match[str], named: set[str]) -> bool:
    """Whether nothing is lost without a row of a quiet phase: its package has a line elsewhere."""
    return row.group("phase").strip() != "Conf" or _package(row.group("rest")) in named


def _only_repeats(row: re.Match[str]) -> bool:
    """Whether a line is a quiet phase followed by a package, an archive or an address, and by
    nothing else.
    """
    if not row.group("phase").startswith(QUIET):
        return False
    phase = row.group("phase").strip()
    form = next(form for start, form in FORMS if phase.startswith(start))
    return form.match(row.group("rest")) is not None


def _phase(row: re.Match[str]) -> str:
    phase: str = row.group("phase")
    return phase.strip().split(":")[0]


def _package(rest: str) -> str:
    return AFTER_NAME.split(rest.strip(), maxsplit=1)[0]
