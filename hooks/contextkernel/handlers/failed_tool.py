"""PostToolUseFailure: link a failure that the failure lane rewrote to its tool use; else say
once what the client cut out.
"""

from __future__ import annotations

import os

from contextkernel.clients import cpu_limit, limits, replies
from contextkernel.clients.claude import truncation
from contextkernel.store import recorder, settings

ONCE = 12 * 3600  # seconds: the advice is given once per command of a session


def handle(event: dict) -> dict:
    """Context about a cut, or {}. Nothing here can replace the text of a failure."""
    error = event.get("error")
    if event.get("tool_name") != "Bash" or not isinstance(error, str) or len(error) < 100:
        return {}
    handle_ = truncation.rewritten_in(error)
    if handle_ and _is_stored(handle_):
        _link(event, handle_)
        return {}
    found = truncation.cut_in(
        error,
        settings.number("BASH_MAX_OUTPUT_LENGTH", limits.FAILURE_READ_CHARS)
        or limits.FAILURE_READ_CHARS,
    )
    if found is None or not _first(event):
        return {}
    from contextkernel.handlers import operators  # late: only for a cut failure

    speaks = cpu_limit.call(operators.speaks_of_code, (error,), len(error), event.get("ck_since"))
    return replies.add_context(event, truncation.advice(found, speaks))


def _text(event: dict, name: str) -> str:
    value = event.get(name)
    return value if isinstance(value, str) else ""


def _is_stored(handle_: str) -> bool:
    from contextkernel.store import handles  # late: only after a rewritten failure, or a look-alike

    return handles.is_known(handle_)


def _link(event: dict, handle_: str) -> None:
    """The wrapper knew neither the tool use nor the agent: this event does. Its copy of the
    original is laid into the session's folder.
    """
    from contextkernel.clients.claude import session_files
    from contextkernel.store import blobs

    folder = session_files.results_folder(_text(event, "transcript_path"))
    try:
        if folder and not os.path.exists(os.path.join(folder, session_files.recall_name(handle_))):
            session_files.offer(_text(event, "transcript_path"), handle_, blobs.get(handle_))
    except (OSError, blobs.UnknownHandle) as error:
        recorder.record(
            "note",
            {
                "event": "PostToolUseFailure",
                "session": _text(event, "session_id"),
                "why": f"no recall file: {error}",
            },
        )
    if recorder.ledger is not None:
        recorder.ledger.take_spool()  # the wrapper's row must be there before the link to it
    recorder.record(
        "link",
        {
            "handle": handle_,
            "session": _text(event, "session_id"),
            "tool_use_id": _text(event, "tool_use_id"),
            "agent": _text(event, "agent_id"),
            "agent_type": _text(event, "agent_type"),
            "status": "pending",
        },
    )


def _first(event: dict) -> bool:
    """Whether this command's cut has not been spoken of in this session, and the lane is off (it
    left this one raw on purpose).
    """
    from contextkernel.clients import lane_keys
    from contextkernel.clients.claude import shell_argument
    from contextkernel.store import presence

    if lane_keys.is_on(settings.data_root(), lane_keys.settings_path()):
        return False
    given = event.get("tool_input")
    command = given.get("command") if isinstance(given, dict) else ""
    if not isinstance(command, str) or shell_argument.wants_raw(command):
        return False
    try:
        return presence.first_in(
            _text(event, "session_id"), "cut-" + shell_argument.key_of(command, ""), ONCE
        )
    except OSError:
        return False  # no state folder: rather not at all than every time
