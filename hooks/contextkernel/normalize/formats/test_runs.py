"""Failing test runs: summary lines, all failing names, failing blocks; passing noise goes last."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import NamedTuple

from contextkernel.normalize.document import Document
from contextkernel.normalize.layout import Block, Layout, Rank, Request
from contextkernel.normalize.severity import CALM, FAULT, severity
from contextkernel.normalize.survey import COMMON, Survey, block_of, target_for


class Dialect(NamedTuple):
    """How a runner writes; each a pattern, matched at the start of a line ("" never).

    `begin` starts a failing block, `stop` ends it (the line is outside), `core` lines tell its
    cause, `verdict` are the
    runner's own summary lines, `names` are lines that only name a failing test, `passing` is what a
    passing test prints.
    """

    begin: str
    stop: str
    core: str
    verdict: str
    names: str
    passing: str = ""
    before: str = ""  # a block also takes the lines back to the last line that matches this


RUNNERS = {
    "pytest": Dialect(
        begin=r"_{3,} .+ _{3,}$",
        stop=r"={3,} .*===$|!{3,}|[\w./-]+\.py(?::| ).*\[ *\d+%\]$",
        core=r"E  |>  |\S+:\d+: \w|E$",
        verdict=(
            r"={3,} (?=(.*?\b(?:passed|failed|errors?|skipped|deselected|no tests ran)\b))\1.* "
            r"in |\d+ (?:passed|failed|errors?|skipped|deselected|xfailed)\b.* in [\d.]+|!{3,} "
            r".* !{3,}$"
        ),
        names=r"(?:FAILED|ERROR) \S|(?=(\S+?::))\1\S.* (?:FAILED|ERROR)\b|(?:XPASS) \S",
        passing=(
            r"(?=(\S+?::))\1.* (?:PASSED|SKIPPED|XFAIL)|(?:tests?/|\S+\.py )\S*(?:(?<=[.sxX])| "
            r"+[.sxX]+) "
        ),
    ),
    # TAP: node --test, tape, prove
    "tap": Dialect(
        begin=r"\s*not ok \d+(?!\d)(?!.*# (?:TODO|SKIP))",
        stop=r"\s*(?:ok \d|\d+\.\.\d|# )|TAP version",
        core=(
            r"\s+(?:error|message|expected|actual|operator|at|location|failureType|code|name"
            r"|found|wanted|stack):|\s*#\s+(?:Failed|at |got|expected)|\s+at .*(?:test|spec)"
        ),
        verdict=(
            r"# (?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms|ok|failed)\b"
            r"|\d+\.\.\d+|Result: |Files=\d"
        ),
        names=r"\s*not ok ",
        passing=r"\s*ok \d|# Subtest: |\s+(?:---|\.\.\.|duration_ms: .*|type: .*)$",
        before=r"# Subtest: ",
    ),
    # jest, vitest, mocha and jasmine
    "jest": Dialect(
        begin=r"\s{1,4}● (?!Console\b)\S|\s*(?:FAIL|❯ FAIL)\s+\S.* > |  +\d+\) \S",
        stop=(
            r"(?:PASS|FAIL)\s+\S+\.\w+|Test Suites?:|\s+Tests?  |\s{1,4}● Console|⎯{5,}$"
            r"|Snapshot Summary|Summary of all failing|\s*Test Files "
        ),
        core=(
            r"\s*(?:expect\b|Expected|Received|Assertion|\w*Error\b|[-+] |>\s*\d+ \||at .*(?:test"
            r"|spec)|❯ \S+:\d+|Difference|Cannot|Timeout|thrown)"
        ),
        verdict=(
            r"\s*(?:Test Suites|Tests|Snapshots|Time|Test Files|Duration|Start at)\b:? +\S|Ran "
            r"all test|\s+\d+ (?:passing|failing|pending)\b|Executed \d+|\d+ specs?,"
        ),
        names=r"FAIL\s+\S|\s*(?:✕|✗|×|❯) |\s{1,4}● .* › ",
        passing=r"PASS\s+\S|\s*(?:✓|✔|√) |\s+console\.\w+$|\s{1,4}● Console",
    ),
    # go test
    "gotest": Dialect(
        begin=(
            r"\s*--- FAIL: |panic: |fatal error: |.*\.go:\d+:\d+: |FAIL\t.*\[(?:build|setup) "
            r"failed\]|WARNING: DATA RACE"
        ),
        stop=(
            r"=== (?:RUN|CONT|PAUSE)|\s*--- (?:PASS|SKIP)|(?:PASS|FAIL|ok|\?)(?:\s|$)|# \S+$"
            r"|exit status"
        ),
        core=(
            r"\s+\S+\.go:\d+|\s*Error(?: Trace)?:|\s+(?:expected|actual|got|want)|panic:"
            r"|\t/.*_test\.go:\d+|goroutine \d+ \[running"
        ),
        verdict=r"FAIL\b|ok  \t.*\bFAIL|exit status|coverage:|DONE \d+",
        names=r"\s*--- FAIL: |FAIL\t|# \S+$",
        passing=r"=== (?:RUN|PAUSE|CONT)|\s*--- PASS|ok  \t|PASS$|\?   \t",
        before=r"=== RUN ",
    ),
    # cargo test and nextest
    "cargotest": Dialect(
        begin=(
            r"---- .* ----$|error(?:\[E\d+\])?: (?!test failed|could not compile|aborting)"
            r"|\s*(?:STDOUT|STDERR|stdout|stderr) ─+|--- (?:STDOUT|STDERR)"
        ),
        stop=(
            r"---- .* ----$|failures:$|test result:|warning: |error: (?:test failed|could not "
            r"compile|aborting)|\s+(?:Running|Doc-tests|Compiling|Summary|PASS) "
        ),
        core=(
            r".*panicked at|\s*(?:left|right|expected|actual|found): |assertion |Error: |error"
            r"|\s*--> |\S.*: expected"
        ),
        verdict=(
            r"test result:|error: test failed|error: could not compile|error: aborting"
            r"|\s+Summary \[|For more information"
        ),
        names=r"test .* \.\.\. FAILED|    [\w:<>]+$|\s+(?:FAIL|TIMEOUT|SIGABRT) \[",
        passing=r"test .* \.\.\. (?:ok|ignored)|\s+PASS \[",
    ),
    # unittest and Django's runner
    "unittest": Dialect(
        begin=r"(?:FAIL|ERROR|UNEXPECTED SUCCESS): \S",
        stop=r"={60,}$|Ran \d+ tests? in",
        core=(
            r"\w[\w.]*(?:Error|Exception|Failure|Warning)\b|  File .*(?:test|spec)|[-+?] "
            r"|AssertionError"
        ),
        verdict=r"Ran \d+ tests? in|FAILED \(|OK\b|NO TESTS RAN",
        names=r".* \.\.\. (?:FAIL|ERROR|unexpected success)$",
        passing=r".* \.\.\. (?:ok|skipped .*|expected failure)$",
    ),
    # rspec, phpunit, ctest, gtest, gradle, maven, dotnet and swift test runs
    "other": Dialect(
        begin=(
            r"\s{1,4}\d+\) \S|\[  FAILED  \] |\[ RUN .*|.* FAILED$|\[ERROR\] .*(?:FAILURE|ERROR)!"
            r"|\s+Failed \S|.*: error: -\[|\s*\d+/\d+ Test .*\*\*\*"
        ),
        stop=(
            r"$^|\[       OK \]|Finished in|FAILURES!|Tests run:|\[INFO\]|\d+ tests? completed"
            r"|Tests:|\s*\d+/\d+ Test .*Passed|Failed examples:"
        ),
        core=(
            r"\s*(?:Failure/Error|expected|Expected|got|Actual|\w*(?:Error|Exception)\b|Failed "
            r"asserting|Which is|Value of|# \./|at .*(?:Test|Spec|test|spec))|.*: Failure$"
            r"|/.*:\d+$"
        ),
        verdict=(
            r"\d+ examples?, |Tests: \d|FAILURES!|ERRORS!|OK \(|Tests run:.*|BUILD |\[ERROR\] "
            r"Tests run|\[==========\]|\[  PASSED  \]|\[  FAILED  \] \d+ tests|\d+% tests passed"
            r"|Total Test time|\d+ tests? completed|(?:Failed|Passed)!  |Executed \d+ tests|Test "
            r"Run "
        ),
        names=(
            r"rspec \S+|\[  FAILED  \] \S|\s+\d+ - .* \(|\[ERROR\]   \S|(?=(.*? > ))\1.* FAILED$"
            r"|\s*\d+/\d+ Test .*\*\*\*"
        ),
        passing=r"\[       OK \]|\[ RUN|\[-+\]|\s*\d+/\d+ Test .*Passed|\s+Start +\d+:",
    ),
}

NEVER = re.compile(r"(?!)")
WHOLE = 2500  # characters of one block beyond which only its core is first class
WHOLE_LINES = 160  # lines a block may reach back
LOUD = 24  # faults outside the failing blocks that come before the blocks' bodies
FOLD_NAMES = 3000  # characters of names from which on common prefixes are folded


def layout(document: Document, request: Request, runner: str) -> Layout | None:
    """Blocks of a test run; None when it shows neither a failing block nor a failing name nor a
    summary.
    """
    spot = {
        name: re.compile(pattern) if pattern else NEVER
        for name, pattern in RUNNERS[runner]._asdict().items()
    }
    failures = _failing_spans(document.lines, spot)
    verdicts = [i for i, line in enumerate(document.lines) if spot["verdict"].match(line)]
    names = [i for i, line in enumerate(document.lines) if spot["names"].match(line)]
    if not failures and not names and not verdicts:
        return None
    survey = Survey(document.lines, bool(request.exit_code))
    ranks = _noise_ranks(document, survey, spot, bool(failures or names))
    for index in verdicts:
        ranks[index] = Rank.MUST
    blocks = _failure_blocks(
        document,
        failures,
        spot,
        _strangers(document.lines, failures, survey, spot),
        survey.novel() if failures else set(),
    )
    inside = {i for first, last in failures for i in range(first, last + 1)}
    told = inside.union(verdicts)
    blocks += _name_blocks(document, _once(document.lines, [i for i in names if i not in told]))
    taken = {i for block in blocks for i in range(block.first, block.last + 1)} | inside
    loud = [index for index in sorted(ranks) if ranks[index] == Rank.FACT and index not in taken]
    early = set(loud[:LOUD])
    blocks += [
        block_of(document, index, rank)._replace(
            order=-1 if index in early else 2 if rank == Rank.FACT else 0
        )
        for index, rank in ranks.items()
        if index not in taken
    ]
    blocks.sort()
    return Layout(
        blocks,
        digest=_digest(failures) if failures or names else survey.digest,
        target_chars=target_for(document, survey, request),
    )


def _digest(failures: list[tuple[int, int]]):
    """Words for a gap's mark: whether it lies in a failing block."""
    starts = [first for first, _ in failures]

    def words(first: int, last: int) -> str:
        at = bisect_right(starts, first) - 1
        return (
            "part of a failing unit"
            if at >= 0 and last <= failures[at][1]
            else "outside the failing units"
            if failures
            else ""
        )

    return words


