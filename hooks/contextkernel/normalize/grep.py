"""Search results: each path once, then line and text; nothing is left out until the room is used up."""
from __future__ import annotations

import re
from typing import Dict, List, NamedTuple, Optional, Tuple

from contextkernel.normalize.page import Page
from contextkernel.normalize.plan import CONTEXT, FACT, MUST, NOTABLE, PLAIN, RARE, Ask, Plan, Unit
from contextkernel.normalize.severity import FAULT, severity

NUMBERED = re.compile(r"(?P<path>(?:[A-Za-z]:)?[^:\n\0]{1,300}?):(?P<rest>\d+:.*)$")
CONTEXT_LINE = re.compile(r"(?P<path>(?:[A-Za-z]:)?[^:\n\0]{1,300}?[\w)\]]\.[A-Za-z]\w{0,9})-(?P<rest>\d+-.*)$")  # of grep -C; a path ends in an extension
BARE = re.compile(r"(?P<path>[^\s:\0][^:\n\0]{0,300}):(?P<rest>.*)$")
PLAIN_PATH = re.compile(r"(?:[\w.@+~-]*/)*[\w@+~-][\w.@+~-]*\.[A-Za-z]\w{0,8}$|(?:[\w.@+~-]*/)+[\w.@+~-]+$")  # without a search command only these
DIAGNOSTIC = re.compile(r"\d+(?::\d+)?: ?(?:(?:fatal )?error|warning|note|info|\w+(?:Error|Warning):|[A-Z]{1,5}\d+\b)")  # what programs say of a place
ROOM = 14000  # characters
LONG = 320  # characters of one hit; longer ones are clipped around the match
AROUND = 140
SHARE = 0.85  # of the lines must be hits, context, separators or notes
SEARCH = re.compile(r"^(?:grep|egrep|fgrep|zgrep|rg|ag|ack|git grep)\b", re.M)


class Hit(NamedTuple):
    index: int
    path: str
    rest: str


def plan(page: Page, ask: Ask) -> Optional[Plan]:
    """Hits grouped by file; None when the text is something else, or paths do not repeat."""
    searching = bool(SEARCH.search("\n".join(ask.command.names))) or ask.tool == "Grep"
    hits = _hits(page.lines, searching)
    lines = sum(1 for line in page.lines if line.strip() and line != "--")
    if len(hits) < 5 or len(hits) < SHARE * lines:
        return None
    if not searching and sum(DIAGNOSTIC.match(hit.rest) is not None for hit in hits) > len(hits) // 2:
        return None
    matcher = _matcher(ask)
    units: List[Unit] = []
    turns: Dict[str, int] = {}
    at = 0
    while at < len(hits):
        end = at
        while end + 1 < len(hits) and hits[end + 1].path == hits[at].path and hits[end + 1].index == hits[end].index + 1:
            end += 1
        units += _file_units(page, hits[at:end + 1], turns, matcher)
        at = end + 1
    known = {hit.index for hit in hits}
    units += [Unit(i, i, NOTABLE) for i, line in enumerate(page.lines) if i not in known and line.strip() and line != "--"]
    units += [Unit(i, i, CONTEXT) for i, line in enumerate(page.lines) if i not in known and (not line.strip() or line == "--")]
    units.sort()
    return Plan(units, "grouped by file: path, then line:text", _digest(hits), 0 if ask.exit_code else ROOM)


def _hits(lines: List[str], searching: bool) -> List[Hit]:
    """Hits and their context lines in order.  Context (`path-12-text`) is told by the paths of the hits."""
    found: Dict[int, Hit] = {}
    paths: Dict[str, int] = {}
    for index, line in enumerate(lines):
        match = NUMBERED.match(line)
        if match and _is_path(match.group("path"), searching):
            found[index] = Hit(index, match.group("path"), match.group("rest"))
            paths[match.group("path")] = index
    if searching and len(found) < 0.3 * len(lines):
        found = {}
        for index, line in enumerate(lines):
            match = BARE.match(line)
            if match and _is_path(match.group("path"), searching):
                found[index] = Hit(index, match.group("path"), match.group("rest"))
    if searching and len(found) < len(lines):
        for index, line in enumerate(lines):
            match = CONTEXT_LINE.match(line) if index not in found else None
            if match and _is_path(match.group("path"), True):
                found[index] = Hit(index, match.group("path"), match.group("rest"))
    if len(found) < len(lines) and paths:
        _add_context(lines, found, sorted(paths, key=len, reverse=True))
    return [found[index] for index in sorted(found)]


