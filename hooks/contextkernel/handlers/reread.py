"""Reads: a first Read passes whole; a repeated one, where the transcript proves the copy held,
comes as a mark or a diff.

Only the resident lane has the ledger at hand: script hooks leave every Read whole.
"""

from __future__ import annotations

import os
import sqlite3
import sys

from contextkernel.clients import cpu_limit
from contextkernel.clients.claude import context_check, session_files
from contextkernel.handlers import operators
from contextkernel.store import blobs, files, recorder, settings

LARGEST = 64 << 20  # bytes of a file whose bytes are looked at beside its text
CHAIN = 4  # deltas upon one whole copy, then the file is shown whole again


def short_form(event: dict, text: str):
    """The Decision for a Read of a whole file, what was decided kept in the ledger; WHOLE
    wherever anything is in doubt.
    """
    from contextkernel import reread as delta

    ledger, file = recorder.ledger, event["tool_response"]["file"]
    if ledger is None or not settings.flag("CK_DELTA") or not is_whole(event):
        return delta.WHOLE
    who, agent, path = (
        str(event.get("session_id") or ""),
        str(event.get("agent_id") or ""),
        str(file.get("filePath") or ""),
    )
    try:
        held, generation = ledger.held(who, agent, path), ledger.generation(who)
        raw = text.encode("utf-8", "surrogatepass")
        handle = blobs.handle_of(raw)
        copy = (
            held_text(event, held)
            if held.get("generation") == generation and len(held.get("chain", ())) < CHAIN
            else None
        )
        asked = (
            path,
            text,
            copy,
            held.get("given") == "reread",
            handle,
            settings.number("CK_DELTA_MIN"),
        )
        disk = disk_state(path)
        changed = bytes_changed(held, disk) if copy == text else ""
        if changed is None:
            copy = None
        elif changed:
            asked += (changed,)
        decision = delta.WHOLE
        if copy is not None:
            decision = delta.Decision(
                *cpu_limit.call(
                    operators.delta, asked, len(text) + len(copy), event.get("ck_since")
                )
            )
        if decision.rule != "whole" and not _stored(event, raw, handle):
            decision = delta.WHOLE
        facts = _facts(event, held, decision.rule, handle, generation, file)
        ledger.hold(who, agent, path, dict(facts, disk=disk))
    except (
        sqlite3.Error,
        ValueError,
        KeyError,
        TypeError,
        blobs.UnknownHandle,
        cpu_limit.LimitError,
    ) as error:
        recorder.record(
            "note", {"event": "PostToolUse", "session": who, "why": f"Read passed whole: {error}"}
        )
        return delta.WHOLE
    return decision


def disk_state(path: str) -> dict:
    """The file's bytes as they are now: {"digest", "form"}; {} where they cannot be read."""
    from contextkernel import reread as delta

    try:
        data = files.content(path, LARGEST)
    except (OSError, ValueError):
        return {}
    return {"digest": blobs.digest_of(data), "form": delta.form_of(data)}


def bytes_changed(held: dict, disk: dict) -> str | None:
    """What changed in a file's bytes since the copy held was read, in words; "" where nothing did,
    None where that cannot be told.
    """
    from contextkernel import reread as delta

    before = held.get("disk") or {}
    if disk == before:
        return ""
    return delta.change_of(before["form"], disk["form"]) if disk and before else None


def is_whole(event: dict) -> bool:
    """Whether a Read asked for, and got, the whole file: no range, nothing cut by the client."""
    given, file = event.get("tool_input"), event["tool_response"]["file"]
    ranged = (
        not isinstance(given, dict)
        or given.get("offset")
        or given.get("limit")
        or given.get("pages")
    )
    return (
        not ranged
        and file.get("startLine") == 1
        and file.get("numLines") == file.get("totalLines")
        and not event["tool_response"].get("truncatedByTokenCap")
        and not file.get("truncatedByTokenCap")
    )


def held_text(event: dict, held: dict) -> str | None:
    """The copy that stands in the agent's context, proved by the transcript; None without proof."""
    uses = (
        [held["use"]] + [link["use"] for link in held.get("chain", ())] if held.get("use") else []
    )
    shown = (
        context_check.shown_texts(
            session_files.transcript_of(event),
            str(event.get("tool_use_id") or ""),
            uses,
            _since(event),
            event["tool_response"]["file"]["filePath"],
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


def _since(event: dict) -> int | None:
    """Bytes of the transcript when the last prompt was sent; 0 in a sub-agent, which cannot be
    rewound; None when not known.
    """
    if event.get("agent_id"):
        return 0
    return recorder.ledger.offset("prompt " + str(event.get("session_id") or "")).get("size")


def prompted(ledger, event: dict) -> None:
    """A prompt was sent: remember where the transcript ends. Raises sqlite3.Error."""
    path = str(event.get("transcript_path") or "")
    ledger.keep_offset(
        "prompt " + str(event.get("session_id") or ""),
        {"size": os.path.getsize(path) if os.path.isfile(path) else 0},
    )


def _facts(event: dict, held: dict, rule: str, handle: str, generation: int, file: dict) -> dict:
    use = str(event.get("tool_use_id") or "")
    if rule == "whole":
        return {
            "use": use,
            "handle": handle,
            "lines": file["numLines"],
            "chain": [],
            "generation": generation,
            "given": "whole",
        }
    link = [{"use": use, "handle": handle}] if rule == "delta" else []
    return dict(held, chain=held.get("chain", []) + link, given=rule)


def _stored(event: dict, raw: bytes, handle: str) -> bool:
    try:
        if blobs.put(raw) != handle:
            return False
        session_files.offer(str(event.get("transcript_path") or ""), handle, raw)
    except blobs.StoreError as error:
        sys.stderr.write(f"context-kernel: Read passed whole: {error}\n")
        return False
    except OSError as error:
        recorder.record(
            "note",
            {
                "event": "PostToolUse",
                "session": str(event.get("session_id") or ""),
                "why": f"no recall file: {error}",
            },
        )
    return True
