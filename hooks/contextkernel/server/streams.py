"""Newline-delimited JSON on file descriptors, as MCP's stdio transport has it.

There is no text layer: a NUL, invalid UTF-8 or a 100 MB line costs an error answer, never the
stream.
"""

from __future__ import annotations

import json
import os
import re
import select
import threading
from typing import Any

# bytes; a longer line is dropped while it is read, so that memory stays bounded
LONGEST_LINE = 64 << 20
KEPT_END = 4096  # bytes kept from both ends of a dropped line: its id stands in one of them
CHUNK = 1 << 16  # bytes a read: the size of a pipe on Linux
# Clients write the id right at one of the two ends: {"jsonrpc":"2.0","id":7,… or
# …,"jsonrpc":"2.0","id":7}
_ID_AT_START = re.compile(
    rb'^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(-?\d{1,18}|"[ !#-\[\]-~]{0,200}")\s*,'
)
_ID_AT_END = re.compile(
    rb'"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(-?\d{1,18}|"[ !#-\[\]-~]{0,200}")\s*\}\s*$'
)


class Reader:
    """Lines of a descriptor, without their ends.  `waiting` is true while it blocks for more
    input; a byte in the descriptor `wake` ends the wait, and the lines with it.
    """

    def __init__(self, descriptor: int, longest: int = LONGEST_LINE, wake: int | None = None):
        self.descriptor = descriptor
        self.longest = longest
        self.wake = wake
        self.waiting = False
        self._ready = None
        if wake is not None:
            self._ready = select.poll()  # `select` refuses a descriptor above 1,023
            self._ready.register(descriptor, select.POLLIN)
            self._ready.register(wake, select.POLLIN)
        self._held = bytearray()  # bytes read and not handed out yet

    def line(self) -> bytes | None:
        """The next line, or None at the end of input; an unended last line counts.

        A line above `longest` bytes comes back as its two ends with a NUL between: no JSON, but
        `id_in` still finds the id.
        """
        # bytes of _held without a newline; the start of a line that is being dropped
        searched, head = (0, b"")
        while True:
            end = self._held.find(b"\n", searched)
            if end >= 0:
                return self._cut(head, end, end + 1)
            if len(self._held) > self.longest:
                head = head or bytes(self._held[:KEPT_END])
                del self._held[:-KEPT_END]
            searched = len(self._held)
            chunk = self._read()
            if chunk is None:
                return None
            if not chunk:
                return self._cut(head, searched, searched) if head or searched else None
            self._held += chunk

    def _cut(self, head: bytes, end: int, following: int) -> bytes:
        line = bytes(self._held[:end])
        del self._held[:following]
        return head + b"\0" + line[-KEPT_END:] if head else line

    def _read(self) -> bytes | None:
        """What there is to read, b"" at the end of input, None when woken."""
        self.waiting = True
        try:
            if self._ready and any(found == self.wake for found, _ in self._ready.poll()):
                return None
            return os.read(self.descriptor, CHUNK)
        finally:
            self.waiting = False


class Writer:
    """Messages to a descriptor, one line each, whole: threads may share it."""

    def __init__(self, descriptor: int):
        self.descriptor = descriptor
        self._lock = threading.Lock()

    def send(self, message: Any) -> None:
        """Write one message.  Raises OSError when nobody reads any more."""
        rest = memoryview(json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n")
        with self._lock:
            while rest:
                rest = rest[os.write(self.descriptor, rest) :]


def id_in(line: bytes) -> int | str | None:
    """The id of a line that is no JSON (cut, too long, bad bytes), read off one of its ends;
    None when in doubt.
    """
    found = _ID_AT_START.search(line[:KEPT_END]) or _ID_AT_END.search(line[-KEPT_END:])
    return json.loads(found.group(1).decode("utf-8", "replace")) if found else None
