"""Booking: one call for both lanes. A resident process has opened the ledger and named it here;
a script spools.
"""

from __future__ import annotations

from contextkernel.store import spool

ledger = None  # the open Ledger of a resident process


def record(kind: str, row: dict) -> None:
    """Book a row: into the open ledger, else into the spool. Never raises; CK_LOG_OFF=1 books
    nothing.

    A receipt that names a handle learns the repository it was made in.
    """
    if kind == "receipt" and row.get("handle") and "repo" not in row:
        from contextkernel.store import origin  # late: most events hide nothing

        row = dict(row, repo=origin.repository(str(row.get("cwd") or "")))
    if ledger is None or not ledger.take(kind, row):
        spool.append(kind, row)
