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
FEWEST = 10
LISTERS = re.compile(
    r"(?:ls|ll|la|exa|eza|tree|cd|pushd|popd|pwd|echo|printf|date|true|:|test|\[|export|set"
    r"|sleep|mkdir)$"
)  # commands that print listings, or a line
OWN = re.compile(r"total \d|\S.*:$|(?:ls|exa|eza): ")  # what ls says around its rows
FOREIGN_MAX_LINES, FOREIGN_MAX_CHARS = (
    12,
    1500,
)  # lines and characters of another command that may stand among them


def layout(document: Document, request: Request) -> Layout | None:
    """Rows shortened to what differs; None for a text that is no listing."""
    rows = {i: match for i, match in enumerate(map(ROW.match, document.lines)) if match}
    if len(rows) >= FEWEST and len(rows) >= 0.6 * sum(1 for line in document.lines if line.strip()):
        foreign = [
            line
            for i, line in enumerate(document.lines)
            if i not in rows and line.strip() and not OWN.match(line)
        ]
        return (
            _long(document, rows, request)
            if len(foreign) <= FOREIGN_MAX_LINES and sum(map(len, foreign)) <= FOREIGN_MAX_CHARS
            else None
        )
    programs = [stage[0] for stage in request.command.stages if stage]
    if not any(name.startswith(("ls", "ll", "la", "exa", "eza")) for name in programs) or not all(
        LISTERS.match(name) for name in programs
    ):
        return None  # another command's output may hold lines that look like a folder's name
    headers = [
        i
        for i, line in enumerate(document.lines)
        if HEADER.match(line)
        and (" " not in line or "/" in line)
        and (i == 0 or not document.lines[i - 1].strip())
    ]
    return _recursive(document, headers, request) if len(headers) >= 3 else None


def _long(document: Document, rows: dict, request: Request) -> Layout:
    """ "drwxr-xr-x 4096 docs": links dropped; owner, group and date only where they are not the
    same on all rows.
    """
    same = {
        key: len({match.group(key) for match in rows.values()}) == 1
        for key in ("owner", "group", "date")
    }
    first = next(iter(rows.values()))
    usual = _usual([match.group("mode") for match in rows.values()])
    numbers = list(rows)
    linked = {numbers[i] for i in far_or_rare([match.group("links") for match in rows.values()])}
    constant = [f"{key} {first.group(key)}" for key in ("owner", "group", "date") if same[key]]
    blocks: list[Block] = []
    for index, line in enumerate(document.lines):
        match = rows.get(index)
        if match is None:
            drop = not line.strip()
            blocks.append(
                Block(
                    index,
                    index,
                    Rank.MUST,
                    () if drop and request.exit_code == 0 else None,
                    "listing",
                    0 if drop else -1,
                )
            )
        elif match.group("name") in (".", ".."):
            blocks.append(Block(index, index, Rank.MUST, (), "listing"))
        else:
            words = (
                [match.group("mode")] * (match.group("mode") != usual)
                + [match.group(key) for key in ("owner", "group") if not same[key]]
                + [match.group("size")]
            )
            words += ["links=" + match.group("links")] if index in linked else []
            words += [] if same["date"] else [" ".join(match.group("date").split())]
            blocks.append(
                Block(
                    index, index, Rank.MUST, (" ".join(words + [match.group("name")]),), "listing"
                )
            )
    words = (
        "listing; not shown: link counts, mode "
        f"{usual}{', on all rows ' + ', '.join(constant) if constant else ''}"
    )
    return Layout(blocks, words, None, 0 if request.exit_code else TARGET_CHARS)


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
