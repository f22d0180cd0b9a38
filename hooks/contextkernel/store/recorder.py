"""Booking: one call for both lanes. A resident process has opened the ledger and named it here;
a script spools.
"""

from __future__ import annotations

from contextkernel.store import spool

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

    from contextkernel.receipt import Receipt
    from contextkernel.store.ledger import Ledger

ledger: Ledger | None = None  # of a resident process, open


def record(kind: str, row: dict[str, Any]) -> None:
    """Book a row: into the open ledger, else into the spool. Never raises; CK_LOG_OFF=1 books
    nothing.

    A receipt that names a handle learns the repository it was made in; one that names none is
    spooled always (a transaction for each small result costs more than the rest of its event), and
    the ledger takes it in within a second.
    """
    is_small = kind == "receipt" and not row.get("handle")
    if kind == "receipt" and not is_small and "repo" not in row:
        from contextkernel.store import repository_keys  # late: most events hide nothing

        row = dict(row, repo=repository_keys.repository(str(row.get("cwd") or "")))
    if is_small or ledger is None or not ledger.take(kind, row):
        spool.append(kind, row)


def record_receipt(receipt: Receipt) -> None:
    """Book what one tool result cost. As `record`."""
    record("receipt", receipt.as_row())


def record_note(event: str, session: str, why: str) -> None:
    """Book why something was not done as usual. As `record`."""
    record("note", {"event": event, "session": session, "why": why})
