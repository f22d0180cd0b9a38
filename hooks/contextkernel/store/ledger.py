"""The ledger: `state.db`, SQLite in WAL mode. Receipts, page faults, generations, reads held,
offsets, pins, notes.

Only processes that may afford sqlite3 open it (the resident server, the command line, SessionEnd);
the others spool, and every opener takes the spool in.  A database of a newer schema is never
touched; a damaged one is set aside.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterable
from typing import Any

from contextkernel.masking import PATH_MOST, masked
from contextkernel.receipt import Receipt
from contextkernel.store import aside, claims, database, schema, settings
from contextkernel.store.blobs import StoreError, digest_of
from contextkernel.store.rows import insert_of, sound
from contextkernel.store.schema import identity

ATTEMPTS = 5  # to open a database, each after a damaged one was set aside
# what a row raises that the tables cannot hold
UNFIT = (TypeError, ValueError, KeyError, OverflowError)
UNREADABLE = UNFIT + (RecursionError, sqlite3.InterfaceError, sqlite3.ProgrammingError)


class Ledger:
    """The open database. Sizes are bytes, times seconds since the epoch. Methods that write commit
    at once.

    Threads may share it: a transaction holds the lock.
    """

    def __init__(self, db: sqlite3.Connection, path: str = ""):
        self.db = db
        self.damaged = False  # an error said so
        self._lock = threading.RLock()
        self._path, self._files = path, identity(path)

    def gone(self) -> bool:
        """Whether the file, or its log of writes, was deleted or replaced since it was opened:
        nobody else sees what is written from then on.
        """
        now = identity(self._path)
        if self._files[1:] == ((),) and now[:1] == self._files[:1]:
            self._files = now  # the log begins with the first write
        return now != self._files

    def _write(self, statement: str, values: Iterable[object] = ()) -> int:
        """Rows changed by one statement, committed. Raises sqlite3.Error."""
        with self._lock, self.db:
            return self.db.execute(statement, tuple(sound("", value) for value in values)).rowcount

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self.db.close()

    def take(self, kind: str, row: dict[str, Any], uid: str = "") -> bool:
        """Book one row of a kind; False when the database refused (locked, full): the caller
        spools it instead.
        """
        try:
            if self.gone():
                return False
            with self._lock, self.db:
                self._insert(kind, row, uid or f"{time.time_ns()}-{os.getpid()}")
        except UNFIT + (sqlite3.Error,) as error:
            self.damaged = self.damaged or aside.is_damage(error)
            return False
        return True

    def take_all(self, kind: str, rows: Iterable[dict[str, Any]]) -> None:
        """Book rows of a kind in one transaction. Raises sqlite3.Error."""
        started = f"{time.time_ns()}-{os.getpid()}"
        with self._lock, self.db:
            for number, row in enumerate(rows):
                self._insert(kind, row, f"{started}-{number}")

    def _insert(self, kind: str, row: dict[str, Any], uid: str) -> None:
        self.db.execute(*insert_of(kind, row, uid, self.generation))

    def generation(self, session: str, agent: str = "") -> int:
        """How many epochs (compaction, resume, clear) this session, or agent in it, has seen: 0
        at first.
        """
        with self._lock:
            row = self.db.execute(
                "SELECT MAX(number) FROM generations WHERE session = ? AND agent = ?",
                (session, agent),
            ).fetchone()
        return row[0] or 0

    # -- canary ---------------------------------------------------------------------------------
    def pending(self, session: str | None = None) -> list[dict[str, Any]]:
        """Receipts whose replacement nobody has seen yet, oldest first."""
        where = "status = 'pending'" + (" AND session = ?" if session is not None else "")
        return self.rows(
            f"SELECT * FROM receipts WHERE {where} ORDER BY at",
            () if session is None else (session,),
        )

    def judge(self, given: dict[str, Any], status: str, reason: str = "") -> None:
        """Set the status of one receipt: verified, refused, missing, expired. Raises
        sqlite3.Error.
        """
        self._write(
            (
                "UPDATE receipts SET status = ?, reason = ? WHERE client = ? AND session = ? AND "
                "agent = ? AND generation = ? AND tool_use_id = ?"
            ),
            (
                status,
                masked(reason),
                given["client"],
                given["session"],
                given["agent"],
                given["generation"],
                given["tool_use_id"],
            ),
        )

    def reset_canary(self) -> int:
        """Number of receipts whose refusal or absence is forgotten: they count as never judged.
        Raises sqlite3.Error.
        """
        return self._write(
            "UPDATE receipts SET status = 'expired' WHERE status IN ('refused', 'missing', "
            "'pending')"
        )

    # -- small keyed facts ----------------------------------------------------------------------
    def offset(self, path: str) -> dict[str, Any]:
        """The follower's stored state for a transcript; {} when it is new."""
        with self._lock:
            row = self.db.execute(
                "SELECT state FROM offsets WHERE path = ?",
                (sound("path", masked(path, PATH_MOST)),),
            ).fetchone()
        return json.loads(row[0]) if row else {}

    def keep_offset(self, path: str, state: dict[str, Any]) -> None:
        """Store the follower's state for a transcript. Raises sqlite3.Error."""
        self._write(
            "INSERT OR REPLACE INTO offsets VALUES (?, ?, ?)",
            (masked(path, PATH_MOST), json.dumps(state), time.time()),
        )

    def held(self, session: str, agent: str, path: str) -> dict[str, Any]:
        """What is known of the copies of a file that this agent's context holds; {} when nothing
        is.
        """
        with self._lock:
            row = self.db.execute(
                "SELECT facts FROM reads WHERE session = ? AND agent = ? AND path = ?",
                (session, agent, path),
            ).fetchone()
        return json.loads(row[0]) if row else {}

    def hold(self, session: str, agent: str, path: str, facts: dict[str, Any]) -> None:
        """Store what is known of the copies of a file; nothing where its path holds a secret (it
        is shown whole then). Raises sqlite3.Error.
        """
        if masked(path, PATH_MOST) == path:
            self._write(
                "INSERT OR REPLACE INTO reads VALUES (?, ?, ?, ?, ?)",
                (session, agent, path, json.dumps(facts), time.time()),
            )

    def pinned(self, now: float, live: Iterable[str] = ()) -> set[str]:
        """Handles that no sweep may remove: those with a live pin, and all of sessions that were
        active in the last day or are among `live`.
        """
        with self._lock:
            rows = self.db.execute(
                "SELECT handle FROM pins WHERE until > ? UNION SELECT handle FROM receipts WHERE "
                "session IN"
                " (SELECT session FROM receipts WHERE at > ?) AND handle <> ''",
                (now, now - 86400),
            ).fetchall()
            for session in live:
                rows += self.db.execute(
                    "SELECT handle FROM receipts WHERE session = ? AND handle <> ''", (session,)
                ).fetchall()
        return {handle for row in rows for handle in str(row[0]).split()}

    def sessions(self) -> list[dict[str, Any]]:
        """Sessions that were given handles, as {"session", "transcript"}."""
        return self.rows(
            "SELECT session, MAX(transcript) AS transcript FROM receipts WHERE handle <> '' "
            "GROUP BY session"
        )

    def pin(self, handle: str, reason: str, until: float) -> None:
        """Keep a blob until a time, whatever the quota. Raises sqlite3.Error."""
        self._write("INSERT OR REPLACE INTO pins VALUES (?, ?, ?)", (handle, reason, until))

    def rows(self, query: str, values: Iterable[object] = ()) -> list[dict[str, Any]]:
        """All rows of a query, as dicts. Raises sqlite3.Error."""
        with self._lock:
            found = self.db.execute(query, tuple(sound("", value) for value in values))
            names = [column[0] for column in found.description]
            return [dict(zip(names, row)) for row in found]

    def receipts(self, where: str, values: Iterable[object] = ()) -> list[Receipt]:
        """Receipts that answer to a condition, oldest first. Raises sqlite3.Error."""
        found = self.rows(f"SELECT * FROM receipts WHERE {where} ORDER BY at", values)
        return [Receipt.of_row(row) for row in found]

    # -- the spool ------------------------------------------------------------------------------
    def take_spool(self) -> int:
        """Rows taken in from spool files of ended processes; each file goes once its rows are
        committed. Raises sqlite3.Error.
        """
        taken = 0
        for claim in claims.claimed():
            with self._lock, self.db:
                # a row is known by what it says: files of the same name may follow each other
                for line in claim.lines:
                    taken += self._take_line(line, f"{claim.origin}:{digest_of(line)[:16]}")
            claim.release()
        return taken

    def _take_line(self, line: bytes, uid: str) -> int:
        try:
            row = json.loads(line) if line.strip() else None
            if isinstance(row, dict):
                self._insert(str(row.get("kind")), row, uid)
                return 1
        except UNREADABLE:
            told = {"event": "spool", "text": f"unreadable row of {len(line)} bytes"}
            self._insert("note", told, uid)
        return 0


