"""The ledger: `state.db`, SQLite in WAL mode. Receipts, page faults, generations, reads held,
offsets, pins, notes.

Only processes that may afford sqlite3 open it (the resident server, the command line, SessionEnd);
the others spool, and
every opener takes the spool in.  A database of a newer schema is never touched; a damaged one is
set aside.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Iterable

from contextkernel.masking import PATH_MOST, masked, of_row
from contextkernel.store import aside, blobs, files, settings, spool
from contextkernel.store.blobs import StoreError, digest_of

SCHEMA = 3  # PRAGMA user_version
NEWER = 1000  # a version further ahead is noise, no schema of ours to come
BUSY_MS = 50  # no event waits longer for another process
ATTEMPTS = 5  # to open a database, each after a damaged one was set aside
SET_ASIDE = "set aside"  # event of the note about a damaged database
REMEMBERED = (
    7 * 86400
)  # seconds: what was used since then outlives the loss of the ledger for so long

RECEIPT = (
    "client",
    "session",
    "agent",
    "generation",
    "tool_use_id",
    "tool",
    "lane",
    "rule",
    "command",
    "handle",
    "raw",
    "host",
    "shown",
    "lines",
    "lines_shown",
    "status",
    "reason",
    "at",
    "cwd",
    "agent_type",
    "transcript",
    "repo",
)
NUMBERS = frozenset(("raw", "host", "shown", "lines", "lines_shown", "bytes", "at"))
LARGEST = 1 << 62  # SQLite's integers end at 2**63; NaN and infinity are no sizes either
UNFIT = (
    TypeError,
    ValueError,
    KeyError,
    OverflowError,
)  # what a row raises that the tables cannot hold
TAKING = "0-0-"  # before the name of a spool file while it is taken in: nobody appends to it
_TABLES = """
CREATE TABLE IF NOT EXISTS receipts (
  client TEXT NOT NULL, session TEXT NOT NULL, agent TEXT NOT NULL, generation INTEGER NOT NULL, tool_use_id TEXT NOT NULL,
  tool TEXT, lane TEXT, rule TEXT, command TEXT, handle TEXT, raw INTEGER, host INTEGER, shown INTEGER, lines INTEGER,
  lines_shown INTEGER, status TEXT, reason TEXT, at REAL, cwd TEXT, agent_type TEXT, transcript TEXT,
  PRIMARY KEY (client, session, agent, generation, tool_use_id));
