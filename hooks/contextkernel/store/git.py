"""What git knows of a folder: the checkout it lies in, what is tracked, what is ignored.

Git is not started.  A repository is other people's content: its configuration, its index and the
object names in it can make git run a program (a file system monitor, a filter, a fetch of a missing
object, a remote helper), and each release adds a way.  The list of files needs none of them: it
stands in the index and in the ignore files, so these are read here.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from contextkernel.store import files, git_config

SHORT_BYTES = 64 << 10  # of files that hold a path
IGNORE_BYTES = 4 << 20  # of an ignore file
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0", "")


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


class Settings(NamedTuple):
    """What the list of files needs of the configuration.  `excludes`: path of the person's own
    ignore file.  `partial`: objects may be missing.
    """

    excludes: str
    folds_case: bool
    partial: bool


def checkout_of(root: str) -> Checkout | None:
    """The checkout that a real path lies in; None outside of any, or when it belongs to somebody
    else (`safe.directory`).
    """
    folder = root
    while True:
        found = checkout_at(folder)
        if found:
            return found if _is_ours(found) else None
        parent = os.path.dirname(folder)
        if parent == folder or os.path.isfile(os.path.join(folder, ".git")):
            return None
        folder = parent


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


def _is_ours(checkout: Checkout) -> bool:
    """As git asks: its folders belong to this user, or the person named it in `safe.directory`."""
    if not hasattr(os, "geteuid"):
        return True
    own = {os.geteuid()} | (
        {int(os.environ["SUDO_UID"])}
        if os.geteuid() == 0 and os.environ.get("SUDO_UID", "").isdecimal()
        else set()
    )
    try:
        if all(
            os.lstat(path).st_uid in own
            for path in (checkout.top, os.path.join(checkout.top, ".git"), checkout.folder)
        ):
            return True
    except OSError:
        return False
    safe = False
    for key, value in git_config.values(git_config.of_person()):
        if key == "safe.directory":
            named = git_config.person_path(value).rstrip("/") if len(value) > 1 else value
            safe = value != "" and (
                safe
                or value == "*"
                or named == checkout.top
                or named.endswith("/*")
                and (checkout.top + "/").startswith(named[:-1])
            )
    return safe


def settings_of(checkout: Checkout) -> Settings:
    """The settings of a checkout: the repository's own over those of the person."""
    own = [
        os.path.join(checkout.common, "config"),
        os.path.join(checkout.folder, "config.worktree"),
    ]
    last = git_config.last(git_config.values(git_config.of_person() + own, checkout.folder))
    excludes = last.get("core.excludesfile")
    path = (
        os.path.join(git_config.xdg_folder(), "ignore")
        if excludes is None
        else excludes and os.path.join(checkout.top, git_config.person_path(excludes))
    )
    partial = any(
        key == "extensions.partialclone"
        or key.startswith("remote.")
        and (
            key.endswith(".partialclonefilter")
            or key.endswith(".promisor")
            and value.lower() not in _FALSE
        )
        for key, value in git_config.values(own, any_condition=True)
    )
    return Settings(path, last.get("core.ignorecase", "").lower() in _TRUE, partial)


def base_rules(checkout: Checkout, settings: Settings) -> list[tuple[str, bytes]]:
    """(path, bytes) of the ignore files that lie in no folder of the tree, weakest first; those
    that cannot be read are left out.
    """
    found = []
    for path in (settings.excludes, os.path.join(checkout.common, "info", "exclude")):
        try:
            if path:
                found.append((path, files.content(path, IGNORE_BYTES)))
        except (OSError, ValueError):
            pass
    return found
