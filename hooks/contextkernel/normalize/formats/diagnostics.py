"""Compilers and linters: the first diagnostic of each kind whole, every other one as its place,
by file.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from contextkernel import marks
from contextkernel.normalize.document import Document
from contextkernel.normalize.layout import Block, Layout, Rank, Request
from contextkernel.normalize.render import LONG
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
FEWEST, SHARE = 6, 0.4  # diagnostics; of the filled lines
# from so many entries on, fewer places than this share mean a program that runs
RUNNING, PLACES = 40, 0.25
ERROR, WARNING, OTHER = 0, 1, 2  # levels
ERRORS = frozenset(("fatal error", "error", "ERROR", "E", "F"))
LEVEL_RANKS = (Rank.FACT, Rank.NOTABLE, Rank.CONTEXT)
EXCERPT_LINES = 24
MUST_KINDS = 16  # whose lists of places stay whatever their level
# characters of differing names kept in the list of one kind; above, places only
VARIANTS_MAX_CHARS = 1200
LISTS_MAX_CHARS = 4400  # of all lists
SUCCESS_TARGET_CHARS = 9000


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
    lines = document.lines
    entries = _entries(lines)
    covered = sum(entry.last - entry.first + 1 for entry in entries)
    if len(entries) < FEWEST or covered < SHARE * sum(1 for line in lines if line.strip()):
        return None
    places = {(entry.path, entry.place) for entry in entries}
    if len(entries) >= RUNNING and len(places) < PLACES * len(entries):
        return None
    kinds: dict[str, list[Entry]] = {}
    for entry in entries:
        kinds.setdefault(entry.kind, []).append(entry)
    survey = Survey(lines, bool(request.exit_code))
    blocks: list[Block] = []
    lists = _PlaceLists(LISTS_MAX_CHARS if request.exit_code else 2 * LISTS_MAX_CHARS)
    by_level = sorted(kinds.values(), key=lambda group: (group[0].level, -len(group)))
    for order, members in enumerate(by_level):
        blocks += _group_blocks(document, members, order, request.handle, lists)
    inside = {i for entry in entries for i in range(entry.first, entry.last + 1)}
    must = survey.novel().union(
        i for i, line in enumerate(lines) if i not in inside and severity(line) == FAULT
    )
    for index, rank in survey.ranks().items():
        if index not in inside:
            is_must = rank <= Rank.FACT and index in must
            blocks.append(block_of(document, index, Rank.MUST if is_must else rank))
    blocks.sort()
    target_chars = request.limits.target_chars
    if not request.exit_code:
        target_chars = max(target_chars, SUCCESS_TARGET_CHARS)
    return Layout(blocks, digest=survey.digest, target_chars=target_chars)


def _group_blocks(
    document: Document, members: list[Entry], order: int, handle: str, lists: _PlaceLists
) -> list[Block]:
    """Diagnostics of one kind: the first whole, the others as a list of places below it."""
    first = members[0]
    rank = LEVEL_RANKS[first.level]
    if len(members) < 3:
        return [Block(entry.first, entry.last, rank, order=order) for entry in members]
    body = [document.shown(i)[:LONG] for i in range(first.first, first.last + 1)]
    mark = marks.note(f"{len(members) - 1} more like this below, by place", handle)
    shown = tuple(body + [mark] + lists.of(members[1:]))
    if first.level == ERROR or order < MUST_KINDS:
        rank = Rank.MUST
    return [Block(first.first, first.last, rank, shown, "diagnostic", order)] + [
        Block(entry.first, entry.last, Rank.MUST, (), "diagnostic", order) for entry in members[1:]
    ]


class _PlaceLists:
    """Lists of places, shorter forms of them as their characters are used up."""

    def __init__(self, max_chars: int) -> None:
        self.left = max_chars

    def of(self, members: list[Entry]) -> list[str]:
        """Every place, by file: "  a.ts 3:7,29 4:20"; with the differing names when there is room
        for them.
        """
        differs = len({entry.slots for entry in members}) > 1
        variants = sum(len(entry.slots) + 3 for entry in members)
        groups = _by_path(members)
        if differs and variants <= min(VARIANTS_MAX_CHARS, self.left // 2):
            lines = [f"  {path}{_joint(group)}{_variants(group)}" for path, group in groups]
        else:
            lines = [f"  {path}{_joint(group)}{_compact(group)}" for path, group in groups]
            if sum(map(len, lines)) > self.left:
                lines = [f"  {path} lines {_only_lines(group)}" for path, group in groups]
        self.left -= sum(map(len, lines))
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


def _variants(group: list[Entry]) -> str:
    """The places of a file, each with the names in which it differs."""
    rest = group[1:] if group[0].braced and not group[0].slots else group
    return " ".join(
        f"{entry.place} {entry.slots};" if entry.slots else entry.place + ";" for entry in rest
    ).rstrip(";")


def _compact(group: list[Entry]) -> str:
    """Places 3:7, 3:29 and 4:20 as "3:7,29 4:20"; the first aside where the joint tells it."""
    out: list[str] = []
    line_before = None
    for entry in group[1:] if group[0].braced else group:
        line, _, column = entry.place.partition(":")
        out += [",", column or "="] if line == line_before else [" ", entry.place]
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
            last = max(entry.last, _excerpt_end(lines, entry.last))
            entries.append(entry._replace(last=last))
            index = last
        index += 1
    return entries


def _level(word: str | None, text: str) -> int:
    """ERROR, WARNING or OTHER, by the tool's word for it, its code or the text."""
    if word in ERRORS:
        return ERROR
    if word:
        return WARNING if word.lower().startswith("w") else OTHER
    code = CODE.match(text)
    if code and code.group("code")[0] in "EF":
        return ERROR
    return ERROR if severity(text) == FAULT else WARNING


def _placed(line: str, index: int) -> Entry | None:
    match = PLACED.match(line)
    if not match or not match.group("level") and not PATH_SIGN.search(match.group("path")):
        return None
    text = match.group("text")
    if TIMED.search(match.group("path")):
        return None  # a time of day
    if RUNTIME.match(text):
        return None  # a warning that a running program printed: templates say it shorter
    number = match.group("l1") or match.group("l2")
    column = match.group("c1") or match.group("c2")
    code = CODE.match(text)
    if not match.group("level") and not code and not column:
        return None
    rule = code or RULE.search(text)
    kind = f"{match.group('level') or ''}|{rule.group(1) if rule else ''}|{SLOTS.sub('#', text)}"
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
    """What differs within the kind, four of them at most."""
    return SLOTS.findall(text)[:4]


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


def _excerpt_end(lines: list[str], last: int) -> int:
    """The last line of the excerpt under a diagnostic: quoted source, carets, notes; at most 24
    lines.
    """
    for index in range(last + 1, min(len(lines), last + EXCERPT_LINES + 1)):
        line = lines[index]
        if QUOTED.match(line):
            last = index
        elif index + 1 < len(lines) and CARETS.match(lines[index + 1]) and line.strip():
            last = index + 1  # javac, clang: the source line, then a caret below
        elif index > last or line.strip():
            break
    return last
