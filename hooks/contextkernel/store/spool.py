"""The spool: ledger rows of processes that cannot afford to open the database.

One append-only file per process, `spool/<time>-<pid>.jsonl`; one row is one write, so a killed
process leaves whole rows. The next process that opens the database takes the files in
(`ledger.py`).
"""

from __future__ import annotations

import _thread
import errno
import json
import os
import sys
import time

from contextkernel.store import files, settings

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

LARGEST = 1 << 28  # bytes of a file that is looked through
_path = ""
# held while a row is written, and while this process's own file is renamed to be taken in:
# a row must not go to a file that was read already
lock = _thread.allocate_lock()
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)


def _new_path() -> str:
    return os.path.join(settings.folder("spool"), f"{time.time_ns()}-{os.getpid()}.jsonl")


def handles() -> set[str]:
    """Handles that rows name which no ledger has taken in yet. Raises OSError."""
    home, found = os.path.join(settings.data_root(), "spool"), set()
    for name in os.listdir(home) if os.path.isdir(home) else ():
        try:
            lines = files.content(os.path.join(home, name), LARGEST).split(b"\n")
        except (FileNotFoundError, files.NotRegularError):
            continue  # it was taken in meanwhile, or it is no file of rows
        for line in lines:
            found.update(_handles_in(line))
    return found


def _handles_in(line: bytes) -> list[str]:
    try:
        row = json.loads(line) if b'"handle"' in line else None
    except (ValueError, RecursionError):
        return []
    return (
        row["handle"].split()
        if isinstance(row, dict) and isinstance(row.get("handle"), str)
        else []
    )


def _write(line: bytes) -> None:
    """Raises OSError."""
    global _path
    try:
        handle = os.open(_path, _APPEND, 0o600)
    except FileNotFoundError:  # the folder was deleted meanwhile
        _path = _new_path()
        handle = os.open(_path, _APPEND, 0o600)
    try:
        if os.write(handle, line) < len(line):  # a full disk takes a part
            os.write(handle, b"\n")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(handle)


def append(kind: str, row: dict[str, Any]) -> None:
    """Append one row of a kind (receipt, fault, note, generation …). Never raises: a row that
    cannot be written is said on stderr.
    """
    global _path
    if settings.flag("CK_LOG_OFF"):
        return
    from contextkernel.masking import of_row  # late: most events book nothing

    try:
        if not _path or not _path.startswith(settings.data_root() + os.sep):
            _path = _new_path()
        line = (
            json.dumps(dict(of_row(row), kind=kind, at=row.get("at") or time.time())).encode(
                "ascii"
            )
            + b"\n"
        )
        with lock:
            _write(line)
    except settings.ForeignStateError:
        pass  # the entry has said so
    except (OSError, ValueError, TypeError) as error:
        try:
            sys.stderr.write(f"context-kernel: no ledger row ({kind}): {error}\n")
        except OSError:
            pass  # nobody reads it either
