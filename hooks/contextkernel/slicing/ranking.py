"""Files of a repository by how much a symptom speaks for them.

The head is BM25F over text, defined names and path; evidence of other kinds adds to it, by how sure
it is.
"""

from __future__ import annotations

import math
from typing import Callable, NamedTuple

from contextkernel.slicing.languages import python
from contextkernel.slicing.path_matching import found_path
from contextkernel.slicing.repository import Repository
from contextkernel.slicing.scan.scan_file import BITS, BODY, DEFINES, IN_PATH, NAMED_SHIFT
from contextkernel.slicing.symptom.text import Symptom

# BM25F: Robertson and Zaragoza 2009, k1 and b near their usual values.  Around these values nothing
# moves the mean reciprocal
# rank of 120 real bugs by more than 0.01 (bench/localize.py --cases).
K1, B, NAMED_WEIGHT, PATH_WEIGHT = 1.2, 0.65, 3.0, 4.0
# share of the best lexical score for the raise site; a caller n away gets 1/(1+n/2) of it
FRAME, FRAME_FADE = (0.45, 0.5)
MENTION, LINES_NAMED = 0.25, 0.45
# a name defined in at most RARE files; their share of it
TICKED, CODED, RARE, MOST_BY_NAME = (0.30, 0.18, 4, 0.5)
TEST_NAMED = 0.3  # what a test keeps of evidence that names it
CODE_FRAMES, CODE_WIDTH = 8, 300  # frames whose source lines are read; characters of one
NEIGHBOUR, HEAD = 0.06, 12  # imports of the first HEAD files


Adder = Callable[[str, float, str], None]  # path, evidence, reason


class Spot(NamedTuple):
    """Lines of a file that the symptom names: a frame (`distance` from the raise site), a link,
    a diff's hunk.
    """

    path: str
    first: int
    last: int
    distance: int
    function: str
    why: str


class Ranking(NamedTuple):
    """`order`: paths, best first, all with a score above 0.  `idf`: term -> rarity.  `spots`:
    named lines, nearest first.
    """

    order: list[str]
    scores: dict[str, float]
    reasons: dict[str, list[str]]
    idf: dict[str, float]
    spots: list[Spot]
    names: dict[str, float]


def ranked(symptom: Symptom, repository: Repository) -> Ranking:
    """All files with any evidence, best first; equal scores by path."""
    scores, idf = lexical(symptom.weights, repository)
    best = max(scores.values(), default=0) or 1.0
    scores = {path: score / best for path, score in scores.items()}
    reasons: dict[str, list[str]] = {}

    def add(path: str, score: float, why: str) -> None:
        scores[path] = scores.get(path, 0.0) + score * (
            TEST_NAMED if repository.weight(path) < 1 else 1
        )
        reasons.setdefault(path, []).append(why)

    spots = _spots(symptom, repository)
    for path in dict.fromkeys(spot.path for spot in spots):
        if _is_unscanned(path, repository):
            scores[path] = repository.weight(path)  # its words are not known: as good as any
    for index, path in enumerate(
        dict.fromkeys(spot.path for spot in spots if spot.why.startswith("frame"))
    ):
        spot = next(one for one in spots if one.path == path)
        add(path, FRAME / (1 + index * FRAME_FADE), spot.why)
    for path in dict.fromkeys(spot.path for spot in spots if not spot.why.startswith("frame")):
        add(path, LINES_NAMED, next(one.why for one in spots if one.path == path))
    for path, why in _mentioned(symptom, repository).items():
        add(path, MENTION, why)
    names = _defining(symptom, repository, add)
    _neighbours(scores, repository, add)
    order = sorted(
        (path for path, score in scores.items() if score > 0),
        key=lambda path: (-scores[path], path),
    )
    return Ranking(order, scores, reasons, idf, spots, names)


def _is_unscanned(path: str, repository: Repository) -> bool:
    """Is it a source file that is too large to be scanned?"""
    return path in repository.rows and repository.rows[path].note == "big"


def code_of_frames(symptom: Symptom, repository: Repository) -> list[str]:
    """The source lines of the nearest frames that the report shows without, as far as they are in
    this repository and in the
    functions that the frames say."""
    found: list[str] = []
    for frame in symptom.frames[:CODE_FRAMES]:
        path = found_path(frame.path, repository) if frame.line and not frame.has_code else ""
        lines = repository.text(path).split("\n", frame.line) if path else []
        if len(lines) < frame.line or not lines:
            continue
        around = [
            one.name
            for one in repository.facts(path).definitions
            if one.kind != "name" and one.line <= frame.line
        ][-3:]
        name = frame.function.rpartition(".")[2]
        if not around or not name or name[0] == "<" or name in around:
            found.append(lines[frame.line - 1][:CODE_WIDTH])
    return found


