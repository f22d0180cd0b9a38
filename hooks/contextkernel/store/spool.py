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


def append(kind: str, row: dict) -> None:
    """Append one row of a kind (receipt, fault, note, generation …). Never raises: a row that cannot be written is said on stderr."""
    global _path
    if settings.flag("CK_LOG_OFF"):
        return
    from contextkernel.masking import of_row  # late: most events book nothing

    try:
        if not _path or not _path.startswith(settings.data_root() + os.sep):
            _path = os.path.join(settings.folder("spool"), "%d-%d.jsonl" % (time.time_ns(), os.getpid()))
        line = json.dumps(dict(of_row(row), kind=kind, at=row.get("at") or time.time())).encode("ascii") + b"\n"
        handle = os.open(_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            if os.write(handle, line) < len(line):  # a full disk takes a part
                os.write(handle, b"\n")
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        finally:
            os.close(handle)
    except (OSError, ValueError, TypeError) as error:
        try:
            sys.stderr.write("context-kernel: no ledger row (%s): %s\n" % (kind, error))
        except OSError:
            pass  # nobody reads it either
