"""What is asked of a slice, and what it consists of."""

from __future__ import annotations

from typing import NamedTuple

from contextkernel.slicing import ranking


class Request(NamedTuple):
    """`budget` in tokens (bytes/4).  `depth`: "" ranks the whole repository; "full", "2", "1" keep
    to files so many imports from the seeds.  `importers`: steps of being imported that are let in
    too.  `diff`: a unified diff as (part of) the symptom.  `budget_line`: how the budget came
    about, for the reader.
    """

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
    repository.  `beyond`: best files that are not shown.  `outside`: files that depth left out.
    `tests`: related tests.
    """

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
