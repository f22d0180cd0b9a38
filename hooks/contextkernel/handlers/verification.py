"""Work that follows a reply: follow the transcript, judge replacements, keep the store small.
Needs the ledger (sqlite3).
"""

from __future__ import annotations

import sqlite3
import sys
import time
from typing import TYPE_CHECKING, Any, Callable

from contextkernel.handlers import transcripts
from contextkernel.store import backoff, presence, recorder, settings

if TYPE_CHECKING:
    from contextkernel import receipt as receipts
    from contextkernel.store.ledger import Ledger

DAY = 86400  # seconds
RETRY_AFTER = 60  # seconds until an unusable ledger is tried again
SETTLED_AFTER = 0.5  # seconds since the ledger was found deleted until a new one is begun
SWEEP_EVERY = 3600  # seconds between sweeps of a resident process
# what a receipt or transcript raises that nobody wrote so
UNFIT = (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)
_state: dict[str, Any] = {
    "ledger_tried": 0.0,
    "swept": 0.0,
    "gone_since": 0.0,
    "sessions": set(),
    "offsets": {},
}


def run(event: dict[str, Any]) -> None:
    """The work after one event of the resident lane. Never raises for a store or transcript that
    cannot be used.
    """
    session = str(event.get("session_id") or "")
    try:
        if session and session not in _state["sessions"]:
            presence.mark(session)
            _state["sessions"].add(session)
    except OSError as error:
        _say(f"session not marked: {error}")
    if event.get("hook_event_name") == "UserPromptSubmit":
        attempt("prompt not noted", _prompted, event)
    if settings.flag("CK_CANARY"):
        attempt("canary postponed", judge_pending, session, str(event.get("transcript_path") or ""))
    if time.time() - _state["swept"] > SWEEP_EVERY and open_book() is not None:
        _state["swept"] = time.time()
        attempt("no sweep", sweep)


def attempt(words: str, work: Callable[..., object], *arguments: Any) -> None:
    """Run `work(ledger, …)`: what goes wrong is said, and keeps nothing else from being done. A
    damaged ledger is mended, and the work done again.
    """
    from contextkernel.store import aside

    for _ in range(2):
        ledger = open_book()
        if ledger is None:
            return
        try:
            work(ledger, *arguments)
            return
        except (OSError, sqlite3.Error) + UNFIT as error:
            if not aside.is_damage(error):
                _say(f"{words}: {error}")
                return
            ledger.damaged = True


def take_in() -> None:
    """Take in rows that were spooled before their replies. Never raises for a store that cannot
    be used.
    """
    attempt("spool not taken in", lambda ledger: ledger.take_spool())


def _prompted(ledger: Ledger, event: dict[str, Any]) -> None:
    from contextkernel.handlers import held_copies  # late: once a prompt

    ledger.take_spool()  # a resume or clear that the script of SessionStart has just counted
    held_copies.prompted(ledger, event)


def leave() -> None:
    """The last work of a resident process: rows that were spooled meanwhile are taken in, and how
    far transcripts were read is stored. Raises OSError, sqlite3.Error.
    """
    ledger = open_book(at_once=True)
    if ledger is not None:
        ledger.take_spool()
        if settings.flag("CK_CANARY"):  # Codex has no event in which they could be
            judge_pending(ledger, None, client="codex")
        for file, state in _state["offsets"].items():
            ledger.keep_offset(file, state)


def open_book(at_once: bool = False) -> Ledger | None:
    """The ledger of this process, opened at the first call and used for bookings from then on; None
    while it cannot be opened.

    One that was damaged, deleted or replaced since is opened anew: a deleted one after a moment,
    since whoever deletes the whole folder must get to the end of it. Until then rows are spooled.
    """
    damaged = recorder.ledger is not None and recorder.ledger.damaged
    gone = recorder.ledger is not None and not damaged and recorder.ledger.gone()
    if gone and not _state["gone_since"]:
        _state["gone_since"] = time.time()
    if gone and not at_once and time.time() - _state["gone_since"] < SETTLED_AFTER:
        return None
    if recorder.ledger is not None and (damaged or gone):
        recorder.ledger.close()
        recorder.ledger, _state["ledger_tried"], _state["gone_since"] = None, 0.0, 0.0
        _state["sessions"].clear()
    if (
        recorder.ledger is None
        and not settings.flag("CK_LOG_OFF")
        and time.time() - _state["ledger_tried"] > RETRY_AFTER
    ):
        from contextkernel.store import blobs, ledger

        _state["ledger_tried"] = time.time()
        try:
            recorder.ledger = ledger.open_ledger(damaged)
        except blobs.StoreError as error:
            _say(f"no ledger, rows are spooled: {error}")
    return recorder.ledger


