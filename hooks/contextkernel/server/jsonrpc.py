"""JSON-RPC 2.0 over newline-delimited streams, as MCP's stdio transport has it: lines in, messages
out, errors as data.

The streams work on file descriptors and hold no text layer: a NUL, invalid UTF-8 or a 100 MB line
costs an error answer, never the stream.  Nothing here knows a method name.
"""

from __future__ import annotations

import json
import os
import re
import select
import threading
from typing import Any, NamedTuple

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = (
    -32700,
    -32600,
    -32601,
    -32602,
    -32603,
)

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


class Refusal(Exception):
    """A message that gets an error answer: `code` as above, the text says what is wrong with it."""

    def __init__(self, code: int, text: str):
        super().__init__(text)
        self.code = code


class Request(NamedTuple):
    """A call that wants an answer, or a notification (`id` is None), or the other side's answer
    to ours (`method` is "").
    """

    id: int | str | None
    method: str
    params: dict[str, Any]
    result: Any = None


class Reader:
    """Lines of a descriptor, without their ends.  `waiting` is true while it blocks for more
    input; a byte in the descriptor `wake` ends the wait, and the lines with it.
    """

    def __init__(self, descriptor: int, longest: int = LONGEST_LINE, wake: int | None = None):
        self.descriptor = descriptor
        self.longest = longest
        self.wake = wake
        self.waiting = False
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
            if self.wake is not None:
                ready, _, _ = select.select([self.descriptor, self.wake], [], [])
                if self.wake in ready:
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


def decode(line: bytes) -> Any:
    """The JSON value of a line.  Raises Refusal when it is none, or is nested too deep for this
    interpreter.
    """
    try:
        return json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # ValueError: JSON and UTF-8 errors alike
        raise Refusal(PARSE_ERROR, f"no JSON: {type(error).__name__}") from None


def request(message: Any) -> Request:
    """A decoded value as a request.  Raises Refusal when it is no JSON-RPC message; `params`
    null or absent is {}.
    """
    if not isinstance(message, dict):
        raise Refusal(INVALID_REQUEST, "a message must be an object")
    identity = message.get("id")
    if "id" in message and not _is_id(identity):
        raise Refusal(INVALID_REQUEST, "an id must be a string or an integer")
    method = message.get("method")
    if method is None and "id" in message and ("result" in message or "error" in message):
        return Request(identity, "", {}, message.get("result"))
    if not isinstance(method, str) or not method:
        raise Refusal(INVALID_REQUEST, "no method")
    params = message.get("params")
    if params is None:
        params = {}
    if not isinstance(params, dict):
        raise Refusal(INVALID_PARAMS, "params must be an object")
    return Request(identity, method, params)


def id_of(message: Any) -> int | str | None:
    """The id of a decoded value, or None when it has no valid one."""
    identity = message.get("id") if isinstance(message, dict) else None
    return identity if _is_id(identity) else None


def id_in(line: bytes) -> int | str | None:
    """The id of a line that is no JSON (cut, too long, bad bytes), read off one of its ends;
    None when in doubt.
    """
    found = _ID_AT_START.search(line[:KEPT_END]) or _ID_AT_END.search(line[-KEPT_END:])
    return json.loads(found.group(1).decode("utf-8", "replace")) if found else None


def is_notification(message: Any) -> bool:
    """Whether a decoded value must not be answered, whatever is wrong with it."""
    return (
        isinstance(message, dict) and isinstance(message.get("method"), str) and "id" not in message
    )


def answer(identity: int | str | None, result: Any) -> dict[str, Any]:
    """The answer to a call."""
    return {"jsonrpc": "2.0", "id": identity, "result": result}


def error(identity: int | str | None, code: int, text: str) -> dict[str, Any]:
    """The error answer to a call; `identity` None where the call's own could not be read."""
    return {"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": text}}


def _is_id(value: Any) -> bool:
    return isinstance(value, (int, str)) and not isinstance(value, bool)
