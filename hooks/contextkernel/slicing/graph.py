"""The import graph, resolved where it is walked: no edge is kept, so no edge can be out of date."""

from __future__ import annotations

from collections.abc import Iterable

from contextkernel.slicing.languages import language_module, language_of
from contextkernel.slicing.repository import Repository
from contextkernel.slicing.scan.scan_file import BITS, IMPORTS

MOST_FILES = 4000  # of a closure
_PACKAGE_FILES = ("__init__", "index", "mod", "lib", "main")  # imported by the name of their folder


def imported(path: str, repository: Repository) -> list[str]:
    """The repository files that a file imports, in its order, without itself; those it implies
    (its package, its twin) last.
    """
    return repository.memo("imported:" + path, lambda: _imported(path, repository))


def _imported(path: str, repository: Repository) -> list[str]:
    row = language_of(path)
    if row is None or path not in repository.rows:
        return []
    module = language_module(row.name)
    found: dict[str, None] = {}
    for spec in repository.facts(path).imports:
        found.update(dict.fromkeys(module.targets(spec, path, repository)))
    found.update(dict.fromkeys(module.implicit_imports(path, repository)))
    found.pop(path, None)
    keeps = repository.keeps_edge
    return [target for target in found if keeps is None or keeps(path, target)]


def importers(path: str, repository: Repository) -> list[str]:
    """The files whose imports name a file and reach it, sorted.

    Those that reach it through a re-export name the package instead: they are importers of its
    `__init__`.
    """
    return [other for other in _may_import(path, repository) if path in imported(other, repository)]


def _may_import(path: str, repository: Repository) -> list[str]:
    """The files whose imports have a word that can mean the file `path`, sorted."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    words = (
        {stem, folder.rpartition("/")[2]}
        if stem in _PACKAGE_FILES or path.endswith(".go")
        else {stem}
    )
    paths = {row.number: row.path for row in repository.rows.values()}
    found: set[str] = set()
    for entries in repository.postings([IMPORTS + word for word in sorted(words) if word]).values():
        found.update(paths[entry >> BITS] for entry in entries if entry >> BITS in paths)
    return sorted(found - {path})


def closure(seeds: Iterable[str], depth: int, repository: Repository) -> dict[str, int]:
    """File -> how many imports away from a seed, up to `depth` (below 0: as far as they go),
    seeds at 0.
    """
    distance = {path: 0 for path in seeds}
    edge, step = list(distance), 0
    while edge and step != depth and len(distance) < MOST_FILES:
        step += 1
        following: list[str] = []
        for path in edge:
            for target in imported(path, repository):
                if target not in distance:
                    distance[target] = step
                    following.append(target)
        edge = following
    return distance


def callers(seeds: Iterable[str], depth: int, repository: Repository) -> dict[str, int]:
    """File -> how many steps of being imported away from a seed, up to `depth`, seeds at 0."""
    distance = {path: 0 for path in seeds}
    edge = list(distance)
    for step in range(1, depth + 1):
        following: list[str] = []
        for path in edge:
            for source in importers(path, repository):
                if source not in distance:
                    distance[source] = step
                    following.append(source)
        edge = following
    return distance


def related_tests(paths: Iterable[str], repository: Repository, most: int = 6) -> list[str]:
    """Test files for some files: those named after them first, then those that import them."""
    found: dict[str, None] = {}
    subjects = list(paths)
    for path in subjects:
        stem = path.rpartition("/")[2].partition(".")[0].lstrip("_")
        suffix = path[path.rfind(".") :]
        for name in (
            "test_" + stem + suffix,
            stem + "_test" + suffix,
            stem + "Test" + suffix,
            stem + ".test" + suffix,
            stem + ".spec" + suffix,
        ):
            found.update(dict.fromkeys(repository.named(name)))
    for path in subjects[:3]:
        for other in _may_import(path, repository):
            if (
                len(found) < most
                and other not in found
                and repository.is_test(other)
                and path in imported(other, repository)
            ):
                found[other] = None
    return list(found)[:most]
