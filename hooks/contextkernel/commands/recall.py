"""ck.py recall: a stored original on stdout, byte for byte; a part of it by lines or by pattern.
Booked as a page fault.
"""

from __future__ import annotations

import argparse
import os
import re
import sys

from contextkernel.commands import cli
from contextkernel.store import blobs, origin, recorder

EXAMPLES = (
    "ck.py recall 3fb21c09aa17 --lines 41-80",
    "ck.py recall 3fb21c09aa17 --grep 'FAILED|Error'",
)
ELSEWHERE = "handle %s was made in another repository and session"


def main(argv: list[str]) -> int:
    """0; 1 when --grep finds nothing; 2 after one line on stderr (wrong call, unknown handle)."""
    parser = _parser()
    given = parser.options(argv)
    handle, lines, pattern = given.handle.strip().lower(), given.lines, given.grep
    try:
        data = blobs.get(handle)
        if not given.any and not is_honoured(handle, *_caller()):
            parser.refuse(f"{ELSEWHERE % handle}: --any gives it all the same")
    except blobs.UnknownHandle as error:
        parser.refuse(f"{error}{what_it_was(handle, *_caller())}")
    if lines:
        data = _part(data, *lines)
    elif pattern is not None:
        data = _matching(data, pattern)
    recorder.record(
        "fault",
        {
            "handle": handle,
            "session": os.environ.get("CLAUDE_CODE_SESSION_ID", ""),
            "route": "cli",
            "bytes": len(data),
        },
    )
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
    return 1 if pattern is not None and not data else 0


def _parser() -> cli.Parser:
    parser = cli.command_parser("recall", EXAMPLES)
    parser.add_argument("handle", metavar="HANDLE", help="as in a `recall HANDLE` mark")
    parser.add_argument("--lines", metavar="A-B", type=_lines, help="these lines, 1-based")
    parser.add_argument(
        "--grep", metavar="RE", type=_pattern, help="lines that match, with numbers"
    )
    parser.add_argument(
        "--any", action="store_true", help="also what another repository and session stored"
    )
    return parser


def _lines(words: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)(?:[-,:](\d+))?", words)
    if not found or int(found.group(1)) < 1:
        raise argparse.ArgumentTypeError(f"{words!r:.40} is not A-B (1-based)")
    return int(found.group(1)), int(found.group(2) or found.group(1))


def _pattern(text: str) -> re.Pattern[bytes]:
    try:
        return re.compile(text.encode("utf-8", "surrogateescape"))
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r:.60}: {error}") from error


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
