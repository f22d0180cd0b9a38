"""Files that others own, and files of our own: the one way to open either.

A path from a repository, a transcript or a settings folder may name a FIFO, a device, a socket, or
a link to one. Opening such a thing can block for ever or give bytes without end, so only regular
files are opened, and never with blocking. What we write goes to a new name of its own first: no
link is followed, no file of another is reused.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import BinaryIO

_READ = (
    os.O_RDONLY
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_APPEND = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_APPEND
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOFOLLOW", 0)
)
_NEW = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_BINARY", 0)
)


class NotRegularError(OSError):
    """The path names a folder, FIFO, device or socket, or a link to one."""


class TooLargeError(OSError):
    """The file holds more bytes than the caller takes."""


def opened(path: str, most: int | None = None, follow: bool = True) -> BinaryIO:
    """A regular file for reading; links are followed unless `follow` is off.

    Raises NotRegularError, TooLargeError (over `most` bytes) or another OSError; ValueError for a
    NUL in the path.
    """
    descriptor = os.open(path, _READ if follow else _READ | getattr(os, "O_NOFOLLOW", 0))
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise NotRegularError(f"{path}: not a regular file")
        if most is not None and facts.st_size > most:
            raise TooLargeError(f"{path}: {facts.st_size} bytes, more than {most}")
    except OSError:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def content(path: str, most: int, follow: bool = True) -> bytes:
    """The bytes of a regular file of at most `most` bytes, also where it grows meanwhile. Raises
    as `opened`.
    """
    with opened(path, most, follow) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise TooLargeError(f"{path}: more than {most} bytes")
    return data


def append(path: str, data: bytes) -> None:
    """Put `data` at the end of a regular file, made with mode 0600 where there is none; no link is
    followed.

    Raises NotRegularError or another OSError, and ValueError for a NUL in the path.
    """
    descriptor = os.open(path, _APPEND, 0o600)
    with os.fdopen(descriptor, "ab") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NotRegularError(f"{path}: not a regular file")
        file.write(data)


def beside(path: str) -> tuple[int, str]:
    """(descriptor for writing, name) of a new file of mode 0600 in the folder of `path`. Raises
    OSError.
    """
    name = f"{path}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
    return os.open(name, _NEW, 0o600), name


def replace(path: str, data: bytes) -> None:
    """Put `data` at `path` in one step, mode 0600: whoever reads sees the old bytes or the new.
    Raises OSError.
    """
    descriptor, temporary = beside(path)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise
