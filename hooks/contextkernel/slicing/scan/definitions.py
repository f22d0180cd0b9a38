"""Definitions of a source text, as line-anchored regexes find them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import re


class Definition(NamedTuple):
    """A named thing of a source file.  `line` is the 1-based line of its head, `indent` its
    columns (a tab counts 4).
    """

    name: str
    kind: str
    line: int
    indent: int


def matched(
    patterns: Iterable[re.Pattern[str]], text: str, refused: frozenset[str] = frozenset()
) -> list[Definition]:
    """The definitions that the patterns find, by line.  A pattern has the groups `indent`, `name`
    and `kind`.

    Patterns begin with the break before the line ("\\n", a literal: the engine then skips from line
    to line; "^" would be
    tried at every character).  One line gives one definition, the first.  Names in `refused` are
    keywords.
    """
    text = "\n" + text
    starts: dict[int, tuple[str, str, str]] = {}
    for pattern in patterns:
        for match in pattern.finditer(text):
            name = match.group("name")
            if name in refused:
                continue
            starts.setdefault(
                match.start("name"),
                (name, match.group("kind") or "function", match.group("indent")),
            )
    found: list[Definition] = []
    line, at = 0, 0
    for start in sorted(starts):
        line += text.count("\n", at, start)
        at = start
        if found and found[-1].line == line:
            continue
        name, kind, indent = starts[start]
        found.append(Definition(name, kind, line, len(indent.expandtabs(4))))
    return found