def _failing_spans(lines: list[str], spot: dict) -> list[tuple[int, int]]:
    failures: list[tuple[int, int]] = []
    start, mark, floor = -1, -1, -1
    for index, line in enumerate(lines):
        if start >= 0 and (spot["stop"].match(line) or spot["begin"].match(line)):
            failures.append((start, index - 1))
            floor, start = index - 1, -1
        if spot["before"].match(line):
            mark = index
        if start < 0 and spot["begin"].match(line):
            start = mark if floor < mark and index - mark < WHOLE_LINES else index
    if start >= 0:
        failures.append((start, len(lines) - 1))
    return [(first, last) for first, last in failures if first <= last]


def _noise_ranks(document: Document, survey: Survey, spot: dict, failing: bool) -> dict[int, int]:
    """Ranks outside the blocks: what would be first elsewhere comes after the failing ones here."""
    later = {
        Rank.MUST: Rank.MUST,
        Rank.FACT: Rank.FACT,
        Rank.NOTABLE: Rank.NOTABLE,
        Rank.CONTEXT: Rank.RARE,
        Rank.RARE: Rank.RARE,
        Rank.PLAIN: Rank.LISTED,
        Rank.LISTED: Rank.LISTED,
    }
    ranks = survey.ranks()
    if failing:
        ranks = {index: later[rank] for index, rank in ranks.items()}
    for index in list(ranks):
        template = survey.mined.ids[index]
        if (
            failing
            and ranks[index] > Rank.MUST
            and survey.mined.counts[template] >= COMMON
            and survey.mined.exemplars[template] != index
            and survey.level(template) == CALM
        ):
            ranks[index] = ranks[index] if index in survey.outlying else Rank.LAST
        if (
            ranks[index] > Rank.MUST
            and index not in survey.outlying
            and spot["passing"].match(document.lines[index])
        ):
            ranks[index] = Rank.LAST if failing else Rank.LISTED
    return ranks


