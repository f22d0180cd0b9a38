"""Proof from the transcript that a text stands in an agent's context: on the live branch, after
the last compaction, whole.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence

from contextkernel.clients.claude import context_budget, transcript
from contextkernel.store import files

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

STEPS = (1, 4, 16)  # MiB looked back, until the copies are found: one further up counts as not held
# tokens: a request that much smaller than an earlier one has lost something (clearing of tool
# results saves 20,000 and more)
FALL = 2000
ROW_UUID = re.compile(rb'"uuid":\s*"([^"]+)"')
ROW_PARENT = re.compile(rb'"parentUuid":\s*(?:"([^"]+)"|null)')
NUMBERED = re.compile(r"\s*(\d+)(?:\t|\u2192)(.*)", re.S)
BOUNDARIES = (
    b'"compact_boundary"',
    b'"microcompact_boundary"',
    b'"isCompactSummary":true',
    b'"isCompactSummary": true',
    b'"content-replacement"',
)


def shown_texts(
    path: str, current: str, uses: Sequence[str], since: int | None = None, file: str = ""
) -> list[str] | None:
    """The tool results of `uses` as the model was sent them, when all stand in the context of the
    call `current`; else None.

    Every result must hang on the branch of `current`, no compaction may lie between, and no request
    since may have been smaller than one before it: the client and the API can clear old results
    without a row that says so. The client writes rows late: where `current` is not there yet, the
    newest row stands for it, provided it was written after byte `since`, the end of the file when
    the last prompt was sent (a rewind always comes with a prompt, so such a row is on the live
    branch).  After a failed Edit of `file` nothing counts as held: the agent looks for the text.
    """
    lines, size = _tail(path, uses)
    start = _last_with(lines, b'"%s"' % current.encode(), b'"tool_use"')
    if start is None and since is not None:
        start = _newest(lines, size, since)
    places = [_last_with(lines, b'"%s"' % use.encode(), b'"tool_result"') for use in uses]
    found = [at for at in places if at is not None]
    if start is None or len(found) < len(uses):
        return None
    between = lines[min(found) :]
    if any(mark in line for line in between for mark in BOUNDARIES) or (
        file and _edit_failed(lines[max(found) :], file)
    ):
        return None
    branch = _branch(lines, start)
    if _fell(between, branch):
        return None
    texts = []
    for use, at in zip(uses, found):
        row = _row(lines[at])
        if not (
            {
                str(row.get("uuid")),
                str(row.get("parentUuid")),
                str(row.get("sourceToolAssistantUUID")),
            }
            & branch
        ):
            return None
        text = _result(row, use)
        if text is None:
            return None
        texts.append(text)
    return texts


def unnumbered(shown: str, lines: int) -> str | None:
    """The file text behind a Read's numbered lines, when they are exactly 1 to `lines`; what the
    client adds below is left out.
    """
    parts = shown.split("\n")
    if len(parts) < lines:
        return None
    kept = []
    for number, part in enumerate(parts[:lines], 1):
        match = NUMBERED.fullmatch(part)
        if not match or match.group(1) != str(number):
            return None
        kept.append(match.group(2))
    return "\n".join(kept)


def _tail(path: str, uses: Sequence[str]) -> tuple[list[bytes], int]:
    """(the last lines of a file, as many as the calls and results of `uses` need; the file's
    size). No lines where it cannot be read.
    """
    lines: list[bytes] = []
    size = 0
    try:
        with files.opened(path) as file:
            size = os.fstat(file.fileno()).st_size
            for most in (step << 20 for step in STEPS):
                file.seek(max(0, size - most))
                lines = file.read(size - file.tell()).split(b"\n")
                lines = lines[1:] if size > most else lines
                if size <= most or all(
                    _last_with(lines, b'"%s"' % use.encode(), kind) is not None
                    for use in uses
                    for kind in (b'"tool_result"', b'"tool_use"')
                ):
                    break
    except (OSError, ValueError):
        return [], 0
    return lines, size


def _fell(lines: list[bytes], branch: set[str]) -> bool:
    """Whether a request on the branch was smaller than an earlier one."""
    largest = 0
    for line in lines:
        row = _row(line) if b'"usage"' in line and b'"assistant"' in line else {}
        message = row.get("message")
        if (
            str(row.get("uuid")) not in branch
            or not isinstance(message, dict)
            or not isinstance(message.get("usage"), dict)
        ):
            continue
        sent = context_budget.sent(message["usage"])
        if 0 < sent < largest - FALL:
            return True
        largest = max(largest, sent)
    return False


def _edit_failed(lines: list[bytes], file: str) -> bool:
    """Whether an Edit or Write of the file was answered with an error in these rows."""
    uses = set()
    for line in lines:
        if b'"tool_use"' in line and b'"file_path"' in line:
            uses |= {
                str(block.get("id"))
                for block in _blocks(_row(line))
                if block.get("name") in ("Edit", "Write", "MultiEdit")
                and (block.get("input") or {}).get("file_path") == file
            }
        elif (
            uses
            and b'"is_error":true' in line
            and any(block.get("tool_use_id") in uses for block in _blocks(_row(line)))
        ):
            return True
    return False


def _blocks(row: dict[str, Any]) -> list[dict[str, Any]]:
    message = row.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return (
        [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    )


def _newest(lines: list[bytes], size: int, since: int) -> int | None:
    """The index of the newest row with a uuid, if it begins at byte `since` of the file or
    later.
    """
    end = size
    for at in range(len(lines) - 1, -1, -1):
        end -= len(lines[at]) + (at < len(lines) - 1)
        if ROW_UUID.search(lines[at]):
            return at if end >= since else None
    return None


def _last_with(lines: list[bytes], *needles: bytes) -> int | None:
    """The index of the newest row of the conversation that holds all needles; the client's
    copies of its requests have no parent and do not count.
    """
    return next(
        (
            n
            for n in range(len(lines) - 1, -1, -1)
            if all(needle in lines[n] for needle in needles) and b'"parentUuid"' in lines[n]
        ),
        None,
    )


def _branch(lines: list[bytes], start: int) -> set[str]:
    """The uuids on the way from a row up to the root."""
    parents: dict[bytes, bytes] = {}
    for line in lines:
        own, parent = ROW_UUID.search(line), ROW_PARENT.search(line)
        if own and parent:
            parents[own.group(1)] = parent.group(1) or b""
    at, seen = str(_row(lines[start]).get("uuid") or "").encode(), set()
    while at and at not in seen:
        seen.add(at)
        at = parents.get(at, b"")
    return {one.decode("utf-8", "replace") for one in seen}


def _row(line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return row if isinstance(row, dict) else {}


def _result(row: dict[str, Any], use: str) -> str | None:
    for block in _blocks(row):
        if (
            block.get("type") == "tool_result"
            and block.get("tool_use_id") == use
            and not block.get("is_error")
        ):
            return transcript.text_of(block.get("content"))
    return None
