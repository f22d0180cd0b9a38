"""What the plugin itself costs a session: tokens in its requests even when nothing is shortened.

Counted as bytes/4 from the files and the server's own answers, in the form in which Claude Code
2.1.332 lists them: `- PLUGIN:NAME: DESCRIPTION`, for agents with their tools.
"""

from __future__ import annotations

import glob
import json
import os
import subprocess
import sys
import tempfile

from contextkernel.store import files
from contextkernel.tokens import estimate

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

PLUGIN = "context-kernel"
ALWAYS = "every request"
DEFERRED = "every request up to 2.1.278; from 2.1.310 on once the model looks for them"
START = "each start and compaction"
LARGEST = 1 << 20  # bytes of a skill
SECONDS = 30  # for the server, or a hook, to answer
SESSION = "00000000-0000-4000-8000-000000000000"  # of the usual length
TRANSCRIPT = f"/home/ada/.claude/projects/-home-ada-shop/{SESSION}.jsonl"


def front_matter(path: str) -> dict[str, str]:
    """The fields at the head of a skill or an agent."""
    text = files.content(path, LARGEST).decode("utf-8")
    lines = text.split("---\n", 2)[1].split("\n")
    pairs = (line.partition(":") for line in lines if line and not line.startswith(" "))
    return {name.strip(): value.strip().strip('"') for name, _, value in pairs}


def skills(root: str) -> list[str]:
    """The lines of the skill list; skills that only a person can start are not in it."""
    found = [
        front_matter(path)
        for path in sorted(glob.glob(os.path.join(root, "skills", "*", "SKILL.md")))
    ]
    return [
        f"- {PLUGIN}:{one['name']}: {one['description']}\n"
        for one in found
        if one.get("disable-model-invocation") != "true"
    ]


def agents(root: str) -> list[str]:
    """The lines of the agent list."""
    found = [front_matter(path) for path in sorted(glob.glob(os.path.join(root, "agents", "*.md")))]
    return [
        f"- {PLUGIN}:{one['name']}: {one['description']} (Tools: {one['tools']})\n" for one in found
    ]


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


def schema(tool: dict[str, Any]) -> str:
    """A tool as it stands in a request."""
    name = f"mcp__plugin_{PLUGIN}_kernel__{tool['name']}"
    return json.dumps(
        {"name": name, "description": tool["description"], "input_schema": tool["inputSchema"]},
        separators=(",", ":"),
    )


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


def rows(root: str) -> list[dict[str, Any]]:
    """A row for each part: what, count, tokens, when; the sum of all last."""
    hello, listed = server(root)
    first = [
        tool for tool in listed["tools"] if (tool.get("_meta") or {}).get("anthropic/alwaysLoad")
    ]
    later = [tool for tool in listed["tools"] if tool not in first]
    parts = [
        ("skills, name and description", skills(root), ALWAYS),
        ("agents, name, description and tools", agents(root), ALWAYS),
        ("instructions of the MCP server", [hello["instructions"]], ALWAYS),
        (
            "MCP tools: " + ", ".join(tool["name"] for tool in first),
            [schema(tool) for tool in first],
            ALWAYS,
        ),
        (
            "MCP tools: " + ", ".join(tool["name"] for tool in later),
            [schema(tool) for tool in later],
            DEFERRED,
        ),
        ("note at the start of a session", [start_note(root)], START),
    ]
    made: list[dict[str, Any]] = [
        {"what": what, "count": len(texts), "tokens": estimate("".join(texts)), "when": when}
        for what, texts, when in parts
    ]
    return made + [
        {
            "what": "all of it",
            "count": "",
            "tokens": sum(row["tokens"] for row in made),
            "when": "at most",
        }
    ]
