"""The checkout that a folder lies in, as far as its files tell."""

from __future__ import annotations

import os

from contextkernel.records import NamedTuple
from contextkernel.store import files

SHORT_BYTES = 64 << 10  # of files that hold a path


class Checkout(NamedTuple):
    """A working tree: its top folder, its git folder (where its index is) and the one it shares
    with other working trees.
    """

    top: str
    folder: str
    common: str

    @property
    def index_path(self) -> str:
        """The path of the index."""
        return os.path.join(self.folder, "index")


def checkout_at(top: str) -> Checkout | None:
    """The checkout whose top folder this is; a bare repository is none."""
    path = os.path.join(top, ".git")
    folder = path if os.path.isdir(path) else _pointed(top, path)
    if not folder:
        return None
    common = os.path.normpath(
        os.path.join(folder, _first_line(os.path.join(folder, "commondir")) or ".")
    )
    whole = os.path.lexists(os.path.join(folder, "HEAD")) and all(
        os.path.isdir(os.path.join(common, name)) for name in ("objects", "refs")
    )
    return Checkout(top, folder, common) if whole else None


def is_linked_worktree(top: str) -> bool:
    """Is the folder a further working tree of a repository (`git worktree add`)?  Its files are
    those of another checkout again.
    """
    folder = _pointed(top, os.path.join(top, ".git"))
    return bool(folder) and (
        os.path.basename(os.path.dirname(folder)) == "worktrees"
        or os.path.isfile(os.path.join(folder, "commondir"))
    )


def _pointed(top: str, path: str) -> str:
    """The git folder that a `.git` file names, "" when it is none."""
    line = _first_line(path)
    return (
        os.path.normpath(os.path.join(top, line[7:].strip())) if line.startswith("gitdir:") else ""
    )


def _first_line(path: str) -> str:
    """The first line of a short file, "" when it cannot be read or holds a NUL."""
    try:
        line = os.fsdecode(files.content(path, SHORT_BYTES)).partition("\n")[0].rstrip("\r")
    except (OSError, ValueError):
        return ""
    return "" if "\0" in line else line
