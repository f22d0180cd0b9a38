"""Modes of what lies in the state folder: 0700 for folders, 0600 for files, also for those that
an earlier version made wider.
"""

from __future__ import annotations

import os
import stat
import sys

# Only what we make is narrowed: $CK_DATA may name a folder that holds other things.
FOLDERS = (
    "blobs",
    "spool",
    "live",
    "rest",
    "index",
    "pycache",
    "install",
    "codex-bundle",
    "lane",
    "bin",
)
FILES = ("state.db", "lane.log")  # and what begins with one of them and a dot or dash
PROGRAMS = ("bin", "codex-bundle")  # what may be run there stays so


def is_ours(name: str) -> bool:
    """Whether a name in the state folder is one of those that we make."""
    return name in FOLDERS or any(
        name == one or name.startswith((one + ".", one + "-")) for one in FILES
    )


def narrow(root: str, everything: bool) -> None:
    """Take the rights of others from the state folder and what is ours in it. Never raises; links
    are not followed.

    Blobs, which may be many and were never wider, are looked at with `everything`, or where their
    folder was too wide. One line on stderr names entries of another owner: he put them there while
    the folder was open to him.
    """
    try:
        os.chmod(root, 0o700)
        if os.stat(root).st_mode & 0o077:
            return  # a file system without modes
        names = [name for name in os.listdir(root) if is_ours(name)]
    except OSError as error:
        sys.stderr.write(
            f"context-kernel: {root} stays open to others: {error.strerror or error}\n"
        )
        return
    foreign: list[str] = []
    for name in names:
        _narrow(os.path.join(root, name), name in PROGRAMS, everything, name == "blobs", foreign)
    if foreign:
        sys.stderr.write(
            f"context-kernel: {len(foreign)} entries of {root} belong to another user: "
            f"{', '.join(sorted(foreign)[:3])}\n"
        )


def _narrow(
    path: str, programs: bool, everything: bool, of_blobs: bool, foreign: list[str]
) -> None:
    try:
        facts = os.lstat(path)
        if facts.st_uid != os.geteuid():
            foreign.append(path)
            return
        is_folder = stat.S_ISDIR(facts.st_mode)
        wanted = 0o700 if is_folder or (programs and facts.st_mode & 0o100) else 0o600
        wide = bool(stat.S_IMODE(facts.st_mode) & ~wanted & 0o777)
        if wide and (is_folder or stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1):
            os.chmod(path, facts.st_mode & wanted)
        if is_folder and (everything or wide or not of_blobs or os.path.basename(path) == "blobs"):
            for name in os.listdir(path):
                _narrow(os.path.join(path, name), programs, everything or wide, of_blobs, foreign)
    except OSError:
        return  # it went meanwhile, or a file system without modes