CREATE INDEX IF NOT EXISTS receipts_by_handle ON receipts (handle);
CREATE INDEX IF NOT EXISTS receipts_by_status ON receipts (status, session);
CREATE TABLE IF NOT EXISTS faults (uid TEXT PRIMARY KEY, handle TEXT, session TEXT, route TEXT, bytes INTEGER, at REAL);
CREATE TABLE IF NOT EXISTS notes (uid TEXT PRIMARY KEY, session TEXT, event TEXT, text TEXT, at REAL);
CREATE TABLE IF NOT EXISTS generations (session TEXT, agent TEXT, number INTEGER, cause TEXT, at REAL, PRIMARY KEY (session, agent, number));
CREATE TABLE IF NOT EXISTS reads (session TEXT, agent TEXT, path TEXT, facts TEXT, at REAL, PRIMARY KEY (session, agent, path));
CREATE TABLE IF NOT EXISTS offsets (path TEXT PRIMARY KEY, state TEXT, at REAL);
CREATE TABLE IF NOT EXISTS pins (handle TEXT, reason TEXT, until REAL, PRIMARY KEY (handle, reason));
"""
COLUMNS = {
    "receipts": RECEIPT,
    "faults": ("uid", "handle", "session", "route", "bytes", "at", "spans"),
    "notes": ("uid", "session", "event", "text", "at"),
    "generations": ("session", "agent", "number", "cause", "at"),
    "reads": ("session", "agent", "path", "facts", "at"),
    "offsets": ("path", "state", "at"),
    "pins": ("handle", "reason", "until"),
}
# Steps from each older schema to the next; step n is run when user_version is n.
MIGRATIONS: dict[int, str] = {
    0: _TABLES,
    1: "ALTER TABLE receipts ADD COLUMN repo TEXT;",
    2: "ALTER TABLE faults ADD COLUMN spans TEXT;",
}  # repo: see store/origin.py; spans: lines given back, see spans.py; NULL in rows before them


class Ledger:
    """The open database. Sizes are bytes, times seconds since the epoch. Methods that write commit
    at once.

    Threads may share it: a transaction holds the lock.
    """

    def __init__(self, db: sqlite3.Connection, path: str = ""):
        self.db = db
        self.damaged = False  # an error said so
        self._lock = threading.RLock()
        self._path, self._files = path, _identity(path)

    def gone(self) -> bool:
        """Whether the file, or its log of writes, was deleted or replaced since it was opened:
        nobody else sees what is written from then on.
        """
        now = _identity(self._path)
        if self._files[1:] == ((),) and now[:1] == self._files[:1]:
            self._files = now  # the log begins with the first write
        return now != self._files

    def _write(self, statement: str, values: Iterable = ()) -> int:
        """Rows changed by one statement, committed. Raises sqlite3.Error."""
        with self._lock, self.db:
            return self.db.execute(statement, tuple(_sound("", value) for value in values)).rowcount

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self.db.close()

    def take(self, kind: str, row: dict, uid: str = "") -> bool:
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

    def take_all(self, kind: str, rows: Iterable[dict]) -> None:
        """Book rows of a kind in one transaction. Raises sqlite3.Error."""
        started = f"{time.time_ns()}-{os.getpid()}"
        with self._lock, self.db:
            for number, row in enumerate(rows):
                self._insert(kind, row, f"{started}-{number}")

    def _insert(self, kind: str, row: dict, uid: str) -> None:
        row = of_row({name: _sound(name, value) for name, value in row.items()})
        at = row.get("at") or time.time()
        if kind == "receipt":
            given = dict(
                {
                    "client": "claude",
                    "session": "",
                    "agent": "",
                    "generation": None,
                    "tool_use_id": "",
                    "status": "",
                },
                **row,
            )
            given.update(
                at=at, tool_use_id=given["tool_use_id"] or uid
            )  # without an id of its own each result is one still
            if given["generation"] is None:
                given["generation"] = self.generation(given["session"], given["agent"])
            self.db.execute(
                (
                    f"INSERT OR IGNORE INTO receipts ({', '.join(RECEIPT)}) VALUES "
                    f"({', '.join('?' * len(RECEIPT))})"
                ),
                [given.get(name) for name in RECEIPT],
            )
        elif kind == "fault":
            self.db.execute(
                "INSERT OR IGNORE INTO faults VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    uid,
                    row.get("handle"),
                    row.get("session", ""),
                    row.get("route"),
                    row.get("bytes", 0),
                    at,
                    row.get("spans"),
                ),
            )
        elif kind == "generation":
            session, agent = row.get("session", ""), row.get("agent", "")
            self.db.execute(
                "INSERT OR IGNORE INTO generations VALUES (?, ?, ?, ?, ?)",
                (session, agent, self.generation(session, agent) + 1, row.get("cause"), at),
            )
        elif kind == "link":  # a receipt of the failure lane learns its tool use
            self.db.execute(
                "UPDATE OR IGNORE receipts SET tool_use_id = ?, agent = ?, status = ?, agent_type "
                "= ? WHERE handle = ? AND session = ? AND lane = 'failure'"
                " AND at = (SELECT MAX(at) FROM receipts WHERE handle = ? AND session = ? AND "
                "lane = 'failure' AND status IN ('', 'pending'))",
                (
                    row["tool_use_id"],
                    row.get("agent", ""),
                    row.get("status", "pending"),
                    row.get("agent_type", ""),
                    row["handle"],
                    row.get("session", ""),
                    row["handle"],
                    row.get("session", ""),
                ),
            )
        else:
            self.db.execute(
                "INSERT OR IGNORE INTO notes VALUES (?, ?, ?, ?, ?)",
                (
                    uid,
                    row.get("session", ""),
                    row.get("event", kind),
                    str(row.get("text") or row.get("why") or "")[:500],
                    at,
                ),
            )

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
    def pending(self, session: str | None = None) -> list[dict]:
        """Receipts whose replacement nobody has seen yet, oldest first."""
        where = "status = 'pending'" + (" AND session = ?" if session is not None else "")
        return self.rows(
            f"SELECT * FROM receipts WHERE {where} ORDER BY at",
            () if session is None else (session,),
        )

    def judge(self, receipt: dict, status: str, reason: str = "") -> None:
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
                receipt["client"],
                receipt["session"],
                receipt["agent"],
                receipt["generation"],
                receipt["tool_use_id"],
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
    def offset(self, path: str) -> dict:
        """The follower's stored state for a transcript; {} when it is new."""
        with self._lock:
            row = self.db.execute(
                "SELECT state FROM offsets WHERE path = ?",
                (_sound("path", masked(path, PATH_MOST)),),
            ).fetchone()
        return json.loads(row[0]) if row else {}

    def keep_offset(self, path: str, state: dict) -> None:
        """Store the follower's state for a transcript. Raises sqlite3.Error."""
        self._write(
            "INSERT OR REPLACE INTO offsets VALUES (?, ?, ?)",
            (masked(path, PATH_MOST), json.dumps(state), time.time()),
        )

    def held(self, session: str, agent: str, path: str) -> dict:
        """What is known of the copies of a file that this agent's context holds; {} when nothing
        is.
        """
        with self._lock:
            row = self.db.execute(
                "SELECT facts FROM reads WHERE session = ? AND agent = ? AND path = ?",
                (session, agent, path),
            ).fetchone()
        return json.loads(row[0]) if row else {}

    def hold(self, session: str, agent: str, path: str, facts: dict) -> None:
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

    def sessions(self) -> list[dict]:
        """Sessions that were given handles, as {"session", "transcript"}."""
        return self.rows(
            "SELECT session, MAX(transcript) AS transcript FROM receipts WHERE handle <> '' "
            "GROUP BY session"
        )

    def pin(self, handle: str, reason: str, until: float) -> None:
        """Keep a blob until a time, whatever the quota. Raises sqlite3.Error."""
        self._write("INSERT OR REPLACE INTO pins VALUES (?, ?, ?)", (handle, reason, until))

    def rows(self, query: str, values: Iterable = ()) -> list[dict]:
        """All rows of a query, as dicts. Raises sqlite3.Error."""
        with self._lock:
            found = self.db.execute(query, tuple(_sound("", value) for value in values))
            names = [column[0] for column in found.description]
            return [dict(zip(names, row)) for row in found]

    # -- the spool ------------------------------------------------------------------------------
    def take_spool(self) -> int:
        """Rows taken in from spool files of ended processes; each file goes once its rows are
        committed. Raises sqlite3.Error.
        """
        home, taken = os.path.join(settings.data_root(), "spool"), 0
        for name in sorted(os.listdir(home)) if os.path.isdir(home) else []:
            if not name.endswith(".jsonl") or _alive(name):
                continue
            path = os.path.join(home, name if name.startswith(TAKING) else TAKING + name)
            try:
                with spool.lock:  # who still writes begins a new file
                    os.rename(os.path.join(home, name), path)
                with open(path, "rb") as handle:
                    lines = handle.read().split(b"\n")
            except OSError:
                continue  # another opener was faster
            with self._lock, self.db:
                for line in (
                    lines
                ):  # a row is known by what it says: files of the same name may follow each other
                    taken += self._take_line(
                        line,
                        (
                            f"{name[name.startswith(TAKING) and len(TAKING) : -len('.jsonl')]}:"
                            f"{digest_of(line)[:16]}"
                        ),
                    )
            try:
                os.unlink(path)
            except OSError:
                pass  # taken again next time: rows with the same uid are ignored
        return taken

    def _take_line(self, line: bytes, uid: str) -> int:
        try:
            row = json.loads(line) if line.strip() else None
            if isinstance(row, dict):
                self._insert(str(row.get("kind")), row, uid)
                return 1
        except UNFIT + (RecursionError, sqlite3.InterfaceError, sqlite3.ProgrammingError):
            self._insert(
                "note", {"event": "spool", "text": f"unreadable row of {len(line)} bytes"}, uid
            )
        return 0


