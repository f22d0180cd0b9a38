"""The places of the best files that fit a budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from contextkernel.slicing.blocks import Block, blocks_of
from contextkernel.slicing.line_selection import Sheet
from contextkernel.slicing.ranking import Ranking, Spot
from contextkernel.slicing.repository import Repository
from contextkernel.slicing.scan import subtokens
from contextkernel.slicing.symptom.text import Symptom

BYTES_A_TOKEN = 4
FILES, LEAST_FILES = 60, 8  # best files that are cut into blocks, as long as they hold
READ_BYTES, READ_SHARE = (
    900_000,
    4,
)  # of source, and times the budget more: what costs is reading it, 0.04 CPU seconds a megabyte
# gain = file^1.3 * worth / bytes^0.75: no value nearby was better on 120 cases with a budget of
# 8,000 (bench/localize.py)
FILE_POWER, SIZE_POWER, SMALLEST = 1.3, 0.75, 400
# saturation of a word that comes again, as in BM25: +2 points of line recall over none, on the same
# cases
K1 = 2.0
NAMED_BLOCK, NAMED_AROUND, SPOT_BLOCK, MESSAGE_BLOCK = (
    1.6,
    1.5,
    2.0,
    2.0,
)  # of names: the block's own, that of a definition around it
FIRST_SHARE, OTHER_SHARE, SHARE_FLOOR = (
    0.50,
    0.30,
    1500,
)  # of the budget for one file; bytes that it may always have
# bytes between two chosen blocks, or to an end of the file, that are shown too: +3 points of line
# recall, fewer places
BRIDGE = 400
WHOLE = 2500  # bytes; a file of at most as many is shown whole or not at all, when there is room
# of the best block's gain: below, a block says next to nothing about the symptom, and the budget is
# a ceiling
FADED = 0.005
OUTLINED, OUTLINE_SHARE = (
    8,
    0.06,
)  # best files of which a line is shown in any case, if that takes at most this share


BREAK = b"\0"  # between texts that are looked at in one go; no text has it (roles.decoded)
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


class Packed(NamedTuple):
    """`ranges`: path -> lines shown, best file first.  `size`: bytes.  `smallest`: bytes of what
    must be shown; more than the
    budget when that cannot be kept, and then nothing else is shown.  `why`: (path, first line) ->
    reasons."""

    ranges: dict[str, list[tuple[int, int]]]
    size: int
    smallest: int
    why: dict[tuple[str, int], str]


class _Told:
    """How much texts have of the symptom's words.  Most words of most texts have nothing of
    them: those are met once each.
    """

    def __init__(self, worth: dict[str, float]) -> None:
        self._worth = worth  # of a sub-token
        self._starts = frozenset(term[:3].encode("utf-8") for term in worth)
        self._met = {BREAK}
        self._telling: dict[bytes, tuple[str, ...]] = {
            BREAK: ()
        }  # word -> those of its sub-tokens that the symptom has

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


def packed(
    symptom: Symptom, ranking: Ranking, allowed: Sequence[str], repository: Repository, budget: int
) -> Packed:
    """The richest selection of at most `budget` tokens.  Lines that the symptom names come
    first, whatever else fits.
    """
    most = budget * BYTES_A_TOKEN
    sheet = Sheet(repository)
    why: dict[tuple[str, int], str] = {}
    for spot in ranking.spots:
        numbers = spot_lines(spot, sheet, repository)
        sheet.take(spot.path, numbers)
        why.setdefault((spot.path, min(numbers)), spot.why)
    found = _candidates(
        symptom, ranking, _worth_reading(allowed, repository, most), sheet, repository
    )
    if not sheet.lines and found:  # nothing named: the best block's head is the least
        sheet.take(found[0].path, _outline(found[0]))
    smallest = sheet.size
    if smallest <= most:
        _outline_best(found, allowed, sheet, most)
        _fill(found, allowed, sheet, most, why)
    place = {path: number for number, path in enumerate(allowed)}
    order = sorted(sheet.lines, key=lambda path: (place.get(path, len(place)), path))
    return Packed(
        {path: sheet.ranges(path) for path in order if sheet.lines[path]}, sheet.size, smallest, why
    )


def spot_lines(spot: Spot, sheet: Sheet, repository: Repository) -> set[int]:
    """The outline of a named place: its first line and the head of the definition around it.

    A frame of another version of the file, whose line lies in another function than the frame says,
    is the head of that function.
    """
    last = len(sheet.split(spot.path))
    definitions = [
        one
        for one in repository.facts(spot.path).definitions
        if one.kind != "name" and one.line <= last
    ]
    line = min(max(spot.first, 1), last)
    around = [one for one in definitions if one.line <= line]
    name = spot.function.rpartition(".")[2]
    if name and not (around and any(one.name == name for one in around[-3:])):
        same = [one.line for one in definitions if one.name == name]
        if same:
            return {min(same, key=lambda number: (abs(number - line), number))}
    return {line, around[-1].line} if around and spot.first else {line}


def _worth_reading(allowed: Sequence[str], repository: Repository, most: int) -> list[str]:
    """The best files for a budget of `most` bytes: 60 small ones, fewer large ones."""
    size, paths = 0, list(allowed[:FILES])
    for number, path in enumerate(paths):
        size += repository.rows[path].size if path in repository.rows else 0
        if size > READ_BYTES + READ_SHARE * most and number >= LEAST_FILES:
            return paths[:number]
    return paths


def _candidates(
    symptom: Symptom, ranking: Ranking, paths: Sequence[str], sheet: Sheet, repository: Repository
) -> list[Candidate]:
    """The blocks of some files, best first."""
    found: list[Candidate] = []
    runs = _runs(symptom.shingles)
    told = _Told({term: weight * ranking.idf[term] for term, weight in symptom.weights.items()})
    for path in paths:
        lines = sheet.split(path)
        named = sheet.lines.get(path, set())
        strength = max(ranking.scores[path], 0.001) ** FILE_POWER
        definitions = repository.facts(path).definitions
        around = {one.line for one in definitions if one.name in ranking.names}
        blocks = blocks_of(lines, definitions)
        texts = ["\n".join(lines[block.first - 1 : block.last]) for block in blocks]
        data = "\n\0\n".join(texts).encode("ascii", "replace")
        told_by = _with_a_run(data, runs, len(blocks))
        for at, (block, text, worth) in enumerate(zip(blocks, texts, told.worths(data))):
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


def _outline(one: Candidate) -> set[int]:
    """The lines by which a block is known: the heads around it and its first one."""
    return set(one.block.heads) | {one.block.first}


def _outline_best(
    found: Sequence[Candidate], allowed: Sequence[str], sheet: Sheet, most: int
) -> None:
    """A line of each of the best files, so that none of them goes unmentioned."""
    left = min(most * OUTLINE_SHARE, most - sheet.size)
    best: dict[str, Candidate] = {}
    for one in found:
        best.setdefault(one.path, one)
    for path in allowed[:OUTLINED]:
        if path in best and path not in sheet.lines:
            numbers = _outline(best[path])
            size = sheet.cost(path, numbers)
            if size <= left:
                left -= size
                sheet.take(path, numbers)


def _fill(
    found: Sequence[Candidate],
    allowed: Sequence[str],
    sheet: Sheet,
    most: int,
    why: dict[tuple[str, int], str],
) -> None:
    """Take blocks in the order of their gain while they fit and tell something; small gaps
    between two taken ones are closed.
    """
    files: dict[str, dict[int, Candidate]] = {}
    for one in found:
        files.setdefault(one.path, {})[one.at] = one
    taken: dict[str, set[int]] = {path: set() for path in files}
    before = dict(sheet.sizes)  # bytes that a block may already have in the sheet
    for one in found:
        if one.gain <= FADED * found[0].gain:
            break
        if one.at in taken[one.path] or sheet.size + one.size - before.get(one.path, 0) > most:
            continue
        share = most * (FIRST_SHARE if one.path == allowed[0] else OTHER_SHARE)
        for group in _groups(one, files[one.path], taken[one.path]):
            numbers = {number for member in group for number in _lines(member.block)}
            size = sheet.cost(one.path, numbers)
            if sheet.size + size <= most and sheet.sizes.get(one.path, 0) + size <= max(
                share, SHARE_FLOOR
            ):
                sheet.take(one.path, numbers)
                taken[one.path].update(member.at for member in group)
                if one.why:
                    why.setdefault((one.path, one.block.first), one.why)
                break


def _lines(block: Block) -> list[int]:
    return list(range(block.first, block.last + 1)) + list(block.heads)


def _groups(one: Candidate, blocks: dict[int, Candidate], taken: set[int]) -> list[list[Candidate]]:
    """What to take for a block, best first: its whole file when small; the block with small gaps
    closed; the block alone.
    """
    bridged = [one]
    for step in (1, -1):
        at, size, between = one.at + step, 0, []
        while at in blocks and at not in taken and size <= BRIDGE:
            size += blocks[at].size
            between.append(blocks[at])
            at += step
        if size <= BRIDGE and (at in taken or at not in blocks):
            bridged += between
    groups = [bridged, [one]]
    if len(blocks) <= WHOLE and sum(other.size for other in blocks.values()) <= WHOLE:
        groups.insert(0, [other for at, other in blocks.items() if at not in taken])
    return groups
