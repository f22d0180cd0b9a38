"""`state.db` as a file: a new one put in place, a damaged one set aside."""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Iterable

from contextkernel.store import aside, blobs, files, spool
from contextkernel.store.schema import bring_up, connected

SET_ASIDE = "set aside"  # event of the note about a damaged database
# seconds: what was used since then outlives the loss of the ledger for so long
REMEMBERED = 7 * 86400


def begin(path: str, kept: Iterable[tuple[str, str, float]] = ()) -> None:
    """Put a new database in place, whole from the first moment; `kept`: its first pins. To be
    called behind the lock.
    """
    if any(os.path.lexists(path + tail) for tail in aside.TAILS):
        aside.move(path, tails=True)  # of a database that is gone: SQLite would delete them
    handle, temporary = files.beside(path)
    os.close(handle)
    try:
        db = connected(temporary)
        try:
            bring_up(db, path)
            with db:
                db.executemany("INSERT OR REPLACE INTO pins VALUES (?, ?, ?)", kept)
        finally:
            db.close()
        os.replace(temporary, path)
    finally:
        for tail in ("",) + aside.TAILS:
            if os.path.lexists(temporary + tail):
                os.unlink(temporary + tail)


def mend(path: str) -> None:
    """Set a database aside that cannot serve, and begin a new one, in which what was used of
    late is pinned: who was given it is not known any more.
    """
    with aside.locked(path):
        why, tails = _wrong_with(path)
        if not why:
            return  # another process was faster
        name = aside.move(path, tails)
        if not tails:
            now = time.time()
            begin(
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


def _wrong_with(path: str) -> tuple[str, bool]:
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
        db = connected(path)
        bring_up(db, path)
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
