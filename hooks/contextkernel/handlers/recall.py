"""Stored text for whoever asks: what a handle names, and whether it is given here."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from contextkernel.store import blobs, origin, settings


class RecallError(Exception):
    """A call that cannot be answered; one line says why."""


class ElsewhereError(RecallError):
    """The handle was made in another repository and session."""


class Caller(NamedTuple):
    """Who asks, as far as that is known ("")."""

    session: str
    folder: str
    transcript: str


def stored(handle: str, caller: Caller, everywhere: bool = False) -> bytes:
    """The bytes of a handle. Raises RecallError where there are none (with what it was), and
    ElsewhereError where they were made elsewhere, unless `everywhere`.
    """
    try:
        data = blobs.get(handle)
        issued = os.path.basename(blobs.find(handle)).partition(".")[0]
    except blobs.UnknownHandle as error:
        raise RecallError(f"{error}{what_it_was(handle, caller)}") from None
    if not everywhere and not origin.honoured(receipts_of(issued) or (), *caller):
        raise ElsewhereError(f"handle {handle} was made in another repository and session")
    return data


def what_it_was(handle: str, caller: Caller) -> str:
    """A lost original in some words, from the ledger, for whom it would have been given to; "" when
    the handle is shorter than a prefix may be, or none of ours.
    """
    rows = receipts_of(handle.strip().lower())
    if not rows or not origin.honoured(rows, *caller):
        return ""
    command = (rows[0]["command"] or "").replace("\n", " ")[:120]
    return f" (it was {rows[0]['lines'] or 0} lines of {rows[0]['tool'] or 'a tool'}: {command})"


def receipts_of(handle: str) -> list[dict[str, Any]] | None:
    """The ledger's receipts of a handle, or of those that it is the beginning of; None where the
    ledger cannot be asked.
    """
    import sqlite3  # late: 10 ms

    from contextkernel.store import ledger

    if (
        not handle.isalnum()
        or len(handle) < blobs.SHORTEST_PREFIX
        or not os.path.isdir(settings.data_root())
    ):
        return None
    if settings.flag("CK_LOG_OFF") and not os.path.exists(
        os.path.join(settings.data_root(), "state.db")
    ):
        return None
    try:
        books = ledger.open_ledger()
        try:
            digits = handle[: blobs.HANDLE_DIGITS]
            found = books.rows(
                "SELECT * FROM receipts WHERE handle LIKE ? OR handle LIKE ? ORDER BY at DESC",
                (digits + "%", "% " + digits + "%"),
            )
        finally:
            books.close()
    except (blobs.StoreError, sqlite3.Error):
        return None
    return found
