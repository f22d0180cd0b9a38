"""What the plugin itself costs a session: tokens in its requests even when nothing is shortened.

Counted as bytes/4 from the files and the server's own answers, in the form in which Claude Code
2.1.332 lists them: `- PLUGIN:NAME: DESCRIPTION`, for agents with their tools.
"""

from __future__ import annotations

import glob
import json
import os

from contextkernel.commands.own_answers import server, start_note
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


def schema(tool: dict[str, Any]) -> str:
    """A tool as it stands in a request."""
    name = f"mcp__plugin_{PLUGIN}_kernel__{tool['name']}"
    return json.dumps(
        {"name": name, "description": tool["description"], "input_schema": tool["inputSchema"]},
        separators=(",", ":"),
    )


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
