"""What the plugin's own server and hooks answer, asked in a state folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any


SECONDS = 30  # for the server, or a hook, to answer
SESSION = "00000000-0000-4000-8000-000000000000"  # of the usual length
TRANSCRIPT = f"/home/ada/.claude/projects/-home-ada-shop/{SESSION}.jsonl"


def started(root: str, script: str, fed: str) -> str:
    """What a script of the plugin prints, in a state folder of its own.

    Raises CalledProcessError.
    """
    with tempfile.TemporaryDirectory() as state:
        env = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": state,
            "CK_DATA": os.path.join(state, "ck"),
        }
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-B", os.path.join(root, *script.split("/"))],
            input=fed.encode(),
            stdout=subprocess.PIPE,
            env=env,
            cwd=state,
            timeout=SECONDS,
            check=True,
        )
    return done.stdout.decode("utf-8")


def server(root: str) -> list[dict[str, Any]]:
    """The server's results of `initialize` and `tools/list`."""
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "claude-code", "version": "2.1.332"},
    }
    calls = [("initialize", hello), ("tools/list", {})]
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": number, "method": name, "params": given})
        for number, (name, given) in enumerate(calls)
    ]
    lines.insert(1, json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    answers = [
        json.loads(line)
        for line in started(root, "mcp/server.py", "\n".join(lines) + "\n").split("\n")
        if line
    ]
    return [
        next(one["result"] for one in answers if one.get("id") == number)
        for number in range(len(calls))
    ]


def start_note(root: str) -> str:
    """What SessionStart tells the model."""
    event = {
        "hook_event_name": "SessionStart",
        "source": "startup",
        "session_id": SESSION,
        "transcript_path": TRANSCRIPT,
        "cwd": "/",
    }
    said = started(root, "hooks/session_start.py", json.dumps(event))
    return json.loads(said)["hookSpecificOutput"]["additionalContext"] if said.strip() else ""
