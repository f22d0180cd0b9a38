"""The places of the best files that fit a budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from contextkernel.slicing.blocks import Block
from contextkernel.slicing.candidates import Candidate, candidates
from contextkernel.slicing.line_selection import BARE, Form, LineSelection
from contextkernel.slicing.ranking import Ranking, Spot
from contextkernel.slicing.repository import Repository
from contextkernel.slicing.symptom.text import Symptom

FILES, LEAST_FILES = 60, 8  # best files that are cut into blocks, as long as they hold
# bytes of source, and times the budget more: what costs is reading it, 0.04 CPU seconds a megabyte
READ_BYTES, READ_SHARE = 900_000, 4
# of the budget for one file; bytes that it may always have
FIRST_SHARE, OTHER_SHARE, SHARE_FLOOR = 0.50, 0.30, 1500
# bytes between two chosen blocks, or to an end of the file, that are shown too: +3 points of line
# recall, fewer places
BRIDGE = 400
# bytes; a file of at most as many is shown whole or not at all, when there is room
WHOLE_FILE_BYTES = 2500
# of the best block's gain: below, a block says next to nothing about the symptom, and the budget is
# a ceiling
FADED = 0.005
# best files of which a line is shown in any case, if that takes at most this share
OUTLINED, OUTLINE_SHARE = 8, 0.06


class Selection(NamedTuple):
    """`ranges`: path -> lines shown, best file first.  `size`: bytes as printed.  `smallest`: bytes
    of what must be shown; more than there is room for when that cannot be kept, and then nothing
    else is shown.  `why`: (path, first line) -> reasons."""

    ranges: dict[str, list[tuple[int, int]]]
    size: int
    smallest: int
    why: dict[tuple[str, int], str]


class Selector:
    """The lines of a ranked repository that a reader needs, chosen for any room and form; what
    does not depend on these is worked out once.
    """

    def __init__(
        self,
        symptom: Symptom,
        ranking: Ranking,
        allowed: Sequence[str],
        repository: Repository,
        budget_bytes: int,
    ) -> None:
        self._allowed = allowed
        self._named = LineSelection(repository)
        self._why: dict[tuple[str, int], str] = {}
        self._spots: list[tuple[str, set[int]]] = []
        for spot in ranking.spots:
            numbers = spot_lines(spot, self._named, repository)
            self._named.take(spot.path, numbers)
            self._spots.append((spot.path, numbers))
            self._why.setdefault((spot.path, min(numbers)), spot.why)
        paths = _worth_reading(allowed, repository, budget_bytes)
        self._found = candidates(symptom, ranking, paths, self._named, repository)

    def select_lines(self, max_bytes: int, form: Form = BARE) -> Selection:
        """The richest selection of at most `max_bytes` as printed.  Lines that the symptom names
        come first, whatever else fits.
        """
        chosen, why = self._named.in_form(form), dict(self._why)
        for path, numbers in self._spots:
            chosen.take(path, numbers)
        if not chosen.lines and self._found:  # nothing named: the best block's head is the least
            chosen.take(self._found[0].path, _outline(self._found[0]))
        smallest = chosen.size
        if smallest <= max_bytes:
            _outline_best(self._found, self._allowed, chosen, max_bytes)
            _fill(self._found, self._allowed, chosen, max_bytes, why)
        place = {path: number for number, path in enumerate(self._allowed)}
        order = sorted(chosen.lines, key=lambda path: (place.get(path, len(place)), path))
        ranges = {path: chosen.ranges(path) for path in order if chosen.lines[path]}
        return Selection(ranges, chosen.size, smallest, why)


def spot_lines(spot: Spot, chosen: LineSelection, repository: Repository) -> set[int]:
    """The outline of a named place: its first line and the head of the definition around it.

    A frame of another version of the file, whose line lies in another function than the frame says,
    is the head of that function.
    """
    last = len(chosen.split(spot.path))
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


def _outline(one: Candidate) -> set[int]:
    """The lines by which a block is known: the heads around it and its first one."""
    return set(one.block.heads) | {one.block.first}


def _outline_best(
    found: Sequence[Candidate], allowed: Sequence[str], chosen: LineSelection, most: int
) -> None:
    """A line of each of the best files, so that none of them goes unmentioned."""
    left = min(most * OUTLINE_SHARE, most - chosen.size)
    best: dict[str, Candidate] = {}
    for one in found:
        best.setdefault(one.path, one)
    for path in allowed[:OUTLINED]:
        if path in best and path not in chosen.lines:
            numbers = _outline(best[path])
            size = chosen.cost(path, numbers)
            if size <= left:
                left -= size
                chosen.take(path, numbers)


def _fill(
    found: Sequence[Candidate],
    allowed: Sequence[str],
    chosen: LineSelection,
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
    before = dict(chosen.sizes)  # bytes that a block may already have in the selection
    for one in found:
        if one.gain <= FADED * found[0].gain:
            break
        if one.at in taken[one.path] or chosen.size + one.size - before.get(one.path, 0) > most:
            continue
        share = most * (FIRST_SHARE if one.path == allowed[0] else OTHER_SHARE)
        for group in _groups(one, files[one.path], taken[one.path]):
            numbers = {number for member in group for number in _lines(member.block)}
            size = chosen.cost(one.path, numbers)
            if chosen.size + size <= most and chosen.sizes.get(one.path, 0) + size <= max(
                share, SHARE_FLOOR
            ):
                chosen.take(one.path, numbers)
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
    if (
        len(blocks) <= WHOLE_FILE_BYTES
        and sum(other.size for other in blocks.values()) <= WHOLE_FILE_BYTES
    ):
        groups.insert(0, [other for at, other in blocks.items() if at not in taken])
    return groups
