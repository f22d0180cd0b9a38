"""git status: no path is left out; from 120 paths on, the names of a folder share a line.

A text that holds more than a few lines of another command is left to the formats that know those
lines.
"""

from __future__ import annotations

import re

from contextkernel.normalize.document import Document
from contextkernel.normalize.formats.path_list import folders
from contextkernel.normalize.layout import Block, Layout, Rank, Request
from contextkernel.normalize.survey import Survey, block_of

SHORT = re.compile(r"(?!  )(?P<code>[ MADRCUT?!][ MADRCUT?!]) (?P<path>\S.*)$")
LONG = re.compile(
    r"(?P<code>\t(?:modified|deleted|new file|renamed|both modified|added by us|deleted by "
    r"them|typechange):\s+|\t)(?P<path>(?!at |\.\.\. \d)\S.*)$"
)
OWN = re.compile(  # what git says around the paths
    r"## |# branch\.|# stash |[12u] [.MTADRCU]{2} [NS]|[?!] \S|  \(|On branch |HEAD detached |Not "
    r"currently on |Your branch |and have \d+ and \d+ different |No commits yet|Initial commit"
    r"|nothing |"
    r"no changes added |Changes |Untracked files|Ignored files|Unmerged paths|Submodules? |You "
    r"(?:are|have|can) |All conflicts |It took \d|Your stash |interactive rebase |"
    r"Last commands? |Next commands? |No commands |   (?:pick|p|reword|edit|squash|fixup|exec"
    r"|drop) |warning: |hint: "
)
MANY = 120
TARGET_CHARS = 14000
FAILURE_TARGET_CHARS = 7500  # characters of paths when the client cuts at 10,000
FOREIGN_MAX_LINES, FOREIGN_MAX_CHARS = (
    12,
    1500,
)  # lines and characters of another command that may stand among them
WIDER_MAX_CHARS = 4000  # such characters on success; then also one line for four paths


def layout(document: Document, request: Request) -> Layout | None:
    """Runs of one status code grouped by folder; lines as they are when there are few paths."""
    rows = _rows(document.lines)
    foreign = {
        i
        for i, line in enumerate(document.lines)
        if rows[i] is None and line.strip() and not OWN.match(line)
    }
    most = (
        FOREIGN_MAX_LINES
        if request.exit_code
        else max(FOREIGN_MAX_LINES, sum(row is not None for row in rows) // 4)
    )
    if len(foreign) > most or sum(len(document.lines[i]) for i in foreign) > (
        FOREIGN_MAX_CHARS if request.exit_code else WIDER_MAX_CHARS
    ):
        return None
    target_chars = FAILURE_TARGET_CHARS if request.exit_code else TARGET_CHARS
    many = sum(row is not None for row in rows) > MANY
    survey = Survey(document.lines, bool(request.exit_code))
    ranks = survey.ranks()
    blocks: list[Block] = []
    start = 0
    while start < len(rows):
        row, end = rows[start], start
        if row is None or " -> " in row.group("path"):
            if row or len(rows) < 400:
                blocks.append(Block(start, start, Rank.MUST, order=-(start in foreign)))
            elif start in foreign:
                blocks.append(block_of(document, start, Rank.MUST)._replace(order=-1))
            elif start in ranks:
                blocks.append(block_of(document, start, ranks[start]))
            start += 1
            continue
        while (
            end + 1 < len(rows)
            and rows[end + 1]
            and rows[end + 1].group("code") == row.group("code")
            and " -> " not in rows[end + 1].group("path")
        ):
            end += 1
        if many and end - start >= 3:
            code = row.group("code").rstrip("\n")
            lines = folders(
                [match.group("path") for match in rows[start : end + 1]],
                target_chars,
                request.handle,
            )
            blocks.append(
                Block(
                    start,
                    end,
                    Rank.MUST,
                    tuple(
                        code + (" " if not code.endswith((" ", "\t")) else "") + line
                        for line in lines
                    ),
                    "hoist",
                )
            )
        else:
            blocks += [Block(i, i, Rank.MUST) for i in range(start, end + 1)]
        start = end + 1
    cut = any("[ck: " in line for block in blocks for line in block.lines or ())
    return Layout(
        blocks,
        "paths grouped by folder" + ", none left out" * (not cut) if many else "",
        survey.digest,
        TARGET_CHARS + 4000,
    )


def _rows(lines: list[str]) -> list[re.Match | None]:
    """Per line its match as a path.  A line after a tab is one only in a section: below a line
    that ends in a colon.
    """
    rows: list[re.Match | None] = []
    section = False
    for line in lines:
        row = SHORT.match(line) or (LONG.match(line) if section else None)
        section = (
            section
            and (row is not None or not line.strip() or line.startswith("  ("))
            or line.endswith(":")
            and not line[:1].isspace()
        )
        rows.append(row)
    return rows
