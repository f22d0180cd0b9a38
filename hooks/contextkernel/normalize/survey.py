"""What a list of lines holds: templates, their severity, and the lines that stand out."""

from __future__ import annotations

import re
from itertools import compress

from contextkernel.normalize.document import Document
from contextkernel.normalize.layout import Block, Rank, Request
from contextkernel.normalize.render import KEPT_END, KEPT_START, LONG
from contextkernel.normalize.severity import CALM, FAULT, WARNING, first_fault, severity
from contextkernel.normalize.templates import Mined, mine

COMMON = 4  # lines of one template from which on it is collapsed
EXEMPLARS = 2  # lines of a collapsed template that stay; of faults 3, on failure 4
HEAD, TAIL = 10, 20  # lines
OUTERMOST = 4  # lines at either end that stay whatever else is wrong
HEAD_MAX_CHARS, TAIL_MAX_CHARS = 900, 1800  # characters of head and tail that are not rare anyway
UNIQUE_MAX_CHARS = (
    16000  # characters of text without repeats that pass before anything of it is left out
)
WORD = re.compile(r"[^\W\d_]{4,}")
NO_WORDS = {ord(c): None for c in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"}


def target_for(document: Document, survey: Survey, request: Request) -> int:
    """Characters to aim at: more for a text that does not repeat itself, as nothing stands for a
    line left out.
    """
    if request.exit_code:
        return request.limits.target_chars
    unique = survey.unique_characters()
    return (
        unique + 1500
        if request.limits.target_chars < unique <= UNIQUE_MAX_CHARS
        else max(request.limits.target_chars, min(unique, UNIQUE_MAX_CHARS) * 3 // 4)
    )


def block_of(document: Document, index: int, rank: int, long: int = LONG) -> Block:
    """One line as a block; a very long one is clipped in the middle, inside a mark-free ellipsis
    that counts what it hides.
    """
    line = document.lines[index]
    if len(line) > long or len(line) > LONG and line.count(" ") < len(line) // 40:
        return Block(index, index, rank, (clipped(line),), "clip")
    return Block(index, index, rank)


def clipped(line: str) -> str:
    """Start and end of a long line, and the surroundings of its first word of fault."""
    hidden = len(line) - KEPT_START - KEPT_END
    middle = ""
    found = first_fault(line, KEPT_START, len(line) - KEPT_END)
    if found >= 0:
        start = max(KEPT_START, found - 80)
        end = min(len(line) - KEPT_END, found + 170)
        middle, hidden = line[start:end] + "…", hidden - (end - start)
    return f"{line[:KEPT_START]}…[+{hidden} characters]…{middle}{line[-KEPT_END:]}"


class Survey:
    """What a list of lines holds: templates, their severity, and the lines that stand out."""

    def __init__(self, lines: list[str], failed: bool = False, mined: Mined | None = None) -> None:
        self.lines = lines
        self.failed = failed
        self.mined = mined or mine(lines)
        self.outlying: set[int] = set()  # filled by `ranks`
        self.levels: dict[int, int] = {}  # template -> severity of its exemplar
        single = [count < COMMON for count in self.mined.counts]
        self.rare = list(
            compress(range(len(lines)), map(single.__getitem__, self.mined.ids))
        )  # lines whose template is not collapsed

    def level(self, template: int) -> int:
        """Severity of a template, by its first line."""
        if template not in self.levels:
            self.levels[template] = severity(self.lines[self.mined.exemplars[template]])
        return self.levels[template]

    def unique_characters(self) -> int:
        """Characters of all lines whose template is not collapsed."""
        return sum(len(self.lines[i]) + 1 for i in self.rare)

    def digest(self, first: int, last: int) -> str:
        """Words for a gap's mark: how many forms its lines repeat when all of them do, else its
        first other line, clipped.
        """
        ids, counts = self.mined.ids, self.mined.counts
        forms = set(ids[first : last + 1])
        if all(counts[template] >= COMMON for template in forms):
            return f"{len(forms)} repeating form{'s' * (len(forms) > 1)}"
        if self.failed:
            return ""
        rare = next(i for i in range(first, last + 1) if counts[ids[i]] < COMMON)
        return f'"{" ".join(self.lines[rare].split())[:34]}"' if self.lines[rare].strip() else ""

    def ranks(self) -> dict[int, int]:
        """Ranks of the lines worth showing; a line that is not named only repeats a template
        that is shown.
        """
        ranks: dict[int, int] = {}
        self._rank_rare(ranks)
        self._rank_common(ranks)
        self._rank_ends(ranks)
        return ranks

    def _rank_rare(self, ranks: dict[int, int]) -> None:
        ids, rare = self.mined.ids, self.rare
        for index in rare:
            if not self.lines[index].strip():
                ranks.setdefault(index, Rank.PLAIN)
        rare = [i for i in rare if self.lines[i].strip()]
        shapes = self._shapes(rare)
        novel = self.novel() if len(rare) > 60 else set()
        for index in rare:
            line = self.lines[index]
            level = self.level(ids[index])
            odd = shapes.get(_shape(line), 0) <= 2 or index in novel
            if len(line) > LONG:
                level = WARNING if level == FAULT else CALM
            _lower(
                ranks,
                index,
                Rank.FACT
                if level == FAULT or index in novel and len(novel) <= 12
                else Rank.NOTABLE
                if level == WARNING or odd and len(rare) > 60
                else Rank.RARE
                if odd or len(rare) < 120
                else Rank.PLAIN,
            )
            if level == FAULT:
                self._rank_context(ranks, index)

    def novel(self) -> set[int]:
        """Rare lines made of words that stand nowhere else, when such lines are few: a sentence
        in a listing, a stranger in a dump.
        """
        words = [set(WORD.findall(self.lines[i][:LONG])) for i in self.rare[:6000]]
        spread: dict[str, int] = {}
        for found in words:
            for word in found:
                spread[word] = spread.get(word, 0) + 1
        novel = {
            i
            for i, found in zip(self.rare, words)
            if len(found) >= 4 and 3 <= sum(spread[word] == 1 for word in found) >= 0.4 * len(found)
        }
        return novel if len(novel) <= max(12, len(self.rare) // 20) else set()

    def _shapes(self, rare: list[int]) -> dict[str, int]:
        """How many lines have each skeleton (punctuation only); the lines of a listing share
        one.
        """
        shapes: dict[str, int] = {}
        for index in rare:
            shape = _shape(self.lines[index])
            shapes[shape] = shapes.get(shape, 0) + 1
        return shapes

    def _rank_context(self, ranks: dict[int, int], index: int) -> None:
        for near in range(max(0, index - 1), min(len(self.lines), index + 4)):
            _lower(ranks, near, Rank.CONTEXT)

    def _rank_common(self, ranks: dict[int, int]) -> None:
        counts = self.mined.counts
        common = {template for template, count in enumerate(counts) if count >= COMMON}
        if len(common) > 4000:
            common = set(sorted(common, key=lambda t: self.mined.exemplars[t])[:4000])
        wanted: dict[int, int] = {}
        for template in common:
            level = self.level(template)
            wanted[template] = (4 if self.failed else 3) if level == FAULT else EXEMPLARS
        left = dict(wanted)
        for index, template in enumerate(self.mined.ids):
            if left.get(template, 0):
                left[template] -= 1
                level = self.levels[template]
                first = left[template] == wanted[template] - 1
                _lower(
                    ranks,
                    index,
                    (Rank.FACT if first else Rank.NOTABLE)
                    if level == FAULT
                    else Rank.NOTABLE
                    if level == WARNING and first
                    else Rank.CONTEXT
                    if first
                    else Rank.PLAIN,
                )
                if not left[template]:
                    del left[template]
                    if not left:
                        break
        from contextkernel.normalize.outliers import (
            outliers,  # only texts with collapsed templates need it
        )

        self.outlying = set(
            outliers(self.lines, self.mined, {t for t in common if counts[t] >= 20})
        )
        for index in sorted(self.outlying):
            _lower(ranks, index, Rank.NOTABLE)

    def _rank_ends(self, ranks: dict[int, int]) -> None:
        for numbers, room in (
            (range(0, min(HEAD, len(self.lines))), HEAD_MAX_CHARS),
            (range(len(self.lines) - 1, max(-1, len(self.lines) - TAIL - 1), -1), TAIL_MAX_CHARS),
        ):
            seen = set()
            for index in numbers:
                if (
                    self.lines[index] in seen
                    and abs(index - numbers[0]) >= OUTERMOST
                    and len(self.lines[index]) > 8
                ):
                    continue  # a line just shown, word for word
                seen.add(self.lines[index])
                room -= len(self.lines[index]) + 1
                if room < 0:
                    break
                _lower(
                    ranks, index, Rank.MUST if abs(index - numbers[0]) < OUTERMOST else Rank.FACT
                )


def _shape(line: str) -> str:
    """The first punctuation of a line and whether it is indented; the lines of a listing share
    it.
    """
    bare = line.translate(NO_WORDS)
    return ("" if line[:1].strip() else " ") + bare.replace(" ", "").replace("\t", "")[:4]


def _lower(ranks: dict[int, int], index: int, rank: int) -> None:
    if rank < ranks.get(index, Rank.LAST):
        ranks[index] = rank