def open_ledger(suspect: bool = False) -> Ledger:
    """The ledger, its schema brought up to date, the spool taken in. Raises StoreError.

    A database that cannot serve is set aside and a new one begun: one line on stderr and a note say
    so. `suspect`: one that opened before gave an error of damage, so all of its pages are looked
    at.
    """
    path = os.path.join(settings.data_root(), "state.db")
    try:
        settings.folder()
        for _ in range(ATTEMPTS):
            before = identity(path)[:1]
            try:
                if suspect:
                    database.mend(path)
                return _opened(path)
            except (aside.DamagedError, sqlite3.Error) as error:
                suspect = aside.is_damage(error)
                if not suspect and identity(path)[:1] == before:
                    raise  # else another process has set it aside under our hands
        raise StoreError(f"cannot open {path}: damaged again and again")
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"cannot open {path}: {error}") from error


def _opened(path: str) -> Ledger:
    if not os.path.lexists(path):
        with aside.locked(path):
            if not os.path.lexists(path):
                database.begin(path)
    wrong = aside.misplaced(path)
    if wrong:
        raise aside.DamagedError(wrong[0])
    before = identity(path)[:1]
    db = schema.connected(path)
    try:
        schema.bring_up(db, path)
        ledger = Ledger(db, path)
        if identity(path)[:1] != before:
            # its log may be another's
            raise sqlite3.OperationalError("the database was replaced meanwhile")
        ledger.take_spool()
    except (aside.DamagedError, StoreError, OSError, sqlite3.Error):
        db.close()
        raise
    return ledger
