"""The plugin as a user has it: a copy under an odd name, and its hooks run the way hooks.json
runs them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ODD_NAME = "copy of 'x' $y \"z\""
PLAIN_NAME = "context-kernel"
LEFT_OUT = ("tests", ".git", ".ci", "__pycache__", ".pytest_cache", "results")
BASE_PYTHON = getattr(sys, "_base_executable", None) or sys.executable
TIMEOUT_S = 120


class Hooked(NamedTuple):
    """What a hook said: its one JSON object (None for silence) and its stderr."""

    reply: dict | None
    stderr: str


def copy_to(parent: str, name: str = ODD_NAME) -> str:
    """Path of a fresh copy of the plugin (without tests and history) under `parent`."""
    target = os.path.join(parent, name)
    shutil.copytree(ROOT, target, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT))
    return target


def files_of(root: str) -> list[str]:
    """Every path below a folder but bytecode caches, sorted: two equal lists mean that nothing
    was added or removed.
    """
    paths = (
        os.path.join(folder, name)
        for folder, folders, files in os.walk(root)
        for name in folders + files
    )
    return sorted(path for path in paths if "__pycache__" not in path)


def encoded(event: dict | list | str | bytes) -> bytes:
    """An event as a client writes it to stdin; bytes pass as they are, text as UTF-8."""
    if isinstance(event, bytes):
        return event
    return (
        event.encode("utf-8", "surrogatepass")
        if isinstance(event, str)
        else json.dumps(event).encode()
    )


def environment(root: str, extra: dict[str, str] | None = None) -> dict[str, str]:
    """This process's environment as the client would pass it to a hook of the plugin at `root`."""
    return {**os.environ, "CLAUDE_PLUGIN_ROOT": root, **(extra or {})}


def run_script(
    root: str,
    script: str,
    event: dict | list | str | bytes,
    env: dict[str, str] | None = None,
    python: str = "python3",
    read_only: bool = False,
) -> subprocess.CompletedProcess[bytes]:
    """The finished process of `exec python3 -I -S "$CLAUDE_PLUGIN_ROOT/hooks/SCRIPT"` under
    /bin/sh, as in hooks.json.

    `read_only` mounts the root read-only for this one process (root on Linux), else takes the write
    bits away.
    """
    command = f'exec {python} -I -S "$CLAUDE_PLUGIN_ROOT/hooks/{script}"'
    argv = ["/bin/sh", "-c", command]
    if read_only:
        argv = frozen(root, argv)
    return subprocess.run(
        argv,
        input=encoded(event),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(root, env),
        timeout=TIMEOUT_S,
    )


def frozen(root: str, argv: list[str]) -> list[str]:
    """A command line that runs `argv` with `root` read-only, by a private bind mount where that
    works.
    """
    mount = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0"'
    if (
        shutil.which("unshare")
        and subprocess.run(
            ["unshare", "-m", "/bin/sh", "-c", mount, root],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ).returncode
        == 0
    ):
        return ["unshare", "-m", "/bin/sh", "-c", mount + ' && exec "$@"', root] + argv
    for folder, _, files in os.walk(root):
        for name in files:
            os.chmod(os.path.join(folder, name), 0o444)
        os.chmod(folder, 0o555)
    return argv


def hooked(done: subprocess.CompletedProcess[bytes]) -> Hooked:
    """The reply of a finished hook; raises AssertionError unless it left with 0 and said one
    JSON object or nothing.
    """
    stderr = done.stderr.decode("utf-8", "replace")
    assert done.returncode == 0, f"exit {done.returncode}\n{stderr}"
    if not done.stdout:
        return Hooked(None, stderr)
    reply = json.loads(done.stdout)
    assert isinstance(reply, dict), f"not one JSON object: {done.stdout[:200]!r}"
    return Hooked(reply, stderr)