def _failure_blocks(
    document: Document,
    failures: list[tuple[int, int]],
    spot: dict,
    strangers: set[int],
    novel: set[int],
) -> list[Block]:
    """Failing blocks: heads and causes as facts, the rest of each right after; the first of each
    cause is whole earlier.
    """
    blocks: list[Block] = []
    seen: dict[str, int] = {}
    ordered, first_of_all = sorted(strangers), strangers & novel
    for order, (first, last) in enumerate(failures):
        while last > first and not document.lines[last].strip():
            last -= 1
        cores = [
            i
            for i in range(first, last + 1)
            if i == first
            or spot["begin"].match(document.lines[i])
            or spot["core"].match(document.lines[i])
            or spot["names"].match(document.lines[i])
        ]
        cause = re.sub(
            r"\d+|0x[0-9a-f]+|'[^']*'|\"[^\"]*\"",
            "#",
            "\n".join(document.lines[i] for i in cores[1:4]),
        )
        repeat = seen[cause] = seen.get(cause, -1) + 1
        size = sum(map(len, document.lines[first : last + 1]))
        whole = (
            Rank.FACT
            if size < WHOLE and order < 2
            else Rank.NOTABLE
            if not repeat
            else Rank.CONTEXT
        )
        core = set(
            cores[:14]
            + cores[-6:]
            + ordered[bisect_left(ordered, first) : bisect_right(ordered, last)]
        )
        start = first
        while start <= last:
            end = start
            if start in core:
                while (
                    end < last
                    and end + 1 in core
                    and start not in strangers
                    and end + 1 not in strangers
                ):
                    end += 1
                rank = (
                    Rank.MUST
                    if order < 3 or start in strangers and severity(document.lines[start]) == FAULT
                    else Rank.FACT
                )
            else:
                while end < last and end + 1 not in core:
                    end += 1
                rank = whole
            if any(len(document.lines[i]) > 1200 for i in range(start, end + 1)):
                blocks += [
                    block_of(document, i, rank)._replace(order=order) for i in range(start, end + 1)
                ]
            else:
                blocks += [
                    Block(
                        a,
                        min(a + 39, end),
                        rank,
                        None,
                        "gap",
                        -1 if start in first_of_all else 0 if start in strangers else order,
                    )
                    for a in range(start, end + 1, 40)
                ]
            start = end + 1
    return blocks


