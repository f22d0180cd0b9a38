"""Marks: the one-line notes that stand where text was left out.

A mark says what is intact, which lines are hidden and how to get them back.  It ends in `recall HANDLE]`.
"""
from __future__ import annotations

import re

MARK = re.compile(r"\[ck: [^\n]*?\brecall ([0-9a-f]{8,64})\b[^\n]*?\]")


def carries_mark(text: str) -> bool:
    """Whether a text holds one of our marks: such a text is our own output and is never rewritten."""
    return "[ck: " in text and MARK.search(text) is not None


def handles_in(text: str) -> "list[str]":
    """Handles named by the marks of a text, in order, each once."""
    return list(dict.fromkeys(MARK.findall(text)))
