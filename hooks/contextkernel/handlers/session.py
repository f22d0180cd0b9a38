"""A session's events: its start (and each new context), a prompt, its end.

SessionStart: say once how hidden text comes back; export CK_ROOT, CK_DATA and CK_TRANSCRIPT; count
the epoch.
UserPromptSubmit: tell the model once when the client refused replacements. Its arrival also marks
the session as served.
SessionEnd: judge the last replacements, let the rest expire, sweep the store. A script: the server
is gone by now.
"""

from __future__ import annotations

import os
import re
import sys

from contextkernel.clients import replies
from contextkernel.clients.claude import session_files
from contextkernel.clients.tool_call import text_in
from contextkernel.paths import PLUGIN_ROOT
from contextkernel.store import backoff, presence, recorder, settings

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

    from contextkernel.clients.replies import Reply

EPOCHS = ("resume", "clear", "compact")
ONE_START = 10  # seconds within which a second lane's SessionStart is the same start


def start(event: dict[str, Any]) -> Reply:
    """Context that names the folder of recall files; {} when another lane said it already."""
    source, who = event.get("source"), text_in(event, "session_id")
    if settings.guard():
        from contextkernel.store import modes  # late: once a session

        modes.narrow(settings.data_root(), everything=False)
    _export(event)
    _keep_lane()
    try:
        if not presence.first_in(who, f"start-{source}", ONE_START):
            return {}
    except OSError:
        pass  # no state folder: nothing will be hidden either, but the lines below are still true
    if source in EPOCHS:
        recorder.record("generation", {"session": who, "agent": "", "cause": source})
    return replies.add_context("SessionStart", how_back(event))


def _keep_lane() -> None:
    """Where the failure lane is on, it starts this plugin from now on: an update may have moved
    it.
    """
    from contextkernel.clients import lane_keys

    if not lane_keys.keys_on(settings.data_root()):
        return
    # late: only where the lane is on
    from contextkernel.clients.claude import settings_file, shell_prefix

    try:
        shell_prefix.refresh(settings.data_root(), PLUGIN_ROOT, shell_prefix.interpreter())
    except settings_file.Refused as error:
        sys.stderr.write(f"context-kernel: the failure lane stays as it was: {error}\n")


def how_back(event: dict[str, Any]) -> str:
    """Where the text behind a mark is found, and the path of ck.py, literally: a command with a
    variable is refused in Claude Code's default mode. "" when nothing can be hidden.
    """
    start = "context-kernel shortens long tool outputs"
    script = f"CK_PY in its skills is {quoted(os.path.join(PLUGIN_ROOT, 'hooks', 'ck.py'))}"
    if event.get("ck_client") == "codex":
        return (
            f"{start}. A mark `[ck: … recall HANDLE]` names the stored original: get it with the "
            f"MCP tool recall(handle, lines?, grep?). {script}."
        )
    folder = session_files.results_folder(text_in(event, "transcript_path"))
    if not folder:
        return ""
    return (
        f"{start}; files on disk do not change. A mark `[ck: … recall HANDLE]` replaces hidden "
        "text. The original is in "
        f"{os.path.join(folder, session_files.recall_name('HANDLE'))}: use Read, grep or sed. "
        f"If the file is missing, call the MCP tool `recall`. {script}."
    )


def quoted(path: str) -> str:
    """A path as one word of a shell command."""
    if re.fullmatch(r"[\w/.,:@%+=-]+", path, re.A):
        return path
    return _in_quotes(path)


def _in_quotes(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _export(event: dict[str, Any]) -> None:
    """Let the model's own shell find ck.py, the store and the session (2.1.121 does not tell its
    shell the session's id).
    """
    path = os.environ.get("CLAUDE_ENV_FILE")
    if not path:
        return
    from contextkernel.store import files

    exported = (
        ("CK_ROOT", PLUGIN_ROOT),
        ("CK_DATA", settings.data_root()),
        ("CK_TRANSCRIPT", text_in(event, "transcript_path")),
    )
    lines = [
        f"export {name}={_in_quotes(value)}\n" for name, value in exported if "\0" not in value
    ]
    try:
        files.append(path, "".join(lines).encode("utf-8", "surrogateescape"))
    except (OSError, ValueError) as error:
        sys.stderr.write(f"context-kernel: CK_ROOT not exported: {error}\n")


def prompt(event: dict[str, Any]) -> Reply:
    """Context with an alarm that is still untold, else {}."""
    why = backoff.untold(text_in(event, "session_id")) if settings.flag("CK_CANARY") else ""
    return replies.add_context(
        "UserPromptSubmit",
        f"context-kernel: savings are overstated in this session: {why}" if why else "",
    )


def end(event: dict[str, Any]) -> Reply:
    """{}; the work is in the ledger."""
    from contextkernel.handlers import session_end  # late: sqlite3

    session_end.end_session(event)
    return {}
