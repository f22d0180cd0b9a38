"""Settings: environment variables read tolerantly, and the one folder where state lives.

A value that cannot be read as its kind counts as unset: a typo must never break a hook.
"""
from __future__ import annotations

import os

# Every setting with its default; README's table is checked against this.
DEFAULTS = {
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


def data_root() -> str:
    """The state folder: $CK_DATA, else $XDG_STATE_HOME/context-kernel, else ~/.local/state/context-kernel. Not created.

    A relative $CK_DATA is one below the home folder: hooks, server and terminal have folders of their own, and must find one store.
    """
    named = os.environ.get("CK_DATA")
    if named:
        return os.path.normpath(os.path.join(os.path.expanduser("~"), os.path.expanduser(named)))
    base = os.environ.get("XDG_STATE_HOME") or ""
    if not os.path.isabs(base):  # the XDG specification: a relative value is invalid and ignored
        base = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(base, "context-kernel")


def folder(*names: str) -> str:
    """A folder below the state folder, made with mode 0700 where missing. Raises OSError."""
    path = data_root()
    os.makedirs(path, mode=0o700, exist_ok=True)
    for name in names:
        path = os.path.join(path, name)
        if not os.path.isdir(path):
            os.makedirs(path, mode=0o700, exist_ok=True)
    return path


def text(name: str, default: "str | None" = None) -> str:
    """A setting as text; unset or empty gives the default."""
    return os.environ.get(name) or (str(DEFAULTS.get(name, "")) if default is None else default)


def number(name: str, default: "int | None" = None) -> int:
    """A setting as a whole number of at least 0; anything else gives the default."""
    fallback = int(DEFAULTS.get(name, 0)) if default is None else default
    try:
        value = int(os.environ.get(name, "").strip())
    except ValueError:
        return fallback
    return value if value >= 0 else fallback


def flag(name: str, default: "bool | None" = None) -> bool:
    """A setting as yes or no: 0, no, off, false are no; unset gives the default."""
    value = os.environ.get(name, "").strip().lower()
    if not value:
        return bool(DEFAULTS.get(name, 0)) if default is None else default
    return value not in ("0", "no", "off", "false")


def words(name: str, default: "str | None" = None) -> "list[str]":
    """A comma-separated setting as its words, blanks stripped, empty ones left out."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]
