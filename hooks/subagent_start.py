"""SubagentStart: tell the sub-agent where hidden text is found (SessionStart's context does not reach it)."""
from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # -I leaves it out
from contextkernel.host import hook, replies
from contextkernel.store import live


def handle(event: dict) -> dict:
    """Context that names the folder of recall files."""
    import session_start  # late: the sentence is written once, there

    if event["ck_lane"] == "script" and live.served(str(event.get("session_id") or "")):
        return {}
    return replies.add_context(event, session_start.how_back(event))


if __name__ == "__main__":
    raise SystemExit(hook.run(handle))
