"""What happens at each event, in order: one module an event, or two that belong together.

Imports inside functions are late on purpose: a script pays for every module at every event.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any, Callable

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


def handler_of(event: str) -> Callable[[dict[str, Any]], dict[str, Any]] | None:
    """The function that answers an event by its name; None where nothing is done about it."""
    from importlib import import_module  # late: scripts name their handler themselves

    row = HANDLERS.get(event)
    if row is None:
        return None
    found: Callable[[dict[str, Any]], dict[str, Any]]
    found = getattr(import_module("contextkernel.handlers." + row[0]), row[1])
    return found
