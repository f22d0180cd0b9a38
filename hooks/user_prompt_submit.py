"""UserPromptSubmit: tell the model once when the client refused replacements. Its arrival also marks the session as served."""
from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # -I leaves it out
from contextkernel.host import hook, replies
from contextkernel.store import rest, settings


def handle(event: dict) -> dict:
    """Context with an alarm that is still untold, else {}."""
    why = rest.untold(str(event.get("session_id") or "")) if settings.flag("CK_CANARY") else ""
    return replies.add_context(event, "context-kernel: savings are overstated in this session: %s" % why if why else "")


if __name__ == "__main__":
    raise SystemExit(hook.run(handle))
