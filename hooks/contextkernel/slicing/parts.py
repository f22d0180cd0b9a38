"""What a slice consists of."""

from __future__ import annotations

from typing import NamedTuple

from contextkernel.slicing import ranking


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
