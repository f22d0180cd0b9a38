"""What a command says about the search in it: whether its hits carry paths and line numbers, and
what was searched for.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from contextkernel.normalize.layout import Request
from contextkernel.normalize.needle import pattern_of

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
# nothing flows from these into a search
SILENT = frozenset(
    "cd pushd popd export set unset source true mkdir echo printf pwd date test exit".split()
)
RUNNERS = ("xargs", "parallel", "find", "fd")  # they add the files to search in
OWN_WALKERS = ("rg", "ag", "ack")  # search in folders without being told
GLOB = re.compile(r"[*?$`{\[]")
FILE = re.compile(r"\w\.[A-Za-z]\w{0,5}$")  # an operand that is no folder


class Search(NamedTuple):
    """What a command says about the search in it: whether paths stand before the hits, whether
    line numbers do.
    """

    is_search: bool = False
    paths: bool = False
    numbers: bool = False


class Words(NamedTuple):
    """The arguments of one search.  `flags`: the letters of its short options; `names`: its long
    ones; `files`: what it searches in.
    """

    flags: str
    names: frozenset[str]
    files: list[str]


def search_of(request: Request) -> Search:
    """The search of a command; a filter behind a pipe, and a search in one file, name no paths."""
    if request.tool == "Grep":
        return Search(True, True)
    search = Search()
    before: tuple[str, ...] = ()
    for stage in request.command.stages:
        adds_files = bool(stage) and stage[0] in RUNNERS
        words = _run_by(stage) if adds_files else list(stage)
        is_git = _is_git_grep(stage)
        if is_git:
            words = words[words.index("grep") :]
        if words and (is_git or _program(words[0]) in SEARCHERS):
            is_first = not before or before[0] in SILENT
            paths, numbers = _shown_by(words, is_git or adds_files, is_first)
            search = Search(True, search.paths or paths, search.numbers or numbers)
        before = stage
    return search


def matcher_of(request: Request) -> re.Pattern[str] | None:
    """The pattern that was searched for, as well as it can be told; it only decides where a long
    line is clipped.
    """
    for stage in request.command.stages:
        if stage[0] in ("grep", "egrep", "fgrep", "rg", "ag", "ack"):
            words = [word for word in stage[1:] if not word.startswith("-")]
            if words and len(words[0]) < 200:
                return pattern_of(words[0])
    return None


def _program(word: str) -> str:
    return word.rsplit("/", 1)[-1]


def _run_by(stage: tuple[str, ...]) -> list[str]:
    """The search that xargs, find or the like start, from its name on; [] for none."""
    runs_any = stage[0] in ("xargs", "parallel")
    for at, word in enumerate(stage):
        if at and _program(word) in SEARCHERS and (runs_any or stage[at - 1] in EXECUTES):
            return list(stage[at:])
    return []


def _is_git_grep(stage: tuple[str, ...]) -> bool:
    return bool(stage) and stage[0] == "git" and "grep" in stage[1:6]


def _shown_by(words: list[str], has_files: bool, is_first: bool) -> tuple[bool, bool]:
    """Whether the hits of one search stand behind a path, and behind a line number.

    `has_files`: it surely searches in files; `is_first`: nothing is piped into it.
    """
    program = words[0]
    flags, names, files = _read(words)
    return (
        _shows_paths(program, flags, names, files, has_files, is_first),
        "n" in flags or "--line-number" in names,
    )


def _shows_paths(
    program: str,
    flags: str,
    names: frozenset[str],
    files: list[str],
    has_files: bool,
    is_first: bool,
) -> bool:
    if "h" in flags and program != "ag" or "I" in flags and program == "rg":
        return False
    if "--no-filename" in names:
        return False
    if has_files or "H" in flags or "--with-filename" in names:
        return True
    if len(files) > 1 or files and GLOB.search(files[0]):
        return True
    walks = program in OWN_WALKERS
    is_recursive = (
        walks
        or "r" in flags
        or "R" in flags
        or bool(names & {"--recursive", "--dereference-recursive"})
    )
    if not files:
        return is_recursive and (is_first or not walks)
    return is_recursive and not FILE.search(files[0])


def _read(words: list[str]) -> Words:
    """The arguments of a search.  `-rne PATTERN`: the last letter takes the next word."""
    valued = VALUED_OF_RG if words[0] in OWN_WALKERS else VALUED
    flags, names, operands = "", set(), []
    has_pattern, skip = False, False
    for word in words[1:]:
        if skip:
            skip = False
        elif word.startswith("--"):
            names.add(word.partition("=")[0])
            has_pattern = has_pattern or word.startswith(("--regexp", "--file"))
            skip = word in valued
        elif word.startswith("-") and len(word) > 1:
            flags += word[1:]
            has_pattern = has_pattern or word[1] in "ef" or word[-1] in "ef"
            is_cluster = len(word) > 2 and word[1:].isalpha()
            skip = word in valued or is_cluster and "-" + word[-1] in VALUED
        else:
            operands.append(word)
    return Words(flags, frozenset(names), operands if has_pattern else operands[1:])
