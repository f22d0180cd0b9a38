"""Work that follows a reply: follow the transcript, judge replacements, keep the store small. Needs the ledger (sqlite3)."""
from __future__ import annotations

import os
import sqlite3
import sys
import time

from contextkernel.store import book, live, rest, settings

RETRY_AFTER = 60  # seconds until an unusable ledger is tried again
SWEEP_EVERY = 3600  # seconds between sweeps of a resident process
MOST_FOLLOWED = 512 * 1024 * 1024  # bytes of a transcript read in one go, its newest; what lies before has been judged, or expires
_state = {"ledger_tried": 0.0, "swept": 0.0, "sessions": set(), "offsets": {}}


def run(event: dict) -> None:
    """The work after one event of the resident lane. Never raises for a store or transcript that cannot be used."""
    session = str(event.get("session_id") or "")
    try:
        if session and session not in _state["sessions"]:
            live.mark(session)
            _state["sessions"].add(session)
    except OSError as error:
        _say("session not marked: %s" % error)
    ledger = open_book()
    if ledger is None:
        return
    try:
        if event.get("hook_event_name") == "UserPromptSubmit":
            import reading  # late: once a prompt

            ledger.take_spool()  # a resume or clear that the script of SessionStart has just counted
            reading.prompted(ledger, event)
        if not settings.flag("CK_CANARY"):
            return
        judge_pending(ledger, session, str(event.get("transcript_path") or ""))
        if time.time() - _state["swept"] > SWEEP_EVERY:
            _state["swept"] = time.time()
            sweep(ledger)
    except (OSError, sqlite3.Error) as error:
        _say("canary postponed: %s" % error)


def open_book():
    """The ledger of this process, opened at the first call and used for bookings from then on; None while it cannot be opened."""
    if book.ledger is None and not settings.flag("CK_LOG_OFF") and time.time() - _state["ledger_tried"] > RETRY_AFTER:
        from contextkernel.store import blobs, ledger

        _state["ledger_tried"] = time.time()
        try:
            book.ledger = ledger.open_ledger()
        except blobs.StoreError as error:
            _say("no ledger, rows are spooled: %s" % error)
    return book.ledger


def judge_pending(ledger, session: "str | None", transcript: str = "", whole: bool = False) -> int:
    """Number of receipts judged now: each pending one of the session (None: of all) against its own transcript.

    `whole` reads the transcripts from their start: the last look, at a session's end or for the report.
    """
    from contextkernel.verify import canary

    judged, news = 0, {}
    for receipt in ledger.pending(session):
        path = transcript_of(receipt, transcript)
        if path not in news:
            news[path] = follow(path, whole)
        results, refusals = news[path]
        result = results.get(receipt["tool_use_id"])
        verdict = canary.judge((receipt["handle"] or "").split(" ")[0], result and result.text, refusals.get(receipt["tool_use_id"], ""))
        if verdict:
            ledger.judge(receipt, verdict.status, verdict.reason)
            _remember(receipt, verdict)
            judged += 1
    return judged


def _remember(receipt: dict, verdict) -> None:
    if verdict.status == "verified":
        rest.heal(receipt["session"], receipt["tool"])
    elif receipt["lane"] != "failure":
        rest.alarm(receipt["session"], receipt["tool"], "%s: %s" % (receipt["tool"], verdict.reason))


def transcript_of(receipt: dict, transcript: str) -> str:
    """The transcript that holds a receipt's result: a sub-agent's is its own file."""
    path = receipt["transcript"] or transcript
    if receipt["agent"] and path.endswith(".jsonl"):
        return os.path.join(path[:-len(".jsonl")], "subagents", "agent-%s.jsonl" % receipt["agent"])
    return path


def follow(path: str, whole: bool = False) -> "tuple[dict, dict]":
    """(tool results, refusals) by tool use id, among what this process has not read of a transcript yet, or in all of it."""
    from contextkernel.host import transcript

    state, results, refusals, more = {} if whole else _state["offsets"].get(path, {}), {}, {}, True
    steps = MOST_FOLLOWED // transcript.STEP
    while more and steps:
        steps -= 1
        state, news = transcript.advance(state, path, last=MOST_FOLLOWED)
        results.update(news.results)
        refusals.update(news.refusals)
        more = news.more
    _state["offsets"][path] = state
    return results, refusals


def sweep(ledger) -> None:
    """Remove expired blobs and old marks; pinned blobs stay. Raises OSError, sqlite3.Error."""
    from contextkernel.store import blobs

    now = time.time()
    blobs.sweep(ledger.pinned(now), now)
    live.sweep(now)


def end_session(event: dict) -> None:
    """The last look at a session: what is still pending after it expires."""
    session = str(event.get("session_id") or "")
    ledger = open_book()
    if ledger is None:
        return
    try:
        if settings.flag("CK_CANARY"):
            judge_pending(ledger, session, str(event.get("transcript_path") or ""), whole=True)
        for receipt in ledger.pending(session):
            ledger.judge(receipt, "expired", "the session ended before its transcript showed the result")
        if not live.served(session):
            book_unseen(ledger, session, str(event.get("transcript_path") or ""))
        sweep(ledger)
    except (OSError, sqlite3.Error) as error:
        _say("session not closed in the ledger: %s" % error)


def book_unseen(ledger, session: str, path: str) -> None:
    """Book the results that script hooks let pass without a row: in that lane the follower counts them, at the session's end. Raises sqlite3.Error."""
    from contextkernel.host import transcript

    booked = ledger.rows("SELECT tool_use_id AS use, lane FROM receipts WHERE session = ?", (session,))
    if any(row["lane"] == "resident" for row in booked):
        return
    known, calls, state, more = {row["use"] for row in booked}, {}, {}, True
    steps = MOST_FOLLOWED // transcript.STEP
    while more and steps:
        steps -= 1
        state, news = transcript.advance(state, path, last=MOST_FOLLOWED)
        more = news.more
        calls.update(news.calls)
        for use in news.results.keys() - known:
            size = len(news.results[use].text.encode("utf-8", "replace"))
            ledger.take("receipt", {"session": session, "tool_use_id": use, "tool": calls.get(use, ""), "lane": "script", "rule": "", "handle": "",
                                    "raw": size, "host": size, "shown": size, "status": "", "transcript": path})


def _say(words: str) -> None:
    sys.stderr.write("context-kernel: %s\n" % words)
