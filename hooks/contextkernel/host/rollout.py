"""Codex's session file: what it knows of a command that its hook is not told."""
from __future__ import annotations

import json
import os
from typing import Optional

TAIL = 1024 * 1024  # bytes looked at: the row is among the newest, and holds at most 64 KiB of output, escaped


def exit_code(path: str, tool_use_id: str) -> Optional[int]:
    """The exit code of a finished command; None when the file does not tell it (then nothing may replace its output).

    The row is on disk before the PostToolUse hook starts (0.150 to 0.171, direct and code mode).
    """
    if not path or not tool_use_id:
        return None
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL))
            rows = file.read().split(b"\n")
    except OSError:
        return None
    for row in reversed(rows):
        if tool_use_id.encode("utf-8", "replace") in row and b"CommandExecution" in row:
            code = _code_in(row, tool_use_id)
            if code is not None:
                return code
    return None


def _code_in(row: bytes, tool_use_id: str) -> Optional[int]:
    try:
        payload = json.loads(row)["payload"]
        item = payload["item"] if payload["type"] == "item_completed" else {}
        ours = item["type"] == "CommandExecution" and item["id"] == tool_use_id
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    code = item.get("exit_code") if ours else None
    return code if isinstance(code, int) and not isinstance(code, bool) else None
