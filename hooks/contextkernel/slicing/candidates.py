"""The blocks of the best files, by how much each says about a symptom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from contextkernel.slicing.blocks import Block, blocks_of
from contextkernel.slicing.line_selection import LineSelection
from contextkernel.slicing.ranking import Ranking
from contextkernel.slicing.repository import Repository
from contextkernel.slicing.scan import subtokens
from contextkernel.slicing.symptom.text import Symptom

# gain = file^1.3 * worth / bytes^0.75: no value nearby was better on 120 cases with a budget of
# 8,000 (bench/localize.py)
FILE_POWER, SIZE_POWER, SMALLEST = 1.3, 0.75, 400
# saturation of a word that comes again, as in BM25: +2 points of line recall over none, on the same
# cases
K1 = 2.0
# of names: the block's own, that of a definition around it
NAMED_BLOCK, NAMED_AROUND, SPOT_BLOCK, MESSAGE_BLOCK = 1.6, 1.5, 2.0, 2.0

BREAK = b"\0"  # between texts that are looked at in one go; no text has it (file_kinds.decoded)
# For `bytes.translate`: letters in lower case, all else but BREAK blanks
_LETTERS = bytes(
    byte + 32 if 65 <= byte <= 90 else byte if 97 <= byte <= 122 or byte == 0 else 32
    for byte in range(256)
)


class _Run(NamedTuple):
    """Words of a message in a row: as they stand in a text of words, and each by itself, the
    longest first.
    """

    text: bytes
    first: bytes
    others: tuple[bytes, ...]


class Candidate(NamedTuple):
    """A block that could be shown.  `at`: its place among the blocks of its file; `size`: its
    bytes.
    """

    gain: float
    path: str
    at: int
    block: Block
    size: int
    why: str


class TermScorer:
    """How much texts have of the symptom's words.  Most words of most texts have nothing of
    them: those are met once each.
    """

    def __init__(self, worth: dict[str, float]) -> None:
        self._worth = worth  # of a sub-token
        self._starts = frozenset(term[:3].encode("utf-8") for term in worth)
        self._met = {BREAK}
        # word -> those of its sub-tokens that the symptom has
        self._telling: dict[bytes, tuple[str, ...]] = {BREAK: ()}

    def worths(self, data: bytes) -> list[float]:
        """Of each of some texts, with BREAK between them: the sum over sub-tokens of the symptom;
        one that comes again counts
        more, up to three times as much."""
        words = subtokens.words_of(data, breaks=True)
        new = set(words) - self._met
        self._met |= new
        for word in subtokens.starting(new, self._starts):
            pieces = tuple(piece for piece in subtokens.pieces_of(word) if piece in self._worth)
            if pieces:
                self._telling[word] = pieces
        told = list(filter(self._telling.__contains__, words))
        told.append(BREAK)
        found, at = [], 0
        while at < len(told):
            end = told.index(BREAK, at)
            found.append(self._worth_of(told[at:end]) if end > at else 0.0)
            at = end + 1
        return found

    def _worth_of(self, words: list[bytes]) -> float:
        times: dict[str, int] = {}
        for word, number in Counter(words).items():
            for term in self._telling[word]:
                times[term] = times.get(term, 0) + number
        return sum(
            [
                self._worth[term] * times[term] * (K1 + 1) / (times[term] + K1)
                for term in sorted(times)
            ]
        )


def candidates(
    symptom: Symptom,
    ranking: Ranking,
    paths: Sequence[str],
    chosen: LineSelection,
    repository: Repository,
) -> list[Candidate]:
    """The blocks of some files, best first."""
    found: list[Candidate] = []
    runs = _runs(symptom.shingles)
    scorer = TermScorer(
        {term: weight * ranking.idf[term] for term, weight in symptom.weights.items()}
    )
    for path in paths:
        lines = chosen.split(path)
        named = chosen.lines.get(path, set())
        strength = max(ranking.scores[path], 0.001) ** FILE_POWER
        definitions = repository.facts(path).definitions
        around = {one.line for one in definitions if one.name in ranking.names}
        blocks = blocks_of(lines, definitions)
        texts = ["\n".join(lines[block.first - 1 : block.last]) for block in blocks]
        data = "\n\0\n".join(texts).encode("ascii", "replace")
        told_by = _with_a_run(data, runs, len(blocks))
        for at, (block, text, worth) in enumerate(zip(blocks, texts, scorer.worths(data))):
            factor, why = _evidence(block, at in told_by, ranking, named)
            factor *= 1.0 if around.isdisjoint(block.heads) else NAMED_AROUND
            size = (len(text) if text.isascii() else len(text.encode("utf-8", "replace"))) + 1
            whole = size + sum([len(lines[head - 1]) for head in block.heads])
            found.append(
                Candidate(
                    strength * worth * factor / max(whole, SMALLEST) ** SIZE_POWER,
                    path,
                    at,
                    block,
                    size,
                    why,
                )
            )
    found.sort(key=lambda one: (-one.gain, one.path, one.at))
    return found


def _evidence(
    block: Block, has_message: bool, ranking: Ranking, named: set[int]
) -> tuple[float, str]:
    """(factor, reasons) of what speaks for a block besides its words; `named`: lines of the file
    that the symptom names.
    """
    factor, why = 1.0, []
    names = [name for name in block.names if name in ranking.names]
    if names:
        factor *= NAMED_BLOCK
        why.append("defines " + names[0])
    if named and any(block.first <= number <= block.last for number in named):
        factor *= SPOT_BLOCK
    if has_message:
        factor *= MESSAGE_BLOCK
        why.append("text of the message")
    return factor, "; ".join(why)


def _runs(shingles: Sequence[tuple[str, ...]]) -> list[_Run]:
    found = []
    for words in shingles:
        first, *others = sorted((word.encode() for word in words), key=len, reverse=True)
        found.append(_Run(" ".join(("", *words, "")).encode(), first, tuple(others)))
    return found


def _with_a_run(data: bytes, runs: Sequence[_Run], number: int) -> set[int]:
    """Which of `number` texts, with BREAK between them, have the words of a run in a row."""
    letters = data.translate(_LETTERS) if runs else b""
    runs = _likely(runs, letters)
    return (
        {at for at, text in enumerate(letters.split(BREAK, number)) if _has_one(text, runs)}
        if runs
        else set()
    )


def _likely(runs: Sequence[_Run], letters: bytes) -> list[_Run]:
    """The runs whose words are all somewhere in a text: none in most, which saves a closer look."""
    return [
        run
        for run in runs
        if run.first in letters and all([word in letters for word in run.others])
    ]


def _has_one(letters: bytes, runs: Sequence[_Run]) -> bool:
    likely = _likely(runs, letters)
    words = b" %s " % b" ".join(letters.split()) if likely else b""
    return any([run.text in words for run in likely])
