"""Package managers: what was installed and what went wrong; repeats of a package's name in another phase are folded."""
from __future__ import annotations

import re
from typing import Dict, List, Optional

from contextkernel.normalize.page import Page
from contextkernel.normalize.plain import Survey, unit_of
from contextkernel.normalize.plan import FACT, LISTED, MUST, NOTABLE, Ask, Plan, Unit
from contextkernel.normalize.severity import CALM, severity

PHASES = re.compile(
    r"(?P<phase>Inst|Conf|Selecting previously unselected package|Preparing to unpack|Unpacking|Get:\d+|Hit:\d+|Ign:\d+|Collecting|  Downloading|  Using cached|"
    r"Requirement already satisfied:|Downloading|Downloaded|\s+Downloaded|\s+Compiling|\s+Fresh|\s+Adding|\s+Locking|Progress:|Fetching|Installing|Pulling|[0-9a-f]{12}: )(?=[\s:]|$)\s*(?P<rest>.*)$")
QUIET = ("Conf", "Selecting previously unselected package", "Preparing to unpack", "Unpacking", "Hit", "  Downloading", "  Using cached", "Downloading", "Fetching")
FEWEST = 12


def plan(page: Page, ask: Ask) -> Optional[Plan]:
    """Folds phases that only repeat a package named elsewhere; None when there are few such lines."""
    phases = [PHASES.match(line) for line in page.lines]
    if sum(match is not None for match in phases) < FEWEST:
        return None
    survey = Survey(page.lines, bool(ask.exit_code))
    ranks = survey.ranks()
    named: Dict[str, int] = {}
    for match in phases:
        if match and not match.group("phase").startswith(QUIET):
            named[_package(match.group("rest"))] = 1
    units: List[Unit] = []
    for index, match in enumerate(phases):
        line = page.lines[index]
        if match and match.group("phase").startswith(QUIET) and severity(line) == CALM and (
                _package(match.group("rest")) in named or match.group("phase").strip() != "Conf"):
            units.append(Unit(index, index, MUST, (), "phase"))
        elif index in ranks:
            units.append(unit_of(page, index, ranks[index]))
    if len(units) - sum(unit.lines == () for unit in units) == len(units):
        return None
    return Plan(units, "download and unpack lines folded", survey.digest)


def _package(rest: str) -> str:
    return re.split(r"[\s(:=<>~!/\[]", rest.strip(), maxsplit=1)[0]
