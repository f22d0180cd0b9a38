"""Replies: what a hook prints, in each client's own form. {} means no opinion. No reply ever
holds an allow decision for Claude Code.
"""

from __future__ import annotations

from contextkernel.clients import limits

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

    from contextkernel.clients.tool_call import ToolCall

    Reply = dict[str, Any]


def replace_output(call: ToolCall, response: Any, text: str, context: str = "") -> Reply:
    """The reply that makes the model read the new output: `response` in the tool's own shape,
    `text` the same as plain text; `context` is added where the client takes both.

    Codex has no such field: in direct mode `continue: false` with a reason replaces what the model
    reads, and is voided by unknown keys; in code mode (ids that start with `exec-`) nothing can,
    and a text that is too long would be cut there: {} for both.
    """
    if call.client == "codex":
        if call.use.startswith("exec-") or len(text) > limits.CODEX_REPLY_MAX_CHARS:
            return {}
        return {"continue": False, "reason": text}
    inner = {"hookEventName": "PostToolUse", "updatedToolOutput": response}
    return {"hookSpecificOutput": dict(inner, additionalContext=context) if context else inner}


def add_context(event: str, text: str) -> Reply:
    """The reply to an event, by its name, that adds text to the model's context; {} for no text."""
    if not text:
        return {}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


def update_input(new_input: dict[str, Any]) -> Reply:
    """The reply that runs a tool with another input: the whole input, never merged. No decision:
    the user's rules apply to it.
    """
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": new_input}}


def reads_raw(agent_type: str, names: list[str]) -> bool:
    """Whether an agent of a type, named bare or in our plugin's scope, is to get raw output."""
    scope, _, name = agent_type.rpartition(":")
    return bool(name) and name in names and scope in ("", "context-kernel")
