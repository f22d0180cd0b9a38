"""Whether an event is worth a look: asked of its bytes, before anything is parsed.

A module of its own, since most events of the script lane need no other.
"""

from __future__ import annotations

import os


def is_small(raw: bytes) -> bool:
    """Whether an event can pass without being parsed: it is whole, and holds less than
    CK_MIN_TOKENS in all, no recall, and nobody taps.
    """
    from contextkernel.store import settings

    return (
        len(raw) < 4 * settings.number("CK_MIN_TOKENS")
        and raw.startswith(b"{")
        and raw.rstrip().endswith(b"}")
        and b'"PostToolUse"' in raw
        and b"ck-" not in raw
        and b"tool_response" in raw
        and not os.path.exists(os.path.expanduser(settings.text("CK_TAP_FLAG")))
    )
