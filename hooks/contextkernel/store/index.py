"""One SQLite file a repository: what each source file defines, imports and says.

The index keeps *segments* of postings, as search engines do: files scanned together share one, a
changed file gets a new
number and stands in a new small segment, the old number is dead.  So an update costs what changed,
a build can stop and go on,
and nothing is ever rewritten in place.  Small segments have a table of their own: the terms of one
file touch nearly every
page of the large one.  An index is never wrong, only older: a reader compares it with the files on
disk.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
import stat
from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Callable, NamedTuple

from contextkernel.store import files as store_files
from contextkernel.store import settings

SEGMENT_BYTES = 48 << 20  # of source; a build commits after as many
MOST_RECENT = 12  # small segments; more are merged into one
LARGE_BYTES = 4 << 20  # of source: a segment of as much is no small one
LAYOUT = 3  # of the tables; rises when they change
ANSWERS_KEPT = 64
BUSY_SECONDS = 10
POSTING_BITS = 12  # of a posting say how the term occurs, the 20 above are the number of the file
MOST_NUMBERS = 1 << 20
MOST_READ = (
    1 << 20
)  # bytes of a file; more than what is scanned, so that a larger file is known as one
# What reading a damaged or foreign file raises: SQLite's errors, and those of values that are not
# what was written
DAMAGE = (sqlite3.DatabaseError, ValueError, TypeError, LookupError, OverflowError)
_NO_DAMAGE = re.compile(
    r"locked|busy|full|disk I/O|unable to open|interrupted"
)  # said of a sound file
SCHEMA = """
CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS file(number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER, mtime_ns INTEGER, language TEXT, length INTEGER, note TEXT, unresolved TEXT);
CREATE TABLE IF NOT EXISTS fact(number INTEGER PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS posting(term TEXT, segment INTEGER, value BLOB, PRIMARY KEY(term, segment)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS recent(term TEXT, segment INTEGER, value BLOB, PRIMARY KEY(term, segment)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS answer(key TEXT PRIMARY KEY, value TEXT, turn INTEGER) WITHOUT ROWID;
"""


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


def file_of(root: str) -> str:
    """The index file of a repository: its name and a hash of its real path."""
    real = os.path.realpath(root)
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", os.path.basename(real))[:40] or "root"
    return os.path.join(
        settings.folder("index"), f"{name}-{hashlib.sha256(os.fsencode(real)).hexdigest()[:12]}.db"
    )


def is_damage(error: Exception) -> bool:
    """Does an error say that the file is no sound index (and not that it is locked, or the disk
    full)?
    """
    return isinstance(error, DAMAGE) and not (
        isinstance(error, sqlite3.OperationalError) and _NO_DAMAGE.search(str(error))
    )


class Index:
    """An open index.  Raises OSError when it cannot be opened; a damaged file or one of another
    version is begun anew.
    """

    def __init__(self, path: str, version: str) -> None:
        self.path, self.version = path, version
        self.base: sqlite3.Connection | None = None
        try:
            self._open(version)
        except DAMAGE + (store_files.NotRegularError,) as error:
            if isinstance(error, DAMAGE) and not is_damage(error):
                raise OSError(f"index {path}: {error}") from error
            self.begin_anew()

    def begin_anew(self) -> None:
        """Put the file away and begin an empty one.  Raises OSError."""
        self.close()
        for tail in ("", "-wal", "-shm", "-journal"):
            path = self.path + tail
            if os.path.isdir(path) and not os.path.islink(path):
                os.rename(path, f"{path}.aside.{os.urandom(4).hex()}")
            elif os.path.lexists(path):
                os.unlink(path)
        try:
            self._open(self.version)
        except sqlite3.Error as error:
            raise OSError(f"index {self.path}: {error}") from error

    def _open(self, version: str) -> None:
        version = f"{version}/{LAYOUT}"
        if os.path.lexists(self.path) and not stat.S_ISREG(os.lstat(self.path).st_mode):
            raise store_files.NotRegularError(f"{self.path}: not a regular file")
        os.close(
            os.open(
                self.path,
                os.O_CREAT
                | os.O_RDWR
                | getattr(os, "O_NOFOLLOW", 0)
                | getattr(os, "O_NONBLOCK", 0),
                0o600,
            )
        )
        self.base = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
        self.base.execute("PRAGMA journal_mode=WAL")
        self.base.execute("PRAGMA synchronous=NORMAL")
        if self.meta("version") != version:
            self._writing(lambda: self.meta("version") == version or self._begin(version))

    def _begin(self, version: str) -> None:
        for table in ("meta", "file", "fact", "posting", "recent", "answer"):
            self.base.execute("DROP TABLE IF EXISTS " + table)
        for statement in SCHEMA.split(";"):
            self.base.execute(statement)
        self._put("version", version)

    def close(self) -> None:
        """Close the file."""
        if self.base:
            self.base.close()

    def meta(self, key: str) -> str:
        """A kept word about the index, "" when there is none."""
        if not self.base.execute("SELECT 1 FROM sqlite_master WHERE name='meta'").fetchone():
            return ""
        row = self.base.execute("SELECT value FROM meta WHERE key=?", (key,)).fetchone()
        return row[0] if row else ""

    def _put(self, key: str, value: str) -> None:
        self.base.execute("INSERT OR REPLACE INTO meta VALUES(?,?)", (key, value))

    def _writing(self, change: Callable[[], Any]) -> None:
        """Run a change as one transaction."""
        self.base.execute("BEGIN IMMEDIATE")
        try:
            change()
        except BaseException:
            self.base.execute("ROLLBACK")
            raise
        self.base.execute("COMMIT")

    # -- bringing it up to date

    def stale(self, files: dict[str, tuple[int, int]]) -> tuple[list[str], list[str]]:
        """(paths to scan, paths to drop) against the files on disk: path -> (size, mtime_ns)."""
        known = {
            _named(path): (size, mtime)
            for path, size, mtime in self.base.execute("SELECT path, size, mtime_ns FROM file")
        }
        return [path for path, facts in files.items() if known.get(path) != facts], [
            path for path in known if path not in files
        ]

    def refresh(
        self,
        root: str,
        files: dict[str, tuple[int, int]],
        scan: Callable[[str, bytes], Any],
        segment_bytes: int = SEGMENT_BYTES,
    ) -> int:
        """Scan what changed, drop what went; gives back how many files were scanned.

        `scan(path, data)` gives the facts of a file (project.scanning.Scan).  Commits after every
        `segment_bytes` of
        source, so what is done stays done when the process ends; the next refresh goes on.
        """
        changed, gone = self.stale(files)
        self.bring_up(root, files, changed, gone, scan, segment_bytes)
        return len(changed)

    def bring_up(
        self,
        root: str,
        files: dict[str, tuple[int, int]],
        changed: list[str],
        gone: list[str],
        scan: Callable[[str, bytes], Any],
        segment_bytes: int = SEGMENT_BYTES,
    ) -> list[tuple[str, str]]:
        """`refresh`, with what `stale` has said; gives back what could not be read, as `add`."""
        unread: list[tuple[str, str]] = []
        if gone:
            self._writing(lambda: self._forget(gone))
        for batch in _batches(changed, files, segment_bytes):
            unread += self.add(root, {path: files[path] for path in batch}, scan)
        if int(self.meta("recent") or 0) > MOST_RECENT:
            self._writing(self._merge)
        return unread

    def add(
        self, root: str, files: dict[str, tuple[int, int]], scan: Callable[[str, bytes], Any]
    ) -> list[tuple[str, str]]:
        """Scan some files into a segment of their own; gives back (path, reason) of those that
        could not be read.

        These are not kept: the next refresh tries them again.
        """
        scans, unread = [], []
        for path, facts in files.items():
            try:
                scans.append((path, facts, scan(path, _bytes_of(os.path.join(root, path)))))
            except store_files.NotRegularError:
                unread.append((path, "no regular file"))
            except OSError as error:
                unread.append((path, error.strerror or "not readable"))
        if scans or self.base.execute("SELECT 1 FROM file LIMIT 1").fetchone():
            self._writing(lambda: self._add_segment(scans, [path for path, _ in unread]))
        return unread

    def _forget(self, paths: Iterable[str]) -> None:
        for path in map(_kept, paths):
            self.base.execute(
                "DELETE FROM fact WHERE number=(SELECT number FROM file WHERE path=?)", (path,)
            )
            self.base.execute("DELETE FROM file WHERE path=?", (path,))

    def _add_segment(self, scans: Sequence[tuple], unread: Sequence[str] = ()) -> None:
        if self.base.execute("SELECT 1 FROM file LIMIT 1").fetchone():
            self._forget([path for path, _, _ in scans] + list(unread))
        if not scans:
            return
        number, segment = int(self.meta("last") or 0), int(self.meta("segments") or 0) + 1
        if number + len(scans) >= MOST_NUMBERS:
            self._begin(self.meta("version"))  # numbers are used up: the next refresh scans all
            return
        rows, facts, postings = [], [], defaultdict(list)
        for path, (size, mtime), found in scans:
            number += 1
            rows.append(
                (
                    number,
                    _kept(path),
                    size,
                    mtime,
                    found.language,
                    found.length,
                    found.note,
                    found.unresolved,
                )
            )
            if found.note:
                continue
            facts.append(
                (number, json.dumps([found.imports, found.definitions], separators=(",", ":")))
            )
            high = number << POSTING_BITS
            for term, bits in found.terms.items():
                postings[term].append(high | bits)
        self.base.executemany("INSERT INTO file VALUES(?,?,?,?,?,?,?,?)", rows)
        self.base.executemany("INSERT INTO fact VALUES(?,?)", facts)
        large = sum(size for _, (size, _), _ in scans) >= LARGE_BYTES
        self._write_postings("posting" if large else "recent", segment, postings)
        self._put("last", str(number))
        self._put("segments", str(segment))
        if not large:
            self._put("recent", str(int(self.meta("recent") or 0) + 1))

    def _write_postings(self, table: str, segment: int, postings: dict[str, list[int]]) -> None:
        self.base.executemany(
            f"INSERT INTO {table} VALUES(?,?,?)",
            ((term, segment, array("I", postings[term]).tobytes()) for term in sorted(postings)),
        )

    def _merge(self) -> None:
        """The small segments as one, postings of dead numbers left out; all segments when a fifth
        of the numbers in use are dead.

        A merge of all costs as much as half a build: after every dozenth edit that would be felt.
        """
        live = {number for (number,) in self.base.execute("SELECT number FROM file")}
        missing = int(self.meta("last")) - len(live)
        whole = (missing - int(self.meta("left out") or 0)) * 4 > len(live)
        merged: dict[str, list[int]] = {}
        for table in ("posting", "recent") if whole else ("recent",):
            for term, value in self.base.execute(
                f"SELECT term, value FROM {table} ORDER BY term, segment"
            ):
                kept = [entry for entry in array("I", value) if entry >> POSTING_BITS in live]
                if kept:
                    merged.setdefault(term, []).extend(kept)
            self.base.execute("DELETE FROM " + table)
        segment = int(self.meta("segments")) + 1
        self._write_postings("posting" if whole else "recent", segment, merged)
        self._put("segments", str(segment))
        self._put("recent", "0" if whole else "1")
        if whole:
            self._put("left out", str(missing))

    # -- reading

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
            row if isinstance(row.path, str) else row._replace(path=_named(row.path))
            for row in found
        ]

    def postings(self, terms: Sequence[str]) -> dict[str, list[int]]:
        """Term -> its postings (number of the file << 12 | bits), dead numbers among them; terms
        that nowhere occur are left out.
        """
        found: dict[str, list[int]] = {}
        for at in range(0, len(terms), 400):
            part = [_kept(term) for term in terms[at : at + 400]]
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

    def facts(self, number: int) -> tuple[list, list]:
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

    # -- answers

    def answer(self, key: str) -> str:
        """The kept answer of a key, "" when there is none."""
        row = self.base.execute("SELECT value FROM answer WHERE key=?", (key,)).fetchone()
        return _named(row[0]) if row else ""

    def keep_answer(self, key: str, value: str) -> None:
        """Keep an answer; the oldest beyond 64 go."""

        def change() -> None:
            turn = self.base.execute("SELECT COALESCE(MAX(turn), 0) + 1 FROM answer").fetchone()[0]
            self.base.execute(
                "INSERT OR REPLACE INTO answer VALUES(?,?,?)", (key, _kept(value), turn)
            )
            self.base.execute("DELETE FROM answer WHERE turn <= ?", (turn - ANSWERS_KEPT,))

        self._writing(change)


def _batches(paths: list[str], files: dict[str, tuple[int, int]], most: int) -> Iterable[list[str]]:
    """The paths in runs of about `most` bytes of source."""
    batch: list[str] = []
    size = 0
    for path in paths:
        batch.append(path)
        size += files[path][0]
        if size >= most:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _bytes_of(path: str) -> bytes:
    """The first MOST_READ bytes of a file; none when it is gone (the next refresh sees that).
    Raises OSError.
    """
    try:
        with store_files.opened(path, follow=False) as handle:
            return handle.read(MOST_READ)
    except (FileNotFoundError, NotADirectoryError):
        return b""


def _kept(text: str) -> str | bytes:
    """A text as SQLite can hold it: a name that is not UTF-8 as its bytes."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape")
    return text


def _named(value: str | bytes) -> str:
    """The text of a kept value."""
    return value if isinstance(value, str) else value.decode("utf-8", "surrogateescape")
