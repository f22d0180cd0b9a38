"""Settings: environment variables read tolerantly, and the one folder where state lives.

A value that cannot be read as its kind counts as unset: a typo must never break a hook.
"""

from __future__ import annotations

import os
import stat
import sys

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

# Every setting with its default; README's table is checked against this.
DEFAULTS: dict[str, int | str] = {
    "CK_MIN_TOKENS": 800,  # tokens (bytes/4): smaller outputs are never rewritten
    "CK_TOOLS": "Bash,Grep,Read,Glob,WebFetch,Agent,Task,mcp__*",
    "CK_AGENT_SKIP": "kernel-verifier,kernel-extractor,kernel-scout",
    "CK_CANARY": 1,
    "CK_LOG_OFF": 0,
    "CK_TAP_FLAG": "~/.context-kernel-tap",
    "CK_QUOTA_MB": 1024,  # blobs on disk
    "CK_KEEP_DAYS": 30,
    "CK_PRETOOL": 1,
    "CK_DELTA": 1,
    "CK_DELTA_MIN": 200,  # tokens a delta must save
    "CK_SLICE_CACHE": 1,
    "CK_BUDGET_MAX": 80000,  # tokens
    "CK_CONTEXT_WINDOW": 0,  # tokens; 0: from the model table
}


class ForeignStateError(OSError):
    """The state folder, or a link in its place, belongs to another user: nothing in it is read
    or written.
    """


def data_root() -> str:
    """The state folder: $CK_DATA, else $XDG_STATE_HOME/context-kernel, else
    ~/.local/state/context-kernel. Not created.

    A relative $CK_DATA is one below the home folder: hooks, server and terminal have folders of
    their own, and must find one store.
    """
    given = os.environ.get("CK_DATA"), os.environ.get("XDG_STATE_HOME"), os.environ.get("HOME")
    if _root[:1] != [given]:
        _root[:] = given, _root_of(given[0], given[1] or "")
    folder: str = _root[1]
    return folder


_root: list[Any] = []  # what the environment said, and the folder: a hook asks for it ten times


def _root_of(named: str | None, base: str) -> str:
    if named:
        return os.path.normpath(os.path.join(os.path.expanduser("~"), os.path.expanduser(named)))
    if not os.path.isabs(base):  # the XDG specification: a relative value is invalid and ignored
        base = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(base, "context-kernel")


def folder(*names: str) -> str:
    """A folder below the state folder, made where missing: 0700, and ours. Raises OSError,
    ForeignStateError.
    """
    path = data_root()
    if not guard():
        make(path)
        guard()  # another user may have been faster
    for name in names:
        path = os.path.join(path, name)
        if not _is_ours(path):
            make(path)
    return path


def guard() -> bool:
    """Whether the state folder is there. It is ours then, and nobody else may enter it: one that
    was wider is narrowed.

    Costs one lstat where all is well.  Raises ForeignStateError; a link to a folder of our own is
    followed.
    """
    path = data_root()
    facts = _is_ours(path)
    if facts and facts.st_mode & 0o077 and os.name != "nt":
        from contextkernel.store import modes  # late: once, after an earlier version or by hand

        modes.narrow(path, everything=True)
    return facts is not None


def _is_ours(path: str) -> os.stat_result | None:
    """The facts of a folder of our own; None where none can be seen. Raises ForeignStateError
    for another user's, or his link.
    """
    try:
        facts = os.lstat(path)
        linked = stat.S_ISLNK(facts.st_mode)
        owners = {facts.st_uid}
        if linked:
            facts = os.stat(path)
            owners.add(facts.st_uid)
    except OSError:
        return None
    if os.name != "nt" and owners != {os.geteuid()}:
        raise ForeignStateError(
            f"{path} belongs to another user; CK_DATA can name a folder of your own"
        )
    return facts if stat.S_ISDIR(facts.st_mode) else None


def make(path: str) -> None:
    """Make a folder and what is missing above it, all 0700 whatever the umask says. Raises
    OSError.
    """
    try:
        os.mkdir(path, 0o700)
    except FileNotFoundError:
        if os.path.dirname(path) in ("", path):
            raise
        make(os.path.dirname(path))
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
        return
    if stat.S_IMODE(os.lstat(path).st_mode) & 0o777 != 0o700 and os.name != "nt":
        os.chmod(path, 0o700)


def keep_bytecode() -> None:
    """From now on compiled modules go to the state folder, for the eyes of this user alone;
    nowhere where it is not to be had.
    """
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        sys.pycache_prefix = folder("pycache")
    except OSError:
        return  # whoever needs the folder says why
    os.umask(0o077)  # Python gives its files the modes that the umask leaves
    sys.dont_write_bytecode = kept


def text(name: str, default: str | None = None) -> str:
    """A setting as text; unset or empty gives the default."""
    return os.environ.get(name) or (str(DEFAULTS.get(name, "")) if default is None else default)


def number(name: str, default: int | None = None) -> int:
    """A setting as a whole number of at least 0; anything else gives the default."""
    fallback = int(DEFAULTS.get(name, 0)) if default is None else default
    try:
        value = int(os.environ.get(name, "").strip())
    except ValueError:
        return fallback
    return value if value >= 0 else fallback


def flag(name: str, default: bool | None = None) -> bool:
    """A setting as yes or no: 0, no, off, false are no; unset gives the default."""
    value = os.environ.get(name, "").strip().lower()
    if not value:
        return bool(DEFAULTS.get(name, 0)) if default is None else default
    return value not in ("0", "no", "off", "false")


def words(name: str, default: str | None = None) -> list[str]:
    """A comma-separated setting as its words, blanks stripped, empty ones left out."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]
