"""The transcript follower: what a session file says that was not read before.

`advance(state, path)` is a function of a small JSON-able state and the file: the caller keeps the
state.  Lines that are no JSON objects are skipped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import NamedTuple

from contextkernel.clients import appended

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

DEEPEST = 20  # blocks in blocks; the clients write two
STEP = appended.STEP
LONGEST = appended.LONGEST
# the model of rows that the client writes itself, about an error of the API; their usage is all
# zeros
NO_MODEL = "<synthetic>"
REFUSALS = (
    "hook_error_during_execution",
)  # attachment types that say a replacement was not applied


class Result(NamedTuple):
    """A tool result: the text as the model is sent it, and whether the client calls it an error."""

    text: str
    is_error: bool = False


class News(NamedTuple):
    """What the new rows say. Dicts are by tool use id.

    `usage` is that of the newest message of the file's own agent, None when there is none since the
    last compaction; `model` is its model,
    with the client's [1m] where the row tells it (2.1.332 does, 2.1.121 and 2.1.200 do not).
    `compacted_at`: tokens in the
    window when the client last compacted of its own accord, 0 for never.
    """

    calls: dict[str, str]  # names of the tools called
    results: dict[str, Result]
    refusals: dict[str, str]
    boundaries: int  # compactions
    usage: dict[str, Any] | None
    model: str
    skipped: int  # bytes jumped over because the file was met for the first time and is huge
    more: bool  # whether the file goes on beyond what was read
    compacted_at: int = 0


def text_of(content: Any, depth: int = 0) -> str:
    """The text of a message's content: a string, or the text blocks of a list (tool results are
    looked into, DEEPEST at most).
    """
    if isinstance(content, str):
        return content
    parts = []
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            inner = (
                block.get("text")
                if block.get("type") == "text"
                else block.get("content")
                if block.get("type") == "tool_result"
                else None
            )
            if inner is not None and depth < DEEPEST:
                parts.append(text_of(inner, depth + 1))
    return "\n".join(parts)


def advance(
    state: dict[str, Any],
    path: str,
    step: int = STEP,
    from_start: bool = True,
    last: int | None = None,
    only: Sequence[str] = (),
) -> tuple[dict[str, Any], News]:
    """(new state, news) after at most `step` more bytes of the file. A file that cannot be read
    gives no news.

    A file met for the first time is read from its last `last` bytes on only (None: from its start),
    with `from_start` false from its last `step` bytes on.  `only`: rows that name none of these ids
    are passed over.
    """
    state, fresh = appended.read(state, path, step, last if from_start else step, LONGEST)
    if only:
        fresh = fresh.naming(only)
    of_agent = os.path.basename(os.path.dirname(path)) == "subagents"
    return state, _read(fresh.lines, fresh.skipped, of_agent)._replace(more=fresh.more)


def _read(lines: list[bytes], skipped: int, of_agent: bool) -> News:
    calls: dict[str, str] = {}
    results: dict[str, Result] = {}
    refusals: dict[str, str] = {}
    boundaries, usage, model, compacted_at = 0, None, "", 0
    for line in lines:
        row = _row(line)
        kind = row.get("type")
        if kind == "user":
            _take_results(row, results)
        elif kind == "assistant":
            _take_calls(row, calls)
            message = row.get("message")
            if (
                (of_agent or not row.get("isSidechain"))
                and isinstance(message, dict)
                and isinstance(message.get("usage"), dict)
                and message.get("model") != NO_MODEL
            ):
                usage, model = message["usage"], _model(message, row)
        elif kind == "attachment":
            inner = row.get("attachment")
            if isinstance(inner, dict) and inner.get("type") in REFUSALS:
                refusals[str(inner.get("toolUseID"))] = str(inner.get("content") or "")[:500]
        elif kind in REFUSALS:
            refusals[str(row.get("toolUseID"))] = str(row.get("content") or "")[:500]
        elif kind == "system" and row.get("subtype") == "compact_boundary":
            boundaries, usage = boundaries + 1, None
            compacted_at = _compacted_at(row) or compacted_at
    return News(calls, results, refusals, boundaries, usage, model, skipped, False, compacted_at)


def _row(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line) if line.lstrip()[:1] == b"{" else None
    except (ValueError, RecursionError):
        row = None  # a damaged line: the client skips it too
    return row if isinstance(row, dict) else {}


def _model(message: dict[str, Any], row: dict[str, Any]) -> str:
    model = str(message.get("model") or "")
    return (
        model + "[1m]"
        if str(row.get("requestedModel") or "").endswith("[1m]") and not model.endswith("[1m]")
        else model
    )


def _compacted_at(row: dict[str, Any]) -> int:
    facts = row.get("compactMetadata")
    size = (
        facts.get("preTokens") if isinstance(facts, dict) and facts.get("trigger") == "auto" else 0
    )
    return size if isinstance(size, int) and size > 0 else 0


def _blocks(row: dict[str, Any]) -> list[dict[str, Any]]:
    message = row.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return (
        [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    )


def _take_calls(row: dict[str, Any], calls: dict[str, str]) -> None:
    for block in _blocks(row):
        if block.get("type") == "tool_use" and isinstance(block.get("id"), str):
            calls[block["id"]] = str(block.get("name") or "")


def _take_results(row: dict[str, Any], results: dict[str, Result]) -> None:
    for block in _blocks(row):
        if block.get("type") == "tool_result" and isinstance(block.get("tool_use_id"), str):
            results[block["tool_use_id"]] = Result(
                text_of(block.get("content")), bool(block.get("is_error"))
            )
