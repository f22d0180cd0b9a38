"""Blobs: the stored originals, addressed by content, and the handles that give them back.

`blobs/ab/<sha256>.<n>` holds zlib data; n is the length of the handle that was issued for it, so
that a handle keeps
its meaning even when a later blob shares its digits.  Files are written under a temporary name,
fsynced and renamed.
"""

from __future__ import annotations

import os
import time
import zlib
from collections import namedtuple

from contextkernel.store import files, settings

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from collections.abc import Iterator

# hex digits of the SHA-256; 48 bits: a clash among a million blobs has a chance of 0.2 %
HANDLE_DIGITS = 12
MOST_BYTES = 1 << 29  # of one blob, compressed: clients take 100 MB of output at most
SHORTEST_PREFIX = 8
SPARED = 86400  # seconds since its last use that no sweep removes a blob
LEVEL = 1  # zlib: 7.6 MB of log in about 120 ms; higher levels cost more than the disk they save


class StoreError(Exception):
    """The store cannot be used: read-only, full, corrupt. The message names the path and the
    cause.
    """


class UnknownHandle(Exception):
    """No stored text has this handle, or several do. The message says which."""


class Blob(namedtuple("Blob", "path handle size used")):
    """A stored blob: its path and handle, bytes on disk, and the time it was last stored
    (seconds since the epoch).
    """

    __slots__ = ()


def digest_of(data: bytes) -> str:
    """The SHA-256 of the bytes, 64 hex digits."""
    # late: it loads OpenSSL, 4 ms that a hook without anything to store does not pay
    import hashlib

    return hashlib.sha256(data).hexdigest()


def handle_of(data: bytes) -> str:
    """The handle that content has unless another blob holds these digits already: 12 hex digits."""
    return digest_of(data)[:HANDLE_DIGITS]


def _named(digits: str) -> list[str]:
    """Paths of the blobs whose digest starts with the digits."""
    home = os.path.join(settings.data_root(), "blobs", digits[:2])
    try:
        names = os.listdir(home)
    except OSError:
        return []
    return sorted(
        os.path.join(home, name)
        for name in names
        if name.startswith(digits) and "." in name and not name.endswith(".tmp")
    )


def _issued(path: str) -> str:
    digest, _, length = os.path.basename(path).partition(".")
    return digest[: int(length)] if length.isdigit() else digest


def put(data: bytes) -> str:
    """The handle of the bytes, which are on disk when this returns. Raises StoreError."""
    digest = digest_of(data)
    try:
        length = HANDLE_DIGITS
        for path in _named(digest):
            if _used(path) and _content(path) == data and os.path.exists(path):
                return _issued(path)
            length = len(_issued(path))  # damaged: written anew below, over the old file
        while length < len(digest) and any(
            _issued(p) == digest[:length] and not os.path.basename(p).startswith(digest)
            for p in _named(digest[:length])
        ):
            length += 4
        home = settings.folder("blobs", digest[:2])
        path = os.path.join(home, f"{digest}.{length}")
        _write(path, zlib.compress(data, LEVEL))
    except OSError as error:
        raise StoreError(
            f"cannot store below {settings.data_root()}: {error.strerror or error}"
        ) from error
    return digest[:length]


def _used(path: str) -> bool:
    """Whether a blob is there, its time of use now: a sweep under way leaves it."""
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


def _write(path: str, packed: bytes) -> None:
    temporary = f"{path}.{os.getpid()}-{time.monotonic_ns()}.tmp"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        try:
            view = memoryview(packed)
            while view:
                view = view[os.write(handle, view) :]
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(temporary, path)
    except OSError:
        try:
            os.unlink(temporary)
        except OSError:
            pass  # the first error is the one that matters
        raise


def _content(path: str) -> bytes | None:
    """The bytes of a blob file, or None when it is damaged or gone."""
    try:
        data = zlib.decompress(files.content(path, MOST_BYTES))
    except (OSError, zlib.error):
        return None
    return data if os.path.basename(path).startswith(digest_of(data)) else None


