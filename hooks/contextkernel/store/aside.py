"""A database that cannot serve any more is set aside under a dated name, never deleted, and a new
one takes its place.

One process at a time does it, behind a lock, and looks again once it holds the lock: another may
have been faster.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager

TAILS = ("-wal", "-shm", "-journal")  # what SQLite keeps beside a database
LOCK_SECONDS = 5
# SQLITE_CORRUPT, SQLITE_NOTADB: sqlite_errorcode exists since Python 3.11, so the words are looked
# at
DAMAGE = (
    "malformed",
    "not a database",
    "file is encrypted",
    "no such table",
    "no such column",
    "has no column named",
)


class DamagedError(Exception):
    """The database is not what it was made as; the message says why."""


def is_damage(error: Exception) -> bool:
    """Whether an error of SQLite speaks of the file itself, not of a lock, a full disk or a
    missing right.
    """
    return (
        isinstance(error, DamagedError)
        or isinstance(error, sqlite3.DatabaseError)
        and any(words in str(error) for words in DAMAGE)
    )


@contextmanager
def locked(path: str) -> Iterator[None]:
    """One process at a time may make or move the database. Raises OSError when the lock is not
    to be had in LOCK_SECONDS.
    """
    handle = os.open(
        path + ".lock",
        os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0),
        0o600,
    )
    try:
        if os.name == "posix":
            import fcntl  # late: a start needs no lock

            until = time.monotonic() + LOCK_SECONDS
            while True:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > until:
                        raise OSError(
                            errno.EAGAIN, "another process holds the lock", path
                        ) from None
                    time.sleep(0.01)
        yield
    finally:
        os.close(handle)


def misplaced(path: str) -> list[str]:
    """What is no file of ours where a database and its companions belong, as "name: why"; none
    is there at all: [].
    """
    found = []
    for tail in ("",) + TAILS:
        try:
            facts = os.lstat(path + tail)
        except OSError:
            continue
        name = os.path.basename(path) + tail
        if not stat.S_ISREG(facts.st_mode):
            kind = "a folder" if stat.S_ISDIR(facts.st_mode) else "no regular file"
            kind = "a link" if stat.S_ISLNK(facts.st_mode) else kind
            found.append(f"{name}: is {kind}")
        elif os.name != "nt" and facts.st_uid != os.geteuid():
            found.append(f"{name}: belongs to another user")
        elif not tail and not facts.st_size:
            found.append(f"{name}: is empty")
    return found


def move(path: str, tails: bool = False) -> str:
    """The name that the database has now, its companions beside it; with `tails` only they move.
    To be called behind the lock. Raises OSError.
    """
    target = f"{path}.damaged-{time.strftime('%Y%m%d-%H%M%S')}"
    number = 1
    while any(os.path.lexists(target + tail) for tail in ("",) + TAILS):
        number += 1
        target = f"{target.rpartition('.')[0] if number > 2 else target}.{number}"
    for tail in TAILS if tails else ("",) + TAILS:
        if os.path.lexists(path + tail):
            os.rename(path + tail, target + tail)
    return os.path.basename(target)
