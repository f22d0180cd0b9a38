"""A sub-agent's events: its start and its stop.

SubagentStart: tell the sub-agent where hidden text is found (SessionStart's context does not reach
it), and the failure lane of our judges.
SubagentStop: the failure lane may shorten again; the sub-agent's replacements are judged after the
reply.
"""

from __future__ import annotations

import sys

from contextkernel.clients import replies
from contextkernel.clients.tool_call import text_in
from contextkernel.store import presence, settings

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

    from contextkernel.clients.replies import Reply


def start(event: dict[str, Any]) -> Reply:
    """Context that names the folder of recall files."""
    from contextkernel.handlers import session  # late: the sentence is written once, there

    if event["ck_lane"] == "script" and presence.served(text_in(event, "session_id")):
        return {}
    watch(event, True)
    return replies.add_context("SubagentStart", session.how_back(event))


def watch(event: dict[str, Any], runs: bool) -> None:
    """Tell the failure lane when an agent that reads raw output starts and stops: the shell
    wrapper sees commands, not agents.
    """
    if replies.reads_raw(text_in(event, "agent_type"), settings.words("CK_AGENT_SKIP")):
        from contextkernel.clients.claude import shell_prefix  # late: only our own agents

        try:
            shell_prefix.watch(
                settings.data_root(),
                text_in(event, "session_id"),
                text_in(event, "agent_id"),
                runs,
            )
        except OSError as error:
            sys.stderr.write(f"context-kernel: no note for the failure lane: {error}\n")


def stop(event: dict[str, Any]) -> Reply:
    """{}: no opinion."""
    watch(event, False)
    return {}
