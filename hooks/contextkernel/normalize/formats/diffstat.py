"""git diff --stat: padding squeezed, the bars as the signs they hold; every path and number
stays.
"""

from __future__ import annotations

import re

from contextkernel.normalize.document import Document
from contextkernel.normalize.layout import Block, Layout, Rank, Request

ROW = re.compile(
    r" (?P<path>\S.*?)(?<=\S)\s+\| +(?P<count>\d+|Bin\b.*?)(?: |(?<![+-]))(?P<bar>[+-]*)$"
)
FEWEST = 8
TARGET_CHARS = 20000


def layout(document: Document, request: Request) -> Layout | None:
    """Rows without padding; None for a text that is mostly something else."""
    rows = [ROW.match(line) for line in document.lines]
    if sum(row is not None for row in rows) < max(
        FEWEST, 0.7 * sum(1 for line in document.lines if line.strip())
    ):
        return None
    blocks: list[Block] = []
    for index, row in enumerate(rows):
        if row is None:
            blocks.append(Block(index, index, Rank.MUST))
            continue
        signs = ("+" if "+" in row.group("bar") else "") + ("-" if "-" in row.group("bar") else "")
        blocks.append(
            Block(
                index,
                index,
                Rank.MUST,
                ((f" {row.group('path')} | {row.group('count')} {signs}").rstrip(),),
                "padding",
            )
        )
    return Layout(blocks, "bars of the diffstat shortened to their signs", None, TARGET_CHARS)
