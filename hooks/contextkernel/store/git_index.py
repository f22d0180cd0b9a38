"""The names in git's index, read from the file itself (gitformat-index: versions 2 to 4, SHA-1 and
SHA-256).

Only which paths git tracks is wanted: no object, no file and no time is looked at.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from contextkernel.store import files

MOST_BYTES = 256 << 20  # of an index: some three million files
LONGEST_NAME = 4096  # bytes, as file systems have it
_HASHES = (20, 32)  # bytes of an object's name: SHA-1, SHA-256
# upper half of a mode, where it is no file's: another repository's commit, a folder not spelt out
_LINK, _FOLDER = (
    0xE0,
    0x40,
)


class IndexFormatError(ValueError):
    """The bytes are no index that git would have written."""


class Names(NamedTuple):
    """What an index names.  `links`: other repositories (submodules).  `folders`: of a sparse
    index, not spelt out.
    """

    files: list[str]
    links: set[str]
    folders: set[str]


def read(path: str) -> Names:
    """The names of an index file; none when there is no file.  Raises OSError, IndexFormatError."""
    try:
        data = files.content(path, MOST_BYTES)
    except FileNotFoundError:
        return Names([], set(), set())
    names, links, folders, shared = parsed(data)
    if shared:
        try:
            more = parsed(
                files.content(
                    os.path.join(os.path.dirname(path), "sharedindex." + shared), MOST_BYTES
                )
            )
        except FileNotFoundError:
            raise IndexFormatError("the shared part of the index is gone") from None
        names, links, folders = more[0] + names, more[1] + links, more[2] + folders
    return Names(_texts(names), set(_texts(links)), {name.rstrip("/") for name in _texts(folders)})


def parsed(data: bytes) -> tuple[list[bytes], list[bytes], list[bytes], str]:
    """(files, links, folders, hexadecimal name of the shared index that this one adds to).
    Raises IndexFormatError.
    """
    if data[:4] != b"DIRC" or len(data) < 12 or int.from_bytes(data[4:8], "big") not in (2, 3, 4):
        raise IndexFormatError("no index of version 2 to 4")
    # the file does not say which; with the wrong one the entries do not add up
    for width in _HASHES:
        try:
            return _parsed(data, width)
        except IndexFormatError as error:
            fault = error
    raise fault


def _parsed(data: bytes, width: int) -> tuple[list[bytes], list[bytes], list[bytes], str]:
    count, fixed, packed = int.from_bytes(data[8:12], "big"), 42 + width, data[7] == 4
    names: list[bytes] = []
    links: list[bytes] = []
    folders: list[bytes] = []
    at, end, name, room = 12, len(data) - width, b"", 4 * len(data) + LONGEST_NAME
    find = data.find
    for _ in range(count):
        start, at = at, at + fixed
        if at >= end:
            raise IndexFormatError("the index ends in an entry")
        flags = data[at - 2]
        if flags & 0x40:
            at += 2
        if packed:
            dropped, at = _varint(data, at, end)
            if dropped > len(name):
                raise IndexFormatError("a name takes more from the one before than that has")
            stop = find(b"\0", at, end)
            name = name[: len(name) - dropped] + data[at:stop]
            room -= len(name)
        else:
            stop = find(b"\0", at, end)
            name = data[at:stop]
        if stop < 0 or len(name) > LONGEST_NAME or room < 0:
            raise IndexFormatError("a name without an end")
        at = stop + 1 if packed else start + ((stop - start + 8) & ~7)
        mode = data[start + 26]
        if not name:
            continue  # of a split index: the shared part has it
        if mode == _LINK:
            links.append(name)
        elif mode == _FOLDER:
            folders.append(name)
        else:
            if mode not in (0x80, 0x81, 0xA0, 0xA1):
                raise IndexFormatError("an entry that is no file, link or folder")
            names.append(name)
    return names, links, folders, _shared(data, at, end, width)


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """(value, where it ends), as git writes offsets: seven bits a byte, one added at each
    further byte.
    """
    value = -1
    while at < end:
        byte, at = data[at], at + 1
        value = (value + 1) << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at
        if value > LONGEST_NAME:
            break
    raise IndexFormatError("a number without an end")


def _shared(data: bytes, at: int, end: int, width: int) -> str:
    """The shared index that the extension `link` names.  The extensions must fill the rest: that
    tells the width of the hash.
    """
    found = ""
    while at < end:
        name, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "big")
        if at + 8 + size > end:
            raise IndexFormatError("the extensions do not add up")
        if name == b"link" and size >= width and any(data[at + 8 : at + 8 + width]):
            found = data[at + 8 : at + 8 + width].hex()
        elif not (name[:1].isupper() or name in (b"link", b"sdir")):
            raise IndexFormatError(f"an extension that must be known: {name!r}")
        at += 8 + size
    if at != end:
        raise IndexFormatError("the index ends in an entry")
    return found


def _texts(names: list[bytes]) -> list[str]:
    return os.fsdecode(b"\0".join(names)).split("\0") if names else []
