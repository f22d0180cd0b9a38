"""The SQLite file of a repository's index: opened, found damaged, begun anew."""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
import stat
from typing import Any, Callable

from contextkernel.store import files as store_files
from contextkernel.store import settings

LAYOUT = 4  # of the tables; rises when they change
BUSY_SECONDS = 10
# What reading a damaged or foreign file raises: SQLite's errors, and those of values that are not
# what was written
DAMAGE = (sqlite3.DatabaseError, ValueError, TypeError, LookupError, OverflowError)
# said of a sound file
_NO_DAMAGE = re.compile(r"locked|busy|full|disk I/O|unable to open|interrupted")
_TABLES = {
    "meta": "key TEXT PRIMARY KEY, value TEXT",
    "file": (
        "number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER, mtime_ns INTEGER, "
        "ctime_ns INTEGER, inode INTEGER, digest BLOB, seen_ns INTEGER, language TEXT, "
        "length INTEGER, note TEXT, unresolved TEXT"
    ),
    "fact": "number INTEGER PRIMARY KEY, value TEXT NOT NULL",
    "posting": "term TEXT, segment INTEGER, value BLOB, PRIMARY KEY(term, segment)",
    "recent": "term TEXT, segment INTEGER, value BLOB, PRIMARY KEY(term, segment)",
    "answer": "key TEXT PRIMARY KEY, value TEXT, turn INTEGER",
}
_BY_NUMBER = ("file", "fact")  # tables with a row id


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


class IndexFile:
    """An open index.  Raises OSError when it cannot be opened; a damaged file or one of another
    version is begun anew.
    """

    def __init__(self, path: str, version: str) -> None:
        self.path, self.version = path, version
        self._opened: sqlite3.Connection | None = None
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
        self._opened = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)
        self.base.execute("PRAGMA journal_mode=WAL")
        self.base.execute("PRAGMA synchronous=NORMAL")
        if self.meta("version") != version:
            self._writing(lambda: self._begin_unless(version))

    def _begin_unless(self, version: str) -> None:
        if self.meta("version") != version:  # another process may have begun it
            self._begin(version)

    def _begin(self, version: str) -> None:
        for table, columns in _TABLES.items():
            without = "" if table in _BY_NUMBER else " WITHOUT ROWID"
            self.base.execute("DROP TABLE IF EXISTS " + table)
            self.base.execute(f"CREATE TABLE {table}({columns}){without}")
        self._put("version", version)

    @property
    def base(self) -> sqlite3.Connection:
        """The open database."""
        assert self._opened is not None
        return self._opened

    def close(self) -> None:
        """Close the file."""
        if self._opened:
            self._opened.close()

    def meta(self, key: str) -> str:
        """A kept word about the index, "" when there is none."""
        if not self.base.execute("SELECT 1 FROM sqlite_master WHERE name='meta'").fetchone():
            return ""
        row = self.base.execute("SELECT value FROM meta WHERE key=?", (key,)).fetchone()
        return str(row[0]) if row else ""

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
