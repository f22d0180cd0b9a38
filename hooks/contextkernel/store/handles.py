"""Handles that a text names and the store holds: what tells our own marks from words that look
like them.
"""

from __future__ import annotations

from contextkernel import marks
from contextkernel.store import blobs

MOST = 200  # handles looked up in one text; a text of ours names one, or a few


def known_in(text: str) -> frozenset[str]:
    """The handles among the first MOST that marks of a text name, and that give something back."""
    if not marks.carries_mark(text):
        return frozenset()
    return frozenset(handle for handle in marks.handles_in(text)[:MOST] if is_known(handle))


def is_known(handle: str) -> bool:
    """Whether the store holds a text under a handle."""
    try:
        blobs.find(handle)
    except (blobs.UnknownHandle, OSError):
        return False
    return True
