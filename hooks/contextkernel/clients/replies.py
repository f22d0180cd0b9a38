"""Replies: what a hook prints, in each client's own form. {} means no opinion. No reply ever
holds an allow decision for Claude Code.
"""

from __future__ import annotations

from contextkernel.clients import limits


def replace_output(event: dict, response, text: str) -> dict:
    """The reply that makes the model read the new output: `response` in the tool's own shape,
    `text` the same as plain text.

    Codex has no such field: in direct mode `continue: false` with a reason replaces what the model
    reads; in code mode
    (ids that start with `exec-`) nothing can, and a text over 10,000 characters would be cut there:
    {} for both.
    """
    if event.get("ck_client") == "codex":
        if (
            str(event.get("tool_use_id", "")).startswith("exec-")
            or len(text) > limits.CODEX_REPLY_MAX_CHARS
        ):
            return {}
        return {"continue": False, "reason": text}
    return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": response}}


def add_context(event: dict, text: str) -> dict:
    """The reply that adds text to the model's context; {} for no text."""
    if not text:
        return {}
    return {
        "hookSpecificOutput": {
            "hookEventName": event.get("hook_event_name", ""),
            "additionalContext": text,
        }
    }


def with_context(event: dict, reply: dict, text: str) -> dict:
    """A reply with context added to whatever it says already. Codex gets no mixture: its
    replacement is voided by unknown keys.
    """
    if not text or (reply and event.get("ck_client") == "codex"):
        return reply
    inner = dict(
        reply.get("hookSpecificOutput") or {"hookEventName": event.get("hook_event_name", "")}
    )
    inner["additionalContext"] = "\n".join(
        part for part in (inner.get("additionalContext"), text) if part
    )
    return dict(reply, hookSpecificOutput=inner)


def update_input(event: dict, new_input: dict) -> dict:
    """The reply that runs a tool with another input: the whole input, never merged. No decision:
    the user's rules apply to it.
    """
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": new_input}}


def reads_raw(event: dict, names: list[str]) -> bool:
    """Whether an event belongs to an agent, named bare or in our plugin's scope, that is to get
    raw output.
    """
    scope, _, name = str(event.get("agent_type") or "").rpartition(":")
    return bool(name) and name in names and scope in ("", "context-kernel")
