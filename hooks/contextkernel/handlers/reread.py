"""Reads: a first Read passes whole; a repeated one, where the transcript proves the copy held,
comes as a mark or a diff.

Only the resident lane has the ledger at hand: script hooks leave every Read whole.
"""

from __future__ import annotations

import sqlite3
import sys

from contextkernel.clients import cpu_limit
from contextkernel.handlers import operators
from contextkernel.handlers.held_copies import bytes_changed, disk_state, held_text, is_whole
from contextkernel.store import blobs, recorder, settings

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

    from contextkernel.clients.responses import ReadFile
    from contextkernel.clients.tool_call import ToolCall
    from contextkernel.reread import Decision

CHAIN = 4  # deltas upon one whole copy, then the file is shown whole again
# what a ledger, a transcript or a store that cannot be used raises
UNFIT = (
    sqlite3.Error,
    ValueError,
    KeyError,
    TypeError,
    blobs.UnknownHandle,
    cpu_limit.LimitError,
)


def short_form(call: ToolCall, file: ReadFile, text: str) -> Decision:
    """The Decision for a Read of a whole file, what was decided kept in the ledger; WHOLE
    wherever anything is in doubt.
    """
    from contextkernel import reread as delta

    ledger = recorder.ledger
    if ledger is None or not settings.flag("CK_DELTA") or not is_whole(call, file):
        return delta.WHOLE
    key = (call.session, call.agent, file.path)
    try:
        held, generation = ledger.held(*key), ledger.generation(call.session)
        raw = text.encode("utf-8", "surrogatepass")
        handle = blobs.handle_of(raw)
        is_current = held.get("generation") == generation and len(held.get("chain", ())) < CHAIN
        copy = held_text(call, file, held) if is_current else None
        disk = disk_state(file.path)
        changed = bytes_changed(held, disk) if copy == text else ""
        decision = delta.WHOLE
        if copy is not None and changed is not None:
            decision = _decide(call, file, text, copy, held, handle, changed)
        if decision.rule != "whole" and not _keep(call, raw, handle):
            decision = delta.WHOLE
        facts = _facts(call, file, held, decision.rule, handle, generation)
        ledger.hold(*key, dict(facts, disk=disk))
    except UNFIT as error:
        recorder.record_note("PostToolUse", call.session, f"Read passed whole: {error}")
        return delta.WHOLE
    return decision


def _decide(
    call: ToolCall,
    file: ReadFile,
    text: str,
    copy: str,
    held: dict[str, Any],
    handle: str,
    changed: str,
) -> Decision:
    """What the operator decides, under a CPU limit; `changed`: what did although the text did not.
    Raises cpu_limit.LimitError.
    """
    from contextkernel import reread as delta

    was_marked = held.get("given") == "reread"
    least = settings.number("CK_DELTA_MIN")
    asked = (file.path, text, copy, was_marked, handle, least, changed)
    size = len(text) + len(copy)
    return delta.Decision(*cpu_limit.call(operators.delta, asked, size, call.since))


def _facts(
    call: ToolCall, file: ReadFile, held: dict[str, Any], rule: str, handle: str, generation: int
) -> dict[str, Any]:
    """What the ledger is to know of the copies that the context holds after this Read."""
    if rule == "whole":
        return {
            "use": call.use,
            "handle": handle,
            "lines": file.num_lines,
            "chain": [],
            "generation": generation,
            "given": "whole",
        }
    link = [{"use": call.use, "handle": handle}] if rule == "delta" else []
    return dict(held, chain=held.get("chain", []) + link, given=rule)


def _keep(call: ToolCall, raw: bytes, handle: str) -> bool:
    """Store the text of a Read that gets a short form, and lay it into the session's folder; False
    where it cannot be stored.
    """
    from contextkernel.handlers import rewrite

    try:
        rewrite.store_originals([(handle, raw)])
    except rewrite.NotStoredError as error:
        sys.stderr.write(f"context-kernel: Read passed whole: {error}\n")
        return False
    rewrite.offer(call.transcript, [(handle, raw)], "PostToolUse", call.session)
    return True
