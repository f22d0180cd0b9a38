"""Which lines of a stored text are asked for."""

from __future__ import annotations

import re
import sys
from typing import NamedTuple

from contextkernel.handlers.recall import RecallError

_SPAN = re.compile(r"(\d{1,12})(?:\+(\d{1,12}))?(?:(-)(\d{1,12})?)?")


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
