"""Source text with strings and comments blanked, same length and same line breaks, so that
regexes can be trusted.
"""

from __future__ import annotations

import re

# Pieces of a language's pattern.  Every alternative of a pattern starts with a literal character:
# the regex engine then skips quickly.
STRING = r'"(?:[^"\\\n]|\\.)*"' + r"|'(?:[^'\\\n]|\\.)*'"
C_COMMENT = r"/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)|//[^\n]*"
_PYTHON = re.compile(
    r'#[^\n]*|"""(?:[^"\\]|\\.|"(?!""))*(?:"""|\Z)'
    + r"|'''(?:[^'\\]|\\.|'(?!''))*(?:'''|\Z)|"
    + STRING,
    re.S,
)
_TRIPLE = ('"""', "'''")


def _spaces(text: str) -> str:
    """As many blanks, the line breaks kept."""
    if "\n" not in text:
        return " " * len(text)
    return "\n".join([" " * len(line) for line in text.split("\n")])


def _blank(match: re.Match[str]) -> str:
    text = match.group()
    inner = _spaces(text)
    return inner if text[0] in "/#" else text[0] + inner[1:-1] + text[-1] if len(text) > 1 else text


def blanked(text: str, pattern: re.Pattern[str]) -> str:
    """The text with the inside of strings and all comments, which the pattern finds, as blanks;
    offsets and lines stay.
    """
    return pattern.sub(_blank, text)


def without_triple_quotes(text: str) -> str:
    """Python text with the inside of triple-quoted strings blanked: all that line-anchored regexes
    need.

    25 times cheaper than `blanked`; falls back to it when a triple quote may itself stand in a
    comment or a string.
    """
    parts, at, position = [], 0, 0
    following = {mark: text.find(mark) for mark in _TRIPLE}
    while True:
        for mark, place in following.items():
            if -1 < place < position:
                following[mark] = text.find(mark, position)
        opening, mark = min(
            ((place, mark) for mark, place in following.items() if place >= 0), default=(-1, "")
        )
        if opening < 0:
            break
        line = text[text.rfind("\n", 0, opening) + 1 : opening]
        if "#" in line or "'" in line or '"' in line:
            return blanked(text, _PYTHON)
        end = opening + 3
        while True:
            end = text.find(mark, end)
            if end < 0 or not _escaped(text, end):
                break
            end += 1
        if end < 0:
            end = len(text)
        parts.append(text[at : opening + 3])
        parts.append(_spaces(text[opening + 3 : end]))
        at = end
        position = end + 3
    parts.append(text[at:])
    return "".join(parts)


def _escaped(text: str, at: int) -> bool:
    """Is the character at `at` behind an odd number of backslashes?"""
    behind = at
    while behind and text[behind - 1] == "\\":
        behind -= 1
    return (at - behind) % 2 == 1
