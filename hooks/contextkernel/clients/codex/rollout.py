"""Codex's session file: a command's exit code, which its hook is not told, and how full the
window is.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from typing import NamedTuple

from contextkernel.clients import appended
from contextkernel.store import files

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

# bytes looked at: the row is among the newest, and holds at most 64 KiB of output, escaped
TAIL = 1024 * 1024

# characters of an MCP result that Codex shows: 10,000 tokens by its own count, with a fifth more
MCP_SHOWN = 48000
_CUT = re.compile(
    r"\AWarning: truncated output \(original token count: \d+\)\n.*?…(\d{1,12}) tokens truncated…",
    re.S,
)
_THREAD = re.compile(r"[0-9a-fA-F-]{8,64}")


class Occupancy(NamedTuple):
    """`used` tokens of a window of `window` tokens, both by Codex's own count (the window less
    its reserve of 5 %); `model` "": not in the tail.
    """

    model: str
    window: int
    used: int


def of_thread(thread: str, environ: dict[str, Any]) -> str:
    """The path of a thread's file, sessions/YYYY/MM/DD/rollout-TIME-THREAD.jsonl; "" when there
    is none (`--ephemeral`).
    """
    if not _THREAD.fullmatch(thread):
        return ""
    import glob  # late: a hook needs none of this

    home = environ.get("CODEX_HOME") or os.path.join(os.path.expanduser("~"), ".codex")
    return max(
        glob.glob(
            os.path.join(glob.escape(home), "sessions", "*", "*", "*", f"rollout-*-{thread}.jsonl")
        ),
        default="",
    )


def occupancy(path: str) -> Occupancy | None:
    """The newest state of the window; None when the file's tail does not tell it.  The newest
    row counts, also after a compaction.
    """
    model, window, used = "", 0, -1
    for row in reversed(_tail(path)):
        if used < 0 and (b'"token_count"' in row or b'"token_usage_record"' in row):
            info = _info(row)
            usage = info.get("last_token_usage") or info.get("usage")
            used = _count(usage.get("total_tokens") if isinstance(usage, dict) else None, -1)
        if not window and b'"model_context_window"' in row:
            window = _count(_info(row).get("model_context_window"), 0)
        if not model and b'"turn_context"' in row:
            named = _payload(row).get("model")
            model = named if isinstance(named, str) else ""
        if model and window and used >= 0:
            break
    return Occupancy(model, window, used) if window and used >= 0 else None


def _info(row: bytes) -> dict[str, Any]:
    payload = _payload(row)
    info = payload.get("info")
    return info if isinstance(info, dict) else payload


def _count(value: object, otherwise: int) -> int:
    return (
        value
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0
        else otherwise
    )


def _payload(row: bytes) -> dict[str, Any]:
    try:
        payload = json.loads(row)["payload"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    return payload if isinstance(payload, dict) else {}


def _tail(path: str) -> list[bytes]:
    """The file's newest whole rows; [] when it cannot be read."""
    try:
        with files.opened(path) as file:
            start = max(0, os.fstat(file.fileno()).st_size - TAIL)
            file.seek(start)
            rows = file.read(2 * TAIL).split(b"\n")
    except (OSError, ValueError):
        return []
    return rows[1:] if start else rows


def exit_code(path: str, tool_use_id: str) -> int | None:
    """The exit code of a finished command; None when the file does not tell it (then nothing may
    replace its output).

    The row is on disk before the PostToolUse hook starts (0.150 to 0.171, direct and code mode).
    """
    if not path or not tool_use_id:
        return None
    for row in reversed(_tail(path)):
        if tool_use_id.encode("utf-8", "replace") in row and b"CommandExecution" in row:
            code = _code_in(row, tool_use_id)
            if code is not None:
                return code
    return None


def _code_in(row: bytes, tool_use_id: str) -> int | None:
    payload = _payload(row)
    item = payload.get("item") if payload.get("type") == "item_completed" else None
    if (
        not isinstance(item, dict)
        or item.get("type") != "CommandExecution"
        or item.get("id") != tool_use_id
    ):
        return None
    code = item.get("exit_code")
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def cut_tokens(text: str) -> int:
    """Tokens that Codex had left out of a command's output before its hook was handed the rest;
    0 for a whole output.
    """
    found = _CUT.match(text)
    return int(found.group(1)) if found else 0


def shown_bytes(tool: str, size: int) -> int:
    """Bytes that Codex alone would show of a result of `size` bytes, as its hook is handed it: a
    command's output is cut by then.
    """
    return min(size, MCP_SHOWN) if tool.startswith("mcp__") else size


class News(NamedTuple):
    """What new rows say. Dicts are by call id; Codex refuses no replacement, so `refusals` is
    empty.
    """

    calls: dict[str, str]  # names of the tools called
    results: dict[str, Result]
    refusals: dict[str, str]
    more: bool  # whether the file goes on beyond what was read


class Result(NamedTuple):
    """A tool result: the text as the model is sent it."""

    text: str


def advance(
    state: dict[str, Any], path: str, last: int | None = None, only: Sequence[str] = ()
) -> tuple[dict[str, Any], News]:
    """(new state, news) after at most one step more of a session file, as in `transcript`."""
    state, fresh = appended.read(state, path, appended.STEP, last)
    if only:
        fresh = fresh.naming(only)
    calls, results = {}, {}
    for row in fresh.lines:
        if b"_call" not in row:
            continue
        payload = _payload(row)
        kind, call = payload.get("type"), payload.get("call_id")
        if not isinstance(kind, str) or not isinstance(call, str):
            continue
        if kind in ("function_call", "custom_tool_call"):
            calls[call] = str(payload.get("name") or "")
        elif kind in ("function_call_output", "custom_tool_call_output"):
            results[call] = Result(_text_of(payload.get("output")))
    return state, News(calls, results, {}, fresh.more)


def _text_of(output: object) -> str:
    """The text of a call's output: a string, or the text blocks of a list."""
    if isinstance(output, dict):
        output = output.get("content", output.get("body"))
    if isinstance(output, list):
        texts = (block.get("text") for block in output if isinstance(block, dict))
        output = "\n".join(text for text in texts if isinstance(text, str))
    return output if isinstance(output, str) else ""
