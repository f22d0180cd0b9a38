"""Failing test runs: summary lines, all failing names, failing blocks; passing noise goes last."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Callable

from contextkernel.normalize.document import Document
from contextkernel.normalize.formats.runners import RunnerPatterns, patterns_of
from contextkernel.normalize.layout import Block, Layout, Rank, Request
from contextkernel.normalize.render import LONG
from contextkernel.normalize.severity import CALM, FAULT, severity
from contextkernel.normalize.survey import COMMON, Survey, block_of, target_for

WHOLE_CHARS = 2500  # of a failure, beyond which only its causes come first
WHOLE_FAILURES = 2  # whose every line is a fact
WHOLE_CAUSES = 3  # failures whose causes stay whatever else goes
REACH_BACK_LINES = 160
FIRST_CAUSES, LAST_CAUSES = 14, 6  # lines of one failure
PIECE_LINES = 40  # longer blocks are offered in pieces
LOUD = 24  # faults outside of failures that come before the bodies of the failures
FOLD_CHARS = 3000  # of names, from which on common prefixes are folded
EARLY, AFTER_FAILURES = -1, 2  # orders of a block among those of its rank
# what differs where the cause is the same
SLOTS = re.compile(r"\d+|0x[0-9a-f]+|'[^']*'|\"[^\"]*\"")
# rank by the survey -> rank beside failures: what would be first elsewhere comes after them
RANKS_BESIDE_FAILURES = {
    Rank.MUST: Rank.MUST,
    Rank.FACT: Rank.FACT,
    Rank.NOTABLE: Rank.NOTABLE,
    Rank.CONTEXT: Rank.RARE,
    Rank.RARE: Rank.RARE,
    Rank.PLAIN: Rank.LISTED,
    Rank.LISTED: Rank.LISTED,
}


def layout(document: Document, request: Request, runner: str) -> Layout | None:
    """Blocks of a test run; None when it shows neither a failure nor a failing name nor a
    summary.
    """
    lines, patterns = document.lines, patterns_of(runner)
    failures = _failing_spans(lines, patterns)
    summaries = [i for i, line in enumerate(lines) if patterns.summary.match(line)]
    names = [i for i, line in enumerate(lines) if patterns.failed_name.match(line)]
    if not failures and not names and not summaries:
        return None
    survey = Survey(lines, bool(request.exit_code))
    ranks = _ranks(lines, survey, patterns, bool(failures or names))
    ranks.update((index, Rank.MUST) for index in summaries)
    printed = _program_lines(lines, failures, survey, patterns)
    novel = printed & survey.novel() if failures else set()
    blocks = _failure_blocks(document, failures, patterns, printed, novel)
    inside = {i for first, last in failures for i in range(first, last + 1)}
    told = inside.union(summaries)
    blocks += _name_blocks(document, _once(lines, [i for i in names if i not in told]))
    taken = inside.union(i for block in blocks for i in range(block.first, block.last + 1))
    blocks += _other_blocks(document, ranks, taken)
    blocks.sort()
    return Layout(
        blocks,
        digest=_digest(failures) if failures or names else survey.digest,
        target_chars=target_for(document, survey, request),
    )


def _other_blocks(document: Document, ranks: dict[int, int], taken: set[int]) -> list[Block]:
    """What stands outside of failures and names: the first faults early, the others late."""
    blocks: list[Block] = []
    facts = (i for i in sorted(ranks) if ranks[i] == Rank.FACT and i not in taken)
    early = {index for index, _ in zip(facts, range(LOUD))}
    for index, rank in ranks.items():
        if index in taken:
            continue
        order = AFTER_FAILURES if rank == Rank.FACT else 0
        if index in early:
            order = EARLY
        blocks.append(block_of(document, index, rank)._replace(order=order))
    return blocks


def _digest(failures: list[tuple[int, int]]) -> Callable[[int, int], str]:
    """Words for a gap's mark: whether it lies in a failing unit."""
    starts = [first for first, _ in failures]

    def words(first: int, last: int) -> str:
        at = bisect_right(starts, first) - 1
        if at >= 0 and last <= failures[at][1]:
            return "part of a failing unit"
        return "outside the failing units" if failures else ""

    return words


def _failing_spans(lines: list[str], patterns: RunnerPatterns) -> list[tuple[int, int]]:
    """First and last line of each failure's account."""
    spans: list[tuple[int, int]] = []
    start, reach_back, floor = -1, -1, -1
    for index, line in enumerate(lines):
        is_start = patterns.block_start.match(line)
        if start >= 0 and (is_start or patterns.block_end.match(line)):
            spans.append((start, index - 1))
            floor, start = index - 1, -1
        if patterns.reach_back.match(line):
            reach_back = index
        if start < 0 and is_start:
            is_near = floor < reach_back and index - reach_back < REACH_BACK_LINES
            start = reach_back if is_near else index
    if start >= 0:
        spans.append((start, len(lines) - 1))
    return [(first, last) for first, last in spans if first <= last]


