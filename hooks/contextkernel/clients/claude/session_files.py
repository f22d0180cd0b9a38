"""A session's own folder: the one place that Read, grep and sed may open in every permission
mode without a prompt.
"""

from __future__ import annotations

import os
import re

from contextkernel import paths
from contextkernel.store import files, settings

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

AGENTS = "subagents"  # folder of the sub-agents' transcripts, in the session's folder
RECALL_FILE = re.compile(r"\bck-([0-9a-f]{8,64})\.txt\b")
RECALL_COMMAND = re.compile(r"\bck\.py[\"']?\s+recall\s+[\"']?([0-9a-f]{8,64})\b")


def transcript_of(event: dict[str, Any]) -> str:
    """The transcript of the agent that an event comes from: a sub-agent's is its own file beside
    the session's; "" where none is named.
    """
    path, agent = event.get("transcript_path"), event.get("agent_id")
    return agent_transcript(
        path if isinstance(path, str) else "", agent if isinstance(agent, str) else ""
    )


def agent_transcript(path: str, agent: str) -> str:
    """The transcript of an agent ("": the main conversation) of the session whose own is `path`."""
    if agent and path.endswith(".jsonl"):
        return os.path.join(path[: -len(".jsonl")], AGENTS, f"agent-{agent}.jsonl")
    return path


def results_folder(transcript: str) -> str:
    """The `tool-results` folder beside a transcript; "" when the path is not a transcript's."""
    return (
        os.path.join(transcript[: -len(".jsonl")], "tool-results")
        if transcript.endswith(".jsonl") and paths.names_a_file(transcript)
        else ""
    )


def recall_name(handle: str) -> str:
    """The file name under which a stored text lies in the session's folder."""
    return f"ck-{handle}.txt"


def offer(transcript: str, handle: str, data: bytes) -> str:
    """The path of the recall file, which holds just `data`; "" without a session folder. Raises
    OSError.

    Always a copy: the client's own file of a persisted output grows while something it started in
    the background still prints (2.1.121).
    """
    folder = results_folder(transcript)
    if not folder or not os.path.isdir(os.path.dirname(os.path.dirname(folder))):
        return ""
    settings.make(folder)
    if os.path.islink(folder) or os.path.islink(os.path.dirname(folder)):
        raise OSError(f"{folder}: a link leads out of the session's folder")
    path = os.path.join(folder, recall_name(handle))
    if _holds(path, data):
        return path
    files.replace(path, data)
    return path


def _holds(path: str, data: bytes) -> bool:
    try:
        return os.lstat(path).st_size == len(data) and files.content(path, len(data)) == data
    except OSError:
        return False


def recalled(tool: str, tool_input: Any) -> str:
    """The handle whose recall file a tool call opens (Read, or any shell command that names the
    file); "" for none.
    """
    if not isinstance(tool_input, dict):
        return ""
    text = tool_input.get("file_path") or tool_input.get("command") or tool_input.get("path") or ""
    found = RECALL_FILE.search(text) if isinstance(text, str) else None
    return found.group(1) if found else ""
