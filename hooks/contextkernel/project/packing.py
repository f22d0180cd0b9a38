"""The places of the best files that fit a budget."""
from __future__ import annotations

from typing import Dict, List, NamedTuple, Sequence, Tuple

from contextkernel.project import subtokens
from contextkernel.project.blocks import Block, blocks_of
from contextkernel.project.places import Repository
from contextkernel.project.ranking import Ranking, Spot
from contextkernel.project.symptom import SHINGLE, Symptom, _WORDS

BYTES_A_TOKEN = 4
FILES = 60  # best files that are cut into blocks
FILE_POWER, SIZE_POWER, SMALLEST = 1.3, 0.75, 400  # gain = file^1.3 * block / bytes^0.75; kit/prototypes, untuned
NAMED_BLOCK, FRAME_BLOCK, MESSAGE_BLOCK = 1.6, 2.0, 2.0
FIRST_SHARE, OTHER_SHARE, SHARE_FLOOR = 0.45, 0.30, 1500  # of the budget for one file; bytes that it may always have
ALWAYS = 12  # best files of which at least the best line is shown


class Candidate(NamedTuple):
    """A block of a file that could be shown.  `size` in bytes with the heads around it."""

    gain: float
    path: str
    block: Block
    size: int
    why: str


class Packed(NamedTuple):
    """`ranges`: path -> lines shown, in the order of the ranking.  `size`: bytes.  `smallest`: bytes that the frames alone need,
    more than the budget when it cannot be kept.  `why`: (path, first line) -> reasons."""

    ranges: Dict[str, List[Tuple[int, int]]]
    size: int
    smallest: int
    why: Dict[Tuple[str, int], str]


class _Sheet:
    """Lines chosen so far and what they cost."""

    def __init__(self, repository: Repository) -> None:
        self.repository, self.size = repository, 0
        self.lines: Dict[str, set] = {}
        self.sizes: Dict[str, int] = {}
        self._split: Dict[str, List[str]] = {}

    def split(self, path: str) -> List[str]:
        if path not in self._split:
            self._split[path] = self.repository.text(path).split("\n")
        return self._split[path]

    def cost(self, path: str, numbers: Sequence[int]) -> int:
        """Bytes that lines not yet chosen would add."""
        lines, chosen = self.split(path), self.lines.get(path, ())
        return sum(len(lines[number - 1].encode("utf-8", "replace")) + 1 for number in numbers if number not in chosen and 0 < number <= len(lines))

    def take(self, path: str, numbers: Sequence[int]) -> None:
        size = self.cost(path, numbers)
        self.size += size
        self.sizes[path] = self.sizes.get(path, 0) + size
        last = len(self.split(path))
        self.lines.setdefault(path, set()).update(number for number in numbers if 0 < number <= last)


def candidates(symptom: Symptom, ranking: Ranking, allowed: Sequence[str], repository: Repository) -> List[Candidate]:
    """Blocks of the best files, best first."""
    found: List[Candidate] = []
    shingles = frozenset(symptom.shingles)
    for path in allowed[:FILES]:
        lines = repository.text(path).split("\n")
        spots = [spot for spot in ranking.spots if spot.path == path]
        strength = ranking.scores[path] ** FILE_POWER
        for block in blocks_of(lines, repository.facts(path).definitions):
            text = "\n".join(lines[block.first - 1:block.last])
            worth, why = _worth(symptom, ranking, block, text, spots, shingles)
            size = len(text.encode("utf-8", "replace")) + 1 + sum(len(lines[head - 1]) + 1 for head in block.heads)
            found.append(Candidate(strength * worth / max(size, SMALLEST) ** SIZE_POWER, path, block, size, why))
    found.sort(key=lambda one: (-one.gain, one.path, one.block.first))
    return found


def _worth(symptom: Symptom, ranking: Ranking, block: Block, text: str, spots: Sequence[Spot], shingles: frozenset) -> "Tuple[float, str]":
    weights, idf = symptom.weights, ranking.idf
    worth = 0.0
    for term, times in subtokens.counts(text).items():
        if term in weights:
            worth += weights[term] * idf[term] * min(1.0, 0.5 + 0.25 * times)
    why = []
    named = [name for name in block.names if name in ranking.names]
    if named:
        worth *= NAMED_BLOCK
        why.append("defines " + named[0])
    inside = [spot for spot in spots if spot.first <= block.last and block.first <= spot.last]
    if inside:
        worth *= FRAME_BLOCK
        why.append(inside[0].why)
    if shingles:
        words = [word.lower() for word in _WORDS.findall(text)]
        hits = sum(1 for at in range(len(words) - SHINGLE + 1) if tuple(words[at:at + SHINGLE]) in shingles)
        if hits:
            worth *= MESSAGE_BLOCK
            why.append("text of the message")
    return worth, "; ".join(why)


def packed(symptom: Symptom, ranking: Ranking, allowed: Sequence[str], repository: Repository, budget: int) -> Packed:
    """The richest selection of at most `budget` tokens.  Lines that frames name come first, whatever else fits."""
    most = budget * BYTES_A_TOKEN
    sheet = _Sheet(repository)
    why: Dict[Tuple[str, int], str] = {}
    for spot in ranking.spots:
        _take_spot(sheet, spot, repository, why)
    smallest = sheet.size
    found = candidates(symptom, ranking, allowed, repository)
    for one in found:
        numbers = list(range(one.block.first, one.block.last + 1)) + list(one.block.heads)
        size = sheet.cost(one.path, numbers)
        share = FIRST_SHARE if allowed and one.path == allowed[0] else OTHER_SHARE
        if size and sheet.size + size <= most and sheet.sizes.get(one.path, 0) + size <= max(most * share, SHARE_FLOOR):
            sheet.take(one.path, numbers)
            why.setdefault((one.path, one.block.first), one.why)
    order = [path for path in allowed if path in sheet.lines] + [path for path in sheet.lines if path not in set(allowed)]
    return Packed({path: _runs(sheet.lines[path]) for path in order if sheet.lines[path]}, sheet.size, smallest, why)


def _take_spot(sheet: _Sheet, spot: Spot, repository: Repository, why: Dict[Tuple[str, int], str]) -> None:
    """The outline of a named place: its first line and the head of the definition around it."""
    lines = sheet.split(spot.path)
    line = min(max(spot.first, 1), len(lines))
    around = [one for one in repository.facts(spot.path).definitions if one.line <= line and one.kind not in ("name",)]
    numbers = [line] + ([around[-1].line] if around and spot.first else [])
    sheet.take(spot.path, numbers)
    why.setdefault((spot.path, min(numbers)), spot.why)


def _runs(numbers: set) -> List[Tuple[int, int]]:
    from contextkernel import lines

    return lines.spans(sorted(numbers))
