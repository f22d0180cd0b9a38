"""The part of a stored text that is asked for, a page at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from contextkernel.handlers.recall_lines import Lines, Span, within

WIDEST = 2000  # characters shown of a line that matches, on a page
BEFORE_MATCH = 200  # characters of these that lie before the match


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
    shown: list[str] = []
    lines, room = Lines.of(text), most
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
    shown: list[str] = []
    lines, room = Lines.of(text), most
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
