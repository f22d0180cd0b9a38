"""Secrets in commands, paths and notes, masked before they reach the ledger. In doubt a word is
masked: the ledger needs no values.

By what they look like (`kinds`), by the name that stands before them (`context`, `names`), by the
program that takes them (`options`, `tools`). Patterns are compiled when their words occur: all of
them would cost a hook some milliseconds.
"""

from __future__ import annotations

import re

from contextkernel.masking import context, kinds, options
from contextkernel.masking.context import quotes
from contextkernel.masking.kinds import HIDDEN

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

LOOKED_AT = 4096  # characters of a longer text that are looked at; the rest is left out
LAST_WORD = 1024  # characters at their end that may be a part of something, and are left out
SHORTEST = 6  # characters: what is shorter holds no secret that could be told from a word
PATH_MOST = 1024  # characters of a path
# Fields of a ledger row that are keys or words of ours; every other text is masked, cut to so many
# characters.
KEYS = frozenset(
    ("kind", "client", "session", "agent", "tool_use_id", "handle", "lane", "status", "repo")
)
MOST_OF_TEXT = 300  # characters
MOST = {"text": 500, "why": 500, "cwd": PATH_MOST, "path": PATH_MOST, "transcript": PATH_MOST}


def masked(text: str, most: int = MOST_OF_TEXT) -> str:
    """The text with secrets replaced by ***, cut to `most` characters. Names stay, values go.

    Of a long text only the beginning is looked at, and what may be a part of something there is
    left out.
    """
    if len(text) < SHORTEST:
        return text[:most]
    looked_at = max(LOOKED_AT, 2 * most)
    is_cut = len(text) > looked_at
    if is_cut:
        text = _whole_words(text[:looked_at])
    text = _without_secrets(text, is_cut)
    return text if len(text) <= most and not is_cut else text[: most - 1] + "…"


def of_row(row: dict[str, Any]) -> dict[str, Any]:
    """A ledger row with every text masked but its keys; a transcript's path that holds a secret
    is left out, since it would name no file.
    """
    safe = dict(row)
    for name, value in row.items():
        if isinstance(value, str) and name not in KEYS:
            safe[name] = _left(value, MOST.get(name, MOST_OF_TEXT))
    if safe.get("transcript") != row.get("transcript"):
        safe["transcript"] = ""
    return safe


def _left(text: str, most: int) -> str:
    """The text masked; *** where a rule of ours fails over it: no row is lost by it, and nothing
    is told.
    """
    try:
        return masked(text, most)
    except (IndexError, ValueError, RecursionError, re.error):
        return HIDDEN


def _whole_words(text: str) -> str:
    """A text that was cut, without what may be a part: its last word, and an armoured block that
    it ends in.
    """
    end = max(text.rfind(sign, len(text) - LAST_WORD) for sign in " \n\t")
    return text[: end if end > 0 else len(text) - LAST_WORD]


def _without_secrets(text: str, is_cut: bool) -> str:
    small = text.lower()
    text = kinds.without_blocks(text)
    if "://" in text or "@" in text:
        text = kinds.without_logins(text)
    text = kinds.without_issued(text)
    enclosing = quotes(text)
    spans = (
        list(context.headers(text, small, enclosing))
        + list(context.named(text, small, enclosing))
        + list(options.taken(text, small, enclosing, is_cut))
    )
    return kinds.without_random(_replaced(text, spans))


def _replaced(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with *** for each span; a quote on both sides stays."""
    parts: list[str] = []
    at = 0
    for start, end in sorted(spans):
        start = max(start, at)
        if start >= end:
            continue
        value = text[start:end]
        quote = value[0] if len(value) > 1 and value[0] in "\"'" and value[-1] == value[0] else ""
        parts += [text[at:start], quote + HIDDEN + quote]
        at = end
    return "".join(parts) + text[at:]
