"""From a symptom to the places of a repository: the one function that entries call."""

from __future__ import annotations

from typing import NamedTuple

from contextkernel.slicing import graph, ranking, select
from contextkernel.slicing.repository import Repository
from contextkernel.slicing.symptom import text as symptoms

SEEDS = 5  # best files that stand in for seeds when the symptom names no place


class Request(NamedTuple):
    """`budget` in tokens (bytes/4).  `depth`: "" ranks the whole repository; "full", "2", "1" keep
    to files so many imports
    from the seeds.  `importers`: steps of being imported that are let in too.  `diff`: a unified
    diff as (part of) the symptom."""

    budget: int = 8000
    depth: str = ""
    importers: int = 0
    diff: str = ""


class Place(NamedTuple):
    """A file of the slice with the lines shown (1-based, inclusive) and the reasons, best file
    first.
    """

    path: str
    ranges: tuple[tuple[int, int], ...]
    why: str


class Slice(NamedTuple):
    """`size` in bytes.  `smallest`: bytes the named lines alone need.  `frames`: all frames in the
    repository.
    `beyond`: best files that are not shown.  `outside`: files that depth left out.  `tests`:
    related tests."""

    places: tuple[Place, ...]
    size: int
    smallest: int
    frames: tuple[ranking.Spot, ...]
    beyond: tuple[str, ...]
    outside: int
    tests: tuple[str, ...]
    seeds: tuple[str, ...]
    foreign: tuple[str, ...]
    blind: tuple[str, ...]
    notes: dict[str, int]


def slice_repository(repository: Repository, text: str, request: Request) -> Slice:
    """The working set of a symptom within a budget.  Deterministic: same repository, text and
    request, same slice.
    """
    symptom = symptoms.read(text, request.diff)
    symptom = symptoms.with_code(symptom, ranking.code_of_frames(symptom, repository))
    ranks = ranking.ranked(symptom, repository)
    seeds = _seeds(ranks)
    allowed, outside = _allowed(ranks, seeds, request, repository)
    packed = select.packed(symptom, ranks, allowed, repository, request.budget)
    places = tuple(
        Place(path, tuple(spans), _why(path, spans, packed, ranks))
        for path, spans in packed.ranges.items()
    )
    shown = set(packed.ranges)
    subjects = [place.path for place in places if not repository.is_test(place.path)][:3]
    tests = tuple(path for path in graph.related_tests(subjects, repository) if path not in shown)
    found = {spot.path for spot in ranks.spots}
    foreign = tuple(
        dict.fromkeys(frame.path for frame in symptom.frames if not _known(frame.path, found))
    )
    blind = tuple(
        f"{path}: {repository.rows[path].blind}"
        for path in packed.ranges
        if path in repository.rows and repository.rows[path].blind
    )
    notes: dict[str, int] = {}
    for row in repository.rows.values():
        if row.note:
            notes[row.note] = notes.get(row.note, 0) + 1
    return Slice(
        places,
        packed.size,
        packed.smallest,
        tuple(ranks.spots),
        tuple(path for path in allowed if path not in shown)[:15],
        outside,
        tests,
        tuple(seeds),
        foreign,
        blind,
        notes,
    )


def _seeds(ranks: ranking.Ranking) -> list[str]:
    """Where the graph is walked from: files the symptom names, else the best ones."""
    named = list(dict.fromkeys(spot.path for spot in ranks.spots))
    named += [
        path
        for path in ranks.order
        if any(why.endswith("in the symptom") for why in ranks.reasons.get(path, ()))
        and path not in named
    ]
    return named or ranks.order[:SEEDS]


def _allowed(
    ranks: ranking.Ranking, seeds: list[str], request: Request, repository: Repository
) -> tuple[list[str], int]:
    """(files that may be shown, best first; how many ranked files are kept out by depth)."""
    if not request.depth and not request.importers:
        return ranks.order, 0
    depth = -1 if request.depth in ("", "full") else int(request.depth)
    near = graph.closure(seeds, depth, repository)
    if request.importers:
        near.update(
            (path, steps)
            for path, steps in graph.callers(seeds, request.importers, repository).items()
            if path not in near
        )
    for path in near:
        ranks.scores.setdefault(path, 0.0)
    order = sorted(near, key=lambda path: (-ranks.scores[path], near[path], path))
    return order, sum(1 for path in ranks.order if path not in near)


def _known(path: str, found: set) -> bool:
    return any(path.replace("\\", "/").endswith(one.rpartition("/")[2]) for one in found)


def _why(path: str, spans, packed: select.Packed, ranks: ranking.Ranking) -> str:
    reasons = [packed.why[key] for key in sorted(packed.why) if key[0] == path and packed.why[key]]
    reasons += [why for why in ranks.reasons.get(path, ()) if why]
    return (
        "; ".join(
            list(dict.fromkeys(part for reason in reasons for part in reason.split("; ")))[:4]
        )
        or "words of the symptom"
    )
