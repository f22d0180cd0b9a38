"""The file behind a file descriptor: read back whole, and given another text in a way that loses
nothing.
"""

from __future__ import annotations

import os
import re
import stat
import sys

F_GETPATH = 50  # fcntl.h of macOS; fcntl.F_GETPATH exists since Python 3.9 there
LONGEST_PATH = 1024  # bytes, MAXPATHLEN of macOS
_TASK = re.compile(r"/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/tasks/[^/]+$")
ROUNDS = 3  # readings of a file that somebody still writes to


class OutputFile:
    """A regular file that is some descriptor's, from byte `start` on. `close` it."""

    def __init__(self, descriptor: int, start: int):
        """Raises OSError when the descriptor is no regular file, or the file cannot be opened
        for reading and writing.
        """
        self.start = start
        told = os.fstat(descriptor)
        if not stat.S_ISREG(told.st_mode):
            raise OSError(f"descriptor {descriptor} is no regular file")
        self.handle = os.open(
            _path_of(descriptor),
            os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0),
        )
        found = os.fstat(self.handle)
        if (found.st_dev, found.st_ino) != (told.st_dev, told.st_ino):
            os.close(self.handle)
            raise OSError(f"another file stands at the path of descriptor {descriptor}")

    def close(self) -> None:
        """Close the second descriptor; the first is not ours."""
        os.close(self.handle)

    def size(self) -> int:
        """Bytes from `start` to the end."""
        return os.fstat(self.handle).st_size - self.start

    def read(self) -> bytes:
        """All bytes from `start` on. Raises OSError."""
        parts: list[bytes] = []
        at = self.start
        while True:
            part = os.pread(self.handle, 1 << 24, at)
            if not part:
                return b"".join(parts)
            parts.append(part)
            at += len(part)

    def replace(self, old: bytes, new: bytes) -> bool:
        """Whether the file, which held `old` from `start` on, holds the shorter `new` now; False
        (untouched) when it changed meanwhile.

        The new text overwrites the head of the old one, then the rest is cut off: no block is
        allocated, so a full disk does not matter, and a crash in between leaves the whole new text
        before the rest of the old one. What another process appends goes behind it.  Raises OSError
        and ValueError.
        """
        if len(new) > len(old):
            raise ValueError(f"{len(new)} bytes do not fit over {len(old)}")
        if self.size() != len(old):
            return False
        written = 0
        while written < len(new):
            written += os.pwrite(self.handle, new[written:], self.start + written)
        if self.size() != len(old):  # appended in this moment: take the old head back
            os.pwrite(self.handle, old[: len(new)], self.start)
            return False
        os.ftruncate(self.handle, self.start + len(new))
        return True


def _path_of(descriptor: int) -> str:
    """A path that opens the very file of a descriptor. Raises OSError."""
    if sys.platform == "darwin":
        import fcntl  # late: macOS alone needs it

        told = fcntl.fcntl(descriptor, getattr(fcntl, "F_GETPATH", F_GETPATH), b"\0" * LONGEST_PATH)
        return os.fsdecode(told.rstrip(b"\0"))
    return f"/proc/self/fd/{descriptor}"


def opened(descriptor: int, start: int) -> OutputFile | None:
    """The file behind a descriptor; None when it is none that can be rewritten."""
    try:
        return OutputFile(descriptor, start)
    except OSError:
        return None


def session_in(descriptor: int) -> str:
    """The session that the client's path of an output file names (…/SESSION/tasks/ID.output):
    2.1.121 tells it nowhere else. "" for none.
    """
    try:
        path = _path_of(descriptor)
        found = _TASK.search(path if sys.platform == "darwin" else os.readlink(path))
    except OSError:
        return ""
    return found.group(1) if found else ""