def find(handle: str) -> str:
    """The path of the blob that a handle, or a unique prefix of 8 digits or more, names. Raises
    UnknownHandle.
    """
    digits = handle.strip().lower()
    if len(digits) < SHORTEST_PREFIX or any(c not in "0123456789abcdef" for c in digits):
        raise UnknownHandle(f"{handle!r:.80} is not a handle: 8 to 64 hex digits are")
    paths = [
        path
        for path in _named(digits)
        if len(digits) < HANDLE_DIGITS or len(digits) >= len(_issued(path))
    ]  # else another text's handle
    exact = [path for path in paths if _issued(path) == digits]
    if len(exact or paths) == 1:
        return (exact or paths)[0]
    raise UnknownHandle(
        f"handle {digits} is {'ambiguous: give more digits' if paths else 'unknown or expired'}"
    )


def get(handle: str) -> bytes:
    """The stored bytes of a handle or of a unique prefix. Raises UnknownHandle, also for a
    damaged blob.
    """
    path = find(handle)
    data = _content(path)
    if data is None:
        raise UnknownHandle(f"handle {handle}: its blob is damaged ({path})")
    try:
        _used(path)
    except OSError:
        pass  # a read-only store: nothing is swept there
    return data


def touch(handle: str) -> None:
    """A stored text was used now, in a way that did not go through the store. Never raises."""
    try:
        _used(find(handle))
    except (OSError, UnknownHandle):
        pass  # it is gone, or a prefix of several; nothing was asked of the store


def every() -> Iterator[Blob]:
    """All blobs of the store."""
    home = os.path.join(settings.data_root(), "blobs")
    for part in sorted(os.listdir(home)) if os.path.isdir(home) else []:
        for entry in os.scandir(os.path.join(home, part)):
            if not entry.name.endswith(".tmp"):
                try:
                    facts = entry.stat()
                except FileNotFoundError:
                    continue  # another sweep was faster
                yield Blob(entry.path, _issued(entry.path), facts.st_size, facts.st_mtime)


def sweep(pinned: frozenset[str] | set[str], now: float) -> list[str]:
    """Handles of the blobs removed: past CK_KEEP_DAYS, then the oldest until CK_QUOTA_MB holds.

    Pinned handles stay, and what was stored, offered or recalled within the last day: whoever did
    that may have no ledger (CK_LOG_OFF), or not be in it yet.  `now` is seconds since the epoch.  A
    temporary file older than a day is removed too.  Raises OSError.
    """
    kept, removed = [], []
    oldest = now - settings.number("CK_KEEP_DAYS") * 86400
    for blob in sorted(every(), key=lambda blob: blob.used):
        # a clock that was wrong spares nothing for good
        if now - SPARED < blob.used <= now + SPARED:
            kept.append(blob._replace(handle=""))
        elif blob.used < oldest and blob.handle not in pinned:
            removed.append(blob)
        else:
            kept.append(blob)
    excess = sum(blob.size for blob in kept) - settings.number("CK_QUOTA_MB") * 1024 * 1024
    for blob in kept:
        if excess > 0 and blob.handle and blob.handle not in pinned:
            removed.append(blob)
            excess -= blob.size
    gone = [blob.handle for blob in removed if _remove(blob.path, blob.used)]
    _sweep_temporary(now - 86400)
    return gone


def _remove(path: str, used: float) -> bool:
    """Whether a file is removed now: not when somebody stored the same text since, or another
    sweep was faster. Raises OSError.
    """
    try:
        if os.stat(path).st_mtime > used:
            return False
        os.unlink(path)
    except FileNotFoundError:
        return False
    return True


def _sweep_temporary(before: float) -> None:
    home = os.path.join(settings.data_root(), "blobs")
    for part in os.listdir(home) if os.path.isdir(home) else []:
        for entry in os.scandir(os.path.join(home, part)):
            if entry.name.endswith(".tmp"):
                _remove(entry.path, before)
