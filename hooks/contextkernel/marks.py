"""Marks: the one-line notes that stand where text was left out.

A mark says what is intact, which lines are hidden and how to get them back.  It ends in `recall
HANDLE]`.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from collections.abc import Iterator

OPENING = "[ck: "
NAMED = re.compile(r"\brecall ([0-9a-f]{8,64})\b")
# in words of an output: what would read as a mark of ours
_FORGED = re.compile(r"recall\s+[0-9a-f]{8,}|\[ck:", re.I)
MOST_WORDS = 56  # characters of digest in a mark; with range and handle that stays near 25 tokens


def carries_mark(text: str) -> bool:
    """Whether a text holds one of our marks: such a text is our own output and is never
    rewritten.
    """
    return next(_handles(text), None) is not None


def handles_in(text: str) -> list[str]:
    """Handles named by the marks of a text, in order, each once."""
    return list(dict.fromkeys(_handles(text)))


def _handles(text: str) -> Iterator[str]:
    """The handle of each mark.

    A scan that only goes forward: one pattern for a whole mark would look through the rest of the
    line again from every `[ck: ` in it.
    """
    at, end = text.find(OPENING), -1  # where the next mark may open; where its line ends
    while at >= 0:
        if at > end:
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
        named = NAMED.search(text, at + len(OPENING), end)
        close = text.find("]", named.end(), end) if named else -1
        if named and close >= 0:
            yield named.group(1)
        at = text.find(OPENING, close + 1 if close >= 0 else end)


def note(words: str, handle: str) -> str:
    """A mark of free words: "[ck: grouped by file, nothing left out; recall 7f3a12bc90de]"."""
    return f"[ck: {harmless(words)}; recall {handle}]"


def gap(first: int, last: int, words: str, handle: str) -> str:
    """The mark for hidden source lines `first` to `last` (1-based, inclusive); `words` is their
    digest, may be "".
    """
    where = f"line {first}" if first == last else f"lines {first}-{last}"
    digest = harmless(clip(words, MOST_WORDS))
    digest = f": {digest}" if digest else ""
    return f"[ck: {where} hidden, raw stored{digest}; recall {handle}]"


def short_gap(first: int, last: int, handle: str) -> str:
    """The least mark for hidden source lines."""
    lines = f"{first}-{last}" if last > first else str(first)
    return f"[ck: {lines}; recall {handle}]"


def verdict(exit_code: int, lines: int, shown: int, words: str, handle: str) -> str:
    """The first line over a failing command's shortened output: facts we know, nothing parsed from
    its text.

    A negative exit code is the number of the signal that ended the command, as in `subprocess`.
    """
    ended = f"exit {exit_code}" if exit_code >= 0 else f"ended by signal {-exit_code}"
    digest = f", {harmless(words)}" if words else ""
    return f"[ck: {ended}, {lines} lines, {shown} shown{digest}; recall {handle}]"


def harmless(words: str) -> str:
    """Words taken from an output, for the inside of a mark: nothing in them names a handle,
    opens a mark or closes ours.
    """
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
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"
