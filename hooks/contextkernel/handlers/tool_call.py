"""PreToolUse: give slicer calls their budget. Nothing else is ever rewritten, and no permission is
ever given.

A call that a permission rule names exactly stays as it is: `ck.py slice` takes the same budget by
itself.
"""

from __future__ import annotations

import os
import sys

from contextkernel.clients import replies
from contextkernel.store import presence, settings

SLICERS = ("kernel_repo_slice", "kernel_slice")
OURS = ("mcp__plugin_context-kernel_kernel__", "mcp__kernel__")


def handle(event: dict) -> dict:
    """The reply with the whole input and a budget in it; {} for every other call."""
    given = event.get("tool_input")
    if (
        not isinstance(given, dict)
        or not given
        or (event["ck_lane"] == "script" and presence.served(str(event.get("session_id") or "")))
    ):
        return {}
    tool, command = event.get("tool_name"), given.get("command")
    if tool == "Bash" and isinstance(command, str):
        _leave_note(event, command)
        if "ck.py" in command and settings.flag("CK_PRETOOL"):
            from contextkernel import shell  # late: nearly no command names a slicer
            from contextkernel.clients.claude import permission_rules

            new = shell.with_budget(command)
            if new and not permission_rules.would_fall_silent(
                command, permission_rules.places(dict(os.environ), str(event.get("cwd") or ""))
            ):
                return replies.update_input(event, dict(given, command=new))
    elif (
        isinstance(tool, str)
        and tool.startswith(OURS)
        and tool.rpartition("__")[2] in SLICERS
        and not given.get("budget")
        and settings.flag("CK_PRETOOL")
    ):
        return replies.update_input(event, dict(given, budget="auto"))
    return {}


def _leave_note(event: dict, command: str) -> None:
    """Tell the failure lane that this command's agent reads raw output, where the client asks us
    about the command at all.
    """
    if replies.reads_raw(event, settings.words("CK_AGENT_SKIP")):
        from contextkernel.clients.claude import shell_prefix  # late: only our own agents

        try:
            shell_prefix.leave_note(
                settings.data_root(), command, str(event.get("session_id") or "")
            )
        except OSError as error:
            sys.stderr.write(f"context-kernel: no note for the failure lane: {error}\n")
