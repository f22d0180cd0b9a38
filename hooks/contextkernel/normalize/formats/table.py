"""Tables padded with blanks: padding is squeezed, rows of one kind are collapsed, every unusual
row stays.
"""

from __future__ import annotations

import re

from contextkernel.normalize.document import Document
from contextkernel.normalize.layout import Block, Layout, Rank, Request
from contextkernel.normalize.outliers import far_or_rare
from contextkernel.normalize.severity import FAULT, severity
from contextkernel.normalize.survey import Survey, target_for

GAP = re.compile(r"\s{2,}|\t| \| | \|$|^\| ")
PADDING = re.compile(r"(?<=\S) {3,}(?=\S)")
FEWEST, SHARE = 8, 0.9  # rows; share of the lines with as many fields as the header
FEW = 8  # distinct values of a column that names categories
HEAD_ROWS, TAIL_ROWS = 4, 2
WHOLE_MAX_CHARS = 3600  # characters; a squeezed table up to this size stays whole


def layout(document: Document, request: Request) -> Layout | None:
    """Rows as blocks; None when rows do not have the header's number of fields (an empty cell
    would be lost).
    """
    lines = document.lines
    if all(
        any(char.isdigit() for char in line)
        for line in [line for line in lines[:12] if line.strip()][:3]
    ):
        return None  # no header: a log, more likely
    counts: dict[int, int] = {}
    fields = [GAP.split(line.strip()) if line.strip() else [] for line in lines]
    for row in fields:
        counts[len(row)] = counts.get(len(row), 0) + 1
    width = max(
        (count for count in counts if count >= 2), key=lambda count: counts[count], default=0
    )
    rows = [i for i, row in enumerate(fields) if len(row) == width]
    if len(rows) < FEWEST or len(rows) < SHARE * sum(1 for row in fields if row):
        return None
    header = fields[rows[0]]
    if any(char.isdigit() for field in header for char in field) or rows[0] > 6:
        return None  # rows without a header: a log, more likely
    squeezed = [PADDING.sub("  ", line) if i else line for i, line in enumerate(lines)]
    squeezed[0] = PADDING.sub("  ", lines[0])
    total = sum(map(len, squeezed)) + len(squeezed)
    ranks = _ranks(lines, fields, rows, total <= WHOLE_MAX_CHARS)
    blocks = [
        Block(i, i, rank, None if squeezed[i] == lines[i] else (squeezed[i],), "padding")
        for i, rank in sorted(ranks.items())
    ]
    survey = Survey(lines, bool(request.exit_code))
    return Layout(
        blocks,
        "table, padding squeezed",
        survey.digest,
        0 if request.exit_code else target_for(document, survey, request),
    )


def _ranks(
    lines: list[str], fields: list[list[str]], rows: list[int], whole: bool
) -> dict[int, int]:
    inside = set(rows)
    ranks: dict[int, int] = {}
    for index, line in enumerate(lines):
        if index not in inside:
            ranks[index] = Rank.MUST if line.strip() else Rank.PLAIN
        elif whole or index in rows[:HEAD_ROWS] or index in rows[-TAIL_ROWS:]:
            ranks[index] = Rank.MUST
    columns = list(zip(*[fields[i] for i in rows[1:]]))
    often = 0
    for cells in columns:
        for position in far_or_rare(list(cells)):
            ranks[rows[1 + position]] = min(
                Rank.NOTABLE, ranks.get(rows[1 + position], Rank.NOTABLE)
            )
        often += len(set(cells)) <= FEW
    levels = [severity(lines[i]) for i in rows]
    if levels.count(FAULT) <= max(8, len(rows) // 4):
        for index, level in zip(rows, levels):
            if level == FAULT:
                ranks[index] = min(Rank.FACT, ranks.get(index, Rank.FACT))
    survey = Survey([lines[i] for i in rows])
    for position, rank in survey.ranks().items():
        ranks.setdefault(rows[position], min(rank, Rank.RARE) if rank <= Rank.RARE else rank)
    return ranks
