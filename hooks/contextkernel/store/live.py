"""Which lane serves a session: the resident server says so, script hooks look before they work, so that T1 never runs twice."""
from __future__ import annotations

import os
import time

from contextkernel import paths
from contextkernel.store import files, settings

STALE_AFTER = 30 * 86400  # seconds


def _path(session: str) -> str:
    return os.path.join(settings.data_root(), "live", paths.file_name_of(session))


def mark(session: str) -> None:
    """This process serves the session from now on. Raises OSError."""
    settings.folder("live")
    files.replace(_path(session), b"%d" % os.getpid())


def served(session: str) -> bool:
    """Whether a running resident server serves the session."""
    try:
        with open(_path(session), encoding="ascii") as handle:
            pid = int(handle.read())
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
    """Whether this is the first call for (session, what) within so many seconds: two lanes, one answer. Raises OSError."""
    settings.folder("live")
    path = _path(session) + "." + what
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0), 0o600))
        return True
    except FileExistsError:
        first = time.time() - os.lstat(path).st_mtime > seconds
        os.utime(path, follow_symlinks=os.utime not in os.supports_follow_symlinks)  # Windows always follows
        return first


def sweep(now: float) -> None:
    """Remove marks that nobody touched for a month. `now`: seconds since the epoch. Raises OSError."""
    home = os.path.join(settings.data_root(), "live")
    for entry in os.scandir(home) if os.path.isdir(home) else ():
        try:
            if now - entry.stat().st_mtime > STALE_AFTER:
                os.unlink(entry.path)
        except FileNotFoundError:
            pass  # another sweep was faster
