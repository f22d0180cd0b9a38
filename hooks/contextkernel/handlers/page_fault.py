"""Page faults: stored text that went back into a model's context, recorded with the lines it was.

A person who recalls at a terminal, or sends a recall into a file, gives no model anything.
"""

from __future__ import annotations

import os
import re
import stat
import sys

from contextkernel import lines as line_ranges
from contextkernel.store import recorder

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from contextkernel.clients.tool_call import ToolCall

MOST_RANGES = 200  # of a row; a search that found more counts by its bytes alone
_NUMBERED = re.compile(r"^(\d{1,12})[:-]", re.M)
_NEXT_PAGE = re.compile(r"\n?\[ck: \d+ lines in all; next: recall [^\n]*\]$")
_SED = re.compile(r"\bsed\s+-n\s+[\"']?(\d{1,12})(?:,(\d{1,12}))?p")
_NUMBERED_GREP = re.compile(r"\bgrep\s+(?:\S+\s+)*?-[A-Za-z]*n")


def record(
    handle: str, session: str, route: str, text: str, first: int = 1, numbered: bool = False
) -> None:
    """Record text that a recall gave a model: lines from `first` on, or lines that begin with
    their number. Never raises.
    """
    body = _NEXT_PAGE.sub("", text)
    if numbered:
        lines = [(number, number) for number in map(int, _NUMBERED.findall(body))]
    else:
        lines = [(first, first + body.count("\n") - body.endswith("\n"))] if body else []
    _record(handle, session, route, len(text.encode("utf-8", "replace")), lines)


def part_of(arguments: dict[str, Any]) -> tuple[int, bool]:
    """(first line, whether each line begins with its number) of what the recall tool answers."""
    found = re.match(r"\s*(\d{1,12})", str(arguments.get("lines") or ""))
    return int(found.group(1)) if found else 1, bool(arguments.get("grep"))


def record_file(call: ToolCall, handle: str, texts: list[str], most: int) -> None:
    """Record what a Read, grep or sed of a recall file gave a model; at most `most` characters
    are shown by the client. Never raises.
    """
    size = max(1, min(sum(map(len, texts)), most))
    _record(handle, call.session, "file", size, _lines_of(call, "\n".join(texts)))


def _lines_of(call: ToolCall, text: str) -> list[tuple[int, int]]:
    """The lines of a recall file that a tool call showed; [] where that cannot be told."""
    file = call.response.get("file") if isinstance(call.response, dict) else None
    if isinstance(file, dict):
        first, length = file.get("startLine"), file.get("numLines")
        if isinstance(first, int) and isinstance(length, int) and first > 0:
            return [(first, first + length - 1)]
        return []
    command = call.command
    found = _SED.search(command)
    if found:
        return [(int(found.group(1)), int(found.group(2) or found.group(1)))]
    if _NUMBERED_GREP.search(command):
        numbers = [int(number) for number in _NUMBERED.findall(text)]
        rises = all(after > before for before, after in zip(numbers, numbers[1:]))
        # a line of a log may begin with a year
        if rises and len(numbers) == len(text.rstrip("\n").split("\n")):
            return [(number, number) for number in numbers]
    return []


def _record(handle: str, session: str, route: str, size: int, lines: list[tuple[int, int]]) -> None:
    lines = line_ranges.merged(lines)
    row = {"handle": handle, "session": session, "route": route, "bytes": size}
    words = line_ranges.as_text(lines) if len(lines) <= MOST_RANGES else ""
    recorder.record("fault", dict(row, spans=words) if words else row)


def session_of(environ: Mapping[str, str]) -> str:
    """The session whose shell this is; "" at a person's terminal."""
    transcript = os.path.basename(environ.get("CK_TRANSCRIPT", ""))
    return (
        environ.get("CLAUDE_CODE_SESSION_ID")
        or environ.get("CODEX_THREAD_ID")
        or transcript[: -len(".jsonl")]
    )


def is_for_model(session: str) -> bool:
    """Whether what this process prints is read by a session's model: not at a terminal, nor where
    it is redirected (Claude Code's own file of an output is opened for append).
    """
    if not session or sys.stdout.isatty():
        return False
    try:
        facts = os.fstat(sys.stdout.fileno())
        if stat.S_ISCHR(facts.st_mode):  # /dev/null
            return False
        if stat.S_ISREG(facts.st_mode):
            import fcntl

            return bool(fcntl.fcntl(sys.stdout.fileno(), fcntl.F_GETFL) & os.O_APPEND)
    except (OSError, ValueError, ImportError):
        return True
    return True
