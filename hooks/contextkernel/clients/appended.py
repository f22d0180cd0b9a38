"""The lines that were appended to a session file since it was last read.

The client writes the file while we read: a last line without its newline is left for the next call,
and a file that was truncated, rewritten or replaced is read from its start.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable
from typing import BinaryIO, NamedTuple

from contextkernel.store import files

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

STEP = 4 * 1024 * 1024  # bytes read at most by one call: no reply waits behind a huge file
# bytes of a line beyond a step; a longer one is no row, and is left out piece by piece
LONGEST = 32 * 1024 * 1024
FINGERPRINT = 4096  # bytes before the offset that tell whether the file is still the same


class Appended(NamedTuple):
    """`lines` since the last call; `skipped` bytes that were jumped over because the file is huge
    and new to us; `more`: the file goes on beyond what was read.
    """

    lines: list[bytes]
    skipped: int = 0
    more: bool = False

    def naming(self, words: Iterable[str]) -> Appended:
        """The same with only those lines that hold one of the words."""
        needles = [word.encode("utf-8", "replace") for word in words]
        found = [line for line in self.lines if any(needle in line for needle in needles)]
        return self._replace(lines=found)


def read(
    state: dict[str, Any], path: str, step: int, last: int | None = None, longest: int = LONGEST
) -> tuple[dict[str, Any], Appended]:
    """(new state, lines) after at most `step` more bytes of a file. A file that cannot be read
    gives no lines and leaves the state as it is.

    `state` is small and JSON-able: {"inode", "offset", "before"}.  A file met for the first time
    is read from its last `last` bytes on only (None: from its start).
    """
    try:
        with files.opened(path) as file:
            facts = os.fstat(file.fileno())
            offset = _offset(state, facts, file)
            skipped = 0
            if offset is None:
                offset = skipped = max(0, facts.st_size - last) if last is not None else 0
            file.seek(offset)
            data = file.read(step)
            end = data.rfind(b"\n") + 1
            if not end and len(data) == step:  # one line longer than a step: read it whole
                data += file.readline(longest)
                end = len(data) if data.endswith(b"\n") or len(data) == step + longest else 0
            before = _fingerprint(file, offset + end)
    except (OSError, ValueError):
        return state, Appended([])
    lines = data[:end].split(b"\n")
    new = {"inode": facts.st_ino, "offset": offset + end, "before": before}
    more = offset + end < facts.st_size and end > 0
    return new, Appended(lines[1:] if skipped else lines, skipped, more)


def _offset(state: dict[str, Any], facts: os.stat_result, file: BinaryIO) -> int | None:
    """Where to read on; None when the state is not this file's."""
    offset = state.get("offset")
    if (
        state.get("inode") != facts.st_ino
        or not isinstance(offset, int)
        or not 0 <= offset <= facts.st_size
        or state.get("before") != _fingerprint(file, offset)
    ):
        return None
    return offset


def _fingerprint(file: BinaryIO, offset: int) -> int:
    """A checksum of the bytes just before an offset."""
    start = max(0, offset - FINGERPRINT)
    file.seek(start)
    return zlib.crc32(file.read(offset - start))
