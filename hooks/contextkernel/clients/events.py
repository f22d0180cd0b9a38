"""The one table of events, and the hook files made from it.

Claude Code: `hooks/hooks.json` of the plugin (resident lane; SessionStart by matcher, SessionEnd as
script) and, for places
without plugins or MCP, the same events as script hooks in the user's settings.json.  Codex:
`codex/hooks.json`.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

CLAUDE_SERVER = "plugin:context-kernel:kernel"  # the name Claude Code gives the server of a plugin
HOOK_TOOL = "hook"
OURS = "mcp__plugin_context-kernel_kernel__.*"

COMMON = (
    "session_id",
    "transcript_path",
    "cwd",
    "prompt_id",
    "permission_mode",
    "hook_event_name",
    "agent_id",
    "agent_type",
)
TOOL = ("tool_name", "tool_input", "tool_use_id")
BLOCKS = ("text", "image", "audio", "resource", "resource_link")  # types of MCP content
# where a block of a kind we do not know has its content
PAYLOADS = frozenset(("data", "blob", "uri", "url", "resource", "source"))
BLOCK_KEYS = PAYLOADS | frozenset(
    (
        "type",
        "text",
        "mimeType",
        "name",
        "title",
        "description",
        "annotations",
        "icons",
        "size",
        "_meta",
    )
)
# objects: Claude Code sends them as JSON text to mcp_tool hooks
JSON_FIELDS = frozenset(("tool_input", "tool_response"))

# A script hook's command.  Exit 2 blocks, and an interpreter that finds no script exits 2: 2.1.121
# never ends a sub-agent then. So whatever is gone (the folder, a module, the interpreter) the
# command ends with 0, and what they say of it goes nowhere: the ledger has the rows of what goes
# wrong inside a hook.
FAILING_OPEN = "(exec %s) 2>/dev/null; exit 0"


class Event(NamedTuple):
    """One row: the event's name, its script in hooks/, fields beyond COMMON, matchers by lane, time
    limit in seconds.

    `resident` and `script` are matchers; None: not served by that lane in the plugin; "": no
    matcher.
    `settings` is the matcher of the script lane in settings.json (all events that rewrite or keep
    state are there).
    `when` is a permission-rule pattern: the client asks the hook only where it matches (2.1.85;
    seen on 2.1.121, .200, .332).
    """

    name: str
    module: str
    fields: tuple[str, ...] = ()
    resident: str | None = ""
    script: str | None = None
    settings: str | None = ""
    codex: str | None = None
    timeout: int = 10
    when: str = ""


# a process per event: only tools that T1 serves
TOOLS_IN_SETTINGS = "Bash|Grep|Read|Glob|WebFetch|Agent|Task|mcp__.*"

EVENTS = (
    Event(
        "SessionStart",
        "session_start",
        ("source", "model", "context_tokens", "prompt_cache_likely_expired"),
        resident="compact",
        script="startup|resume|clear",
        codex="",
        timeout=15,
    ),
    Event("UserPromptSubmit", "user_prompt_submit", ("prompt",), settings=None),
    Event(
        "PreToolUse", "pre_tool_use", TOOL, resident="Bash", settings="Bash", when="Bash(*ck.py*)"
    ),  # 5 to 12 ms a call saved
    Event("PreToolUse", "pre_tool_use", TOOL, resident=OURS, settings=OURS),
    Event(
        "PostToolUse",
        "post_tool_use",
        TOOL + ("tool_response",),
        resident="*",
        settings=TOOLS_IN_SETTINGS,
        codex="Bash|mcp__.*",
        timeout=30,
    ),
    Event(
        "PostToolUseFailure",
        "post_tool_use_failure",
        TOOL + ("error", "is_interrupt"),
        resident="*",
        settings="Bash",
    ),
    Event("SubagentStart", "subagent_start"),
    Event("SubagentStop", "subagent_stop", ("agent_transcript_path", "stop_hook_active")),
    Event("Stop", "stop", ("stop_hook_active",), settings=None),
    Event("SessionEnd", "session_end", ("reason",), resident=None, script="", timeout=15),
)


def decode(arguments: dict[str, Any]) -> dict[str, Any]:
    """The event as a script would have read it: absent fields left out, objects decoded from their
    JSON text.

    A `tool_response` of an MCP tool stays text unless it is content: a list with a block of a kind
    we know, a list of what
    has a block's form, or an object that holds such a list.  The client hands over the JSON text of
    structured content as a
    string.  What does not decode stays the string it was.
    """
    event = {name: value for name, value in arguments.items() if value != ""}
    for name in JSON_FIELDS:
        value = event.get(name)
        if isinstance(value, str) and value[:1] in '{["':
            try:
                decoded = json.loads(value)
            except (ValueError, RecursionError):
                continue  # the operator meets an unknown shape and leaves it alone
            if (
                name != "tool_response"
                or not str(event.get("tool_name", "")).startswith("mcp__")
                or _is_content(decoded)
            ):
                event[name] = decoded
    return event


def _is_content(value: object) -> bool:
    """Whether a value is an MCP result or its blocks, and not what a tool's text happens to be."""
    blocks = value.get("content") if isinstance(value, dict) else value
    if not isinstance(blocks, list):
        return False
    kinds = [block.get("type") for block in blocks if isinstance(block, dict)]
    if (
        any(isinstance(kind, str) and kind in BLOCKS for kind in kinds)
        or isinstance(value, dict)
        and "structuredContent" in value
    ):
        return True
    return (
        isinstance(value, list)
        and len(kinds) == len(blocks)
        and all(isinstance(kind, str) for kind in kinds)
        and all(BLOCK_KEYS.issuperset(block) and PAYLOADS.intersection(block) for block in blocks)
    )