def _strangers(
    lines: list[str], failures: list[tuple[int, int]], survey: Survey, spot: dict
) -> set[int]:
    """Lines inside blocks that start at the margin and occur once: what the program printed amid
    source and frames.
    """
    found: set[int] = set()
    known = (spot["core"], spot["verdict"], spot["names"], spot["passing"])
    for first, last in failures:
        margin = [
            i
            for i in range(first + 1, last + 1)
            if lines[i][:1].isalnum()
            and survey.mined.counts[survey.mined.ids[i]] == 1
            and not any(pattern.match(lines[i]) for pattern in known)
        ]
        worst = [i for i in margin if severity(lines[i]) == FAULT]
        found |= set(worst[:6]) | set(margin[:4]) | set(margin[-4:])
    return found


def _once(lines: list[str], names: list[int]) -> list[int]:
    """Of lines that name the same test, the last (the summary's, which also tells the cause)."""
    latest: dict[str, int] = {}
    for index in names:
        found = NAMED.search(lines[index])
        latest[found.group(0) if found else lines[index]] = index
    return sorted(latest.values())


def _name_blocks(document: Document, names: list[int]) -> list[Block]:
    """All failing names; many neighbours with one prefix become one line without loss."""
    blocks: list[Block] = []
    fold = sum(len(document.lines[i]) + 1 for i in names) > FOLD_NAMES
    at = 0
    while at < len(names):
        end = at
        while end + 1 < len(names) and names[end + 1] == names[end] + 1:
            end += 1
        run = [document.lines[i] for i in names[at : end + 1]]
        if fold and len(run) > 3:
            blocks += _folded(names[at], run)
        else:
            blocks += [
                block_of(document, i, Rank.FACT)._replace(order=-1) for i in names[at : end + 1]
            ]
        at = end + 1
    return blocks


NAMED = re.compile(r"(?<!\S)\S+::\S+")
PREFIX = re.compile(
    r"((?:FAILED|ERROR|FAIL|not ok)?\s*(?=(\S+?(?:::|\.py\b|\.[jt]sx?\b)))\2\S*?(?:::|\[|(?=\s)))"
)


def _folded(first: int, run: list[str]) -> list[Block]:
    """Runs of names with one prefix: the first line whole, then what follows the prefix of each."""
    blocks: list[Block] = []
    at = 0
    while at < len(run):
        match = PREFIX.match(run[at])
        prefix = match.group(1) if match else ""
        end = at
        while prefix and end + 1 < len(run) and run[end + 1].startswith(prefix):
            end += 1
        blocks.append(Block(first + at, first + at, Rank.FACT, order=-1))
        if end - at >= 2:
            lines = tuple("  …" + line[len(prefix) :] for line in run[at + 1 : end + 1])
            blocks.append(Block(first + at + 1, first + end, Rank.FACT, lines, "prefix", -1))
        else:
            blocks += [
                Block(first + i, first + i, Rank.FACT, order=-1) for i in range(at + 1, end + 1)
            ]
        at = end + 1
    return blocks
