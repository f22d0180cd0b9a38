"""git status: no path is left out; from 120 paths on, the names of a folder share a line.

A text that holds more than a few lines of another command is left to the formats that know those
lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

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
RENAME = " -> "
MANY = 120  # paths
MANY_LINES = 400
FEWEST_GROUPED = 3  # paths of one code; no more of them are not grouped
TARGET_CHARS = 14000
FAILURE_TARGET_CHARS = 7500  # of paths, when the client cuts at 10,000
FOREIGN_MAX_LINES, FOREIGN_MAX_CHARS = 12, 1500  # of another command that may stand among them
WIDER_MAX_CHARS = 4000  # such characters on success; then also one line for four paths


def layout(document: Document, request: Request) -> Layout | None:
    """Runs of one status code grouped by folder; lines as they are when there are few paths."""
    lines = document.lines
    rows = _rows(lines)
    foreign = {
        i
        for i, line in enumerate(lines)
        if rows[i] is None and line.strip() and not OWN.match(line)
    }
    paths = sum(row is not None for row in rows)
    max_lines, max_chars = FOREIGN_MAX_LINES, FOREIGN_MAX_CHARS
    if not request.exit_code:
        max_lines, max_chars = max(FOREIGN_MAX_LINES, paths // 4), WIDER_MAX_CHARS
    if len(foreign) > max_lines or sum(len(lines[i]) for i in foreign) > max_chars:
        return None
    target_chars = FAILURE_TARGET_CHARS if request.exit_code else TARGET_CHARS
    is_grouped = paths > MANY
    survey = Survey(lines, bool(request.exit_code))
    ranks = survey.ranks()
    blocks: list[Block] = []
    for start, run in _runs(rows):
        if not run:
            blocks += _single(document, start, rows, start in foreign, ranks.get(start))
        elif is_grouped and len(run) > FEWEST_GROUPED:
            blocks.append(_group(start, run, target_chars, request.handle))
        else:
            blocks += [Block(i, i, Rank.MUST) for i in range(start, start + len(run))]
    is_cut = any("[ck: " in line for block in blocks for line in block.lines or ())
    words = "paths grouped by folder" + ("" if is_cut else ", none left out")
    return Layout(blocks, words if is_grouped else "", survey.digest, TARGET_CHARS + 4000)


def _runs(rows: list[re.Match[str] | None]) -> Iterator[tuple[int, list[re.Match[str]]]]:
    """(its first line, its rows) for each run of paths with one status code; no rows for a line
    that is none, or a rename.
    """
    start = 0
    while start < len(rows):
        row, end = rows[start], start + 1
        if row is None or RENAME in row.group("path"):
            yield start, []
        else:
            run = [row]
            while end < len(rows):
                following = rows[end]
                if not following or following.group("code") != row.group("code"):
                    break
                if RENAME in following.group("path"):
                    break
                run.append(following)
                end += 1
            yield start, run
        start = end


def _single(
    document: Document,
    index: int,
    rows: list[re.Match[str] | None],
    is_foreign: bool,
    rank: int | None,
) -> list[Block]:
    """A line that stands for itself; what git says around very many paths is ranked."""
    if rows[index] or len(rows) < MANY_LINES:
        return [Block(index, index, Rank.MUST, order=-is_foreign)]
    if is_foreign:
        return [block_of(document, index, Rank.MUST)._replace(order=-1)]
    return [] if rank is None else [block_of(document, index, rank)]


def _group(start: int, run: list[re.Match[str]], target_chars: int, handle: str) -> Block:
    """A run as its folders, each line with the status code."""
    code = run[0].group("code").rstrip("\n")
    lead = code if code.endswith((" ", "\t")) else code + " "
    lines = folders([row.group("path") for row in run], target_chars, handle)
    end = start + len(run) - 1
    return Block(start, end, Rank.MUST, tuple(lead + line for line in lines), "hoist")


def _rows(lines: list[str]) -> list[re.Match[str] | None]:
    """Per line its match as a path.  A line after a tab is one only in a section: below a line
    that ends in a colon.
    """
    rows: list[re.Match[str] | None] = []
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
