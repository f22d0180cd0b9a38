"""The recall tool's work: stored text on stdout, a page at most, with the way to the next page in
its last line.

    recall.py HANDLE [--client claude|codex] [--lines A-B] [--grep RE] [--folder DIR]

Text that fits is printed exactly; otherwise a last line of ours follows.  `--lines` is 1-based and
inclusive; A+C-B
starts after C characters of line A, for lines longer than a page.  `--folder` (the user's) and
CK_SESSION say who asks.  Exit 2 and one line on stderr for a wrong call.
"""

from __future__ import annotations

import os
import re
import sys
from typing import NamedTuple

from contextkernel.store import blobs, settings

# UTF-8 bytes a page.  Claude Code puts results over 50,000 characters into a file, and asks for a
# token count from half of
# MAX_MCP_OUTPUT_TOKENS (25,000) on, estimated as characters / 4; Codex cuts at 10,000 characters
# with some models.
PAGE = {"claude": 45000, "codex": 9500}
WIDEST = 2000  # characters shown of a line that matches
BEFORE_MATCH = 200  # characters of these that lie before the match

_SPAN = re.compile(r"(\d{1,12})(?:\+(\d{1,12}))?(?:(-)(\d{1,12})?)?")


class Wrong(Exception):
    """A call that cannot be answered, in one line."""


class Span(NamedTuple):
    """Lines `first` to `last` (1-based, inclusive), the first without its first `skip`
    characters.
    """

    first: int
    last: int
    skip: int = 0


def page_of(text: str, span: Span, handle: str, most: int) -> str:
    """The lines of a span, exactly; as many as `most` bytes hold, and then one line that names
    the rest.
    """
    lines, shown, room, skip = text.split("\n"), [], most, span.skip
    for number in range(span.first, span.last + 1):
        line = lines[number - 1][skip:] + ("\n" if number < len(lines) else "")
        size = len(line.encode("utf-8"))
        if size > room:
            return _cut(
                shown,
                line,
                room if size > most else 0,
                Span(number, span.last, skip),
                handle,
                len(lines),
            )
        shown.append(line)
        room, skip = room - size, 0
    return "".join(shown)


def _cut(shown: list[str], line: str, room: int, rest: Span, handle: str, total: int) -> str:
    """What fits, with the call for the rest.  A line is cut inside only when no page would hold
    it.
    """
    part = line.encode("utf-8")[:room].decode("utf-8", "ignore")
    where = f"{rest.first}+{rest.skip + len(part)}" if part or rest.skip else f"{rest.first}"
    text = "".join(shown) + part
    return "%s%s[ck: %d lines in all; next: recall %s lines %s-%d]" % (
        text,
        "" if text.endswith("\n") else "\n",
        total,
        handle,
        where,
        rest.last,
    )


def matches_of(text: str, span: Span, pattern: re.Pattern[str], handle: str, most: int) -> str:
    """The matching lines of a span as `N:line`; as many as `most` bytes hold, and then one line
    that names the rest.
    """
    lines, shown, room = text.split("\n"), [], most
    for number in range(span.first, span.last + 1):
        found = pattern.search(lines[number - 1])
        if not found:
            continue
        line = _around(lines[number - 1], found.start(), number, handle)
        size = len(line.encode("utf-8"))
        if size > room:
            return (
                f"{''.join(shown)}[ck: more matches: recall {handle} lines {number}-{span.last} "
                "with the same grep]"
            )
        shown.append(line)
        room -= size
    return "".join(shown) or f"[ck: no match in lines {span.first}-{span.last} of recall {handle}]"


def _around(line: str, at: int, number: int, handle: str) -> str:
    if len(line) <= WIDEST:
        return f"{number}:{line}\n"
    start = max(0, at - BEFORE_MATCH)
    return (
        f"{number}:{line[start : start + WIDEST]} [ck: characters "
        f"{start + 1}-{min(len(line), start + WIDEST)} of {len(line)}; recall {handle} lines "
        f"{number}+{start}]\n"
    )


def span_of(words: str, text: str) -> Span:
    """`lines` as a span within the text; all of it for "".  Raises Wrong."""
    total = text.count("\n") + (not text.endswith("\n"))
    if not words:
        return Span(1, max(1, total))
    form = _SPAN.fullmatch(words.replace(" ", ""))
    if not form:
        raise Wrong("lines: A-B, 1-based, such as 200-260")
    first, skip = int(form.group(1)), int(form.group(2) or 0)
    last = int(form.group(4) or total) if form.group(3) else first
    if not 1 <= first <= min(last, max(1, total)):
        raise Wrong(f"lines: there are {total}, so {words} names none")
    return Span(first, min(last, max(1, total)), skip)


def pattern_of(text: str) -> re.Pattern[str]:
    """`grep` as a pattern.  Raises Wrong.  A slow one is ended with this process."""
    try:
        return re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise Wrong(f"grep: not a Python regular expression: {error}") from None


def page_size(client: str) -> int:
    """Bytes a page for a client, within the user's own limit on MCP results."""
    limit = os.environ.get("MAX_MCP_OUTPUT_TOKENS", "")
    most = PAGE.get(client, PAGE["claude"])
    return min(most, max(1000, 2 * int(limit))) if limit.isdecimal() and len(limit) < 19 else most


def answer(handle: str, client: str, lines: str, grep: str | None, folder: str = "") -> str:
    """The text for a call from a user's folder ("": not known).  Raises Wrong."""
    from contextkernel.commands import recall  # late: its store

    caller = os.environ.get("CK_SESSION", ""), folder, os.environ.get("CK_TRANSCRIPT", "")
    try:
        text = blobs.get(handle).decode("utf-8", "replace")
        if not recall.is_honoured(handle, *caller):
            raise Wrong(f"{recall.ELSEWHERE % handle}: it is not given here")
    except blobs.UnknownHandle as error:
        raise Wrong(f"{error}{recall.what_it_was(handle, *caller)}") from None
    span = span_of(lines, text)
    if grep:
        return matches_of(text, span, pattern_of(grep), handle, page_size(client))
    return page_of(text, span, handle, page_size(client))


def main(argv: list[str]) -> int:
    """0; 2 after one line on stderr."""
    options = {"--client": "claude", "--lines": "", "--grep": "", "--folder": ""}
    for word in argv[1:]:
        name, _, value = word.partition("=")
        options[name] = value
    try:
        settings.guard()
        text = answer(
            argv[0], options["--client"], options["--lines"], options["--grep"], options["--folder"]
        )
    except (Wrong, settings.ForeignStateError) as wrong:
        sys.stderr.write(f"{wrong}\n")
        return 2
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    return 0
