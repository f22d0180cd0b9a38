"""What a repository's index gives its readers."""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

from contextkernel.store.index_file import IndexFile

ANSWERS_KEPT = 64
POSTING_BITS = 12  # of a posting say how the term occurs, the 20 above are the number of the file
MOST_NUMBERS = 1 << 20


class File(NamedTuple):
    """A row of the index.  `length` counts sub-tokens; `note` says why it was not scanned;
    `unresolved` what could not be followed.
    """

    number: int
    path: str
    size: int
    mtime_ns: int
    language: str
    length: int
    note: str
    unresolved: str


class IndexReader(IndexFile):
    """The reading side of an open index, with the answers kept in it."""

    def files(self) -> list[File]:
        """All rows, by path."""
        found = [
            File._make(row)
            for row in self.base.execute(
                "SELECT number, path, size, mtime_ns, language, length, note, unresolved FROM "
                "file ORDER BY path"
            )
        ]
        if any(not 0 < row.number < MOST_NUMBERS for row in found):
            raise ValueError("a number that no file was given")
        return [
            row if isinstance(row.path, str) else row._replace(path=from_stored(row.path))
            for row in found
        ]

    def postings(self, terms: Sequence[str]) -> dict[str, list[int]]:
        """Term -> its postings (number of the file << 12 | bits), dead numbers among them; terms
        that nowhere occur are left out.
        """
        found: dict[str, list[int]] = {}
        for at in range(0, len(terms), 400):
            part = [as_stored(term) for term in terms[at : at + 400]]
            marks = ",".join("?" * len(part))
            for table in ("posting", "recent"):
                for term, value in self.base.execute(
                    (
                        f"SELECT term, value FROM {table} WHERE term IN ({marks}) ORDER BY term, "
                        "segment"
                    ),
                    part,
                ):
                    found.setdefault(term, []).extend(array("I", value))
        return found

    def facts(self, number: int) -> tuple[list[Any], list[Any]]:
        """(imports, definitions) of a file by its number; empty lists when it was not scanned."""
        row = self.base.execute("SELECT value FROM fact WHERE number=?", (number,)).fetchone()
        if not row:
            return [], []
        imports, definitions = json.loads(row[0])
        return imports, definitions

    def content(self) -> dict[str, Any]:
        """Everything that a reader can see, free of numbers and segments: two indexes of one
        tree are equal in it.
        """
        files = {row.number: row for row in self.files()}
        terms: dict[str, dict[str, int]] = {}
        for term, value in self.base.execute(
            "SELECT term, value FROM posting UNION ALL SELECT term, value FROM recent"
        ):
            for entry in array("I", value):
                row = files.get(entry >> POSTING_BITS)
                if row:
                    terms.setdefault(term, {})[row.path] = entry & ((1 << POSTING_BITS) - 1)
        return {
            "files": {row.path: row[2:] + tuple(self.facts(row.number)) for row in files.values()},
            "terms": terms,
        }

    def answer(self, key: str) -> str:
        """The kept answer of a key, "" when there is none."""
        row = self.base.execute("SELECT value FROM answer WHERE key=?", (key,)).fetchone()
        return from_stored(row[0]) if row else ""

    def keep_answer(self, key: str, value: str) -> None:
        """Keep an answer; the oldest beyond 64 go."""

        def change() -> None:
            turn = self.base.execute("SELECT COALESCE(MAX(turn), 0) + 1 FROM answer").fetchone()[0]
            self.base.execute(
                "INSERT OR REPLACE INTO answer VALUES(?,?,?)", (key, as_stored(value), turn)
            )
            self.base.execute("DELETE FROM answer WHERE turn <= ?", (turn - ANSWERS_KEPT,))

        self._writing(change)


def as_stored(text: str) -> str | bytes:
    """A text as SQLite can hold it: a name that is not UTF-8 as its bytes."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape")
    return text


def from_stored(value: str | bytes) -> str:
    """The text of a kept value."""
    return value if isinstance(value, str) else value.decode("utf-8", "surrogateescape")
