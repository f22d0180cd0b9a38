"""Which files may be shown: the seeds, and what lies near them."""

from __future__ import annotations

from contextkernel.slicing import graph, ranking
from contextkernel.slicing.parts import Request
from contextkernel.slicing.repository import Repository

SEEDS = 5  # best files that stand in for seeds when the symptom names no place


def seeds_of(ranks: ranking.Ranking) -> list[str]:
    """Where the graph is walked from: files the symptom names, else the best ones."""
    named = list(dict.fromkeys(spot.path for spot in ranks.spots))
    named += [
        path
        for path in ranks.order
        if any(why.endswith("in the symptom") for why in ranks.reasons.get(path, ()))
        and path not in named
    ]
    return named or ranks.order[:SEEDS]


def allowed_files(
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
