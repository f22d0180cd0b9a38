"""ck.py recall: a stored original on stdout, byte for byte; a part of it by lines or by pattern.
Booked as a page fault.
"""

from __future__ import annotations

import os
import sys

from contextkernel.commands import cli
from contextkernel.handlers import page_fault, recall, recall_lines, recall_pages

EXAMPLES = (
    "ck.py recall 3fb21c09aa17 --lines 41-80",
    "ck.py recall 3fb21c09aa17 --grep 'FAILED|Error'",
)


def main(argv: list[str]) -> int:
    """0; 1 when --grep finds nothing; 2 after one line on stderr (wrong call, unknown handle)."""
    parser = _parser()
    given = parser.options(argv)
    handle = given.handle.strip().lower()
    try:
        span = recall_lines.span_of(given.lines)
        pattern = None if given.grep is None else recall_lines.pattern_of(given.grep)
        data = recall.stored(handle, _caller(), given.any)
        if given.lines or pattern:
            text = data.decode("utf-8", "surrogateescape")
            part = (
                recall_pages.matching(text, span, pattern)
                if pattern
                else recall_pages.part_of(text, span)
            )
            data = part.encode("utf-8", "surrogateescape")
    except recall.ElsewhereError as error:
        parser.refuse(f"{error}: --any gives it all the same")
    except recall.RecallError as error:
        parser.refuse(str(error))
    session = page_fault.session_of(os.environ)
    if page_fault.is_for_model(session):
        text = data.decode("utf-8", "replace")
        page_fault.record(handle, session, "cli", text, max(1, span.first), bool(pattern))
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
    return 1 if pattern is not None and not data else 0


def _parser() -> cli.Parser:
    parser = cli.command_parser("recall", EXAMPLES)
    parser.add_argument("handle", metavar="HANDLE", help="as in a `recall HANDLE` mark")
    parser.add_argument(
        "--lines",
        metavar="A-B",
        default="",
        help="these lines, 1-based; A- to the end; A+C-B without the first C characters of line A",
    )
    parser.add_argument("--grep", metavar="RE", help="lines that match, each as N:line")
    parser.add_argument(
        "--any", action="store_true", help="also what another repository and session stored"
    )
    return parser


def _caller() -> recall.Caller:
    """Who calls, as far as the environment tells."""
    transcript = os.environ.get("CK_TRANSCRIPT", "")
    session = os.environ.get("CLAUDE_CODE_SESSION_ID")
    return recall.Caller(
        session or os.path.basename(transcript)[: -len(".jsonl")], cli.folder(), transcript
    )