def _group(matcher: str, hook: dict[str, Any], when: str = "") -> dict[str, Any]:
    return dict(
        {"matcher": matcher} if matcher else {},
        hooks=[dict(hook, **({"if": when} if when else {}))],
    )


def _resident(event: Event) -> dict[str, Any]:
    fields = {name: f"${{{name}}}" for name in COMMON + event.fields}
    fields.update(hook_event_name=event.name, ck_client="claude", ck_lane="resident")
    return {
        "type": "mcp_tool",
        "server": CLAUDE_SERVER,
        "tool": HOOK_TOOL,
        "input": fields,
        "timeout": event.timeout,
    }


def plugin_hooks() -> dict[str, Any]:
    """The content of the plugin's hooks.json for Claude Code: {"description", "hooks"}.

    Script entries use the shell form, which every client from 2.1.121 on runs, and name the root by
    the hook's own environment (no braces: the client does not expand it into the shell text, so any
    folder name is safe).
    """
    hooks: dict[str, list[dict[str, Any]]] = {}
    for event in EVENTS:
        groups = hooks.setdefault(event.name, [])
        if event.resident is not None:
            groups.append(_group(event.resident, _resident(event), event.when))
        if event.script is not None:
            command = FAILING_OPEN % (
                f'python3 -I -S "$CLAUDE_PLUGIN_ROOT/hooks/{event.module}.py"'
            )
            groups.append(
                _group(
                    event.script, {"type": "command", "command": command, "timeout": event.timeout}
                )
            )
    return {
        "description": "context-kernel: long tool outputs in normal form, and the way back",
        "hooks": hooks,
    }


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def settings_hooks(python: str, root: str) -> dict[str, Any]:
    """The script lane for the user's settings.json: event name -> groups. `python` and `root`
    are absolute paths.
    """
    hooks: dict[str, list[dict[str, Any]]] = {}
    for event in EVENTS:
        if event.settings is not None:
            command = FAILING_OPEN % (
                f"{_quoted(python)} -I -S {_quoted(f'{root}/hooks/{event.module}.py')}"
            )
            hooks.setdefault(event.name, []).append(
                _group(
                    event.settings,
                    {"type": "command", "command": command, "timeout": event.timeout},
                    event.when,
                )
            )
    return hooks


def is_settings_hook(command: object, root: str) -> bool:
    """Whether a command is one that any version of ours wrote for the plugin at `root`, whatever
    the interpreter.
    """
    if not isinstance(command, str):
        return False
    scripts = "|".join(re.escape(_quoted(f"{root}/hooks/{event.module}.py")) for event in EVENTS)
    return (
        re.fullmatch(rf"\(?exec '[^\n]*' -I -S (?:{scripts})(?:\) 2>/dev/null; exit 0)?", command)
        is not None
    )


def codex_hooks(python: str = "python3") -> dict[str, Any]:
    """The content of the Codex bundle's hooks.json. Command hooks: every Codex with plugins runs
    them; resident ones need 0.150.

    `python`: a name on PATH, or the path that install.sh found (a version manager's shim costs more
    than the hook).
    """
    hooks = {}
    for event in EVENTS:
        if event.codex is not None:
            command = FAILING_OPEN % (
                f"{python if python == 'python3' else _quoted(python)} -I -S "
                f'"$PLUGIN_ROOT/hooks/{event.module}.py" --client codex'
            )
            hooks[event.name] = [
                _group(
                    event.codex, {"type": "command", "command": command, "timeout": event.timeout}
                )
            ]
    return {
        "description": "context-kernel: long tool outputs in normal form, and the way back",
        "hooks": hooks,
    }


def as_text(hooks: dict[str, Any]) -> str:
    """A hook file as it is committed."""
    return json.dumps(hooks, indent=1) + "\n"
