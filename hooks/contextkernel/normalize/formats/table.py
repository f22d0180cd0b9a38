"""Tables padded with blanks: padding is squeezed, rows of one kind are collapsed, every unusual
row stays.
"""

from __future__ import annotations

import re
from collections import Counter

from contextkernel.normalize.document import Document
from contextkernel.normalize.layout import Block, Layout, Rank, Request
from contextkernel.normalize.outliers import far_or_rare
from contextkernel.normalize.severity import FAULT, severity
from contextkernel.normalize.survey import Survey, target_for

GAP = re.compile(r"\s{2,}|\t| \| | \|$|^\| ")
PADDING = re.compile(r"(?<=\S) {3,}(?=\S)")
FEWEST, SHARE = 8, 0.9  # rows; share of the lines with as many fields as the header
HEADER_WITHIN, HEADER_BEFORE = 12, 6  # lines that are looked through for a header; its last place
FAULTY = 8  # rows with a word of fault; more of them say nothing
HEAD_ROWS, TAIL_ROWS = 4, 2
WHOLE_MAX_CHARS = 3600  # a squeezed table up to this size stays whole


def layout(document: Document, request: Request) -> Layout | None:
    """Rows as blocks; None when rows do not have the header's number of fields (an empty cell
    would be lost).
    """
    lines = document.lines
    first_filled = [line for line in lines[:HEADER_WITHIN] if line.strip()][:3]
    if all(_has_digit(line) for line in first_filled):
        return None  # no header: a log, more likely
    fields = [GAP.split(line.strip()) if line.strip() else [] for line in lines]
    rows = _rows(fields)
    if len(rows) < FEWEST or len(rows) < SHARE * sum(1 for row in fields if row):
        return None
    if rows[0] > HEADER_BEFORE or any(map(_has_digit, fields[rows[0]])):
        return None  # rows without a header: a log, more likely
    squeezed = [PADDING.sub("  ", line) for line in lines]
    is_whole = sum(map(len, squeezed)) + len(squeezed) <= WHOLE_MAX_CHARS
    blocks = [
        Block(i, i, rank, None if squeezed[i] == lines[i] else (squeezed[i],), "padding")
        for i, rank in sorted(_ranks(lines, fields, rows, is_whole).items())
    ]
    survey = Survey(lines, bool(request.exit_code))
    target_chars = 0 if request.exit_code else target_for(document, survey, request)
    return Layout(blocks, "table, padding squeezed", survey.digest, target_chars)


def _rows(fields: list[list[str]]) -> list[int]:
    """The lines that have the most frequent number of fields, two at least."""
    counts = Counter(map(len, fields))
    width = max((width for width in counts if width >= 2), key=counts.__getitem__, default=0)
    return [i for i, row in enumerate(fields) if len(row) == width]


def _ranks(
    lines: list[str], fields: list[list[str]], rows: list[int], is_whole: bool
) -> dict[int, int]:
    """Everything around the rows, the ends and the header; then what is unlike the others."""
    ranks: dict[int, int] = {}
    inside = set(rows)
    for index, line in enumerate(lines):
        if index not in inside:
            ranks[index] = Rank.MUST if line.strip() else Rank.PLAIN
    for index in rows if is_whole else rows[:HEAD_ROWS] + rows[-TAIL_ROWS:]:
        ranks[index] = Rank.MUST
    for cells in zip(*[fields[i] for i in rows[1:]]):
        for position in far_or_rare(list(cells)):
            _lower(ranks, rows[1 + position], Rank.NOTABLE)
    faulty = [i for i in rows if severity(lines[i]) == FAULT]
    if len(faulty) <= max(FAULTY, len(rows) // 4):
        for index in faulty:
            _lower(ranks, index, Rank.FACT)
    survey = Survey([lines[i] for i in rows])
    for position, rank in survey.ranks().items():
        ranks.setdefault(rows[position], rank)
    return ranks


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def _lower(ranks: dict[int, int], index: int, rank: int) -> None:
    ranks[index] = min(rank, ranks.get(index, rank))