def lexical(
    weights: dict[str, float], repository: Repository
) -> tuple[dict[str, float], dict[str, float]]:
    """(path -> BM25F score times the weight of its role, term -> idf)."""
    rows = [row for row in repository.rows.values() if not row.note]
    average = sum(row.length for row in rows) / len(rows) if rows else 1.0
    norms = {row.number: K1 * (1 - B + B * row.length / (average or 1.0)) for row in rows}
    sums = dict.fromkeys(norms, 0.0)
    idf: dict[str, float] = {}
    postings = repository.postings(list(weights))
    for term, weight in weights.items():
        live = [entry for entry in postings.get(term, ()) if entry >> BITS in norms]
        idf[term] = math.log(1 + (len(rows) - len(live) + 0.5) / (len(live) + 0.5))
        gain = weight * idf[term] * (K1 + 1)
        for entry in live:
            number = entry >> BITS
            times = (
                (entry & BODY)
                + NAMED_WEIGHT * (entry >> NAMED_SHIFT & 15)
                + (PATH_WEIGHT if entry & IN_PATH else 0)
            )
            sums[number] += gain * times / (times + norms[number])
    return {
        row.path: sums[row.number] * repository.weight(row.path)
        for row in rows
        if sums[row.number] > 0
    }, idf


def _spots(symptom: Symptom, repository: Repository) -> list[Spot]:
    """The lines of this repository that frames, links and hunks name, in the order of the
    evidence.
    """
    spots: list[Spot] = []
    for frame in symptom.frames:
        path = found_path(frame.path, repository)
        if path:
            why = "frame: raised here" if frame.distance == 0 else f"frame: caller {frame.distance}"
            spots.append(Spot(path, frame.line, frame.line, frame.distance, frame.function, why))
    for place in symptom.changed:
        path = found_path(place.path, repository)
        if path:
            spots.append(Spot(path, place.first, place.last, 0, "", "changed by the diff"))
    for place in symptom.places:
        path = found_path(place.path, repository) if place.first else ""
        if path:
            spots.append(Spot(path, place.first, place.last, 0, "", "linked with its lines"))
    return spots


def _mentioned(symptom: Symptom, repository: Repository) -> dict[str, str]:
    """Files that the text names by path or by module, with the reason."""
    found: dict[str, str] = {}
    for place in symptom.places:
        path = found_path(place.path, repository)
        if path:
            found.setdefault(path, "path in the symptom")
    for name in symptom.dotted:
        parts = name.split(".")
        for length in range(len(parts), 1, -1):
            path = python.module_file(".".join(parts[:length]), "", repository)
            if path:
                found.setdefault(path, "module in the symptom")
                break
    return {path: why for path, why in found.items() if path in repository.rows}


def _defining(symptom: Symptom, repository: Repository, add: Adder) -> dict[str, float]:
    """Names of the symptom -> how much they say; files that define a rare one get their share by
    `add`.
    """
    names = {name: TICKED for name in symptom.ticked}
    names.update((name, CODED) for name in symptom.coded if name not in names)
    numbers = {row.number: row.path for row in repository.rows.values()}
    postings = repository.postings([DEFINES + name for name in names])
    shares: dict[str, float] = {}
    for name, worth in names.items():
        paths = [
            numbers[entry >> BITS]
            for entry in postings.get(DEFINES + name, ())
            if entry >> BITS in numbers
        ]
        if 0 < len(paths) <= RARE:
            for path in paths:
                shares[path] = shares.get(path, 0.0) + worth / len(paths)
                if shares[path] <= worth:
                    add(path, 0.0, "defines " + name)
    for path, share in shares.items():
        add(path, min(share, MOST_BY_NAME), "")
    return names


def _neighbours(scores: dict[str, float], repository: Repository, add: Adder) -> None:
    """A little for what the first files import."""
    from contextkernel.slicing import graph  # late: the head alone needs no graph

    head = sorted(scores, key=lambda path: (-scores[path], path))[:HEAD]
    lifts: dict[str, float] = {}
    for path in head:
        for target in graph.imported(path, repository):
            if target in scores and not repository.is_test(target):
                lifts[target] = max(lifts.get(target, 0.0), scores[path])
    for path, lift in lifts.items():
        add(path, NEIGHBOUR * lift, "")
