"""PostToolUseFailure: link a failure that the failure lane rewrote to its tool use; else say
once what the client cut out.
"""

from __future__ import annotations

import os

from contextkernel.clients import limits, replies
from contextkernel.clients.claude import truncation
from contextkernel.clients.tool_call import ToolCall
from contextkernel.store import recorder, settings

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

    from contextkernel.clients.replies import Reply

EVENT = "PostToolUseFailure"
ONCE = 12 * 3600  # seconds: the advice is given once per command of a session
SHORTEST = 100  # characters; a shorter error neither holds our mark nor was cut


def handle(event: dict[str, Any]) -> Reply:
    """Context about a cut, or {}. Nothing here can replace the text of a failure."""
    call = ToolCall.from_event(event)
    if call.tool != "Bash" or len(call.error) < SHORTEST:
        return {}
    handle_ = truncation.rewritten_in(call.error)
    if handle_ and _is_stored(handle_):
        _link(call, handle_)
        return {}
    read = settings.number("BASH_MAX_OUTPUT_LENGTH", limits.FAILURE_READ_CHARS)
    found = truncation.cut_in(call.error, read or limits.FAILURE_READ_CHARS)
    if found is None or not _claim_advice(call):
        return {}
    from contextkernel.clients import cpu_limit  # late: only for a cut failure
    from contextkernel.handlers import operators

    asked = (call.error,)
    speaks = cpu_limit.call(operators.speaks_of_code, asked, len(call.error), call.since)
    return replies.add_context(call.event, truncation.advice(found, speaks))


def _is_stored(handle_: str) -> bool:
    from contextkernel.store import handles  # late: only after a rewritten failure, or a look-alike

    return handles.is_known(handle_)


def _link(call: ToolCall, handle_: str) -> None:
    """The wrapper knew neither the tool use nor the agent: this event does. Its copy of the
    original is laid into the session's folder.
    """
    from contextkernel.clients.claude import session_files
    from contextkernel.store import blobs

    folder = session_files.results_folder(call.transcript)
    try:
        if folder and not os.path.exists(os.path.join(folder, session_files.recall_name(handle_))):
            session_files.offer(call.transcript, handle_, blobs.get(handle_))
    except (OSError, blobs.UnknownHandle) as error:
        recorder.record_note(EVENT, call.session, f"no recall file: {error}")
    if recorder.ledger is not None:
        recorder.ledger.take_spool()  # the wrapper's row must be there before the link to it
    recorder.record(
        "link",
        {
            "handle": handle_,
            "session": call.session,
            "tool_use_id": call.use,
            "agent": call.agent,
            "agent_type": call.agent_type,
            "status": "pending",
        },
    )


def _claim_advice(call: ToolCall) -> bool:
    """True, once, where this command's cut has not been spoken of in this session, and the lane is
    off (else it left this one raw on purpose).
    """
    from contextkernel.clients import lane_keys
    from contextkernel.clients.claude import shell_argument
    from contextkernel.store import presence

    if lane_keys.is_on(settings.data_root(), lane_keys.settings_path()):
        return False
    if shell_argument.wants_raw(call.command):
        return False
    try:
        key = "cut-" + shell_argument.key_of(call.command, "")
        return presence.first_in(call.session, key, ONCE)
    except OSError:
        return False  # no state folder: rather not at all than every time
