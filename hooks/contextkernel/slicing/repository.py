"""A repository as operators see it: its paths, what its index says, and texts on demand.  And
path texts found in it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from typing import Any, Callable, NamedTuple, TypeVar

from contextkernel.slicing.scan import file_kinds
from contextkernel.slicing.scan.definitions import Definition

T = TypeVar("T")


class Facts(NamedTuple):
    """What the index keeps of one file: unresolved imports and definitions by line."""

    imports: list[str]
    definitions: list[Definition]


class Repository:
    """The plain values an entry passes in, and what is worked out from them once.

    `rows`: one a source file with number, path, language, length, note, unresolved
    (store.index.File).
    `read(path)` gives bytes and raises OSError; `facts_of(number)` and `postings(terms)` are the
    index's.
    """

    def __init__(
        self,
        root: str,
        paths: Iterable[str],
        rows: Sequence[Any],
        read: Callable[[str], bytes],
        facts_of: Callable[[int], tuple[list[Any], list[Any]]],
        postings: Callable[[Sequence[str]], dict[str, list[int]]],
        keeps_edge: Callable[[str, str], bool] | None = None,
    ) -> None:
        self.root, self.postings, self.keeps_edge = root, postings, keeps_edge
        self.rows = {row.path: row for row in rows}
        self.paths = frozenset(paths)
        self._read, self._facts_of = read, facts_of
        self._texts: dict[str, str] = {}
        self._facts: dict[str, Facts] = {}
        self._memo: dict[str, Any] = {}

    def memo(self, key: str, make: Callable[[], T]) -> T:
        """The value of a key, made once."""
        if key not in self._memo:
            self._memo[key] = make()
        found: T = self._memo[key]
        return found

    def text(self, path: str) -> str:
        """The text of a file, "" when it cannot be read."""
        if path not in self._texts:
            try:
                self._texts[path] = file_kinds.decoded(self._read(path))
            except OSError:
                self._texts[path] = ""
        return self._texts[path]

    def facts(self, path: str) -> Facts:
        """What the index keeps of a file; nothing for files it does not know."""
        if path not in self._facts:
            row = self.rows.get(path)
            imports, definitions = self._facts_of(row.number) if row else ([], [])
            self._facts[path] = Facts(imports, [Definition(*one) for one in definitions])
        return self._facts[path]

    def named(self, name: str) -> list[str]:
        """Paths of the files of a name, sorted."""
        return self.memo("names", lambda: _grouped(self.paths, posixpath.basename)).get(name, [])

    def folder(self, folder: str) -> list[str]:
        """Paths of the files directly in a folder, sorted."""
        return self.memo("folders", lambda: _grouped(self.paths, posixpath.dirname)).get(folder, [])

    def folders_ending(self, tail: str) -> list[str]:
        """Folders whose path is `tail` or ends with it, sorted."""
        folders = self.memo("folders", lambda: _grouped(self.paths, posixpath.dirname))
        return sorted(one for one in folders if one == tail or one.endswith("/" + tail))

    def weight(self, path: str) -> float:
        """The share of its score that a file keeps by its role."""
        folders = self.memo("test folders", lambda: file_kinds.test_folders(self.paths))
        return file_kinds.WEIGHT[
            "test" if file_kinds.in_folders(path, folders) else file_kinds.role_of(path)
        ]

    def is_test(self, path: str) -> bool:
        """Is it a test, an example or documentation?"""
        return file_kinds.role_of(path) == "test" or file_kinds.in_folders(
            path, self.memo("test folders", lambda: file_kinds.test_folders(self.paths))
        )


def _grouped(paths: Iterable[str], key: Callable[[str], str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for path in sorted(paths):
        groups.setdefault(key(path), []).append(path)
    return groups