def _ranks(
    lines: list[str], survey: Survey, patterns: RunnerPatterns, failing: bool
) -> dict[int, int]:
    """Ranks outside of the failures; what passed comes last."""
    ranks = survey.ranks()
    if not failing:
        for index, rank in ranks.items():
            is_usual = rank > Rank.MUST and index not in survey.outlying
            if is_usual and patterns.passing.match(lines[index]):
                ranks[index] = Rank.LISTED
        return ranks
    mined = survey.mined
    for index, rank in ranks.items():
        ranks[index] = RANKS_BESIDE_FAILURES[rank]
        if rank == Rank.MUST or index in survey.outlying:
            continue
        template = mined.ids[index]
        only_repeats = (
            mined.counts[template] >= COMMON
            and mined.exemplars[template] != index
            and survey.level(template) == CALM
        )
        if only_repeats or patterns.passing.match(lines[index]):
            ranks[index] = Rank.LAST
    return ranks


def _failure_blocks(
    document: Document,
    failures: list[tuple[int, int]],
    patterns: RunnerPatterns,
    printed: set[int],
    novel: set[int],
) -> list[Block]:
    """Failures: heads and causes as facts, the rest of each right after; the first of each cause
    is whole earlier.
    """
    lines = document.lines
    blocks: list[Block] = []
    seen: set[str] = set()
    in_order = sorted(printed)
    for order, (first, last) in enumerate(failures):
        while last > first and not lines[last].strip():
            last -= 1
        causes = _causes(lines, first, last, patterns)
        cause = SLOTS.sub("#", "\n".join(lines[i] for i in causes[1:4]))
        rank_of_rest = Rank.CONTEXT if cause in seen else Rank.NOTABLE
        seen.add(cause)
        if order < WHOLE_FAILURES and sum(map(len, lines[first : last + 1])) < WHOLE_CHARS:
            rank_of_rest = Rank.FACT
        key_lines = set(causes[:FIRST_CAUSES] + causes[-LAST_CAUSES:])
        key_lines.update(in_order[bisect_left(in_order, first) : bisect_right(in_order, last)])
        for start, end in _runs(first, last, key_lines, printed):
            rank = rank_of_rest
            if start in key_lines:
                is_loud = start in printed and severity(lines[start]) == FAULT
                rank = Rank.MUST if order < WHOLE_CAUSES or is_loud else Rank.FACT
            if any(len(lines[i]) > LONG for i in range(start, end + 1)):
                blocks += [
                    block_of(document, i, rank)._replace(order=order) for i in range(start, end + 1)
                ]
                continue
            place = order
            if start in printed:
                place = EARLY if start in novel else 0
            blocks += [
                Block(at, min(at + PIECE_LINES - 1, end), rank, order=place)
                for at in range(start, end + 1, PIECE_LINES)
            ]
    return blocks


def _causes(lines: list[str], first: int, last: int, patterns: RunnerPatterns) -> list[int]:
    """The first line of a failure, and those that tell its cause or name the test."""
    return [first] + [
        i
        for i in range(first + 1, last + 1)
        if patterns.block_start.match(lines[i])
        or patterns.cause.match(lines[i])
        or patterns.failed_name.match(lines[i])
    ]


def _runs(first: int, last: int, key_lines: set[int], alone: set[int]) -> Iterator[tuple[int, int]]:
    """The lines of a failure as runs of key lines and runs of others; those of `alone` are runs
    of one.
    """
    start = first
    while start <= last:
        end = start
        is_key = start in key_lines
        while end < last and (end + 1 in key_lines) == is_key:
            if is_key and (start in alone or end + 1 in alone):
                break
            end += 1
        yield start, end
        start = end + 1


def _program_lines(
    lines: list[str], failures: list[tuple[int, int]], survey: Survey, patterns: RunnerPatterns
) -> set[int]:
    """Lines the program itself printed inside a failure: they start at the margin and occur
    once.
    """
    printed: set[int] = set()
    ids, counts = survey.mined.ids, survey.mined.counts
    known = (patterns.cause, patterns.summary, patterns.failed_name, patterns.passing)
    for first, last in failures:
        margin = [
            i
            for i in range(first + 1, last + 1)
            if lines[i][:1].isalnum()
            and counts[ids[i]] == 1
            and not any(pattern.match(lines[i]) for pattern in known)
        ]
        faults = [i for i in margin if severity(lines[i]) == FAULT]
        printed.update(faults[:6], margin[:4], margin[-4:])
    return printed


def _once(lines: list[str], names: list[int]) -> list[int]:
    """Of lines that name the same test, the last (the summary's, which also tells the cause)."""
    latest: dict[str, int] = {}
    for index in names:
        name = NAMED.search(lines[index])
        latest[name.group() if name else lines[index]] = index
    return sorted(latest.values())


def _name_blocks(document: Document, names: list[int]) -> list[Block]:
    """All failing names; many neighbours with one prefix become one line without loss."""
    blocks: list[Block] = []
    fold = sum(len(document.lines[i]) + 1 for i in names) > FOLD_CHARS
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
