"""Stored text for whoever asks: what a handle names, whether it is given here, which lines of it,
which matches, a page of them.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

from contextkernel.store import blobs, origin

WIDEST = 2000  # characters shown of a line that matches, on a page
BEFORE_MATCH = 200  # characters of these that lie before the match

_SPAN = re.compile(r"(\d{1,12})(?:\+(\d{1,12}))?(?:(-)(\d{1,12})?)?")


class RecallError(Exception):
    """A call that cannot be answered; one line says why."""


class ElsewhereError(RecallError):
    """The handle was made in another repository and session."""


class Caller(NamedTuple):
    """Who asks, as far as that is known ("")."""

    session: str
    folder: str
    transcript: str


class Span(NamedTuple):
    """Lines `first` to `last` (1-based, inclusive), the first without its first `skip`
    characters.
    """

    first: int = 1
    last: int = sys.maxsize
    skip: int = 0
    words: str = ""  # as it was asked for


class Lines(NamedTuple):
    """The lines of a text. Nothing behind the last newline is no line."""

    parts: list[str]  # between the newlines
    total: int

    @classmethod
    def of(cls, text: str) -> Lines:
        """The lines of `text`; an empty text has one."""
        parts = text.split("\n")
        return cls(parts, len(parts) - (len(parts) > 1 and not parts[-1]))

    def whole(self, number: int, skip: int = 0) -> str:
        """A line with its newline, without its first `skip` characters."""
        return self.parts[number - 1][skip:] + ("\n" if number < len(self.parts) else "")


def stored(handle: str, caller: Caller, everywhere: bool = False) -> bytes:
    """The bytes of a handle. Raises RecallError where there are none (with what it was), and
    ElsewhereError where they were made elsewhere, unless `everywhere`.
    """
    try:
        data = blobs.get(handle)
        issued = os.path.basename(blobs.find(handle)).partition(".")[0]
    except blobs.UnknownHandle as error:
        raise RecallError(f"{error}{what_it_was(handle, caller)}") from None
    if not everywhere and not origin.honoured(origin.receipts_of(issued) or (), *caller):
        raise ElsewhereError(f"handle {handle} was made in another repository and session")
    return data


def what_it_was(handle: str, caller: Caller) -> str:
    """A lost original in some words, from the ledger, for whom it would have been given to; "" when
    the handle is shorter than a prefix may be, or none of ours.
    """
    rows = origin.receipts_of(handle.strip().lower())
    if not rows or not origin.honoured(rows, *caller):
        return ""
    command = (rows[0]["command"] or "").replace("\n", " ")[:120]
    return f" (it was {rows[0]['lines'] or 0} lines of {rows[0]['tool'] or 'a tool'}: {command})"


def span_of(words: str) -> Span:
    """`A`, `A-B`, `A-` or `A+C-B` as a span; all lines for "". Raises RecallError."""
    if not words:
        return Span()
    form = _SPAN.fullmatch(words.replace(" ", ""))
    if not form:
        raise RecallError("lines: A-B, 1-based, such as 200-260")
    first, skip = int(form.group(1)), int(form.group(2) or 0)
    last = int(form.group(4) or sys.maxsize) if form.group(3) else first
    return Span(first, last, skip, words.strip())


def within(span: Span, total: int) -> Span:
    """A span that ends with the text. Raises RecallError where it names no line of it."""
    last = min(span.last, total)
    if not 1 <= span.first <= last:
        raise RecallError(f"lines: there are {total}, so {span.words} names none")
    return span._replace(last=last)


def pattern_of(text: str) -> re.Pattern[str]:
    """`grep` as a pattern. Raises RecallError. A slow one ends with its process."""
    try:
        return re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise RecallError(f"grep: not a Python regular expression: {error}") from None


def part_of(text: str, span: Span) -> str:
    """The lines of a span, exactly."""
    lines = Lines.of(text)
    span = within(span, lines.total)
    rest = map(lines.whole, range(span.first + 1, span.last + 1))
    return lines.whole(span.first, span.skip) + "".join(rest)


def matching(text: str, span: Span, pattern: re.Pattern[str]) -> str:
    """The matching lines of a span, each as `N:line`, as grep -n prints them; "" for none."""
    lines = Lines.of(text)
    found = _matches(lines, within(span, lines.total), pattern)
    return "".join(f"{number}:{lines.parts[number - 1]}\n" for number, _ in found)


def _matches(lines: Lines, span: Span, pattern: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """(line, characters before the match) of the lines of a span that match."""
    for number in range(span.first, span.last + 1):
        found = pattern.search(lines.parts[number - 1])
        if found:
            yield number, found.start()


def page_of(text: str, span: Span, handle: str, most: int) -> str:
    """The lines of a span, exactly; as many as `most` bytes hold, and then one line that names
    the rest.
    """
    lines, shown, room = Lines.of(text), [], most
    span = within(span, lines.total)
    skip = span.skip
    for number in range(span.first, span.last + 1):
        line = lines.whole(number, skip)
        size = len(line.encode("utf-8"))
        if size > room:
            rest = Span(number, span.last, skip)
            return _cut(shown, line, room if size > most else 0, rest, handle, lines.total)
        shown.append(line)
        room, skip = room - size, 0
    return "".join(shown)


def _cut(shown: list[str], line: str, room: int, rest: Span, handle: str, total: int) -> str:
    """What fits, with the call for the rest. A line is cut inside only when no page would hold
    it.
    """
    part = line.encode("utf-8")[:room].decode("utf-8", "ignore")
    where = f"{rest.first}+{rest.skip + len(part)}" if part or rest.skip else f"{rest.first}"
    text = "".join(shown) + part
    end = "" if text.endswith("\n") else "\n"
    return f"{text}{end}[ck: {total} lines in all; next: recall {handle} lines {where}-{rest.last}]"


def page_of_matches(text: str, span: Span, pattern: re.Pattern[str], handle: str, most: int) -> str:
    """The matching lines of a span as `N:line`; as many as `most` bytes hold, and then one line
    that names the rest.
    """
    lines, shown, room = Lines.of(text), [], most
    span = within(span, lines.total)
    for number, at in _matches(lines, span, pattern):
        line = _around(lines.parts[number - 1], at, number, handle)
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