def judge_pending(
    ledger: Ledger, session: str | None, path: str = "", whole: bool = False, client: str = ""
) -> int:
    """Number of receipts judged now: each pending one of the session (None: of all) against its own
    transcript.

    `whole` reads the transcripts from their start: the last look, for the report.  `client`: only
    its receipts.
    """
    judged = 0
    news: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
    for receipt in ledger.pending(session):
        if client and receipt["client"] != client:
            continue
        file = transcripts.of_receipt(receipt, path)
        try:
            if file not in news:
                news[file] = {}, {}  # what cannot be read is read once
                news[file] = _news_of(ledger, file, receipt["client"], whole)
            if judge(ledger, receipt, *news[file]):
                judged += 1
            elif whole and _is_over(receipt):
                ledger.judge(receipt, "expired", "not in its session file a day later")
        except UNFIT as error:
            ledger.judge(receipt, "expired", f"cannot be judged: {type(error).__name__}: {error}")
    return judged


def _is_over(receipt: dict[str, Any]) -> bool:
    """Whether a receipt will not be judged any more: Codex tells nobody that a session ended."""
    return receipt["client"] == "codex" and time.time() - (receipt["at"] or 0.0) > DAY


def judge(
    ledger: Ledger, receipt: dict[str, Any], results: dict[str, Any], refusals: dict[str, Any]
) -> bool:
    """Whether a verdict on a receipt was possible; it is recorded. `results`, `refusals`: of its
    transcript, by tool use id. Raises sqlite3.Error.
    """
    from contextkernel import receipt as receipts

    use = receipt["tool_use_id"]
    result = results.get(use)
    handle = (receipt["handle"] or "").split(" ")[0]
    verdict = receipts.judge(handle, result and result.text, refusals.get(use, ""))
    if verdict is None:
        return False
    ledger.judge(receipt, verdict.status, verdict.reason)
    try:
        _remember(receipt, verdict)
    except OSError as error:
        _say(f"no rest after a refusal: {error}")
    return True


def _remember(receipt: dict[str, Any], verdict: receipts.Verdict) -> None:
    """The rests that script hooks look up. Raises OSError."""
    if verdict.status == "verified":
        backoff.heal(receipt["session"], receipt["tool"])
    elif receipt["lane"] != "failure":
        backoff.alarm(receipt["session"], receipt["tool"], f"{receipt['tool']}: {verdict.reason}")


def _news_of(
    ledger: Ledger, file: str, client: str, whole: bool
) -> tuple[dict[str, Any], dict[str, Any]]:
    """(tool results, refusals) by tool use id, among what this process has not read of a
    transcript yet, or in all of it.
    """
    offsets, results, refusals = _state["offsets"], {}, {}
    start = {} if whole else offsets[file] if file in offsets else ledger.offset(file)
    state = start
    for reached, news in transcripts.steps(start, file, client):
        state = reached
        results.update(news.results)
        refusals.update(news.refusals)
    if not whole:
        offsets[file] = state
    return results, refusals


def sweep(ledger: Ledger) -> None:
    """Remove expired blobs and old marks. Raises OSError, sqlite3.Error.

    What is pinned stays, what running sessions were given, and what rows in the spool name that
    nobody has taken in.
    """
    from contextkernel.store import blobs, spool

    now = time.time()
    spooled = spool.handles()  # before the ledger is asked: a row may move there meanwhile
    running = [
        row["session"]
        for row in ledger.sessions()
        if presence.is_running(row["session"], row["transcript"] or "", now)
    ]
    blobs.sweep(ledger.pinned(now, running) | spooled, now)
    presence.sweep(now)


def _say(words: str) -> None:
    sys.stderr.write(f"context-kernel: {words}\n")
