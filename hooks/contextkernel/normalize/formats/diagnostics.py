"""Compilers and linters: the first diagnostic of each kind whole, every other one as its place,
by file.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from contextkernel import marks
from contextkernel.normalize.document import Document
from contextkernel.normalize.layout import Block, Layout, Rank, Request
from contextkernel.normalize.severity import FAULT, severity
from contextkernel.normalize.survey import Survey, block_of

_LEVEL = (
    r"(?P<level>fatal error|error|warning|warn|note|info|hint|remark|ERROR|WARNING|W|E|F|C|R|I|N)"
)
# path:line:col: level: message   path(line,col): error TS1: message   path:line:col CODE message
PLACED = re.compile(
    r"(?P<path>(?:[A-Za-z]:)?[^\s:()][^:()\n]{0,200}?)(?:\((?P<l1>\d+)(?:,(?P<c1>\d+))?\)"
    r"|:(?P<l2>\d+)(?::(?P<c2>\d+))?)(?:-\d+(?::\d+)?)?(?::| "
    rf"-)?\s+(?:{_LEVEL}\b:?\s*)?(?P<text>\S.*)$"
)
STYLISH = re.compile(
    r"\s+(?P<l2>\d+):(?P<c2>\d+)\s+(?P<level>error|warning|warn"
    r"|info)\s+(?P<text>\S.*?)(?:(?<=\S)\s{2,}(?P<rule>[\w@/.-]+))?$"
)
RUSTC = re.compile(r"(?P<level>error|warning)(?:\[(?P<rule>\w+)\])?: (?P<text>.*)$")
ARROW = re.compile(r"\s*--> (?P<path>.+?):(?P<l2>\d+):(?P<c2>\d+)$")
CODE = re.compile(r"(?:error )?(?P<code>[A-Z]{1,5}\d{2,5})\b:?")
RULE = re.compile(r"[\[(](?P<rule>-?[\w@/.=+-]{3,60})[\])]\s*$")
SLOTS = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|‘[^’]{0,300}’|“[^”]{0,300}”|\d+")
RUNTIME = re.compile(r"\w+Warning: ")
PATH_SIGN = re.compile(r"[./\\]")
QUOTED = re.compile(
    r"(?:\s*\d+)?\s+\||\s+[|~^=]|(?= )\s*(?:= (?:note|help)|symbol:|location:|required:"
    r"|found:|reason:|\.\.\.)"
)  # of an excerpt
CARETS = re.compile(r"\s*[~^][\s~^]*$")
TIMED = re.compile(
    r"(?:^|[^\d/.-])\d{1,4}[-/.](?:\d\d|[A-Z][a-z]{2})[-/.]\d{2,4}(?:[ T_]+\d\d?)?$|(?:^"
    r"|[\s\[(]|\dT)\d{1,2}$|^[\d.]+$"
)  # what stands before the minutes of a log line is no path, nor is an address
FEWEST = 6  # diagnostics
RUNNING, PLACES = (
    40,
    0.25,
)  # from so many entries on, fewer places than this share mean a program that runs
WORST_ORDER = {"fatal error": 0, "error": 0, "ERROR": 0, "E": 0, "F": 0}
VARIANTS_MAX_CHARS = (
    1200  # characters of differing names kept in the list of one kind; above, places only
)
LISTS_MAX_CHARS = 4400  # characters of all lists


class Entry(NamedTuple):
    """One diagnostic: its lines with excerpt, its kind, its place and what differs within
    the kind.
    """

    first: int
    last: int
    level: int
    kind: str
    path: str
    place: str
    slots: str
    braced: bool = False


def layout(document: Document, request: Request) -> Layout | None:
    """First of each kind whole with the places of the others; None when there are few
    diagnostics.
    """
    entries = _entries(document.lines)
    covered = sum(entry.last - entry.first + 1 for entry in entries)
    if len(entries) >= RUNNING and len(
        {(entry.path, entry.place) for entry in entries}
    ) < PLACES * len(entries):
        return None
    if len(entries) < FEWEST or covered < 0.4 * sum(1 for line in document.lines if line.strip()):
        return None
    kinds: dict[str, list[Entry]] = {}
    for entry in entries:
        kinds.setdefault(entry.kind, []).append(entry)
    survey = Survey(document.lines, bool(request.exit_code))
    inside = bytearray(len(document.lines))
    blocks: list[Block] = []
    room = [LISTS_MAX_CHARS if request.exit_code else 2 * LISTS_MAX_CHARS]
    for order, members in enumerate(
        sorted(kinds.values(), key=lambda group: (group[0].level, -len(group)))
    ):
        blocks += _group_blocks(document, members, order, request.handle, room)
        for entry in members:
            for index in range(entry.first, entry.last + 1):
                inside[index] = 1
    must = survey.novel() | {
        i for i, line in enumerate(document.lines) if not inside[i] and severity(line) == FAULT
    }
    for index, rank in survey.ranks().items():
        if not inside[index]:
            blocks.append(
                block_of(
                    document, index, Rank.MUST if rank <= Rank.FACT and index in must else rank
                )
            )
    blocks.sort()
    return Layout(
        blocks,
        digest=survey.digest,
        target_chars=request.limits.target_chars
        if request.exit_code
        else max(request.limits.target_chars, 9000),
    )


def _group_blocks(
    document: Document, members: list[Entry], order: int, handle: str, room: list[int]
) -> list[Block]:
    first = members[0]
    rank = Rank.FACT if first.level == 0 else Rank.NOTABLE if first.level == 1 else Rank.CONTEXT
    if len(members) < 3:
        return [Block(e.first, e.last, rank, None, "gap", order) for e in members]
    places = _places(members[1:], room)
    mark = marks.note(f"{len(members) - 1} more {'like this'} below, by place", handle)
    body = [document.shown(i)[:1200] for i in range(first.first, first.last + 1)]
    blocks = [
        Block(
            first.first,
            first.last,
            Rank.MUST if first.level == 0 or order < 16 else rank,
            tuple(body + [mark] + places),
            "diagnostic",
            order,
        )
    ]
    blocks += [Block(e.first, e.last, Rank.MUST, (), "diagnostic", order) for e in members[1:]]
    return blocks


def _places(members: list[Entry], room: list[int]) -> list[str]:
    """Every place, by file: "  a.ts 3:7,29 4:20"; with the differing names when there is room
    for them.
    """
    named = {entry.slots for entry in members}
    if len(named) > 1 and sum(len(entry.slots) + 3 for entry in members) <= min(
        VARIANTS_MAX_CHARS, room[0] // 2
    ):
        lines = [
            "  "
            + path
            + _joint(group)
            + " ".join(
                e.place + (" " + e.slots if e.slots else "") + ";"
                for e in group[group[0].braced and not group[0].slots :]
            ).rstrip(";")
            for path, group in _by_path(members)
        ]
    else:
        lines = [
            "  " + path + _joint(group) + _compact([e.place for e in group][group[0].braced :])
            for path, group in _by_path(members)
        ]
        if sum(map(len, lines)) > room[0]:
            lines = [
                "  " + path + " lines " + _only_lines(group) for path, group in _by_path(members)
            ]
    room[0] -= sum(map(len, lines))
    return lines


def _joint(group: list[Entry]) -> str:
    """ ":" between path and place as most tools write it; "(3,7) " when this one writes places
    in parentheses.
    """
    entry = group[0]
    return f"({entry.place.replace(':', ',')}) " if entry.braced else ":"


def _by_path(members: list[Entry]) -> list[tuple[str, list[Entry]]]:
    groups: dict[str, list[Entry]] = {}
    for entry in members:
        groups.setdefault(entry.path, []).append(entry)
    return list(groups.items())


def _compact(places: list[str]) -> str:
    """["3:7", "3:29", "4:20"] as "3:7,29 4:20"."""
    out: list[str] = []
    line_before = None
    for place in places:
        line, _, column = place.partition(":")
        out += [",", column or "="] if line == line_before else [" ", place]
        line_before = line
    return "".join(out[1:])


def _only_lines(group: list[Entry]) -> str:
    return " ".join(dict.fromkeys(entry.place.partition(":")[0] for entry in group))


def _entries(lines: list[str]) -> list[Entry]:
    entries: list[Entry] = []
    heading = ""  # stylish: the file named on a line of its own
    index = 0
    while index < len(lines):
        line = lines[index]
        entry = None
        if line and not line[0].isspace():
            entry = _rustc(lines, index) if line.startswith(("error", "warning")) else None
            entry = entry or _placed(line, index)
            if (
                entry is None
                and ("/" in line or "." in line)
                and " " not in line.strip()
                and len(line) < 240
            ):
                heading = line.strip()
        elif heading and line.strip():
            entry = _stylish(line, index, heading)
        if entry is not None:
            last = max(entry.last, _excerpt_end(lines, entry.last, entry.path))
            entries.append(entry._replace(last=last))
            index = last
        index += 1
    return entries


def _level(word: str | None, text: str) -> int:
    if word:
        return 0 if word in WORST_ORDER else 1 if word.lower().startswith("w") else 2
    found = CODE.match(text)
    if found and found.group("code")[0] in "EF":
        return 0
    return min(1, severity(text))


def _placed(line: str, index: int) -> Entry | None:
    match = PLACED.match(line)
    if not match or not match.group("level") and not PATH_SIGN.search(match.group("path")):
        return None
    text = match.group("text")
    if TIMED.search(match.group("path")):
        return None  # a time of day
    if RUNTIME.match(text):
        return None  # a warning that a running program printed: templates say it shorter
    code, rule = CODE.match(text), RULE.search(text)
    if not match.group("level") and not code and not (match.group("c1") or match.group("c2")):
        return None
    number = match.group("l1") or match.group("l2")
    column = match.group("c1") or match.group("c2")
    kind = (
        f"{match.group('level') or ''}|"
        f"{code.group('code') if code else rule.group('rule') if rule else ''}|"
        f"{SLOTS.sub('#', text)}"
    )
    return Entry(
        index,
        index,
        _level(match.group("level"), text),
        kind,
        match.group("path"),
        number + (":" + column if column else ""),
        " ".join(_slots(text[code.end() :] if code else text)),
        bool(match.group("l1")),
    )


def _slots(text: str) -> list[str]:
    return [slot for slot in SLOTS.findall(text)][:4]


def _stylish(line: str, index: int, heading: str) -> Entry | None:
    match = STYLISH.match(line)
    if not match:
        return None
    text = match.group("text")
    kind = f"{match.group('level')}|{match.group('rule') or ''}|{SLOTS.sub('#', text)}"
    return Entry(
        index,
        index,
        _level(match.group("level"), text),
        kind,
        heading,
        match.group("l2") + ":" + match.group("c2"),
        " ".join(_slots(text)),
    )


def _rustc(lines: list[str], index: int) -> Entry | None:
    match = RUSTC.match(lines[index])
    arrow = ARROW.match(lines[index + 1]) if match and index + 1 < len(lines) else None
    if not match or not arrow:
        return None
    text = match.group("text")
    kind = f"{match.group('level')}|{match.group('rule') or ''}|{SLOTS.sub('#', text)}"
    return Entry(
        index,
        index + 1,
        _level(match.group("level"), text),
        kind,
        arrow.group("path"),
        arrow.group("l2") + ":" + arrow.group("c2"),
        " ".join(_slots(text)),
    )


def _excerpt_end(lines: list[str], last: int, path: str) -> int:
    """The last line of the excerpt under a diagnostic: quoted source, carets, notes; at most 24
    lines.
    """
    for index in range(last + 1, min(len(lines), last + 25)):
        line = lines[index]
        if QUOTED.match(line):
            last = index
        elif index + 1 < len(lines) and CARETS.match(lines[index + 1]) and line.strip():
            last = index + 1  # javac, clang: the source line, then a caret below
        elif index > last + 1 or not line.strip():
            if index <= last:
                continue
            break
        else:
            break
    return last
