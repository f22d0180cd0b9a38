"""The spool: ledger rows of processes that cannot afford to open the database.

One append-only file per process, `spool/<time>-<pid>.jsonl`; one row is one write, so a killed process leaves whole rows.
The next process that opens the database takes the files in (`ledger.py`).
"""
from __future__ import annotations

import errno
import json
import os
import sys
import time

from contextkernel.store import settings

_path = ""
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)


def _new_path() -> str:
    return os.path.join(settings.folder("spool"), "%d-%d.jsonl" % (time.time_ns(), os.getpid()))


def append(kind: str, row: dict) -> None:
    """Append one row of a kind (receipt, fault, note, generation …). Never raises: a row that cannot be written is said on stderr."""
    global _path
    if settings.flag("CK_LOG_OFF"):
        return
    try:
        if not _path or not _path.startswith(settings.data_root() + os.sep):
            _path = _new_path()
        line = json.dumps(dict(row, kind=kind, at=row.get("at") or time.time())).encode("ascii") + b"\n"
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
    except settings.ForeignStateError:
        pass  # the entry has said so
    except (OSError, ValueError, TypeError) as error:
        try:
            sys.stderr.write("context-kernel: no ledger row (%s): %s\n" % (kind, error))
        except OSError:
            pass  # nobody reads it either
