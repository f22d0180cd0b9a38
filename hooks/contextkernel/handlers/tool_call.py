"""PreToolUse: give slicer calls their budget. Nothing else is ever rewritten, and no permission is
ever given.

A call that a permission rule names exactly stays as it is: `ck.py slice` takes the same budget by
itself.
"""

from __future__ import annotations

import os
import sys

from contextkernel.clients import replies
from contextkernel.clients.tool_call import ToolCall
from contextkernel.store import presence, settings

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

    from contextkernel.clients.replies import Reply

SLICERS = ("kernel_repo_slice", "kernel_slice")
OURS = ("mcp__plugin_context-kernel_kernel__", "mcp__kernel__")


def handle(event: dict[str, Any]) -> Reply:
    """The reply with the whole input and a budget in it; {} for every other call."""
    call = ToolCall.from_event(event)
    if not call.input or (call.lane == "script" and presence.served(call.session)):
        return {}
    if call.tool == "Bash" and call.command:
        _leave_note(call)
        new = _budgeted(call)
        return replies.update_input(dict(call.input, command=new)) if new else {}
    if (
        call.tool.startswith(OURS)
        and call.tool.rpartition("__")[2] in SLICERS
        and not call.input.get("budget")
        and settings.flag("CK_PRETOOL")
    ):
        return replies.update_input(dict(call.input, budget="auto"))
    return {}


def _budgeted(call: ToolCall) -> str:
    """The command with a budget for the slicer in it; "" where it is to stay as it is."""
    if "ck.py" not in call.command or not settings.flag("CK_PRETOOL"):
        return ""
    from contextkernel import shell  # late: nearly no command names a slicer
    from contextkernel.clients.claude import permission_rules

    new = shell.with_budget(call.command)
    if not new:
        return ""
    places = permission_rules.places(dict(os.environ), call.cwd)
    return "" if permission_rules.would_fall_silent(call.command, places) else new


def _leave_note(call: ToolCall) -> None:
    """Tell the failure lane that this command's agent reads raw output, where the client asks us
    about the command at all.
    """
    if replies.reads_raw(call.agent_type, settings.words("CK_AGENT_SKIP")):
        from contextkernel.clients.claude import shell_prefix  # late: only our own agents

        try:
            shell_prefix.leave_note(settings.data_root(), call.command, call.session)
        except OSError as error:
            sys.stderr.write(f"context-kernel: no note for the failure lane: {error}\n")
