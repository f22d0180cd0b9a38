"""The contract of a hook script: one JSON event on stdin, one JSON object or nothing on stdout, exit 0 whatever happens."""
from __future__ import annotations

import json
import os
import sys
from typing import Callable, Optional


def client_of(argv: "list[str]") -> str:
    """The client that a hook's command line names: `--client codex`, else Claude Code."""
    return "codex" if "--client" in argv[1:] and "codex" in argv[1:] else "claude"


def run(handle: Callable[[dict], dict], note: Optional[Callable[[str, dict], None]] = None) -> int:
    """0. Reads the event, answers with what `handle` returns ({}: nothing is printed).

    Whatever goes wrong, the original passes: nothing on stdout, one line on stderr, one ledger row through `note(kind, row)`.
    """
    event: dict = {}
    try:
        raw = sys.stdin.buffer.read()
        event = json.loads(raw.decode("utf-8"))
        if not isinstance(event, dict):
            raise ValueError("the event is a %s, not an object" % type(event).__name__)
        event.update(ck_client=client_of(sys.argv), ck_lane="script")
        reply = handle(event)
        answer = json.dumps(reply).encode("ascii") if reply else b""
    except Exception as error:  # the edge of the product: a hook never breaks the session
        answer = b""
        why = "%s: %s" % (type(error).__name__, str(error)[:200])
        sys.stderr.write("context-kernel: %s passed through (%s)\n" % (os.path.basename(sys.argv[0]), why))
        if note is not None:
            facts = event if isinstance(event, dict) else {}
            note("note", {"event": str(facts.get("hook_event_name") or os.path.basename(sys.argv[0]))[:60], "session": str(facts.get("session_id") or "")[:80], "why": why})
    try:
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the client went away; without this the exit flush fails again
    return 0
