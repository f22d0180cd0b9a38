"""Unified diffs: small ones whole; of large ones every header, and whole hunks by turns from each
file.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import NamedTuple

from contextkernel.normalize.document import Document
from contextkernel.normalize.layout import Block, Layout, Rank, Request
from contextkernel.normalize.severity import FAULT, severity

WHOLE = 400  # changed lines; up to here nothing of a diff is left out
TARGET_CHARS = 10000  # characters for a larger one
PIECE = 60  # lines; longer hunks are offered in pieces
LOCK_START, LOCK_END = 4, 5  # lines of a generated file's hunk that stay
FILE = re.compile(r"diff --(?:git|cc|combined) |Index: |diff -")
GENERATED = re.compile(
    r"(?i)(?:^|/)(?:go\.sum|[\w.-]*\.lock)$|(?:\.min\.(?:js|css)|\.(?:map|snap|svg|pb\.go)"
    r"|_pb2\.py|\.generated\.\w+)$|(?:^|/)(?:dist|vendor|node_modules)/"
)
LOCKED = re.compile(r"(?i)[\w.-]*\.(?:json|ya?ml|toml)$")  # with "lock" before its extension


class Part(NamedTuple):
    """Lines of one kind: "text" outside files, "head" of a file, "hunk"."""

    kind: str
    first: int
    last: int
    file: int


def layout(document: Document, request: Request) -> Layout | None:
    """All lines of a small diff (nothing to do), else headers and hunks by turns; None when
    there is no hunk.
    """
    parts = _parts(document.lines)
    hunks = [part for part in parts if part.kind == "hunk"]
    if not hunks:
        return None
    changed = sum(
        line[:1] in "+-"
        for part in hunks
        for line in document.lines[part.first : part.last + 1]
        if line
    )
    size = sum(map(len, document.lines)) + len(document.lines)
    small = changed <= WHOLE
    if small and size < request.limits.max_chars and not _foreign(document.lines, parts):
        return Layout([])
    names = _names(document.lines, parts)
    blocks: list[Block] = []
    hunks_seen: dict = {}
    for part in parts:
        if part.kind == "text" and not _is_message(document.lines, part):
            blocks += _foreign_blocks(document, part, request)
        elif part.kind == "text":
            blocks += _text_blocks(document, part)
        elif small:
            blocks.append(Block(part.first, part.last, Rank.MUST))
        elif part.kind == "head":
            blocks += [
                Block(
                    index,
                    index,
                    Rank.MUST
                    if FILE.match(document.lines[index])
                    else Rank.NOTABLE
                    if document.lines[index][:3]
                    in ("---", "+++", "ind", "new", "del", "old", "ren", "sim", "Bin")
                    else Rank.RARE,
                )
                for index in range(part.first, part.last + 1)
            ]
        else:
            order = hunks_seen[part.file] = hunks_seen.get(part.file, -1) + 1
            blocks += _hunk_blocks(document, part, order, _is_generated(names[part.file]))
    return Layout(
        blocks,
        "" if small else "diff shown in part, not a patch",
        _digest(document.lines, parts, names),
        0 if request.exit_code else TARGET_CHARS,
    )


def _is_generated(name: str) -> bool:
    """Whether a file is written by a tool: lock files, bundles, what lies in a folder of copies."""
    last = name.rsplit("/", 1)[-1]
    return (
        GENERATED.search(name) is not None
        or LOCKED.match(last) is not None
        and "lock" in last.rpartition(".")[0].lower()
    )


def _parts(lines: list[str]) -> list[Part]:
    parts: list[Part] = []
    kind, start, file, left = "text", 0, -1, [0, 0]
    for index, line in enumerate(lines):
        new = kind
        if kind == "hunk" and (left[0] > 0 or left[1] > 0):
            left = _counted(line, left)
            continue
        if FILE.match(line) or (
            kind != "head"
            and line.startswith("--- ")
            and index + 1 < len(lines)
            and lines[index + 1].startswith("+++ ")
        ):
            new, file = "head", file + 1
        elif line.startswith("@@"):
            new, left = "hunk", _size(line)
        elif kind == "hunk" and not line.startswith(("\\", "+", "-", " ")):
            new = "text"
        elif kind == "head" and not line.strip():
            new = "text"
        if new != kind or new == "hunk" and line.startswith("@@") or FILE.match(line):
            if index > start:
                parts.append(Part(kind, start, index - 1, file - (new == "head")))
            kind, start = new, index
    if len(lines) > start:
        parts.append(Part(kind, start, len(lines) - 1, file))
    return parts


def _size(line: str) -> list[int]:
    match = re.match(r"@@+ -\d+(?:,(\d{1,9}))?(?: -\d+(?:,\d+)?)* \+\d+(?:,(\d{1,9}))? @@", line)
    return (
        [int(match.group(1) or 1), int(match.group(2) or 1)]
        if match and not line.startswith("@@@")
        else [0, 0]
    )


def _counted(line: str, left: list[int]) -> list[int]:
    if line.startswith("+"):
        return [left[0], left[1] - 1]
    if line.startswith("-"):
        return [left[0] - 1, left[1]]
    if line.startswith("\\"):
        return left
    if line.startswith(" ") or not line:
        return [left[0] - 1, left[1] - 1]
    return left  # a line that no hunk holds; it stays within and is shown


def _names(lines: list[str], parts: list[Part]) -> dict:
    names: dict = {-1: ""}
    for part in parts:
        names.setdefault(part.file, "")
        if part.kind == "head":
            for line in lines[part.first : part.last + 1]:
                match = re.match(
                    r"\+\+\+ (?:b/)?([^\t]+)|diff --git a/(?:.*) b/(.*)|Index: (.*)", line
                )
                if match and (match.group(1) or "") != "/dev/null":
                    names[part.file] = (
                        match.group(1) or match.group(2) or match.group(3) or names[part.file]
                    )
    return names


def _is_message(lines: list[str], part: Part) -> bool:
    """Whether text between diffs is a commit's header and message (or too short to matter)."""
    return part.last - part.first < 40 or any(
        line.startswith("commit ") for line in lines[part.first : part.first + 3]
    )


