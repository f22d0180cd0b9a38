"""ls -l and ls -R: columns that never change once, names of a plain folder on one line; every
name stays.
"""

from __future__ import annotations

import re
from collections import Counter

from contextkernel.normalize.document import Document
from contextkernel.normalize.layout import Block, Layout, Rank, Request
from contextkernel.normalize.outliers import far_or_rare

ROW = re.compile(
    r"(?P<mode>[-dlcbps][-rwxsStT]{9}[.+@]?)\s+(?P<links>\d+)\s+(?P<owner>\S+)\s+(?P<group>\S+)\s+(?P<size>\d[\d.,]*[KMGTP]?)\s+(?P<date>\w{3}\s+\d+\s+[\d:]{4,5}"
    r"|\d{4}-\d\d-\d\d \d\d:\d\d(?::[\d.]+ [+-]\d{4})?)\s(?P<name>.*)$"
)
HEADER = re.compile(r"(?P<folder>\S.*):$")
TARGET_CHARS = 14000
FEWEST, SHARE = 10, 0.6  # rows; of the lines
LISTERS = re.compile(
    r"(?:ls|ll|la|exa|eza|tree|cd|pushd|popd|pwd|echo|printf|date|true|:|test|\[|export|set"
    r"|sleep|mkdir)$"
)  # commands that print listings, or a line
OWN = re.compile(r"total \d|\S.*:$|(?:ls|exa|eza): ")  # what ls says around its rows
FOREIGN_MAX_LINES, FOREIGN_MAX_CHARS = 12, 1500  # of another command that may stand among them
COLUMNS = ("owner", "group", "date")  # that may be the same on all rows


def layout(document: Document, request: Request) -> Layout | None:
    """Rows shortened to what differs; None for a text that is no listing."""
    lines = document.lines
    rows = {i: match for i, match in enumerate(map(ROW.match, lines)) if match}
    filled = sum(1 for line in lines if line.strip())
    if len(rows) >= FEWEST and len(rows) >= SHARE * filled:
        foreign = [
            line
            for i, line in enumerate(lines)
            if i not in rows and line.strip() and not OWN.match(line)
        ]
        if len(foreign) > FOREIGN_MAX_LINES or sum(map(len, foreign)) > FOREIGN_MAX_CHARS:
            return None
        return _long(document, rows, request)
    programs = [stage[0] for stage in request.command.stages if stage]
    if not any(name.startswith(("ls", "ll", "la", "exa", "eza")) for name in programs) or not all(
        LISTERS.match(name) for name in programs
    ):
        return None  # another command's output may hold lines that look like a folder's name
    headers = [
        i
        for i, line in enumerate(lines)
        if HEADER.match(line)
        and (" " not in line or "/" in line)
        and (i == 0 or not lines[i - 1].strip())
    ]
    return _recursive(document, headers, request) if len(headers) >= 3 else None


def _long(document: Document, rows: dict[int, re.Match[str]], request: Request) -> Layout:
    """ "drwxr-xr-x 4096 docs": links dropped; owner, group and date only where they are not the
    same on all rows.
    """
    matches = list(rows.values())
    same = {key for key in COLUMNS if len({match.group(key) for match in matches}) == 1}
    usual = _usual([match.group("mode") for match in matches])
    numbers = list(rows)
    linked = {numbers[i] for i in far_or_rare([match.group("links") for match in matches])}
    blocks: list[Block] = []
    for index, line in enumerate(document.lines):
        row = rows.get(index)
        if row is None:
            is_blank = not line.strip()
            is_dropped = is_blank and request.exit_code == 0
            blocks.append(
                Block(index, index, Rank.MUST, () if is_dropped else None, "listing", is_blank - 1)
            )
        elif row.group("name") in (".", ".."):
            blocks.append(Block(index, index, Rank.MUST, (), "listing"))
        else:
            words = " ".join(_words(row, usual, same, index in linked))
            blocks.append(Block(index, index, Rank.MUST, (words,), "listing"))
    first = matches[0]
    constant = ", ".join(f"{key} {first.group(key)}" for key in COLUMNS if key in same)
    words = f"listing; not shown: link counts, mode {usual}"
    words += f", on all rows {constant}" if constant else ""
    return Layout(blocks, words, None, 0 if request.exit_code else TARGET_CHARS)


def _words(row: re.Match[str], usual: str, same: set[str], has_odd_links: bool) -> list[str]:
    """What a row shows: its size and name, and whatever is not as usual."""
    mode = row.group("mode")
    words = [] if mode == usual else [mode]
    words += [row.group(key) for key in ("owner", "group") if key not in same]
    words.append(row.group("size"))
    if has_odd_links:
        words.append("links=" + row.group("links"))
    if "date" not in same:
        words.append(" ".join(row.group("date").split()))
    return words + [row.group("name")]


def _usual(modes: list[str]) -> str:
    """The mode of most plain files; a folder's or a link's is always shown."""
    plain = Counter(mode for mode in modes if mode.startswith("-"))
    return max(sorted(plain), key=lambda mode: plain[mode]) if plain else "-"


def _recursive(document: Document, headers: list[int], request: Request) -> Layout:
    """ "./src: a.py  b.py" for every folder of ls -R."""
    blocks: list[Block] = [Block(i, i, Rank.MUST) for i in range(headers[0])]
    for start, end in zip(headers, headers[1:] + [len(document.lines)]):
        names = [line for line in document.lines[start + 1 : end] if line.strip()]
        blocks.append(
            Block(
                start,
                end - 1,
                Rank.MUST,
                (document.lines[start] + " " + "  ".join(names),),
                "hoist",
            )
        )
    return Layout(
        blocks,
        "a folder is one line, names apart by two blanks",
        None,
        0 if request.exit_code else TARGET_CHARS,
    )
