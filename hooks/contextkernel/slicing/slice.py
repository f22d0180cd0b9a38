"""From a symptom to the places of a repository: the one function that entries call."""

from __future__ import annotations

from contextkernel import tokens
from contextkernel.slicing import graph, ranking, select
from contextkernel.slicing.line_selection import BARE, Form
from contextkernel.slicing.parts import Place, Request, Slice
from contextkernel.slicing.repository import Repository
from contextkernel.slicing.symptom import text as symptoms
from contextkernel.slicing.working_set import allowed_files, seeds_of


class Slicer:
    """A symptom read and a repository ranked by it; cuts slices of any size and form."""

    def __init__(self, repository: Repository, text: str, request: Request) -> None:
        self._repository = repository
        symptom = symptoms.read(text, request.diff)
        self._symptom = symptoms.with_code(symptom, ranking.code_of_frames(symptom, repository))
        self._ranks = ranking.ranked(self._symptom, repository)
        self._seeds = seeds_of(self._ranks)
        self._allowed, self._outside = allowed_files(self._ranks, self._seeds, request, repository)
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


def _known(path: str, found: set[str]) -> bool:
    return any(path.replace("\\", "/").endswith(one.rpartition("/")[2]) for one in found)


def _why(path: str, selection: select.Selection, ranks: ranking.Ranking) -> str:
    why = selection.why
    reasons = [why[key] for key in sorted(why) if key[0] == path and why[key]]
    reasons += [why for why in ranks.reasons.get(path, ()) if why]
    parts = dict.fromkeys(part for reason in reasons for part in reason.split("; "))
    return "; ".join(list(parts)[:4]) or "words of the symptom"
