"""SubagentStart: tell the sub-agent where hidden text is found (SessionStart's context does not reach it), and the failure lane of our judges."""
from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # -I leaves it out
from contextkernel.host import hook, replies
from contextkernel.store import live, settings


def handle(event: dict) -> dict:
    """Context that names the folder of recall files."""
    import session_start  # late: the sentence is written once, there

    if event["ck_lane"] == "script" and live.served(str(event.get("session_id") or "")):
        return {}
    watch(event, True)
    return replies.add_context(event, session_start.how_back(event))


def watch(event: dict, runs: bool) -> None:
    """Tell the failure lane when an agent that reads raw output starts and stops: the shell wrapper sees commands, not agents."""
    if replies.reads_raw(event, settings.words("CK_AGENT_SKIP")):
        from contextkernel.host import lane  # late: only our own agents

        try:
            lane.watch(settings.data_root(), str(event.get("session_id") or ""), str(event.get("agent_id") or ""), runs)
        except OSError as error:
            sys.stderr.write("context-kernel: no note for the failure lane: %s\n" % error)


if __name__ == "__main__":
    raise SystemExit(hook.run(handle))
