"""The tools the model sees: one row each, with the command that does the work.

A row's `command` turns checked arguments into the argument list of a child process (the script
first).  What the
child prints is the answer; exit 2 and one line on stderr is a refusal.  Descriptions are read by
the model in every
session of every user: each word is paid for.
"""

from __future__ import annotations

import os
import re
from typing import Callable, NamedTuple

from contextkernel.clients import limits
from contextkernel.paths import PLUGIN_ROOT, why_too_wide
from contextkernel.store import settings

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

CK = os.path.join(PLUGIN_ROOT, "hooks", "ck.py")
RECALL = os.path.join(PLUGIN_ROOT, "mcp", "recall.py")

INSTRUCTIONS = (
    "Context kernel. Text marked [ck: ... recall HANDLE] was left out, not lost: recall gives it "
    "back exactly. "
    "Before exploring a repository for a bug, call kernel_repo_slice with the traceback, failing "
    "test or issue text; "
    "before changing one definition, kernel_slice."
)

_HANDLE = re.compile(r"\b[0-9a-f]{8,64}\b")
_BUDGET = re.compile(r"auto|\d{2,7}")
_DEPTH = re.compile(r"full|[12]")


class WrongCall(Exception):
    """Arguments that cannot be worked with; the text says which and why, in one line."""


class Command(NamedTuple):
    """A child's argument list (the script first), what it reads on stdin, and what is set in its
    environment.
    """

    arguments: list[str]
    stdin: str = ""
    environ: dict[str, Any] | None = None


class Tool(NamedTuple):
    """`properties`: argument name -> description; all are strings.  `seconds`: the child is
    ended after them.
    """

    name: str
    description: str
    properties: dict[str, Any]
    required: tuple[str, ...]
    # (arguments, working folder or "", client)
    command: Callable[[dict[str, Any], str, str], Command]
    seconds: int
    always_loaded: bool = False
    gives_back: bool = False  # a call is a page fault: something hidden was needed


def own_folder() -> str:
    """The folder this process was started in; "" where that is the plugin's own, or gone: it
    says nothing of the user's project.
    """
    try:
        folder = os.getcwd()
    except OSError:
        return ""
    return "" if os.path.realpath(folder) == PLUGIN_ROOT else folder


def recall_command(arguments: dict[str, Any], folder: str, client: str) -> Command:
    """The command that prints stored text, a page at most.  Raises WrongCall."""
    handle = _HANDLE.search(arguments["handle"].lower())
    if not handle:
        raise WrongCall("handle: 8 to 64 hex digits, as in a `recall HANDLE` mark")
    command = [RECALL, handle.group(), "--client=" + client, "--folder=" + folder]
    for name in ("lines", "grep"):
        if arguments.get(name):
            command.append(f"--{name}={arguments[name]}")
    return Command(command)


def repo_slice_command(arguments: dict[str, Any], folder: str, client: str) -> Command:
    """The command that prints a repository slice.  Raises WrongCall."""
    repo = _path(arguments.get("repo", "."), "repo", folder)
    if not os.path.isdir(repo):
        raise WrongCall(f"repo: no folder at {repo}")
    if why_too_wide(repo):
        raise WrongCall(f"repo: {repo}: {why_too_wide(repo)}")
    command = [CK, "slice", "--repo", repo, "--symptom", "-", "--wait"] + _budget(arguments, client)
    return Command(
        command + _checked(arguments, "depth", _DEPTH, "full, 2 or 1"),
        arguments["symptom"],
        _environ(client),
    )


def symbol_slice_command(arguments: dict[str, Any], folder: str, client: str) -> Command:
    """The command that prints a symbol slice.  Raises WrongCall."""
    path = _path(arguments["file"], "file", folder)
    if not os.path.isfile(path):
        raise WrongCall(f"file: no file at {path}")
    if arguments["symbol"].startswith("-"):
        raise WrongCall("symbol: a name such as f, Class or Class.method")
    return Command(
        [CK, "symbol", path, arguments["symbol"]] + _budget(arguments, client), "", _environ(client)
    )


def _path(path: str, name: str, folder: str) -> str:
    path = os.path.expanduser(path)
    if not folder and not os.path.isabs(path):
        raise WrongCall(f"{name}: an absolute path is needed here")
    return os.path.normpath(os.path.join(folder, path))


def _budget(arguments: dict[str, Any], client: str) -> list[str]:
    given = _checked(arguments, "budget", _BUDGET, "auto or a number of tokens")
    if client == "codex":
        return [
            "--budget",
            str(min(limits.CODEX_SLICE_MAX_TOKENS, int(given[1])))
            if given and given[1] != "auto"
            else "auto",
        ]
    return given


def _environ(client: str) -> dict[str, Any] | None:
    return (
        {"CK_BUDGET_MAX": str(min(limits.CODEX_SLICE_MAX_TOKENS, settings.number("CK_BUDGET_MAX")))}
        if client == "codex"
        else None
    )


def _checked(arguments: dict[str, Any], name: str, form: re.Pattern[str], what: str) -> list[str]:
    value = arguments.get(name, "").strip().lower()
    if value and not form.fullmatch(value):
        raise WrongCall(f"{name}: {what}")
    return ["--" + name, value] if value else []


TOOLS = (
    Tool(
        "recall",
        "Stored original text behind a [ck: ... recall HANDLE] mark.",
        {"handle": "", "lines": "A-B", "grep": "regex"},
        ("handle",),
        recall_command,
        20,
        always_loaded=True,
        gives_back=True,
    ),
    Tool(
        "kernel_repo_slice",
        "The files and lines of a repository that matter for a symptom, within a token budget.",
        {
            "symptom": "traceback, failing test or issue text",
            "repo": "",
            "budget": "auto or tokens",
            "depth": "full, 2 or 1",
        },
        ("symptom",),
        repo_slice_command,
        300,
    ),
    Tool(
        "kernel_slice",
        "One definition with everything it depends on in its file.",
        {"file": "", "symbol": "", "budget": ""},
        ("file", "symbol"),
        symbol_slice_command,
        60,
    ),
)
BY_NAME = {tool.name: tool for tool in TOOLS}


def listed(tool: Tool) -> dict[str, Any]:
    """A row as `tools/list` shows it."""
    properties = {
        name: {"type": "string", "description": text} if text else {"type": "string"}
        for name, text in tool.properties.items()
    }
    meta: dict[str, Any] = {"anthropic/maxResultSizeChars": limits.SERVER_MAX_CHARS}
    if tool.always_loaded:
        meta["anthropic/alwaysLoad"] = True
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": {
            "type": "object",
            "properties": properties,
            "required": list(tool.required),
        },
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
        "_meta": meta,
    }


def checked(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments as texts, absent ones left out.  Raises WrongCall naming the first that does
    not fit.
    """
    for name in arguments:
        if name not in tool.properties:
            raise WrongCall(f"{name}: no such argument; there are {', '.join(tool.properties)}")
    texts = {}
    for name in tool.properties:
        value = arguments.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            value = f"{int(value)}" if value == int(value) else str(value)
        if value is None or value == "":
            if name in tool.required:
                raise WrongCall(f"{name}: missing")
        elif not isinstance(value, str):
            raise WrongCall(f"{name}: a text is needed")
        elif "\0" in value and name != "symptom":
            raise WrongCall(f"{name}: holds a NUL")
        else:
            texts[name] = value
    return texts
