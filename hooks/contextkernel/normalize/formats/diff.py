"""Unified diffs: small ones whole; of large ones every header, and whole hunks by turns from each
file.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import Callable, NamedTuple

from contextkernel.normalize.document import Document
from contextkernel.normalize.layout import Block, Layout, Rank, Request
from contextkernel.normalize.severity import FAULT, severity

WHOLE_LINES = 400  # changed lines; up to here nothing of a diff is left out
TARGET_CHARS = 10000  # for a larger one
PIECE_LINES = 60  # longer hunks are offered in pieces
LOCK_START, LOCK_END = 4, 5  # lines of a generated file's hunk that stay
LOCK_HUNKS = 3  # of a generated file that show such lines
FACT_HUNKS = 40  # of a file, whose headers are facts
MESSAGE_LINES = 40  # text between diffs that is no longer is a message
NOTABLE_HEADERS = ("---", "+++", "ind", "new", "del", "old", "ren", "sim", "Bin")
NAME = re.compile(r"\+\+\+ (?:b/)?([^\t]+)|diff --git a/(?:.*) b/(.*)|Index: (.*)")
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
    lines = document.lines
    parts = _parts(lines)
    if not any(part.kind == "hunk" for part in parts):
        return None
    is_small = _changed_lines(lines, parts) <= WHOLE_LINES
    size = sum(map(len, lines)) + len(lines)
    if is_small and size < request.limits.max_chars and not _has_foreign(lines, parts):
        return Layout([])
    names = _names(lines, parts)
    blocks: list[Block] = []
    hunks_seen: dict[int, int] = {}
    for part in parts:
        if part.kind == "text" and not _is_message(lines, part):
            blocks += _foreign_blocks(document, part, request)
        elif part.kind == "text":
            blocks += _text_blocks(lines, part)
        elif is_small:
            blocks.append(Block(part.first, part.last, Rank.MUST))
        elif part.kind == "head":
            for index in range(part.first, part.last + 1):
                blocks.append(Block(index, index, _header_rank(lines[index])))
        else:
            order = hunks_seen[part.file] = hunks_seen.get(part.file, -1) + 1
            if _is_generated(names[part.file]):
                blocks += _generated_blocks(lines, part, order)
            else:
                blocks += _hunk_blocks(lines, part, order)
    return Layout(
        blocks,
        "" if is_small else "diff shown in part, not a patch",
        _digest(lines, parts, names),
        0 if request.exit_code else TARGET_CHARS,
    )


def _changed_lines(lines: list[str], parts: list[Part]) -> int:
    return sum(
        line.startswith(("+", "-"))
        for part in parts
        if part.kind == "hunk"
        for line in lines[part.first : part.last + 1]
    )


def _header_rank(line: str) -> int:
    if FILE.match(line):
        return Rank.MUST
    return Rank.NOTABLE if line.startswith(NOTABLE_HEADERS) else Rank.RARE


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
        elif (kind == "hunk" and not line.startswith(("\\", "+", "-", " "))) or (
            kind == "head" and not line.strip()
        ):
            new = "text"
        if new != kind or new == "hunk" and line.startswith("@@") or FILE.match(line):
            if index > start:
                parts.append(Part(kind, start, index - 1, file - (new == "head")))
            kind, start = new, index
    if len(lines) > start:
        parts.append(Part(kind, start, len(lines) - 1, file))
    return parts


def _size(line: str) -> list[int]:
    """[old lines, new lines] of the hunk that a header opens; zeros where it does not say."""
    match = re.match(r"@@+ -\d+(?:,(\d{1,9}))?(?: -\d+(?:,\d+)?)* \+\d+(?:,(\d{1,9}))? @@", line)
    if not match or line.startswith("@@@"):
        return [0, 0]
    return [int(match.group(1) or 1), int(match.group(2) or 1)]


def _counted(line: str, left: list[int]) -> list[int]:
    """[old lines, new lines] that are still to come behind a line of a hunk."""
    if line.startswith("+"):
        return [left[0], left[1] - 1]
    if line.startswith("-"):
        return [left[0] - 1, left[1]]
    if line.startswith("\\"):
        return left
    if line.startswith(" ") or not line:
        return [left[0] - 1, left[1] - 1]
    return left  # a line that no hunk holds; it stays within and is shown


def _names(lines: list[str], parts: list[Part]) -> dict[int, str]:
    """The name of each file; "" for text outside of files."""
    names: dict[int, str] = {-1: ""}
    for part in parts:
        names.setdefault(part.file, "")
        if part.kind != "head":
            continue
        for line in lines[part.first : part.last + 1]:
            match = NAME.match(line)
            if match and (match.group(1) or "") != "/dev/null":
                name = match.group(1) or match.group(2) or match.group(3)
                names[part.file] = name or names[part.file]
    return names


def _is_message(lines: list[str], part: Part) -> bool:
    """Whether text between diffs is a commit's header and message (or too short to matter)."""
    return part.last - part.first < MESSAGE_LINES or any(
        line.startswith("commit ") for line in lines[part.first : part.first + 3]
    )


