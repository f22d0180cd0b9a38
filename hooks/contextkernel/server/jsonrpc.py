"""JSON-RPC 2.0 messages: requests out of decoded values, answers, errors as data.

Nothing here knows a method name.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601
INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603


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
