"""ck.py recall: a stored original on stdout, byte for byte; a part of it by lines or by pattern.
Booked as a page fault.
"""

from __future__ import annotations

import os
import re
import sys

from contextkernel.handlers import page_fault
from contextkernel.store import blobs, origin

USAGE = "usage: ck.py recall HANDLE [--lines A-B | --grep RE] [--any]"
ELSEWHERE = "handle %s was made in another repository and session"


def main(argv: list[str]) -> int:
    """0; 1 when --grep finds nothing; 2 after one line on stderr (wrong call, unknown handle)."""
    everywhere = "--any" in argv[1:] and argv[-2] != "--grep"
    try:
        handle, lines, pattern = _arguments(
            [word for n, word in enumerate(argv) if not (everywhere and n and word == "--any")]
        )
        data = blobs.get(handle)
        if not everywhere and not is_honoured(handle, *_caller()):
            raise ValueError(f"{ELSEWHERE % handle}: --any gives it all the same")
    except ValueError as error:
        sys.stderr.write(f"ck.py recall: {error}\n")
        return 2
    except blobs.UnknownHandle as error:
        sys.stderr.write(f"ck.py recall: {error}{what_it_was(handle, *_caller())}\n")
        return 2
    if lines:
        data = _part(data, *lines)
    elif pattern is not None:
        data = _matching(data, pattern)
    session = page_fault.session_of(os.environ)
    if page_fault.is_for_model(session):
        text = data.decode("utf-8", "replace")
        page_fault.record(handle, session, "cli", text, lines[0] if lines else 1, bool(pattern))
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
    return 1 if pattern is not None and not data else 0


def _arguments(argv: list[str]):
    """(handle, (first, last) or None, pattern or None). Raises ValueError with one line."""
    if len(argv) not in (1, 3):
        raise ValueError(USAGE)
    lines = pattern = None
    if len(argv) == 3:
        if argv[1] not in ("--lines", "--grep"):
            raise ValueError(USAGE)
        if argv[1] == "--lines":
            found = re.fullmatch(r"(\d+)(?:[-,:](\d+))?", argv[2])
            if not found or int(found.group(1)) < 1:
                raise ValueError(f"--lines {argv[2]!r:.40} is not A-B (1-based)")
            lines = (int(found.group(1)), int(found.group(2) or found.group(1)))
        else:
            try:
                pattern = re.compile(argv[2].encode("utf-8", "surrogateescape"))
            except re.error as error:
                raise ValueError(f"--grep {argv[2]!r:.60}: {error}") from error
    return argv[0].strip().lower(), lines, pattern


def _part(data: bytes, first: int, last: int) -> bytes:
    parts = data.split(b"\n")
    text = b"\n".join(parts[first - 1 : last])
    return text + (b"\n" if text and last < len(parts) else b"")


def _matching(data: bytes, pattern: re.Pattern[bytes]) -> bytes:
    """Lines that match, each as `N:line`, as grep -n prints them."""
    return b"".join(
        b"%d:%s\n" % (number, line)
        for number, line in enumerate(data.split(b"\n"), 1)
        if pattern.search(line)
    )


def _caller() -> tuple[str, str, str]:
    """(session, folder, transcript) of who calls, as far as the environment tells."""
    transcript = os.environ.get("CK_TRANSCRIPT", "")
    try:
        folder = os.getcwd()
    except OSError:
        folder = ""
    return (
        os.environ.get("CLAUDE_CODE_SESSION_ID") or os.path.basename(transcript)[: -len(".jsonl")],
        folder,
        transcript,
    )


def is_honoured(handle: str, session: str, folder: str, transcript: str) -> bool:
    """Whether a stored text is given back here: where it was made, or where that cannot be told."""
    issued = os.path.basename(blobs.find(handle)).partition(".")[0]
    return origin.honoured(origin.receipts_of(issued) or (), session, folder, transcript)


def what_it_was(handle: str, session: str = "", folder: str = "", transcript: str = "") -> str:
    """What the ledger knows of a handle whose blob is gone, as " (it was …)"; "" where it knows
    nothing, or it was made elsewhere.
    """
    rows = origin.receipts_of(handle.strip().lower())
    if not rows or not origin.honoured(rows, session, folder, transcript):
        return ""
    return " (it was %d lines of %s: %s)" % (
        rows[0]["lines"] or 0,
        rows[0]["tool"] or "a tool",
        (rows[0]["command"] or "").replace("\n", " ")[:120],
    )
