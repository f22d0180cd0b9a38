"""Copies of files that an agent's context holds, and the files' bytes as they were then."""

from __future__ import annotations

import os

from contextkernel.clients.claude import context_check, session_files
from contextkernel.clients.tool_call import text_in
from contextkernel.store import blobs, files, recorder

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

    from contextkernel.clients.responses import ReadFile
    from contextkernel.clients.tool_call import ToolCall
    from contextkernel.store.ledger import Ledger

LARGEST = 64 << 20  # bytes of a file whose bytes are looked at beside its text


def disk_state(path: str) -> dict[str, Any]:
    """The file's bytes as they are now: {"digest", "form"}; {} where they cannot be read."""
    from contextkernel import reread as delta

    try:
        data = files.content(path, LARGEST)
    except (OSError, ValueError):
        return {}
    return {"digest": blobs.digest_of(data), "form": delta.form_of(data)}


def bytes_changed(held: dict[str, Any], disk: dict[str, Any]) -> str | None:
    """What changed in a file's bytes since the copy held was read, in words; "" where nothing did,
    None where that cannot be told.
    """
    from contextkernel import reread as delta

    before = held.get("disk") or {}
    if disk == before:
        return ""
    return delta.change_of(before["form"], disk["form"]) if disk and before else None


def is_whole(call: ToolCall, file: ReadFile) -> bool:
    """Whether a Read asked for, and got, the whole file: no range, nothing cut by the client."""
    is_ranged = any(call.input.get(name) for name in ("offset", "limit", "pages"))
    return bool(call.input and not is_ranged and file.is_whole)


def held_text(call: ToolCall, file: ReadFile, held: dict[str, Any]) -> str | None:
    """The copy that stands in the agent's context, proved by the transcript; None without proof."""
    uses = (
        [held["use"]] + [link["use"] for link in held.get("chain", ())] if held.get("use") else []
    )
    shown = (
        context_check.shown_texts(
            session_files.agent_transcript(call.transcript, call.agent),
            call.use,
            uses,
            _since(call),
            file.path,
        )
        if uses
        else None
    )
    if not shown:
        return None
    base = context_check.unnumbered(shown[0], int(held["lines"]))
    if base is None or blobs.handle_of(base.encode("utf-8", "surrogatepass")) != held["handle"]:
        return None
    for link, text in zip(held.get("chain", ()), shown[1:]):
        if "recall " + link["handle"] not in text:
            return None
    return (
        blobs.get(held["chain"][-1]["handle"]).decode("utf-8", "surrogatepass")
        if held.get("chain")
        else base
    )


def _since(call: ToolCall) -> int | None:
    """Bytes of the transcript when the last prompt was sent; 0 in a sub-agent, which cannot be
    rewound; None when not known.
    """
    if call.agent or recorder.ledger is None:
        return 0 if call.agent else None
    size = recorder.ledger.offset("prompt " + call.session).get("size")
    return size if isinstance(size, int) else None


def prompted(ledger: Ledger, event: dict[str, Any]) -> None:
    """A prompt was sent: remember where the transcript ends. Raises sqlite3.Error."""
    path = text_in(event, "transcript_path")
    size = os.path.getsize(path) if os.path.isfile(path) else 0
    ledger.keep_offset("prompt " + text_in(event, "session_id"), {"size": size})