def _foreign(lines: list[str], parts: list[Part]) -> bool:
    return any(part.kind == "text" and not _is_message(lines, part) for part in parts)


def _foreign_blocks(document: Document, part: Part, request: Request) -> list[Block]:
    """Another command's output beside the diff, by its templates."""
    from contextkernel.normalize.survey import Survey, block_of

    survey = Survey(document.lines[part.first : part.last + 1], bool(request.exit_code))
    return [
        block_of(document, part.first + index, rank)
        for index, rank in sorted(survey.ranks().items())
    ]


def _text_blocks(document: Document, part: Part) -> list[Block]:
    """Commit headers and messages: hash, subject and faults first."""
    blocks = []
    body = 0
    for index in range(part.first, part.last + 1):
        line = document.lines[index]
        body = (
            0
            if line.startswith("commit ")
            else body + bool(line.startswith("    ") and line.strip())
        )
        rank = (
            Rank.MUST
            if line.startswith("commit ") or line.startswith("    ") and body == 1
            else Rank.NOTABLE
            if not line.startswith("    ") and line.strip()
            else Rank.CONTEXT
        )
        blocks.append(Block(index, index, rank))
    return blocks


def _hunk_blocks(document: Document, part: Part, order: int, generated: bool) -> list[Block]:
    lines = document.lines
    header = Block(part.first, part.first, Rank.FACT if order < 40 else Rank.NOTABLE)
    odd = [
        i
        for i in range(part.first + 1, part.last + 1)
        if lines[i]
        and lines[i][0] not in "+- \\"
        or severity(lines[i][:200]) == FAULT
        and generated
    ]
    if generated:
        last, faulty = part.last - LOCK_END, set(odd)
        shown = (
            [
                i
                for i in range(part.first + 1, part.last + 1)
                if i <= part.first + LOCK_START or i > last
            ]
            if order < 3
            else []
        )
        return [header] + [
            Block(i, i, Rank.NOTABLE if i not in faulty else Rank.FACT)
            for i in sorted(faulty.union(shown))
        ]
    blocks, start = [header], part.first + 1
    while start <= part.last:
        end = min(part.last, start + PIECE - 1)
        if part.last - end < PIECE // 3:
            end = part.last
        cut = odd[bisect_left(odd, start) : bisect_right(odd, end)]
        for index in cut:
            if index > start:
                blocks.append(Block(start, index - 1, Rank.PLAIN, None, "gap", order))
            blocks.append(Block(index, index, Rank.FACT))
            start = index + 1
        if start <= end:
            blocks.append(
                Block(start, end, Rank.PLAIN, None, "gap", order + (start - part.first) // PIECE)
            )
        start = end + 1
    return blocks


def _digest(lines: list[str], parts: list[Part], names: dict):
    """Words for a gap: the file and how many changed lines are hidden."""
    starts = [part.first for part in parts]

    def words(first: int, last: int) -> str:
        added = sum(line.startswith("+") for line in lines[first : last + 1])
        removed = sum(line.startswith("-") for line in lines[first : last + 1])
        at = bisect_right(starts, first) - 1
        name = names[parts[at].file if at >= 0 and first <= parts[at].last else -1]
        return f"{name if len(name) < 34 else '…' + name[-32:]} +{added} -{removed}"

    return words