def _is_path(path: str, searching: bool) -> bool:
    if path.startswith((" ", "\t")) or "://" in path or "  " in path:
        return False
    if not searching:
        return PLAIN_PATH.match(path) is not None
    return ("/" in path or "." in path or "\\" in path) and not path.replace(".", "").isdigit()


def _add_context(lines: List[str], found: Dict[int, Hit], paths: List[str]) -> None:
    near = sorted(found)
    where = 0
    for index, line in enumerate(lines):
        if index in found:
            continue
        while where + 1 < len(near) and near[where + 1] <= index:
            where += 1
        for neighbour in near[where:where + 2]:
            path = found[neighbour].path
            if line.startswith(path + "-") and re.match(r"\d+-", line[len(path) + 1:]):
                found[index] = Hit(index, path, line[len(path) + 1:])
                break


def _matcher(ask: Ask) -> "Optional[re.Pattern]":
    """The pattern that was searched for, as well as it can be told; it only decides where a long line is clipped."""
    for stage in ask.command.stages:
        if stage[0] in ("grep", "egrep", "fgrep", "rg", "ag", "ack"):
            words = [word for word in stage[1:] if not word.startswith("-")]
            if words and len(words[0]) < 200:
                try:
                    return re.compile(words[0].replace("\\|", "|"), re.I)
                except re.error:
                    return re.compile(re.escape(words[0]), re.I)
    return None


def _file_units(page: Page, hits: List[Hit], turns: Dict[str, int], matcher) -> List[Unit]:
    path = hits[0].path
    units: List[Unit] = []
    head = len(hits) > 1 and len(path) > 6
    for hit in hits:
        turn = turns[path] = turns.get(path, -1) + 1
        rank = FACT if turn < 2 else NOTABLE if severity(hit.rest[:LONG]) == FAULT and turn < 12 else RARE
        if not head:
            line = page.lines[hit.index]
            units.append(Unit(hit.index, hit.index, rank, None if len(line) <= LONG + len(path) else (_clipped(line, matcher),), "clip", turn))
            continue
        text = hit.rest if len(hit.rest) <= LONG else _clipped(hit.rest, matcher)
        lines = (path, text) if hit is hits[0] else (text,)
        units.append(Unit(hit.index, hit.index, MUST if hit is hits[0] and turn == 0 else rank, lines, "hoist", turn))
    return units


def _clipped(line: str, matcher) -> str:
    """A long line around what was searched for; what is left out is counted."""
    start_of_text = re.match(r"[^\n]{0,200}?\d+[:-]", line)
    lead = start_of_text.end() if start_of_text else 0
    match = matcher.search(line, lead) if matcher else None
    start = max(lead, match.start() - AROUND // 2) if match else lead
    end = min(len(line), (match.end() if match else start) + AROUND)
    return "%s%s%s%s" % (line[:lead], "…[+%d characters]…" % (start - lead) if start > lead else "", line[start:end],
                         "…[+%d characters]" % (len(line) - end) if end < len(line) else "")


def _digest(hits: List[Hit]):
    def words(first: int, last: int) -> str:
        counts: Dict[str, int] = {}
        for hit in hits:
            if first <= hit.index <= last:
                counts[hit.path] = counts.get(hit.path, 0) + 1
        return ", ".join("%s %d" % (path.rsplit("/", 1)[-1], count) for path, count in sorted(counts.items(), key=lambda pair: -pair[1])[:3])
    return words
