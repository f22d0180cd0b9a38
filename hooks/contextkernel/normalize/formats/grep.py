"""Search results: each path once, then line and text; nothing is left out until the room is used
up.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import NamedTuple

from contextkernel.normalize.document import Document
from contextkernel.normalize.layout import Block, Layout, Rank, Request
from contextkernel.normalize.needle import pattern_of
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
AROUND = 140
SHARE = 0.85  # of the lines must be hits, context, separators or notes
SEARCHERS = frozenset(("grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack"))
VALUED = frozenset(
    (
        "-A -B -C -D -d -e -f -m --after-context --before-context --context --file --max-count "
        "--regexp"
    ).split()
)  # options whose value is the next word
VALUED_OF_RG = VALUED | frozenset(
    "-E -M -T -g -j -r -t -G --glob --type --type-not --replace --encoding".split()
)
EXECUTES = ("-exec", "-execdir", "--exec", "--exec-batch", "-x", "-X")
SILENT = frozenset(
    "cd pushd popd export set unset source true mkdir echo printf pwd date test exit".split()
)  # nothing flows from these into a search
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
FAULTS_PER_FILE = 12


class Hit(NamedTuple):
    index: int
    path: str
    rest: str


class Search(NamedTuple):
    """What a command says about the search in it: whether paths stand before the hits, whether
    line numbers do.
    """

    any: bool = False
    paths: bool = False
    numbers: bool = False


def layout(document: Document, request: Request) -> Layout | None:
    """Hits grouped by file; None when the text is something else, or paths do not repeat."""
    search = _search(request)
    if search.any and _is_alone(document.lines, search):
        return _one_file_layout(document, request)
    if not search.any and not _is_likely(document.lines):
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
    found = [NUMBERED.match(line) or CONTEXT_LINE.match(line) for line in some]
    return 2 * sum(
        match is not None and _is_path(match.group("path"), False) for match in found
    ) >= len(some)


def _grouped(document: Document, request: Request, hits: list[Hit], words: str) -> Layout:
    matcher = _matcher(request)
    faulty, ranks = _judged(
        hits, request.limits.target_chars if request.exit_code else TARGET_CHARS
    )
    blocks: list[Block] = []
    seen: dict[str, int] = {}
    faults: dict[str, int] = {}
    at = 0
    while at < len(hits):
        end = at
        while (
            end + 1 < len(hits)
            and hits[end + 1].path == hits[at].path
            and hits[end + 1].index == hits[end].index + 1
        ):
            end += 1
        blocks += _file_blocks(document, hits[at : end + 1], seen, faults, faulty, ranks, matcher)
        at = end + 1
    known = {hit.index for hit in hits}
    blocks += [
        Block(i, i, Rank.NOTABLE)
        for i, line in enumerate(document.lines)
        if i not in known and line.strip() and line != "--"
    ]
    blocks += [
        Block(i, i, Rank.CONTEXT)
        for i, line in enumerate(document.lines)
        if i not in known and (not line.strip() or line == "--")
    ]
    blocks.sort()
    return Layout(blocks, words, _digest(hits), 0 if request.exit_code else TARGET_CHARS)


def _search(request: Request) -> Search:
    """The search of a command; a filter behind a pipe, and a search in one file, name no paths."""
    if request.tool == "Grep":
        return Search(True, True)
    found = Search()
    before: tuple[str, ...] = ()
    for stage in request.command.stages:
        words = list(stage)
        through = bool(words) and words[0] in (
            "xargs",
            "parallel",
            "find",
            "fd",
        )  # they add the files
        if through:
            runs = words[0] in ("xargs", "parallel")
            at = next(
                (
                    i
                    for i, word in enumerate(words)
                    if i
                    and word.rsplit("/", 1)[-1] in SEARCHERS
                    and (runs or words[i - 1] in EXECUTES)
                ),
                0,
            )
            words = words[at:] if at else []
        git = (
            stage[:2] == ("git", "grep")
            or bool(stage)
            and stage[0] == "git"
            and "grep" in stage[1:6]
        )
        if git:
            words = words[words.index("grep") :]
        if words and (git or words[0].rsplit("/", 1)[-1] in SEARCHERS):
            paths, numbers = _search_of(words, git or through, not before or before[0] in SILENT)
            found = Search(True, found.paths or paths, found.numbers or numbers)
        before = stage
    return found


def _search_of(words: list[str], many: bool, first: bool) -> tuple[bool, bool]:
    """Whether the hits of one search stand behind a path, and behind a line number.  `many`: it
    surely searches in files; `first`: nothing is piped into it.
    """
    own = words[0] in ("rg", "ag", "ack")
    valued = VALUED_OF_RG if own else VALUED
    flags, names, operands, given, skip = "", set(), [], False, False
    for word in words[1:]:
        if skip:
            skip = False
        elif word.startswith("--"):
            names.add(word.partition("=")[0])
            given = given or word.startswith(("--regexp", "--file"))
            skip = word in valued
        elif word.startswith("-") and len(word) > 1:
            flags += word[1:]
            given = given or word[1:2] in ("e", "f") or word[-1] in "ef"
            skip = (
                word in valued or len(word) > 2 and word[1:].isalpha() and "-" + word[-1] in VALUED
            )  # -rne PATTERN
        else:
            operands.append(word)
    files = operands if given else operands[1:]
    numbers = "n" in flags or "--line-number" in names
    if (
        "h" in flags
        and words[0] != "ag"
        or names & {"--no-filename"}
        or words[0] == "rg"
        and "I" in flags
    ):
        return False, numbers
    if (
        many
        or "H" in flags
        or "--with-filename" in names
        or len(files) > 1
        or files
        and re.search(r"[*?$`{\[]", files[0])
    ):
        return True, numbers
    recursive = (
        own
        or "r" in flags
        or "R" in flags
        or bool(names & {"--recursive", "--dereference-recursive"})
    )
    if not files:
        return recursive and (first or not own), numbers
    return recursive and not re.search(r"\w\.[A-Za-z]\w{0,5}$", files[0]), numbers


def _is_alone(lines: list[str], search: Search) -> bool:
    """Whether the lines are hits of one file, `12:text`; numbers rise there, unless files follow
    each other without names.  A log is none: nobody edits it.
    """
    filled = [line for line in lines if line.strip() and line != "--"]
    found = [ALONE.match(line) for line in filled]
    numbers = [int(match.group("number")[:9]) for match in found if match]
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
    mined = mine([lines[hit.index] for hit in hits])
    return 2 * sum(count for count in mined.counts if count >= COMMON) > len(hits)


def _judged(hits: list[Hit], room: int) -> tuple[set[int], dict[int, int]]:
    """Lines of faulty hits; and of those that must not go, with their ranks: the few
    faults, the few that resemble no other, the outliers.  No ranks when all hits have room.
    """
    if sum(len(hit.rest) + 1 for hit in hits) < room // 2:
        return {hit.index for hit in hits if severity(hit.rest[:LONG]) == FAULT}, {}
    texts = [NUMBERS.sub("", hit.rest[:LONG], 1) for hit in hits]
    mined = mine(texts)
    levels = [severity(texts[exemplar]) for exemplar in mined.exemplars]
    ranks: dict[int, int] = {}
    common = {template for template, count in enumerate(mined.counts) if count >= COMMON}
    if sum(mined.counts[template] for template in common) > len(hits) // 2:
        ranks.update(
            (hits[at].index, Rank.NOTABLE) for at in _rare(mined) + outliers(texts, mined, common)
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
            (hits[mined.exemplars[template]].index, Rank.MUST)
            for template in (rare if len(rare) <= FEW else ())
        )
    else:
        ranks.update((hits[at].index, Rank.MUST) for at in faulty)
    return {hits[at].index for at in faulty}, ranks


def _rare(mined: Mined) -> list[int]:
    """Positions of texts with a template of their own, when these are few."""
    rare = [at for at, template in enumerate(mined.ids) if mined.counts[template] < 4]
    return rare if len(rare) <= max(FEW, len(mined.ids) // 20) else []


def _hits(lines: list[str], searching: bool) -> list[Hit]:
    """Hits and their context lines in order.  Context (`path-12-text`) is told by the paths of
    the hits.
    """
    found: dict[int, Hit] = {}
    paths: dict[str, int] = {}
    filled = [(index, line) for index, line in enumerate(lines) if line]
    for index, line in filled:
        match = NUMBERED.match(line)
        if match and _is_path(match.group("path"), searching):
            found[index] = Hit(index, match.group("path"), match.group("rest"))
            paths[match.group("path")] = index
    if searching and len(found) < 0.3 * len(lines):
        found = {}
        for index, line in filled:
            match = BARE.match(line)
            if match and _is_path(match.group("path"), searching):
                found[index] = Hit(index, match.group("path"), match.group("rest"))
    if searching and len(found) < len(lines):
        for index, line in filled:
            match = CONTEXT_LINE.match(line) if index not in found else None
            if match and _is_path(match.group("path"), True):
                found[index] = Hit(index, match.group("path"), match.group("rest"))
    if len(found) < len(lines) and paths:
        _add_context(filled, found, sorted(paths, key=len, reverse=True))
    return [found[index] for index in sorted(found)]


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


def _add_context(filled: list[tuple[int, str]], found: dict[int, Hit], paths: list[str]) -> None:
    near = sorted(found)
    where = 0
    for index, line in filled:
        if index in found:
            continue
        while where + 1 < len(near) and near[where + 1] <= index:
            where += 1
        for neighbour in near[where : where + 2]:
            path = found[neighbour].path
            if line.startswith(path + "-") and re.match(r"\d+-", line[len(path) + 1 :]):
                found[index] = Hit(index, path, line[len(path) + 1 :])
                break


def _matcher(request: Request) -> re.Pattern | None:
    """The pattern that was searched for, as well as it can be told; it only decides where a long
    line is clipped.
    """
    for stage in request.command.stages:
        if stage[0] in ("grep", "egrep", "fgrep", "rg", "ag", "ack"):
            words = [word for word in stage[1:] if not word.startswith("-")]
            if words and len(words[0]) < 200:
                return pattern_of(words[0])
    return None


def _file_blocks(
    document: Document,
    hits: list[Hit],
    seen: dict[str, int],
    faults: dict[str, int],
    faulty: set[int],
    ranks: dict[int, int],
    matcher,
) -> list[Block]:
    path = hits[0].path
    blocks: list[Block] = []
    head = len(hits) > 1 and len(path) > 6
    for hit in hits:
        nth = seen[path] = seen.get(path, -1) + 1
        rank, order = Rank.FACT if nth < 2 else Rank.RARE, nth
        if nth >= 2 and hit.index in faulty and faults.get(path, 0) < FAULTS_PER_FILE:
            rank, order = Rank.NOTABLE, faults.get(path, 0)
            faults[path] = order + 1
        special = ranks.get(hit.index, Rank.RARE)
        if special < rank:
            rank, order = special, -1
        first = hit is hits[0]
        if (
            not head
            or special == Rank.MUST
            and not first
            or rank == Rank.NOTABLE
            and not first
            and blocks[0].rank > Rank.NOTABLE
        ):  # with its path: the line that names it may be left out
            line = document.lines[hit.index]
            blocks.append(
                Block(
                    hit.index,
                    hit.index,
                    rank,
                    None if len(line) <= LONG + len(path) else (_clipped(line, matcher),),
                    "clip",
                    order,
                )
            )
            continue
        text = hit.rest if len(hit.rest) <= LONG else _clipped(hit.rest, matcher)
        lines = (path, text) if first else (text,)
        blocks.append(
            Block(
                hit.index,
                hit.index,
                Rank.MUST if first and nth == 0 else rank,
                lines,
                "hoist",
                order,
            )
        )
    return blocks


def _clipped(line: str, matcher) -> str:
    """A long line around what was searched for; what is left out is counted."""
    start_of_text = re.match(r"[^\n]{0,200}?(?<!\d)\d+[:-]", line)
    lead = start_of_text.end() if start_of_text else 0
    match = matcher.search(line, lead) if matcher else None
    start = max(lead, match.start() - AROUND // 2) if match else lead
    end = min(len(line), (match.end() if match else start) + AROUND)
    return "%s%s%s%s" % (
        line[:lead],
        f"…[+{int(start - lead)} characters]…" if start > lead else "",
        line[start:end],
        f"…[+{len(line) - end} characters]" if end < len(line) else "",
    )


def _digest(hits: list[Hit]):
    numbers = [hit.index for hit in hits]

    def words(first: int, last: int) -> str:
        counts: dict[str, int] = {}
        for hit in hits[bisect_left(numbers, first) : bisect_right(numbers, last)]:
            counts[hit.path] = counts.get(hit.path, 0) + 1
        return ", ".join(
            f"{path.rsplit('/', 1)[-1]} {count}"
            for path, count in sorted(counts.items(), key=lambda pair: -pair[1])[:3]
        )

    return words
