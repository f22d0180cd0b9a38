"""The schema of `state.db`: its tables, the steps from each older version to the next, and how a
connection comes to them.
"""

from __future__ import annotations

import os
import sqlite3

from contextkernel.receipt import Receipt
from contextkernel.store import aside
from contextkernel.store.blobs import StoreError

SCHEMA = 3  # PRAGMA user_version
NEWER = 1000  # a version further ahead is noise, no schema of ours to come
BUSY_MS = 50  # no event waits longer for another process

_TABLES = """
CREATE TABLE IF NOT EXISTS receipts (
  client TEXT NOT NULL, session TEXT NOT NULL, agent TEXT NOT NULL, generation INTEGER NOT NULL,
  tool_use_id TEXT NOT NULL, tool TEXT, lane TEXT, rule TEXT, command TEXT, handle TEXT,
  raw INTEGER, host INTEGER, shown INTEGER, lines INTEGER, lines_shown INTEGER,
  status TEXT, reason TEXT, at REAL, cwd TEXT, agent_type TEXT, transcript TEXT,
  PRIMARY KEY (client, session, agent, generation, tool_use_id));
CREATE INDEX IF NOT EXISTS receipts_by_handle ON receipts (handle);
CREATE INDEX IF NOT EXISTS receipts_by_status ON receipts (status, session);
CREATE TABLE IF NOT EXISTS faults (
  uid TEXT PRIMARY KEY, handle TEXT, session TEXT, route TEXT, bytes INTEGER, at REAL);
CREATE TABLE IF NOT EXISTS notes (
  uid TEXT PRIMARY KEY, session TEXT, event TEXT, text TEXT, at REAL);
CREATE TABLE IF NOT EXISTS generations (
  session TEXT, agent TEXT, number INTEGER, cause TEXT, at REAL,
  PRIMARY KEY (session, agent, number));
CREATE TABLE IF NOT EXISTS reads (
  session TEXT, agent TEXT, path TEXT, facts TEXT, at REAL, PRIMARY KEY (session, agent, path));
CREATE TABLE IF NOT EXISTS offsets (path TEXT PRIMARY KEY, state TEXT, at REAL);
CREATE TABLE IF NOT EXISTS pins (
  handle TEXT, reason TEXT, until REAL, PRIMARY KEY (handle, reason));
"""
COLUMNS = {
    "receipts": Receipt._fields,
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
}  # repo: see store/origin.py; spans: lines given back, see lines.py; NULL in rows before them


def identity(path: str) -> tuple[tuple[int, ...], ...]:
    """Which files a database is now: (device, inode) of it and of its log of writes."""
    found: list[tuple[int, ...]] = []
    for name in (path, path + "-wal") if path else ():
        try:
            facts = os.stat(name)
            found.append((facts.st_dev, facts.st_ino))
        except OSError:
            found.append(())
    return tuple(found)


def connected(path: str) -> sqlite3.Connection:
    """A connection that waits BUSY_MS for other processes. Raises sqlite3.Error."""
    db = sqlite3.connect(path, timeout=BUSY_MS / 1000, check_same_thread=False)
    # one rotten text must not hide the other rows
    db.text_factory = lambda raw: raw.decode("utf-8", "replace")
    db.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    return db


def bring_up(db: sqlite3.Connection, path: str) -> None:
    """Bring a database to the schema of this version. Raises DamagedError, StoreError for a newer
    one, sqlite3.Error.
    """
    version = db.execute("PRAGMA user_version").fetchone()[0]
    known = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if version > SCHEMA and version <= SCHEMA + NEWER and "receipts" in known:
        raise StoreError(f"{path} has schema {int(version)}; this version knows {SCHEMA}")
    if not 0 <= version <= SCHEMA:
        raise aside.DamagedError(f"state.db: has schema {int(version)}")
    db.execute("PRAGMA journal_mode = WAL")
    # WAL: a power cut can lose the last rows, never damage
    db.execute("PRAGMA synchronous = NORMAL")
    while version < SCHEMA:
        version = _step(db, version)
    for table, columns in COLUMNS.items():
        db.execute(f"SELECT {', '.join(columns)} FROM {table} LIMIT 0")


def _step(db: sqlite3.Connection, version: int) -> int:
    """The schema's version after one step, made by us or by a process that was faster. Raises
    sqlite3.Error.
    """
    try:
        db.executescript(
            f"BEGIN IMMEDIATE;{MIGRATIONS[version]}PRAGMA user_version = {version + 1}; COMMIT;"
        )
        return version + 1
    except sqlite3.OperationalError:
        db.rollback()
        now: int = db.execute("PRAGMA user_version").fetchone()[0]
        if now <= version:
            raise
        return now
