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
# lines of a collapsed template that stay; on failure a fault more
EXEMPLARS, FAULT_EXEMPLARS = (2, 3)
HEAD, TAIL = 10, 20  # lines
OUTERMOST = 4  # lines at either end that stay whatever else is wrong
HEAD_MAX_CHARS, TAIL_MAX_CHARS = 900, 1800  # of head and tail that are not rare anyway
UNIQUE_MAX_CHARS = 16000  # of text without repeats that pass before anything of it is left out
ODD_COUNTS_FROM = 60  # rare lines; among fewer, one unlike the others says nothing
SHORT_ENOUGH = 120  # rare lines; among fewer, each is worth a look
FEW_NOVEL = 12  # lines of words that stand nowhere else
COMMON_MOST = 4000  # templates that are looked at, the first ones
FAR_FROM = 20  # lines of a template in which a value can be far from the others
# severity -> rank of the first line of a collapsed template, rank of its other exemplars
EXEMPLAR_RANKS = {
    FAULT: (Rank.FACT, Rank.NOTABLE),
    WARNING: (Rank.NOTABLE, Rank.PLAIN),
    CALM: (Rank.CONTEXT, Rank.PLAIN),
}
WORD = re.compile(r"[^\W\d_]{4,}")
NO_WORDS = {ord(c): None for c in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"}


def target_for(document: Document, survey: Survey, request: Request) -> int:
    """Characters to aim at: more for a text that does not repeat itself, as nothing stands for a
    line left out.
    """
    target_chars = request.limits.target_chars
    if request.exit_code:
        return target_chars
    unique = survey.unique_characters()
    if target_chars < unique <= UNIQUE_MAX_CHARS:
        return unique + 1500
    return max(target_chars, min(unique, UNIQUE_MAX_CHARS) * 3 // 4)


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
    fault_at = first_fault(line, KEPT_START, len(line) - KEPT_END)
    if fault_at >= 0:
        start = max(KEPT_START, fault_at - 80)
        end = min(len(line) - KEPT_END, fault_at + 170)
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
        # lines whose template is not collapsed
        self.rare = list(compress(range(len(lines)), map(single.__getitem__, self.mined.ids)))

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
        words = " ".join(self.lines[rare].split())
        return f'"{words[:34]}"' if words else ""

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
        novel = self.novel() if len(rare) > ODD_COUNTS_FROM else set()
        for index in rare:
            line = self.lines[index]
            level = self.level(ids[index])
            is_odd = shapes.get(_shape(line), 0) <= 2 or index in novel
            if len(line) > LONG:
                level = WARNING if level == FAULT else CALM
            if level == FAULT or index in novel and len(novel) <= FEW_NOVEL:
                rank = Rank.FACT
            elif level == WARNING or is_odd and len(rare) > ODD_COUNTS_FROM:
                rank = Rank.NOTABLE
            elif is_odd or len(rare) < SHORT_ENOUGH:
                rank = Rank.RARE
            else:
                rank = Rank.PLAIN
            _lower(ranks, index, rank)
            if level == FAULT:
                self._rank_context(ranks, index)

    def novel(self) -> set[int]:
        """Rare lines made of words that stand nowhere else, when such lines are few: a sentence
        in a listing, a stranger in a dump.
        """
        words = [set(WORD.findall(self.lines[i][:LONG])) for i in self.rare[:6000]]
        spread: dict[str, int] = {}
        for own in words:
            for word in own:
                spread[word] = spread.get(word, 0) + 1
        novel = {
            i
            for i, own in zip(self.rare, words)
            if len(own) >= 4 and 3 <= sum(spread[word] == 1 for word in own) >= 0.4 * len(own)
        }
        return novel if len(novel) <= max(FEW_NOVEL, len(self.rare) // 20) else set()

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
        counts, exemplars = self.mined.counts, self.mined.exemplars
        common = {template for template, count in enumerate(counts) if count >= COMMON}
        if len(common) > COMMON_MOST:
            common = set(sorted(common, key=exemplars.__getitem__)[:COMMON_MOST])
        self._rank_exemplars(ranks, common)
        from contextkernel.normalize.outliers import outliers  # late: texts that repeat need it

        large = {template for template in common if counts[template] >= FAR_FROM}
        self.outlying = set(outliers(self.lines, self.mined, large))
        for index in sorted(self.outlying):
            _lower(ranks, index, Rank.NOTABLE)

    def _rank_exemplars(self, ranks: dict[int, int], common: set[int]) -> None:
        left: dict[int, int] = {}  # template -> lines of it that are still to be ranked
        of_faults = FAULT_EXEMPLARS + self.failed
        for template in common:
            left[template] = of_faults if self.level(template) == FAULT else EXEMPLARS
        exemplars = self.mined.exemplars
        for index, template in enumerate(self.mined.ids):
            if template not in left:
                continue
            first, others = EXEMPLAR_RANKS[self.levels[template]]
            _lower(ranks, index, first if index == exemplars[template] else others)
            left[template] -= 1
            if not left[template]:
                del left[template]
                if not left:
                    break

    def _rank_ends(self, ranks: dict[int, int]) -> None:
        indexes = range(len(self.lines))
        self._rank_end(ranks, indexes[:HEAD], HEAD_MAX_CHARS)
        self._rank_end(ranks, indexes[: -TAIL - 1 : -1], TAIL_MAX_CHARS)

    def _rank_end(self, ranks: dict[int, int], indexes: range, max_chars: int) -> None:
        seen: set[str] = set()
        for distance, index in enumerate(indexes):
            line = self.lines[index]
            if line in seen and distance >= OUTERMOST and len(line) > 8:
                continue  # a line just shown, word for word
            seen.add(line)
            max_chars -= len(line) + 1
            if max_chars < 0:
                break
            _lower(ranks, index, Rank.MUST if distance < OUTERMOST else Rank.FACT)


def _shape(line: str) -> str:
    """The first punctuation of a line and whether it is indented; the lines of a listing share
    it.
    """
    bare = line.translate(NO_WORDS)
    return ("" if line[:1].strip() else " ") + bare.replace(" ", "").replace("\t", "")[:4]


def _lower(ranks: dict[int, int], index: int, rank: int) -> None:
    if rank < ranks.get(index, Rank.LAST):
        ranks[index] = rank
