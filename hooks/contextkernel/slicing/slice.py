"""From a symptom to the places of a repository: the one function that entries call."""

from __future__ import annotations

from typing import NamedTuple

from contextkernel import tokens
from contextkernel.slicing import graph, ranking, select
from contextkernel.slicing.line_selection import BARE, Form
from contextkernel.slicing.repository import Repository
from contextkernel.slicing.symptom import text as symptoms

SEEDS = 5  # best files that stand in for seeds when the symptom names no place


class Request(NamedTuple):
    """`budget` in tokens (bytes/4).  `depth`: "" ranks the whole repository; "full", "2", "1" keep
    to files so many imports
    from the seeds.  `importers`: steps of being imported that are let in too.  `diff`: a unified
    diff as (part of) the symptom.  `budget_line`: how the budget came about, for the reader."""

    budget: int = 8000
    depth: str = ""
    importers: int = 0
    diff: str = ""
    budget_line: str = ""


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
    unresolved: tuple[str, ...]


class Slicer:
    """A symptom read and a repository ranked by it; cuts slices of any size and form."""

    def __init__(self, repository: Repository, text: str, request: Request) -> None:
        self._repository = repository
        symptom = symptoms.read(text, request.diff)
        self._symptom = symptoms.with_code(symptom, ranking.code_of_frames(symptom, repository))
        self._ranks = ranking.ranked(self._symptom, repository)
        self._seeds = _seeds(self._ranks)
        self._allowed, self._outside = _allowed(self._ranks, self._seeds, request, repository)
        self._selector = select.Selector(
            self._symptom,
            self._ranks,
            self._allowed,
            repository,
            tokens.in_bytes(request.budget),
        )

    def cut(self, max_bytes: int, form: Form = BARE) -> Slice:
        """The slice whose places take at most `max_bytes` as printed in a form."""
        repository, ranks = self._repository, self._ranks
        selection = self._selector.select_lines(max_bytes, form)
        shown = selection.ranges
        places = tuple(
            Place(path, tuple(spans), _why(path, selection, ranks)) for path, spans in shown.items()
        )
        subjects = [place.path for place in places if not repository.is_test(place.path)][:3]
        tests = repository.memo(
            "tests:" + "\0".join(subjects), lambda: graph.related_tests(subjects, repository)
        )
        found = {spot.path for spot in ranks.spots}
        return Slice(
            places,
            size=selection.size,
            smallest=selection.smallest,
            frames=tuple(ranks.spots),
            beyond=tuple(path for path in self._allowed if path not in shown)[:15],
            outside=self._outside,
            tests=tuple(path for path in tests if path not in shown),
            seeds=tuple(self._seeds),
            foreign=tuple(
                dict.fromkeys(
                    frame.path for frame in self._symptom.frames if not _known(frame.path, found)
                )
            ),
            unresolved=tuple(
                f"{path}: {repository.rows[path].unresolved}"
                for path in shown
                if path in repository.rows and repository.rows[path].unresolved
            ),
        )


def slice_repository(repository: Repository, text: str, request: Request) -> Slice:
    """The working set of a symptom, its source lines within the budget.  Deterministic: same
    repository, text and request, same slice.
    """
    return Slicer(repository, text, request).cut(tokens.in_bytes(request.budget))


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


def _known(path: str, found: set[str]) -> bool:
    return any(path.replace("\\", "/").endswith(one.rpartition("/")[2]) for one in found)


def _why(path: str, selection: select.Selection, ranks: ranking.Ranking) -> str:
    why = selection.why
    reasons = [why[key] for key in sorted(why) if key[0] == path and why[key]]
    reasons += [why for why in ranks.reasons.get(path, ()) if why]
    parts = dict.fromkeys(part for reason in reasons for part in reason.split("; "))
    return "; ".join(list(parts)[:4]) or "words of the symptom"
