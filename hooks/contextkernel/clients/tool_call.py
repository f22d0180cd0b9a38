"""One call of a tool, as an event tells of it: parsed once, at the edge. Below a handler no raw
event goes.
"""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

_SUBJECTS = ("command", "file_path", "pattern", "url", "description")


class ToolCall(
    namedtuple(
        "ToolCall",
        (
            "event",
            "client",
            "lane",
            "since",
            "session",
            "agent",
            "agent_type",
            "transcript",
            "cwd",
            "permission_mode",
            "tool",
            "use",
            "input",
            "command",
            "subject",
            "response",
            "error",
        ),
    )
):
    """A call before it runs, or with its result. Text that an event lacks, or has in another type,
    is "".

    `client`: claude or codex; `lane`: resident or script; `since`: when the caller began to wait
    (time.monotonic), None where nobody knows.  `agent` is "" in the main conversation, `use` the id
    of the call.  `command` is the shell command of a Bash call, `subject` what a report calls it
    by: its command, file, pattern, URL or description.  `response` is what the tool gave back,
    `error` what a failed one did.
    """

    __slots__ = ()
    event: str
    client: str
    lane: str
    since: float | None
    session: str
    agent: str
    agent_type: str
    transcript: str
    cwd: str
    permission_mode: str
    tool: str
    use: str
    input: dict[str, Any]
    command: str
    subject: str
    response: Any
    error: str

    @classmethod
    def from_event(cls, event: dict[str, Any]) -> ToolCall:
        """The call of a PreToolUse, PostToolUse or PostToolUseFailure event."""
        given = event.get("tool_input")
        given = given if isinstance(given, dict) else {}
        return cls(
            text_in(event, "hook_event_name"),
            event["ck_client"],
            event["ck_lane"],
            event.get("ck_since"),
            text_in(event, "session_id"),
            text_in(event, "agent_id"),
            text_in(event, "agent_type"),
            text_in(event, "transcript_path"),
            text_in(event, "cwd"),
            text_in(event, "permission_mode"),
            text_in(event, "tool_name"),
            text_in(event, "tool_use_id"),
            given,
            text_in(given, "command"),
            next((str(given[name]) for name in _SUBJECTS if given.get(name)), ""),
            event.get("tool_response"),
            text_in(event, "error"),
        )


def text_in(table: dict[str, Any], name: str) -> str:
    """A text of a JSON object; "" where it is missing or of another type."""
    value = table.get(name)
    return value if isinstance(value, str) else ""
