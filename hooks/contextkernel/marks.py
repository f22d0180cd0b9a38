"""Marks: the one-line notes that stand where text was left out.

A mark says what is intact, which lines are hidden and how to get them back.  It ends in `recall HANDLE]`.
"""
from __future__ import annotations

import re

MARK = re.compile(r"\[ck: [^\n]*?\brecall ([0-9a-f]{8,64})\b[^\n]*?\]")
_FORGED = re.compile(r"recall\s+[0-9a-f]{8,}|\[ck:", re.I)  # in words of an output: what would read as a mark of ours
MOST_WORDS = 56  # characters of digest in a mark; with range and handle that stays near 25 tokens


def carries_mark(text: str) -> bool:
    """Whether a text holds one of our marks: such a text is our own output and is never rewritten."""
    return "[ck: " in text and MARK.search(text) is not None


def handles_in(text: str) -> "list[str]":
    """Handles named by the marks of a text, in order, each once."""
    return list(dict.fromkeys(MARK.findall(text)))


def note(words: str, handle: str) -> str:
    """A mark of free words: "[ck: grouped by file, nothing left out; recall 7f3a12bc90de]"."""
    return "[ck: %s; recall %s]" % (harmless(words), handle)


def gap(first: int, last: int, words: str, handle: str) -> str:
    """The mark for hidden source lines `first` to `last` (1-based, inclusive); `words` is their digest, may be ""."""
    where = "line %d" % first if first == last else "lines %d-%d" % (first, last)
    words = harmless(clip(words, MOST_WORDS))
    return "[ck: %s hidden, raw stored%s; recall %s]" % (where, ": " + words if words else "", handle)


def short_gap(first: int, last: int, handle: str) -> str:
    """The least mark for hidden source lines."""
    return "[ck: %s; recall %s]" % ("%d-%d" % (first, last) if last > first else str(first), handle)


def verdict(exit_code: int, lines: int, shown: int, words: str, handle: str) -> str:
    """The first line over a failing command's shortened output: facts we know, nothing parsed from its text.

    A negative exit code is the number of the signal that ended the command, as in `subprocess`.
    """
    ended = "exit %d" % exit_code if exit_code >= 0 else "ended by signal %d" % -exit_code
    return "[ck: %s, %d lines, %d shown%s; recall %s]" % (ended, lines, shown, ", " + harmless(words) if words else "", handle)


def harmless(words: str) -> str:
    """Words taken from an output, for the inside of a mark: nothing in them names a handle, opens a mark or closes ours."""
    words = _FORGED.sub("…", words)
    if "]" not in words:
        return words
    kept, open_ = [], 0
    for char in words:
        open_ += (char == "[") - (char == "]")
        kept.append(")" if open_ < 0 else char)
        open_ = max(open_, 0)
    return "".join(kept)


def clip(words: str, most: int) -> str:
    """Words on one line of at most `most` characters; a cut is an ellipsis."""
    words = " ".join(words.split())
    return words if len(words) <= most else words[:most - 1].rstrip() + "…"
