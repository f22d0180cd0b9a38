"""The last look at a session: what is pending is judged or expires, small results of the script
lane are recorded, the store is swept.

Its transcripts are read on from where the last look at them ended, so that a long session which is
resumed and ended again costs only what is new.
"""

from __future__ import annotations

from contextkernel.handlers import transcripts, verification
from contextkernel.store import presence, settings

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

    from contextkernel.store.ledger import Ledger

FEW = 32  # ids that are cheaper to look for in each row than the row is to parse


def end_session(event: dict[str, Any]) -> None:
    """Everything that is done once a session has ended. Never raises for a store or transcript
    that cannot be used.
    """
    session = str(event.get("session_id") or "")
    path = str(event.get("transcript_path") or "")
    verification.attempt("not judged", look, session, path)
    verification.attempt("not expired", _expire, session)
    verification.attempt("mark not removed", lambda ledger: presence.ended(session))
    verification.attempt("no sweep", verification.sweep)


def look(ledger: Ledger, session: str, path: str) -> None:
    """Judge each pending receipt of a session by its transcript, record what its script hooks let
    pass, and store how far each file was read. Raises sqlite3.Error.
    """
    pending: dict[str, list[dict[str, Any]]] = {path: []}
    for receipt in ledger.pending(session) if settings.flag("CK_CANARY") else ():
        pending.setdefault(transcripts.of_receipt(receipt, path), []).append(receipt)
    unseen = _Unseen(ledger, session, path)
    for file, receipts in pending.items():
        try:
            _look_at(ledger, file, receipts, unseen)
        except verification.UNFIT as error:
            for receipt in receipts:
                ledger.judge(receipt, "expired", f"cannot be judged: {type(error).__name__}")


def _look_at(ledger: Ledger, file: str, receipts: list[dict[str, Any]], unseen: _Unseen) -> None:
    wanted = {receipt["tool_use_id"] for receipt in receipts}
    client = receipts[0]["client"] if receipts else "claude"
    results: dict[str, Any] = {}
    refusals: dict[str, Any] = {}
    stored = ledger.offset(file)
    for state, news in transcripts.steps(stored, file, client):
        results.update((use, news.results[use]) for use in wanted & news.results.keys())
        refusals.update((use, news.refusals[use]) for use in wanted & news.refusals.keys())
        if file == unseen.path:
            unseen.record(news)
        ledger.keep_offset(file, state)  # at each step: who is ended here goes on from here
    missing = sorted(wanted - results.keys())
    if stored and missing:  # the process that stored the offset may not have known of them yet
        only = missing if len(missing) <= FEW else ()
        for _, news in transcripts.steps({}, file, client, only):
            results.update((use, news.results[use]) for use in wanted & news.results.keys())
            refusals.update((use, news.refusals[use]) for use in wanted & news.refusals.keys())
    for receipt in receipts:
        verification.judge(ledger, receipt, results, refusals)


def _expire(ledger: Ledger, session: str) -> None:
    for receipt in ledger.pending(session):
        ledger.judge(
            receipt, "expired", "the session ended before its transcript showed the result"
        )


class _Unseen:
    """Records the results that script hooks let pass without a row: in that lane the transcript
    counts them, at the session's end.
    """

    def __init__(self, ledger: Ledger, session: str, path: str) -> None:
        self.ledger, self.session, self.path = ledger, session, path
        rows = ledger.rows(
            "SELECT tool_use_id AS use, lane FROM receipts WHERE session = ?", (session,)
        )
        self.known = {row["use"] for row in rows}
        self.calls: dict[str, str] = {}
        self.served = presence.served(session) or any(row["lane"] == "resident" for row in rows)

    def record(self, news: Any) -> None:
        """Record what is new among these results. Raises sqlite3.Error."""
        if self.served:
            return
        self.calls.update(news.calls)
        rows = []
        for use in news.results.keys() - self.known:
            size = len(news.results[use].text.encode("utf-8", "replace"))
            facts = {"session": self.session, "tool_use_id": use, "tool": self.calls.get(use, "")}
            sizes = {"raw": size, "host": size, "shown": size}
            rest = {"lane": "script", "rule": "", "handle": "", "status": ""}
            rows.append(dict(facts, transcript=self.path, **sizes, **rest))
        self.known.update(row["tool_use_id"] for row in rows)
        self.ledger.take_all("receipt", rows)
