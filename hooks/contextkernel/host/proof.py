"""Proof from the transcript that a text stands in an agent's context: on the live branch, after the last compaction, whole."""
from __future__ import annotations

import json
import os
import re
from typing import Dict, List, NamedTuple, Optional, Sequence

from contextkernel.host import transcript

MOST = 24 * 1024 * 1024  # bytes looked back: a copy further up counts as not held
ROW_UUID = re.compile(rb'"uuid":\s*"([^"]+)"')
ROW_PARENT = re.compile(rb'"parentUuid":\s*(?:"([^"]+)"|null)')
NUMBERED = re.compile(r"\s*(\d+)(?:\t|\u2192)(.*)", re.S)
BOUNDARIES = (b'"compact_boundary"', b'"isCompactSummary":true', b'"isCompactSummary": true')


class Rows(NamedTuple):
    """The rows of a transcript's end that belong to one branch: uuid -> parent, and raw lines by tool use id."""

    lines: List[bytes]
    parents: Dict[bytes, bytes]


def shown_texts(path: str, current: str, uses: Sequence[str]) -> Optional[List[str]]:
    """The tool results of `uses` as the model was sent them, when all stand in the context of the call `current`; else None.

    `current` must be in the transcript already, every result must hang on its branch, and no compaction may lie between.
    """
    lines = _tail(path)
    start = _first_with(lines, b'"%s"' % current.encode(), b'"tool_use"')
    found = [_first_with(lines, b'"%s"' % use.encode(), b'"tool_result"') for use in uses]
    if start is None or any(at is None for at in found):
        return None
    if any(mark in line for line in lines[min(found):] for mark in BOUNDARIES):
        return None
    branch = _branch(lines, start)
    texts = []
    for use, at in zip(uses, found):
        row = _row(lines[at])
        if not ({str(row.get("uuid")), str(row.get("parentUuid")), str(row.get("sourceToolAssistantUUID"))} & branch):
            return None
        text = _result(row, use)
        if text is None:
            return None
        texts.append(text)
    return texts


def unnumbered(shown: str, lines: int) -> Optional[str]:
    """The file text behind a Read's numbered lines, when they are exactly 1 to `lines`; what the client adds below is left out."""
    parts = shown.split("\n")
    if len(parts) < lines:
        return None
    kept = []
    for number, part in enumerate(parts[:lines], 1):
        match = NUMBERED.fullmatch(part)
        if not match or int(match.group(1)) != number:
            return None
        kept.append(match.group(2))
    return "\n".join(kept)


def _tail(path: str) -> List[bytes]:
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - MOST))
            lines = file.read().split(b"\n")
    except OSError:
        return []
    return lines[1:] if size > MOST else lines


def _first_with(lines: List[bytes], *needles: bytes) -> Optional[int]:
    """The index of the newest line that holds all needles."""
    return next((n for n in range(len(lines) - 1, -1, -1) if all(needle in lines[n] for needle in needles)), None)


def _branch(lines: List[bytes], start: int) -> "set[str]":
    """The uuids on the way from a row up to the root."""
    parents: Dict[bytes, bytes] = {}
    for line in lines:
        own, parent = ROW_UUID.search(line), ROW_PARENT.search(line)
        if own and parent:
            parents[own.group(1)] = parent.group(1) or b""
    at, seen = str(_row(lines[start]).get("uuid") or "").encode(), set()
    while at and at not in seen:
        seen.add(at)
        at = parents.get(at, b"")
    return {one.decode("utf-8", "replace") for one in seen}


def _row(line: bytes) -> dict:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return row if isinstance(row, dict) else {}


def _result(row: dict, use: str) -> Optional[str]:
    message = row.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "tool_result" and block.get("tool_use_id") == use and not block.get("is_error"):
            return transcript.text_of(block.get("content"))
    return None
