"""Which lane serves a session: the resident server says so, script hooks look before they work,
so that T1 never runs twice.
"""

from __future__ import annotations

import os
import time

from contextkernel import paths
from contextkernel.store import files, settings

PID_BYTES = 32  # the longest text of a process id
STALE_AFTER = 30 * 86400  # seconds
STARTED = ".start-"  # in the name of a mark of SessionStart: `<session>.start-<source>`
OPEN_FOR = 7 * 86400  # seconds that a session counts as open whose end nobody told us
WRITTEN_WITHIN = 86400  # seconds since the transcript of a session at work was written


def _path(session: str) -> str:
    return os.path.join(settings.data_root(), "live", paths.file_name_of(session))


def mark(session: str) -> None:
    """This process serves the session from now on. Raises OSError."""
    settings.folder("live")
    files.replace(_path(session), b"%d" % os.getpid())


def served(session: str) -> bool:
    """Whether a running resident server serves the session."""
    try:
        pid = int(files.content(_path(session), PID_BYTES))
        if pid <= 0:  # a whole process group, to os.kill
            return False
        if os.name != "nt":  # os.kill(pid, 0) would end the process there
            os.kill(pid, 0)
    except PermissionError:
        return True  # it runs as another user
    except (OSError, ValueError, OverflowError):
        return False
    return True


def first_in(session: str, what: str, seconds: float) -> bool:
    """Whether this is the first call for (session, what) within so many seconds: two lanes, one
    answer. Raises OSError.
    """
    settings.folder("live")
    path = _path(session) + "." + paths.file_name_of(what)
    try:
        os.close(
            os.open(
                path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0), 0o600
            )
        )
        return True
    except FileExistsError:
        first = time.time() - os.lstat(path).st_mtime > seconds
        # Windows always follows
        os.utime(path, follow_symlinks=os.utime not in os.supports_follow_symlinks)
        return first


def ended(session: str) -> None:
    """The session is over: its starts count no more. Raises OSError."""
    home, name = os.path.join(settings.data_root(), "live"), paths.file_name_of(session)
    for entry in os.listdir(home) if os.path.isdir(home) else ():
        if entry.rpartition(STARTED)[0] == name:
            os.unlink(os.path.join(home, entry))


def is_running(session: str, transcript: str, now: float) -> bool:
    """Whether a session may go on, in either lane: a server serves it, it started or wrote its
    transcript not long ago and did not end.

    `now`: seconds since the epoch.
    """
    if served(session):
        return True
    home, name = os.path.join(settings.data_root(), "live"), paths.file_name_of(session)
    starts = [
        f"{os.path.join(home, name)}{STARTED}{source}"
        for source in ("startup", "resume", "clear", "compact")
    ]
    return now - _written(transcript) < WRITTEN_WITHIN or any(
        now - _written(path) < OPEN_FOR for path in starts
    )


def _written(path: str) -> float:
    try:
        return os.stat(path).st_mtime if path else 0.0
    except (OSError, ValueError):
        return 0.0


def sweep(now: float) -> None:
    """Remove marks that nobody touched for a month. `now`: seconds since the epoch. Raises
    OSError.
    """
    home = os.path.join(settings.data_root(), "live")
    for entry in os.scandir(home) if os.path.isdir(home) else ():
        try:
            if now - entry.stat().st_mtime > STALE_AFTER:
                os.unlink(entry.path)
        except FileNotFoundError:
            pass  # another sweep was faster
