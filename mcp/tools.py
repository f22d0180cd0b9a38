"""The tools the model sees: one row each, with the command that does the work.

A row's `command` turns checked arguments into the argument list of a child process (the script first).  What the
child prints is the answer; exit 2 and one line on stderr is a refusal.  Descriptions are read by the model in every
session of every user: each word is paid for.
"""
from __future__ import annotations

import os
import re
from typing import Callable, List, NamedTuple, Tuple

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
CK = os.path.join(ROOT, "hooks", "ck.py")
RECALL = os.path.join(ROOT, "mcp", "recall.py")

INSTRUCTIONS = (
    "Context kernel. Text marked [ck: ... recall HANDLE] was left out, not lost: recall gives it back exactly. "
    "Before exploring a repository for a bug, call kernel_repo_slice with the traceback, failing test or issue text; "
    "before changing one definition, kernel_slice."
)

_HANDLE = re.compile(r"\b[0-9a-f]{8,64}\b")
_BUDGET = re.compile(r"auto|\d{2,7}")
_DEPTH = re.compile(r"full|\d")


class WrongCall(Exception):
    """Arguments that cannot be worked with; the text says which and why, in one line."""


class Command(NamedTuple):
    """A child's argument list (the script first) and what it reads on stdin."""

    arguments: List[str]
    stdin: str = ""


class Tool(NamedTuple):
    """`properties`: argument name -> description; all are strings.  `seconds`: the child is ended after them."""

    name: str
    description: str
    properties: dict
    required: Tuple[str, ...]
    command: Callable[[dict, str, str], Command]  # (arguments, working folder or "", client)
    seconds: int
    always_loaded: bool = False
    gives_back: bool = False  # a call is a page fault: something hidden was needed


def outside_plugin(folder: str) -> str:
    """A folder, or "" where it is the plugin's own: a server started there knows nothing of the user's project."""
    return "" if os.path.realpath(folder) == ROOT else folder


def recall_command(arguments: dict, folder: str, client: str) -> Command:
    """The command that prints stored text, a page at most.  Raises WrongCall."""
    handle = _HANDLE.search(arguments["handle"].lower())
    if not handle:
        raise WrongCall("handle: 8 to 64 hex digits, as in a `recall HANDLE` mark")
    command = [RECALL, handle.group(), "--client=" + client]
    for name in ("lines", "grep"):
        if arguments.get(name):
            command.append("--%s=%s" % (name, arguments[name]))
    return Command(command)


def repo_slice_command(arguments: dict, folder: str, client: str) -> Command:
    """The command that prints a repository slice.  Raises WrongCall."""
    repo = os.path.expanduser(arguments.get("repo") or ".")
    if not os.path.isabs(repo):
        if not folder:
            raise WrongCall("repo: an absolute path is needed here")
        repo = os.path.join(folder, repo)
    if not os.path.isdir(repo):
        raise WrongCall("repo: no folder at %s" % repo)
    command = [CK, "slice", "--repo", os.path.normpath(repo), "--symptom", "-", "--wait"]
    command += _budget(arguments) + _checked(arguments, "depth", _DEPTH, "full, 2 or 1")
    return Command(command, arguments["symptom"])


def symbol_slice_command(arguments: dict, folder: str, client: str) -> Command:
    """The command that prints a symbol slice.  Raises WrongCall."""
    path = os.path.join(folder, os.path.expanduser(arguments["file"]))
    if not os.path.isfile(path):
        raise WrongCall("file: no file at %s" % path)
    if arguments["symbol"].startswith("-"):
        raise WrongCall("symbol: a name such as f, Class or Class.method")
    return Command([CK, "symbol", path, arguments["symbol"]] + _budget(arguments))


def _budget(arguments: dict) -> List[str]:
    return _checked(arguments, "budget", _BUDGET, "auto or a number of tokens")


def _checked(arguments: dict, name: str, form: "re.Pattern[str]", what: str) -> List[str]:
    value = arguments.get(name, "").strip().lower()
    if value and not form.fullmatch(value):
        raise WrongCall("%s: %s" % (name, what))
    return ["--" + name, value] if value else []


TOOLS = (
    Tool("recall", "Stored original text behind a [ck: ... recall HANDLE] mark.",
         {"handle": "", "lines": "A-B", "grep": "regex"}, ("handle",), recall_command, 20, always_loaded=True, gives_back=True),
    Tool("kernel_repo_slice", "The files and lines of a repository that matter for a symptom, within a token budget.",
         {"symptom": "traceback, failing test or issue text", "repo": "", "budget": "auto or tokens",
          "depth": "full, 2 or 1"}, ("symptom",), repo_slice_command, 300),
    Tool("kernel_slice", "One definition with everything it depends on in its file.",
         {"file": "", "symbol": "", "budget": ""}, ("file", "symbol"), symbol_slice_command, 60),
)
BY_NAME = {tool.name: tool for tool in TOOLS}


def listed(tool: Tool) -> dict:
    """A row as `tools/list` shows it."""
    properties = {name: {"type": "string", "description": text} if text else {"type": "string"}
                  for name, text in tool.properties.items()}
    shown = {"name": tool.name, "description": tool.description,
             "inputSchema": {"type": "object", "properties": properties, "required": list(tool.required)},
             "annotations": {"readOnlyHint": True, "openWorldHint": False}}
    if tool.always_loaded:
        shown["_meta"] = {"anthropic/alwaysLoad": True}
    return shown


def checked(tool: Tool, arguments: dict) -> dict:
    """The arguments as texts, absent ones left out.  Raises WrongCall naming the first that does not fit."""
    for name in arguments:
        if name not in tool.properties:
            raise WrongCall("%s: no such argument; there are %s" % (name, ", ".join(tool.properties)))
    texts = {}
    for name in tool.properties:
        value = arguments.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            value = "%d" % value if value == int(value) else str(value)
        if value is None or value == "":
            if name in tool.required:
                raise WrongCall("%s: missing" % name)
        elif not isinstance(value, str):
            raise WrongCall("%s: a text is needed" % name)
        elif "\0" in value and name != "symptom":
            raise WrongCall("%s: holds a NUL" % name)
        else:
            texts[name] = value
    return texts
