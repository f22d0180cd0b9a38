"""git log: one line per commit for hash, date and author; subjects and bodies stay, trailers are
folded.
"""

from __future__ import annotations

import re

from contextkernel.normalize.document import Document
from contextkernel.normalize.layout import Block, Layout, Rank, Request
from contextkernel.normalize.severity import FAULT, severity

COMMIT = re.compile(r"commit ([0-9a-f]{7,40})( \(.*\))?$")
FIELD = re.compile(r"(Author|AuthorDate|Commit|CommitDate|Date|Merge):\s+(.*)$")
DATE = re.compile(r"\w{3} (\w{3}) (\d{1,2}) (\d\d:\d\d):\d\d (\d{4}) ([+-]\d{4})$")
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
TRAILER = re.compile(
    r"(?i)\s+(?:co-authored-by|signed-off-by|reviewed-by|acked-by|tested-by|cc|change-id"
    r"|reported-by|suggested-by|(?:🤖 )?generated with)[: ]"
)
# what a log holds besides headers and messages: notes, stats, modes, names, diffs, signatures
KNOWN = re.compile(
    r"    |(?:Notes|Reflog|Submodule)\b|[MADRCTUX]\d*\t|[\d-]+\t[\d-]+\t|:+\d{6} | \S.* \| | "
    r"*\d+ files? changed| (?:create|delete|rename|copy|mode|rewrite) | +[\d.]+% |  [<>] "
    r"|gpg: |Primary key |---$"
)
IN_DIFF = re.compile(
    r"[ +\\-]|@@|diff |index |(?:new|deleted|old) (?:file )?mode |(?:similarity"
    r"|dissimilarity) index |(?:rename|copy) (?:from|to) |Binary files "
)
# lines and characters of another command that may follow the log
FOREIGN_MAX_LINES, FOREIGN_MAX_CHARS = (12, 2500)
HASH = 12  # digits that stay: unique in any repository of practical size, and git takes them
TARGET_CHARS = 11000


def layout(document: Document, request: Request) -> Layout | None:
    """Headers as one line each; None when the text does not begin with a commit."""
    starts = [i for i, line in enumerate(document.lines) if COMMIT.match(line)]
    if len(starts) < 3 or starts[0] != 0:
        return None
    foreign = _foreign(document.lines, starts)
    tail = next((i for i in foreign if i > starts[-1]), len(document.lines))
    if len(foreign) > FOREIGN_MAX_LINES or sum(map(len, document.lines[tail:])) > FOREIGN_MAX_CHARS:
        return None  # the output of another command follows
    blocks: list[Block] = []
    same = _constant(document.lines, starts)
    for order, (start, end) in enumerate(zip(starts, starts[1:] + [tail])):
        blocks += _commit(document.lines, start, end, order, same)
    blocks += [Block(i, i, Rank.MUST, order=-1) for i in range(tail, len(document.lines))]
    words = (
        "; on all commits " + ", ".join(value for value in same.values() if value)
        if any(same.values())
        else ""
    )
    return Layout(
        blocks,
        "git log, a header is one line, trailers folded" + words,
        None,
        0 if request.exit_code else TARGET_CHARS,
    )


def _constant(lines: list[str], starts: list[int]) -> dict[str, str]:
    """The author and the time zone that all commits share, "" when they differ."""
    authors = {line[7:].strip() for line in lines if line.startswith("Author:")}
    zones = {
        line.rsplit(" ", 1)[-1]
        for line in lines
        if line.startswith("Date:") and DATE.match(line[5:].strip())
    }
    return {
        "author": authors.pop() if len(authors) == 1 else "",
        "zone": zones.pop() if len(zones) == 1 else "",
    }


def _foreign(lines: list[str], starts: list[int]) -> list[int]:
    """Indexes of lines that no log holds.  Bare names are a log's (--name-only) when earlier
    commits have some.
    """
    foreign: list[int] = []
    names = False
    bare: list[int]
    for number, (start, end) in enumerate(zip(starts, starts[1:] + [len(lines)])):
        at, bare, diff, is_last = start + 1, [], False, number == len(starts) - 1
        while at < end and lines[at].strip():
            at += 1  # the header
        for index in range(at, end):
            line = lines[index]
            diff = diff or line.startswith("diff --")
            if not line.strip() or KNOWN.match(line) or diff and IN_DIFF.match(line):
                continue
            (bare if " " not in line else foreign).append(index)
        names = names or bool(bare) and not is_last
        foreign += [] if names else bare
    return sorted(foreign)


def _commit(
    lines: list[str], start: int, end: int, order: int, same: dict[str, str]
) -> list[Block]:
    """One commit: its header as a line, its message, without blank lines and trailers."""
    header, at = _header(lines, start, end, same)
    blocks = [Block(start, at - 1, Rank.MUST, (header,), "header")]
    is_subject = True
    for index in range(at, end):
        line = lines[index]
        if not line.strip():
            blocks.append(Block(index, index, Rank.MUST, (), "blank"))
        elif TRAILER.match(line):
            blocks.append(Block(index, index, Rank.MUST, (), "trailer"))
        else:
            rank = Rank.MUST if is_subject else _body_rank(line)
            blocks.append(Block(index, index, rank, order=order))
            is_subject = False
    return blocks


def _body_rank(line: str) -> int:
    is_message = line.startswith("    ")
    return Rank.PLAIN if is_message and severity(line) != FAULT else Rank.FACT


def _header(lines: list[str], start: int, end: int, same: dict[str, str]) -> tuple[str, int]:
    """(hash, date, author and merge of a commit in one line, the line behind its header)"""
    name, blank, refs = lines[start][len("commit ") :].partition(" ")
    words = ["commit " + name[:HASH] + blank + refs]
    at = start + 1
    while at < end:
        field = FIELD.match(lines[at])
        if not field:
            break
        value = field.group(2)
        if field.group(1) in ("Date", "AuthorDate"):
            words.insert(1, _date(value)[:16] if same["zone"] else _date(value))
        elif field.group(1) == "Author" and not same["author"]:
            words.append(_without_address(value))
        elif field.group(1) == "Merge":
            words.append("merge " + value)
        at += 1
    return "  ".join(words), at


def _without_address(value: str) -> str:
    """A name without the address in angle brackets behind it."""
    at = value.find(" <", value.rfind(">", 0, len(value) - 1) + 1) if value.endswith(">") else -1
    return value[:at] if at >= 0 else value


def _date(value: str) -> str:
    """ISO order for git's default form, other forms as they are."""
    match = DATE.match(value)
    if not match or match.group(1) not in MONTHS:
        return value
    month, day, time, year, zone = match.groups()
    return f"{year}-{MONTHS.index(month) + 1:02}-{int(day):02} {time} {zone}"
