"""Keeps a test session out of the person's own folders, and notices when it was not kept out."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import NamedTuple

WATCHED = (
    ".local/state/context-kernel",
    ".claude",
    ".claude.json",
    ".codex",
    ".context-kernel-tap",
)
PREFIXES = ("CK_", "CLAUDE", "CODEX", "ANTHROPIC", "OPENAI", "XDG_", "GIT_", "PYTEST_", "PYTHON")
KEPT = (
    "CK_CLAUDE_BINS",
    "CK_TEST_CACHE",
    "CK_TEST_NOTES",
    "CK_TEST_LONG",
    "CK_BASH32",
    "CLAUDE_BIN",
    "CODEX_BIN",
    "PYTHONPYCACHEPREFIX",
    "PYTEST_CURRENT_TEST",
)


class Folders(NamedTuple):
    """The session's stand-ins; `base` holds the others."""

    base: str
    home: str
    temp: str
    bin: str


def listing(home: str) -> dict[str, tuple[int, int]]:
    """Path -> (mtime in ns, size) of everything under the watched places of a home folder."""
    seen: dict[str, tuple[int, int]] = {}

    def note(path: str) -> None:
        try:
            facts = os.lstat(path)
        except OSError:
            return
        seen[path] = (facts.st_mtime_ns, facts.st_size)

    for place in WATCHED:
        top = os.path.join(home, place)
        note(top)
        for folder, folders, files in os.walk(top):
            for name in folders + files:
                note(os.path.join(folder, name))
    return seen


def changes(before: dict[str, tuple[int, int]], after: dict[str, tuple[int, int]]) -> list[str]:
    """Paths that came, went or were written between two listings, sorted."""
    return sorted(
        path for path in before.keys() | after.keys() if before.get(path) != after.get(path)
    )


def open_folders(interpreter: str) -> Folders:
    """Fresh folders for one session; `bin` holds `python3` as a link to an interpreter (no
    shim).
    """
    base = os.path.realpath(tempfile.mkdtemp(prefix="ck-tests-"))
    folders = Folders(base, *(os.path.join(base, name) for name in ("home", "tmp", "bin")))
    for folder in folders[1:]:
        os.mkdir(folder, 0o700)
    os.symlink(interpreter, os.path.join(folders.bin, "python3"))
    return folders


def enter(folders: Folders) -> None:
    """Points this process, and all that it starts, at the session's folders: HOME, XDG_*, both
    clients, our own state.
    """
    for name in list(os.environ):
        if name.startswith(PREFIXES) and name not in KEPT:
            del os.environ[name]
    home = folders.home
    os.environ.update(
        HOME=home,
        TMPDIR=folders.temp,
        PATH=folders.bin + os.pathsep + os.environ.get("PATH", "/usr/bin:/bin"),
        XDG_STATE_HOME=os.path.join(home, "xdg-state"),
        XDG_CONFIG_HOME=os.path.join(home, "xdg-config"),
        XDG_CACHE_HOME=os.path.join(home, "xdg-cache"),
        XDG_DATA_HOME=os.path.join(home, "xdg-data"),
        CLAUDE_CONFIG_DIR=os.path.join(home, "claude"),
        CODEX_HOME=os.path.join(home, "codex"),
        CK_DATA=os.path.join(home, "ck-data"),
        GIT_CONFIG_GLOBAL=os.devnull,
        GIT_CONFIG_NOSYSTEM="1",
        LC_ALL="C.UTF-8",
    )
    tempfile.tempdir = folders.temp


def leave(folders: Folders) -> None:
    """Removes the session's folders, read-only ones too."""
    for folder, _, _ in os.walk(folders.base):
        os.chmod(folder, 0o700)
    shutil.rmtree(folders.base, ignore_errors=True)