def _has_foreign(lines: list[str], parts: list[Part]) -> bool:
    return any(part.kind == "text" and not _is_message(lines, part) for part in parts)


def _foreign_blocks(document: Document, part: Part, request: Request) -> list[Block]:
    """Another command's output beside the diff, by its templates."""
    from contextkernel.normalize.survey import Survey, block_of

    survey = Survey(document.lines[part.first : part.last + 1], bool(request.exit_code))
    return [
        block_of(document, part.first + index, rank)
        for index, rank in sorted(survey.ranks().items())
    ]


def _text_blocks(lines: list[str], part: Part) -> list[Block]:
    """Commit headers and messages: hash, subject and faults first."""
    blocks: list[Block] = []
    body = 0  # lines of the message so far
    for index in range(part.first, part.last + 1):
        line = lines[index]
        is_indented = line.startswith("    ")
        if line.startswith("commit "):
            body, rank = 0, Rank.MUST
        elif is_indented:
            body += bool(line.strip())
            rank = Rank.MUST if body == 1 else Rank.CONTEXT
        else:
            rank = Rank.NOTABLE if line.strip() else Rank.CONTEXT
        blocks.append(Block(index, index, rank))
    return blocks


def _header_of(part: Part, order: int) -> Block:
    return Block(part.first, part.first, Rank.FACT if order < FACT_HUNKS else Rank.NOTABLE)


def _is_odd(line: str) -> bool:
    """Whether no hunk holds such a line; it is shown."""
    return bool(line) and line[0] not in "+- \\"


def _generated_blocks(lines: list[str], part: Part, order: int) -> list[Block]:
    """A hunk of a file that a tool wrote: its first and last lines, and its faults."""
    numbers = range(part.first + 1, part.last + 1)
    facts = {i for i in numbers if _is_odd(lines[i]) or severity(lines[i][:200]) == FAULT}
    shown = set(facts)
    if order < LOCK_HUNKS:
        shown.update(numbers[:LOCK_START], numbers[-LOCK_END:])
    return [_header_of(part, order)] + [
        Block(i, i, Rank.FACT if i in facts else Rank.NOTABLE) for i in sorted(shown)
    ]


def _hunk_blocks(lines: list[str], part: Part, order: int) -> list[Block]:
    """A hunk in pieces, each next one later by a turn."""
    odd = [i for i in range(part.first + 1, part.last + 1) if _is_odd(lines[i])]
    blocks, start = [_header_of(part, order)], part.first + 1
    while start <= part.last:
        end = min(part.last, start + PIECE_LINES - 1)
        if part.last - end < PIECE_LINES // 3:
            end = part.last
        for index in odd[bisect_left(odd, start) : bisect_right(odd, end)]:
            if index > start:
                blocks.append(Block(start, index - 1, Rank.PLAIN, order=order))
            blocks.append(Block(index, index, Rank.FACT))
            start = index + 1
        if start <= end:
            piece = (start - part.first) // PIECE_LINES
            blocks.append(Block(start, end, Rank.PLAIN, order=order + piece))
        start = end + 1
    return blocks


def _digest(
    lines: list[str], parts: list[Part], names: dict[int, str]
) -> Callable[[int, int], str]:
    """Words for a gap: the file and how many changed lines are hidden."""
    starts = [part.first for part in parts]

    def words(first: int, last: int) -> str:
        added = sum(line.startswith("+") for line in lines[first : last + 1])
        removed = sum(line.startswith("-") for line in lines[first : last + 1])
        at = bisect_right(starts, first) - 1
        name = names[parts[at].file if at >= 0 and first <= parts[at].last else -1]
        return f"{name if len(name) < 34 else '…' + name[-32:]} +{added} -{removed}"

    return words
