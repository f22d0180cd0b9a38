"""The recall tool's work: stored text on stdout, a page at most, with the way to the next page in
its last line.

Text that fits is printed exactly. `--folder` (the user's) and CK_SESSION say who asks. A refusal is
one line on stderr and exit 2.
"""

from __future__ import annotations

import os
import sys

from contextkernel.commands import cli
from contextkernel.handlers import recall, recall_lines, recall_pages

# UTF-8 bytes a page. Claude Code puts results over 50,000 characters into a file, and asks for a
# token count from half of MAX_MCP_OUTPUT_TOKENS (25,000) on, estimated as characters / 4; Codex
# cuts at 10,000 characters with some models.
PAGE = {"claude": 45000, "codex": 9500}


def page_size(client: str) -> int:
    """Bytes a page for a client, within the user's own limit on MCP results."""
    limit = os.environ.get("MAX_MCP_OUTPUT_TOKENS", "")
    most = PAGE.get(client, PAGE["claude"])
    return min(most, max(1000, 2 * int(limit))) if limit.isdecimal() and len(limit) < 19 else most


def answer(handle: str, client: str, lines: str, grep: str, folder: str) -> str:
    """The text for a call from a user's folder ("": not known). Raises RecallError."""
    caller = recall.Caller(
        os.environ.get("CK_SESSION", ""), folder, os.environ.get("CK_TRANSCRIPT", "")
    )
    try:
        text = recall.stored(handle, caller).decode("utf-8", "replace")
    except recall.ElsewhereError as error:
        raise recall.RecallError(f"{error}: it is not given here") from None
    span = recall_lines.span_of(lines)
    if grep:
        pattern = recall_lines.pattern_of(grep)
        return recall_pages.page_of_matches(text, span, pattern, handle, page_size(client))
    return recall_pages.page_of(text, span, handle, page_size(client))


def main(argv: list[str]) -> int:
    """0; 2 after one line on stderr."""
    parser = cli.Parser("recall.py", "print stored text, a page at most", ())
    parser.add_argument("handle")
    for name in ("client", "lines", "grep", "folder"):
        parser.add_argument(f"--{name}", default="")
    given = parser.options(argv)
    try:
        text = answer(given.handle, given.client, given.lines, given.grep, given.folder)
    except recall.RecallError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    return 0
