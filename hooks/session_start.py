"""SessionStart: say once how hidden text comes back; export CK_ROOT, CK_DATA and CK_TRANSCRIPT; count the epoch."""
from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # -I leaves it out
from contextkernel.host import hook, replies, session
from contextkernel.store import book, live, settings

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
EPOCHS = ("resume", "clear", "compact")
ONE_START = 10  # seconds within which a second lane's SessionStart is the same start


def handle(event: dict) -> dict:
    """Context that names the folder of recall files; {} when another lane said it already."""
    source, who = event.get("source"), str(event.get("session_id") or "")
    if settings.guard():
        from contextkernel.store import modes  # late: once a session

        modes.narrow(settings.data_root(), everything=False)
    _export(event)
    _keep_lane()
    try:
        if not live.first_in(who, "start-%s" % source, ONE_START):
            return {}
    except OSError:
        pass  # no state folder: nothing will be hidden either, but the lines below are still true
    if source in EPOCHS:
        book.record("generation", {"session": who, "agent": "", "cause": source})
    return replies.add_context(event, how_back(event))


def _keep_lane() -> None:
    """Where the failure lane is on, it starts this plugin from now on: an update may have moved it."""
    from contextkernel.host import lane_keys

    if not lane_keys.keys_on(settings.data_root()):
        return
    from contextkernel.host import install, lane  # late: only where the lane is on

    try:
        lane.refresh(settings.data_root(), ROOT, lane.interpreter())
    except install.Refused as error:
        sys.stderr.write("context-kernel: the failure lane stays as it was: %s\n" % error)


def how_back(event: dict) -> str:
    """Where the text behind a mark is found; "" when nothing can be hidden."""
    if event.get("ck_client") == "codex":
        return "context-kernel shortens long tool outputs. A mark `[ck: … recall HANDLE]` names the stored original: get it with the MCP tool recall(handle, lines?, grep?)."
    folder = session.results_folder(str(event.get("transcript_path") or ""))
    if not folder:
        return ""
    return ("context-kernel shortens long tool outputs. A mark `[ck: … recall HANDLE]` stands where text was left out; nothing on disk changed. "
            "The whole original is the file %s: Read, grep or sed it; should it be missing, the MCP tool recall has it too." % os.path.join(folder, session.recall_name("HANDLE")))


def _export(event: dict) -> None:
    """Let the model's own shell find ck.py, the store and the session (2.1.121 does not tell its shell the session's id)."""
    path = os.environ.get("CLAUDE_ENV_FILE")
    if not path:
        return
    from contextkernel.store import files

    exported = (("CK_ROOT", ROOT), ("CK_DATA", settings.data_root()), ("CK_TRANSCRIPT", str(event.get("transcript_path") or "")))
    lines = ["export %s='%s'\n" % (name, value.replace("'", "'\\''")) for name, value in exported if "\0" not in value]
    try:
        files.append(path, "".join(lines).encode("utf-8", "surrogateescape"))
    except (OSError, ValueError) as error:
        sys.stderr.write("context-kernel: CK_ROOT not exported: %s\n" % error)


if __name__ == "__main__":
    raise SystemExit(hook.run(handle))
