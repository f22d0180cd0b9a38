"""What happens at each event, in order: one module an event, or two that belong together.

Imports inside functions are late on purpose: a script pays for every module at every event.
"""

from __future__ import annotations

HANDLERS = {  # event: module here, and its function; an event that is not named needs none
    "SessionStart": ("session", "start"),
    "UserPromptSubmit": ("session", "prompt"),
    "PreToolUse": ("tool_call", "handle"),
    "PostToolUse": ("tool_result", "handle"),
    "PostToolUseFailure": ("failed_tool", "handle"),
    "SubagentStart": ("subagent", "start"),
    "SubagentStop": ("subagent", "stop"),
    "SessionEnd": ("session", "end"),
}


def handler_of(event: str):
    """The function that answers an event by its name; None where nothing is done about it."""
    from importlib import import_module  # late: scripts name their handler themselves

    row = HANDLERS.get(event)
    return getattr(import_module("contextkernel.handlers." + row[0]), row[1]) if row else None
