"""Search results: each path once, then line and text; nothing is left out until the room is used
up.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import Callable, NamedTuple

from contextkernel.normalize.document import Document
from contextkernel.normalize.formats.search_command import Search, matcher_of, search_of
from contextkernel.normalize.layout import Block, Layout, Rank, Request
from contextkernel.normalize.outliers import outliers
from contextkernel.normalize.severity import FAULT, severity
from contextkernel.normalize.templates import Mined, mine

NUMBERED = re.compile(r"(?P<path>(?:[A-Za-z]:)?[^:\n\0]{1,300}?):(?P<rest>\d+:.*)$")
CONTEXT_LINE = re.compile(
    r"(?P<path>(?:[A-Za-z]:)?[^:\n\0]{1,300}?[\w)\]]\.[A-Za-z]\w{0,9})-(?P<rest>\d+-.*)$"
)  # of grep -C; a path ends in an extension
BARE = re.compile(r"(?P<path>[^\s:\0][^:\n\0]{0,300}):(?P<rest>.*)$")
PLAIN_PATH = re.compile(
    r"(?:[\w.@+~-]*/)*[\w@+~-][\w.@+~-]*\.[A-Za-z]\w{0,8}$|(?:[\w.@+~-]*/)+[\w.@+~-]+$"
)  # without a search command only these
DIAGNOSTIC = re.compile(
    r"\d+(?::\d+)?: ?(?:(?:fatal )?error|warning|note|info|\w+(?:Error|Warning):|[A-Z]{1,5}\d+\b)"
)  # what programs say of a place
TARGET_CHARS = 14000  # characters
LONG = 320  # characters of one hit; longer ones are clipped around the match
AROUND = 140  # characters
NUMBER_WITHIN = re.compile(r"[^\n]{0,200}?(?<!\d)\d+[:-]")  # a line up to the text of the hit
SHARE = 0.85  # of the lines must be hits, context, separators or notes
ALONE = re.compile(r"(?P<number>\d+)[:-]")  # a hit of a search in one file has no path
NUMBERS = re.compile(r"^\d+(?::\d+)?[:-]")  # before the text of a hit
TIMED = re.compile(
    r"\d{4}[-/.]\d\d[-/.]\d\d|\d\d[-/](?:\d\d|[A-Z][a-z]{2})[-/]\d{4}|\b\d\d:\d\d:\d\d\b"
)  # log lines hold one early on
EARLY = 60  # characters
NO_PATH = re.compile(
    r"\s\d|\s-\s|\s[/\[({]|^[\[({]\S*\s|^[A-Z]{3,9}\s|\d[-/.]\d\d[-/.]\d\d[T _]\d\d?$"
    r"|^\d+(?:\.\d+){3}(?:\s|$)|^(?=.*\s).*[=\"<>|{}]"
)  # times, addresses, the head of a log line
COMMON = 20  # lines of one template that make it a program's
FEW = 12  # hits unlike the others that are kept in any case
FACTS_PER_FILE, FAULTS_PER_FILE = 2, 12  # hits of a file that come before its others


class Hit(NamedTuple):
    """`line`: 0-based; `rest`: what stands behind the path."""

    line: int
    path: str
    rest: str


def layout(document: Document, request: Request) -> Layout | None:
    """Hits grouped by file; None when the text is something else, or paths do not repeat."""
    search = search_of(request)
    if search.is_search and _is_alone(document.lines, search):
        return _one_file_layout(document, request)
    if not search.is_search and not _is_likely(document.lines):
        return None
    hits = _hits(document.lines, search.paths)
    lines = sum(1 for line in document.lines if line.strip() and line != "--")
    if len(hits) < 5 or len(hits) < SHARE * lines:
        return None
    if not search.paths and (
        sum(DIAGNOSTIC.match(hit.rest) is not None for hit in hits) > len(hits) // 2
        or _is_running(document.lines, hits)
    ):
        return None
    return _grouped(document, request, hits, "grouped by file: path, then line:text")


def _is_likely(lines: list[str]) -> bool:
    """Whether half of some lines from all over are numbered hits; a long log is not looked
    through for them.
    """
    some = [line for line in lines[:: len(lines) // 200 + 1] if line.strip() and line != "--"]
    matches = [NUMBERED.match(line) or CONTEXT_LINE.match(line) for line in some]
    return 2 * sum(
        match is not None and _is_path(match.group("path"), False) for match in matches
    ) >= len(some)


def _grouped(document: Document, request: Request, hits: list[Hit], words: str) -> Layout:
    """A layout of hits and what stands between them; `words`: of the mark at the top."""
    matcher = matcher_of(request)
    target_chars = request.limits.target_chars if request.exit_code else TARGET_CHARS
    faulty, ranks = _judged(hits, target_chars)
    blocks: list[Block] = []
    ranking = _FileHits(faulty, ranks)
    at = 0
    while at < len(hits):
        end = at
        while (
            end + 1 < len(hits)
            and hits[end + 1].path == hits[at].path
            and hits[end + 1].line == hits[end].line + 1
        ):
            end += 1
        blocks += _file_blocks(document, hits[at : end + 1], ranking, matcher)
        at = end + 1
    known = {hit.line for hit in hits}
    for i, line in enumerate(document.lines):
        if i not in known:
            is_filled = line.strip() and line != "--"
            blocks.append(Block(i, i, Rank.NOTABLE if is_filled else Rank.CONTEXT))
    blocks.sort()
    return Layout(blocks, words, _digest(hits), 0 if request.exit_code else TARGET_CHARS)


def _is_alone(lines: list[str], search: Search) -> bool:
    """Whether the lines are hits of one file, `12:text`; numbers rise there, unless files follow
    each other without names.  A log is none: nobody edits it.
    """
    filled = [line for line in lines if line.strip() and line != "--"]
    matches = [ALONE.match(line) for line in filled]
    numbers = [int(match.group("number")[:9]) for match in matches if match]
    if len(numbers) < 5 or len(numbers) < SHARE * len(filled):
        return False
    if not search.numbers and sum(b > a for a, b in zip(numbers, numbers[1:])) < SHARE * (
        len(numbers) - 1
    ):
        return False
    return sum(TIMED.search(line[:EARLY]) is not None for line in filled) <= len(filled) // 2


def _one_file_layout(document: Document, request: Request) -> Layout | None:
    """All of it while there is room: what is edited next is found by these numbers."""
    if sum(map(len, document.lines)) + len(document.lines) < TARGET_CHARS:
        return Layout([])
    hits = [Hit(index, "", line) for index, line in enumerate(document.lines) if ALONE.match(line)]
    return _grouped(document, request, hits, "")


def _is_running(lines: list[str], hits: list[Hit]) -> bool:
    """Whether a program that runs wrote these places: the same ones again and again, or the same
    sentences.
    """
    places = {(hit.path, hit.rest.partition(":")[0]) for hit in hits}
    if 2 * len(places) < len(hits):
        return True
    mined = mine([lines[hit.line] for hit in hits])
    return 2 * sum(count for count in mined.counts if count >= COMMON) > len(hits)


def _judged(hits: list[Hit], target_chars: int) -> tuple[set[int], dict[int, int]]:
    """Lines of faulty hits; and of those that must not go, with their ranks: the few
    faults, the few that resemble no other, the outliers.  No ranks when all hits have room.
    """
    if sum(len(hit.rest) + 1 for hit in hits) < target_chars // 2:
        return {hit.line for hit in hits if severity(hit.rest[:LONG]) == FAULT}, {}
    texts = [NUMBERS.sub("", hit.rest[:LONG], 1) for hit in hits]
    mined = mine(texts)
    levels = [severity(texts[exemplar]) for exemplar in mined.exemplars]
    ranks: dict[int, int] = {}
    common = {template for template, count in enumerate(mined.counts) if count >= COMMON}
    if sum(mined.counts[template] for template in common) > len(hits) // 2:
        ranks.update(
            (hits[at].line, Rank.NOTABLE) for at in _rare(mined) + outliers(texts, mined, common)
        )
    faulty = [at for at, template in enumerate(mined.ids) if levels[template] == FAULT]
    if len(faulty) > FEW:  # words of fault were searched for: the first of each rare kind
        rare = [
            template
            for template, level in enumerate(levels)
            if level == FAULT
            and mined.counts[template] < COMMON
            and mined.counts[template] <= len(hits) // 100
        ]
        ranks.update(
            (hits[mined.exemplars[template]].line, Rank.MUST)
            for template in (rare if len(rare) <= FEW else ())
        )
    else:
        ranks.update((hits[at].line, Rank.MUST) for at in faulty)
    return {hits[at].line for at in faulty}, ranks


def _rare(mined: Mined) -> list[int]:
    """Positions of texts with a template of their own, when these are few."""
    rare = [at for at, template in enumerate(mined.ids) if mined.counts[template] < 4]
    return rare if len(rare) <= max(FEW, len(mined.ids) // 20) else []


def _hits(lines: list[str], searching: bool) -> list[Hit]:
    """Hits and their context lines in order.  Context (`path-12-text`) is told by the paths of
    the hits.
    """
    by_line: dict[int, Hit] = {}
    paths: dict[str, int] = {}
    filled = [(index, line) for index, line in enumerate(lines) if line]
    for index, line in filled:
        match = NUMBERED.match(line)
        if match and _is_path(match.group("path"), searching):
            by_line[index] = Hit(index, match.group("path"), match.group("rest"))
            paths[match.group("path")] = index
    if searching and len(by_line) < 0.3 * len(lines):
        by_line = {}
        for index, line in filled:
            match = BARE.match(line)
            if match and _is_path(match.group("path"), searching):
                by_line[index] = Hit(index, match.group("path"), match.group("rest"))
    if searching and len(by_line) < len(lines):
        for index, line in filled:
            match = CONTEXT_LINE.match(line) if index not in by_line else None
            if match and _is_path(match.group("path"), True):
                by_line[index] = Hit(index, match.group("path"), match.group("rest"))
    if len(by_line) < len(lines) and paths:
        _add_context(filled, by_line, sorted(paths, key=len, reverse=True))
    return [by_line[index] for index in sorted(by_line)]


def _is_path(path: str, searching: bool) -> bool:
    if path.startswith((" ", "\t")) or "://" in path or "  " in path:
        return False
    if not searching:
        return PLAIN_PATH.match(path) is not None
    return (
        ("/" in path or "." in path or "\\" in path)
        and not path.replace(".", "").isdigit()
        and NO_PATH.search(path) is None
    )


def _add_context(filled: list[tuple[int, str]], by_line: dict[int, Hit], paths: list[str]) -> None:
    near = sorted(by_line)
    where = 0
    for index, line in filled:
        if index in by_line:
            continue
        while where + 1 < len(near) and near[where + 1] <= index:
            where += 1
        for neighbour in near[where : where + 2]:
            path = by_line[neighbour].path
            if line.startswith(path + "-") and re.match(r"\d+-", line[len(path) + 1 :]):
                by_line[index] = Hit(index, path, line[len(path) + 1 :])
                break


class _FileHits:
    """Ranks the hits of each file as they come: the first ones as facts, then its first faults."""

    def __init__(self, faulty: set[int], special: dict[int, int]) -> None:
        self.faulty = faulty  # lines
        self.special = special  # line -> a rank it has whatever its file
        self.seen: dict[str, int] = {}  # path -> its hits so far
        self.faults: dict[str, int] = {}  # path -> those of them ranked as faults

    def ranked(self, hit: Hit) -> tuple[int, int, bool]:
        """(rank, order, whether it is the first hit of its file)"""
        nth = self.seen[hit.path] = self.seen.get(hit.path, -1) + 1
        rank, order = (Rank.FACT if nth < FACTS_PER_FILE else Rank.RARE), nth
        faults = self.faults.get(hit.path, 0)
        if nth >= FACTS_PER_FILE and hit.line in self.faulty and faults < FAULTS_PER_FILE:
            rank, order = Rank.NOTABLE, faults
            self.faults[hit.path] = faults + 1
        special = self.special.get(hit.line, Rank.RARE)
        if special < rank:
            rank, order = special, -1
        return rank, order, nth == 0


def _file_blocks(
    document: Document, hits: list[Hit], ranking: _FileHits, matcher: re.Pattern[str] | None
) -> list[Block]:
    """Hits of one file that follow each other: its path once, then what stands behind it."""
    path = hits[0].path
    blocks: list[Block] = []
    is_hoisted = len(hits) > 1 and len(path) > 6
    for hit in hits:
        rank, order, is_new = ranking.ranked(hit)
        at = hit.line
        lines: tuple[str, ...]
        if is_hoisted and hit is hits[0]:
            lines = (path, _shortened(hit.rest, LONG, matcher))
            blocks.append(Block(at, at, Rank.MUST if is_new else rank, lines, "hoist", order))
        elif is_hoisted and not _needs_path(rank, ranking.special.get(at), blocks[0].rank):
            lines = (_shortened(hit.rest, LONG, matcher),)
            blocks.append(Block(at, at, rank, lines, "hoist", order))
        else:
            line = document.lines[at]
            longest = LONG + len(path)
            shown = (_shortened(line, longest, matcher),) if len(line) > longest else None
            blocks.append(Block(at, at, rank, shown, "clip", order))
    return blocks


def _needs_path(rank: int, special: int | None, rank_of_first: int) -> bool:
    """Whether a hit may be shown where the one that names its path is left out."""
    return special == Rank.MUST or rank == Rank.NOTABLE and rank_of_first > Rank.NOTABLE


def _shortened(line: str, longest: int, matcher: re.Pattern[str] | None) -> str:
    """A long line around what was searched for; what is left out is counted."""
    if len(line) <= longest:
        return line
    number = NUMBER_WITHIN.match(line)
    lead = number.end() if number else 0
    match = matcher.search(line, lead) if matcher else None
    start = max(lead, match.start() - AROUND // 2) if match else lead
    end = min(len(line), (match.end() if match else start) + AROUND)
    before = f"…[+{start - lead} characters]…" if start > lead else ""
    after = f"…[+{len(line) - end} characters]" if end < len(line) else ""
    return line[:lead] + before + line[start:end] + after


def _digest(hits: list[Hit]) -> Callable[[int, int], str]:
    numbers = [hit.line for hit in hits]

    def words(first: int, last: int) -> str:
        counts: dict[str, int] = {}
        for hit in hits[bisect_left(numbers, first) : bisect_right(numbers, last)]:
            counts[hit.path] = counts.get(hit.path, 0) + 1
        return ", ".join(
            f"{path.rsplit('/', 1)[-1]} {count}"
            for path, count in sorted(counts.items(), key=lambda pair: -pair[1])[:3]
        )

    return words
