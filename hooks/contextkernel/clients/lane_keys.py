"""Which settings files the failure lane is on for: each has a wrapper and a chained prefix of its
own.

The first settings file that switched the lane on in a state folder has the plain names
(STATE/bin/failure-lane, STATE/lane/where, STATE/lane/chained) for good, so that sessions which run
keep theirs; each further one has the names with its key behind them.  Imports little: hooks ask at
every start.
"""

from __future__ import annotations

import json
import os

from contextkernel.store import files

MOST = 64 * 1024  # bytes of a journal or of the owner's name
WRAPPER = "failure-lane"


def settings_path() -> str:
    """The user's settings.json of Claude Code."""
    config = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")
    return os.path.join(config, "settings.json")


def keys_on(state: str) -> list[str]:
    """The keys that the lane is on for: "" for the first settings file, "-1f0c9e27" for a
    further one.
    """
    try:
        names = os.listdir(os.path.join(state, "lane"))
    except OSError:
        return []
    return sorted(
        name[len("where") :] for name in names if name == "where" or name.startswith("where-")
    )


def is_on(state: str, path: str) -> bool:
    """Whether the lane is on for a settings file."""
    return key_for(state, path) in keys_on(state)


def key_for(state: str, path: str) -> str:
    """The key of a settings file: "" for the owner of the plain names, and as long as they have
    none.
    """
    owner = owner_of(state)
    if not owner or os.path.abspath(owner) == os.path.abspath(path):
        return ""
    import hashlib  # late: one settings file is the rule

    return "-" + hashlib.sha256(os.fsencode(os.path.abspath(path))).hexdigest()[:8]


def owner_of(state: str) -> str:
    """The settings file that the plain names belong to; "" for none. Before there were keys, the
    oldest journal tells it.
    """
    folder = os.path.join(state, "lane")
    told = _content(os.path.join(folder, "owner")).rstrip(b"\n")
    if told:
        return os.fsdecode(told)
    journals = []
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        if name.endswith(".json"):
            path = _settings_in(_content(os.path.join(folder, name)))
            if path:
                journals.append((os.lstat(os.path.join(folder, name)).st_mtime_ns, path))
    return min(journals)[1] if journals else ""


def is_ours(state: str, prefix: str) -> bool:
    """Whether a prefix is one of our wrappers in this state folder."""
    folder, name = os.path.split(prefix)
    return folder == os.path.join(state, "bin") and (
        name == WRAPPER or name.startswith(WRAPPER + "-")
    )


def _content(path: str) -> bytes:
    try:
        return files.content(path, MOST)
    except (OSError, ValueError):
        return b""


def _settings_in(raw: bytes) -> str:
    try:
        path = json.loads(raw)["settings"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return path if isinstance(path, str) else ""
