"""git status: no path is left out; from 120 paths on, the names of a folder share a line."""
from __future__ import annotations

import re
from typing import List, Optional

from contextkernel.normalize.page import Page
from contextkernel.normalize.paths import folders
from contextkernel.normalize.plain import Survey, unit_of
from contextkernel.normalize.plan import MUST, Ask, Plan, Unit

SHORT = re.compile(r"(?P<code>[ MADRCUT?!][ MADRCUT?!]) (?P<path>\S.*)$")
LONG = re.compile(r"(?P<code>\t(?:modified|deleted|new file|renamed|both modified|added by us|deleted by them|typechange):\s+|\t)(?P<path>\S.*)$")
MANY = 120
ROOM = 14000


def plan(page: Page, ask: Ask) -> Optional[Plan]:
    """Runs of one status code grouped by folder; lines as they are when there are few paths."""
    rows = [SHORT.match(line) or LONG.match(line) for line in page.lines]
    many = sum(row is not None for row in rows) > MANY
    survey = Survey(page.lines, bool(ask.exit_code))
    ranks = survey.ranks()
    units: List[Unit] = []
    start = 0
    while start < len(rows):
        row, end = rows[start], start
        if row is None or " -> " in row.group("path"):
            if row or len(rows) < 400:
                units.append(Unit(start, start, MUST))
            elif start in ranks:
                units.append(unit_of(page, start, ranks[start]))
            start += 1
            continue
        while end + 1 < len(rows) and rows[end + 1] and rows[end + 1].group("code") == row.group("code") and " -> " not in rows[end + 1].group("path"):
            end += 1
        if many and end - start >= 3:
            code = row.group("code").rstrip("\n")
            lines = folders([match.group("path") for match in rows[start:end + 1]], ROOM, ask.handle)
            units.append(Unit(start, end, MUST, tuple(code + (" " if not code.endswith((" ", "\t")) else "") + line for line in lines), "hoist"))
        else:
            units += [Unit(i, i, MUST) for i in range(start, end + 1)]
        start = end + 1
    return Plan(units, "paths grouped by folder, none left out" if many else "", survey.digest, ROOM + 4000)
