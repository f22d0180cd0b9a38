"""Spool files of processes that have ended: claimed, read, and removed once their rows are in."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import NamedTuple

from contextkernel.store import files, settings, spool

TAKING = "0-0-"  # before the name of a spool file while it is taken in: nobody appends to it


class Claim(NamedTuple):
    """A file that nobody else reads now. `origin` names the process that wrote it."""

    path: str
    origin: str
    lines: list[bytes]

    def release(self) -> None:
        """Remove the file."""
        try:
            os.unlink(self.path)
        except OSError:
            pass  # taken again next time: rows with the same uid are ignored


def claimed() -> Iterator[Claim]:
    """The files of ended processes, oldest first, each under a name of its own from then on: a
    process that still writes begins a new file.
    """
    home = os.path.join(settings.data_root(), "spool")
    for name in sorted(os.listdir(home)) if os.path.isdir(home) else []:
        if not name.endswith(".jsonl") or _alive(name):
            continue
        written = name[len(TAKING) :] if name.startswith(TAKING) else name
        path = os.path.join(home, TAKING + written)
        try:
            os.rename(os.path.join(home, name), path)
            lines = files.content(path, spool.LARGEST).split(b"\n")
        except OSError:
            continue  # another opener was faster, or it is no file of rows
        yield Claim(path, written[: -len(".jsonl")], lines)


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