def _sound(name: str, value: object) -> object:
    """A value as the database takes it: text without lone surrogates (a cut emoji in a command),
    numbers where numbers belong.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8") if name not in NUMBERS else None
    if isinstance(value, int) and abs(value) >= LARGEST:
        return None
    return (
        None
        if name in NUMBERS and not (isinstance(value, (int, float)) and abs(value) < LARGEST)
        else value
    )


def _identity(path: str) -> tuple:
    """Which files a database is now: (device, inode) of it and of its log of writes."""
    found = []
    for name in (path, path + "-wal") if path else ():
        try:
            facts = os.stat(name)
            found.append((facts.st_dev, facts.st_ino))
        except OSError:
            found.append(())
    return tuple(found)


def _alive(name: str) -> bool:
    """Whether the process that writes a spool file still runs (and wrote it within the hour)."""
    started, _, pid = name[: -len(".jsonl")].partition("-")
    if (
        not started.isdigit()
        or not pid.isdigit()
        or int(pid) == os.getpid()
        or time.time() - int(started) / 1e9 > 3600
    ):
        return False
    if os.name == "nt":  # os.kill(pid, 0) would end the process there
        return time.time() - int(started) / 1e9 < 60
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        pass  # it runs as another user
    return True


def _stepped(db: sqlite3.Connection, version: int) -> int:
    """The schema's version after one step, made by us or by a process that was faster. Raises
    sqlite3.Error.
    """
    try:
        db.executescript(
            "BEGIN IMMEDIATE;"
            + MIGRATIONS[version]
            + f"PRAGMA user_version = {version + 1}; COMMIT;"
        )
        return version + 1
    except sqlite3.OperationalError:
        db.rollback()
        now = db.execute("PRAGMA user_version").fetchone()[0]
        if now <= version:
            raise
        return now


def open_ledger(suspect: bool = False) -> Ledger:
    """The ledger, its schema brought up to date, the spool taken in. Raises StoreError.

    A database that cannot serve is set aside and a new one begun: one line on stderr and a note say
    so. `suspect`: one that
    opened before gave an error of damage, so all of its pages are looked at.
    """
    path = os.path.join(settings.data_root(), "state.db")
    try:
        settings.folder()
        for _ in range(ATTEMPTS):
            before = _identity(path)[:1]
            try:
                if suspect:
                    _mend(path)
                return _opened(path)
            except (aside.DamagedError, sqlite3.Error) as error:
                suspect = aside.is_damage(error)
                if not suspect and _identity(path)[:1] == before:
                    raise  # else another process has set it aside under our hands
        raise StoreError(f"cannot open {path}: damaged again and again")
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"cannot open {path}: {error}") from error


def _opened(path: str) -> Ledger:
    if not os.path.lexists(path):
        with aside.locked(path):
            if not os.path.lexists(path):
                _begin(path)
    wrong = aside.misplaced(path)
    if wrong:
        raise aside.DamagedError(wrong[0])
    before = _identity(path)[:1]
    db = _connected(path)
    try:
        _bring_up(db, path)
        ledger = Ledger(db, path)
        if _identity(path)[:1] != before:
            raise sqlite3.OperationalError(
                "the database was replaced meanwhile"
            )  # its log may be another's
        ledger.take_spool()
    except (aside.DamagedError, StoreError, OSError, sqlite3.Error):
        db.close()
        raise
    return ledger


def _connected(path: str) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=BUSY_MS / 1000, check_same_thread=False)
    db.text_factory = lambda raw: raw.decode(
        "utf-8", "replace"
    )  # one rotten text must not hide the other rows
    db.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    return db


def _bring_up(db: sqlite3.Connection, path: str) -> None:
    """The schema of this version. Raises DamagedError, StoreError for a newer one,
    sqlite3.Error.
    """
    version = db.execute("PRAGMA user_version").fetchone()[0]
    known = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if version > SCHEMA and version <= SCHEMA + NEWER and "receipts" in known:
        raise StoreError(f"{path} has schema {int(version)}; this version knows {SCHEMA}")
    if not 0 <= version <= SCHEMA:
        raise aside.DamagedError(f"state.db: has schema {int(version)}")
    db.execute("PRAGMA journal_mode = WAL")
    db.execute(
        "PRAGMA synchronous = NORMAL"
    )  # WAL: a power cut can lose the last rows, never damage
    while version < SCHEMA:
        version = _stepped(db, version)
    for table, columns in COLUMNS.items():
        db.execute(f"SELECT {', '.join(columns)} FROM {table} LIMIT 0")


def _begin(path: str, kept: Iterable[tuple] = ()) -> None:
    """Put a new database in place, whole from the first moment; `kept`: its first pins. To be
    called behind the lock.
    """
    if any(os.path.lexists(path + tail) for tail in aside.TAILS):
        aside.move(path, tails=True)  # of a database that is gone: SQLite would delete them
    handle, temporary = files.beside(path)
    os.close(handle)
    try:
        db = _connected(temporary)
        try:
            _bring_up(db, path)
            with db:
                db.executemany("INSERT OR REPLACE INTO pins VALUES (?, ?, ?)", kept)
        finally:
            db.close()
        os.replace(temporary, path)
    finally:
        for tail in ("",) + aside.TAILS:
            if os.path.lexists(temporary + tail):
                os.unlink(temporary + tail)


def _mend(path: str) -> None:
    """Set a database aside that cannot serve, and begin a new one, in which what was used of
    late is pinned: who was given it is not known any more.
    """
    with aside.locked(path):
        why, tails = _fault(path)
        if not why:
            return  # another process was faster
        name = aside.move(path, tails)
        if not tails:
            now = time.time()
            _begin(
                path,
                [
                    (blob.handle, "set aside", now + REMEMBERED)
                    for blob in blobs.every()
                    if blob.used > now - REMEMBERED
                ],
            )
    words = f"{why}; set aside as {name}{'' if tails else ', a new ledger is begun'}"
    spool.append("note", {"event": SET_ASIDE, "text": words})
    try:
        sys.stderr.write(f"context-kernel: {words}\n")
    except OSError:
        pass  # the note says the same


def _fault(path: str) -> tuple[str, bool]:
    """(why a database cannot serve, "" when it can; whether only its companions are to blame).
    Raises OSError, sqlite3.Error for what is no damage.
    """
    wrong = aside.misplaced(path)
    if wrong or not os.path.lexists(path):
        return (wrong[0] if wrong else ""), bool(wrong) and not wrong[0].startswith(
            os.path.basename(path) + ":"
        )
    db = None
    try:
        db = _connected(path)
        _bring_up(db, path)
        found = db.execute("PRAGMA quick_check(1)").fetchone()[0]
        return ("" if found == "ok" else f"state.db: {' '.join(str(found).split())[:100]}"), False
    except (aside.DamagedError, sqlite3.Error) as error:
        if not aside.is_damage(error):
            raise
        return (
            str(error) if isinstance(error, aside.DamagedError) else f"state.db: {error}"
        ), False
    finally:
        if db is not None:
            db.close()
