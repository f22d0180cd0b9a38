"""The failure lane as Claude Code starts it: one argument, one regular file opened for append as
stdout and stderr.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from typing import NamedTuple

GEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "failing_runs.py")
SHELLS = {name: shutil.which(name) for name in ("bash", "zsh")}


class Ran(NamedTuple):
    code: int
    text: bytes


def failing(kind: str, lines: int, code: int = 1) -> str:
    """A command that prints a look-alike of a failing run."""
    return f"{shlex.quote(sys.executable)} -I -S {shlex.quote(GEN)} {kind} {lines} {code}"


def argument(command: str, folder: str, shell: str = "bash") -> str:
    """What the client (2.1.121) hands to a prefix for a Bash tool call; the snapshot lies in
    `folder`.
    """
    snapshot = os.path.join(folder, "shell-snapshots", f"snapshot-{shell}-1796012608546-jdqw7k.sh")
    os.makedirs(os.path.dirname(snapshot), exist_ok=True)
    open(snapshot, "a", encoding="utf-8").close()
    quoted = "'" + command.replace("'", "'\"'\"'") + "'"
    return (
        f"source {shlex.quote(snapshot)} 2>/dev/null || true && "
        "{ shopt -u extglob || setopt NO_EXTENDED_GLOB; } >/dev/null 2>&1 || true && "
        f"eval {quoted} < /dev/null && pwd -P >| {shlex.quote(os.path.join(folder, 'cwd'))}"
    )


def started(
    words: list[str], out: str, env: dict[str, str] | None = None, **more
) -> subprocess.Popen:
    """A process whose stdout and stderr are the file `out`, opened as the client opens it, in a
    session of its own.
    """
    handle = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        return subprocess.Popen(
            words,
            stdout=handle,
            stderr=handle,
            env={**os.environ, "SHELL": SHELLS["bash"] or "/bin/bash", **(env or {})},
            start_new_session=True,
            **dict({"stdin": subprocess.DEVNULL}, **more),
        )
    finally:
        os.close(handle)


def ran(words: list[str], out: str, env: dict[str, str] | None = None, **more) -> Ran:
    """The exit code of such a process (negative: its signal), and what the file holds then."""
    process = started(words, out, env, **more)
    code = process.wait(timeout=120)
    with open(out, "rb") as handle:
        return Ran(code, handle.read())
