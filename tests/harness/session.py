"""One long scripted session that meets everything the plugin does, and the ways to install the
plugin for it.
"""

from __future__ import annotations

import json
import os
import subprocess

from fake_anthropic import text_of  # noqa: F401  (for the tests that read what was sent)

PLUGIN = "context-kernel@context-kernel-marketplace"
RECALL_TOOL = "mcp__plugin_context-kernel_kernel__recall"
HERE = os.path.dirname(os.path.abspath(__file__))

# Older clients take `sed -n A,Bp FILE` for a Read of that range and answer the same Read with a
# stub: ask for other lines. What the scripted model writes where a real one would have read: the
# folder and the handle, both from its own context.
FOLDER = r"{{regex:(/[^\s\"'`<>]*/tool-results)}}"
HANDLE = r"{{regex:\[ck: [^\n]*?\brecall ([0-9a-f]{12})}}"
COPY = FOLDER + "/ck-" + HANDLE + ".txt"

BUILD_LINES = 20000
WORDS = (
    "resolver",
    "linker",
    "bundle",
    "schema",
    "worker",
    "parser",
    "cache",
    "router",
    "ledger",
    "vector",
)


def build_line(number: int) -> str:
    """Line `number` (1-based) of build.log: one template with moving slots, and a rare warning."""
    if number == 13579:
        return "WARNING: retry budget of shard 7 is down to 3, see docs/shards.md"
    return (
        f"[{number:05}] compiling module {WORDS[number % 10]}_{number % 977} in "
        f"{number * 7919 % 4001} ms"
    )


def build_log(lines: int = BUILD_LINES) -> str:
    return "\n".join(build_line(number) for number in range(1, lines + 1)) + "\n"


def source_files() -> dict[str, str]:
    """A small tree in which `grep -rn needle src` finds 240 lines in 6 files with long paths."""
    files = {}
    for number in range(6):
        body = [
            f"def handler_{number}_{line:d}(request):  # needle {WORDS[line % 10]}"
            for line in range(40)
        ]
        files[f"src/packages/service_{number}/internal/handlers/request_pipeline.py"] = (
            "\n".join(body) + "\n"
        )
    return files


def read_file() -> str:
    """A module of 400 different lines: well over the size gate, under every cap of Read."""
    return "".join(
        f"def step_{n}(value):\n    return value * {n * 31 % 97} + {n * 17 % 89}\n"
        for n in range(200)
    )


PROJECT_FILES = dict(
    source_files(),
    **{
        "build.log": build_log(),
        "other.log": build_log(3000).replace("compiling", "checking"),
        "third.log": build_log(2500).replace("compiling", "packing"),
        "module.py": read_file(),
    },
)


def stop_and_kill(root: str) -> str:
    """A script that freezes the plugin's MCP server, has it killed half a second later and prints
    400 lines:
    the hook for these lines is then in flight when its server dies.  It matches the server of this
    one root alone."""
    return f"""#!/usr/bin/env python3
import os, signal, subprocess
server = {root + "/mcp/server.py"!r}
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        with open("/proc/" + pid + "/cmdline", "rb") as handle:
            words = handle.read().decode("utf-8", "replace").replace("//mcp", "/mcp").split("\\0")
    except OSError:
        continue
    if server in words:
        os.kill(int(pid), signal.SIGSTOP)
        nothing = subprocess.DEVNULL
        killer = ["sh", "-c", "sleep 0.5; kill -KILL " + pid]
        subprocess.Popen(killer, stdin=nothing, stdout=nothing, stderr=nothing)
        break
else:
    print("no server found")
for number in range(1, 401):
    print("unprotected line %d of the call in between" % number)
"""


def call(use_id: str, name: str, **arguments) -> dict:
    return {"name": name, "input": arguments, "id": use_id}


def bash(use_id: str, command: str) -> dict:
    return call(use_id, "Bash", command=command)


def install_runs(root: str) -> list[dict]:
    """The two commands of the README, and the list that shows whether the plugin loads."""
    return [
        {"cmd": ["plugin", "marketplace", "add", root]},
        {"cmd": ["plugin", "install", PLUGIN]},
        {"cmd": ["plugin", "list", "--json"]},
    ]


def installed_plugin_scenario(
    root: str, turns: list, runs: list[dict] | None = None, **more
) -> dict:
    """A run_claude scenario: the real plugin installed from the folder `root` as its
    marketplace, then `runs` (default: one prompt).
    """
    return dict(more, turns=turns, runs=install_runs(root) + list(runs or [{"prompt": "go"}]))


def script_lane_settings(root: str, config: str, home: str) -> dict:
    """What `bash install.sh --scripts` writes for the plugin at `root` into a fresh user
    settings.json.
    """
    env = {
        "PATH": os.environ["PATH"],
        "HOME": home,
        "CLAUDE_CONFIG_DIR": config,
        "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(
        ["bash", os.path.join(root, "install.sh"), "--scripts"],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout.decode("utf-8", "replace")
    with open(os.path.join(config, "settings.json"), encoding="utf-8") as handle:
        return json.load(handle)


def long_session(root: str, lane: str) -> dict:
    """The scenario: one session in the default permission mode, resumed, compacted, resumed
    again.
    """
    resident = lane == "resident"
    recall = (
        [call("toolu_recall_tool", RECALL_TOOL, handle=HANDLE, lines="15000-15003")]
        if resident
        else []
    )
    turns = [
        {"tools": [bash("toolu_long", "cat build.log")]},
        {"tools": [bash("toolu_grep", "grep -rn needle src")]},
        {"tools": [call("toolu_read", "Read", file_path="{{project}}/module.py")]},
        {"tools": [call("toolu_reread", "Read", file_path="{{project}}/module.py")]},
        {"tools": [call("toolu_mcp", "mcp__mini__big", lines=600)]},
        {
            "tools": [
                bash("toolu_p1", "cat other.log"),
                bash("toolu_p2", "cat third.log"),
                bash("toolu_p3", "echo short"),
            ]
        },
        {"tools": [bash("toolu_fails", "ls no-such-file")]},
        {"tools": [bash("toolu_raw", "cat other.log # ck:raw")]},
        {"tools": [bash("toolu_sed", "sed -n 15000,15003p " + COPY)]},
        {"tools": [bash("toolu_grep_copy", "grep -n 'retry budget' " + COPY)]},
        {"tools": [call("toolu_read_copy", "Read", file_path=COPY, offset=16000, limit=4)]},
        {
            "tools": [
                call(
                    "toolu_agent",
                    "Agent",
                    description="look",
                    prompt="SUB-TASK look at the log",
                    subagent_type="general-purpose",
                    run_in_background=False,
                )
            ]
        },
    ]
    turns += [{"tools": recall}] if recall else []
    turns += (
        [
            {"tools": [bash("toolu_between", "./stop_and_kill.py")]},
            {"tools": [bash("toolu_after_kill", "cat third.log")]},
        ]
        if resident
        else []
    )
    turns += ["first answer"]
    turns += [{"tools": [bash("toolu_resumed", "sed -n 15000,15003p " + COPY)]}, "second answer"]
    turns += [{"tools": [bash("toolu_compacted", "sed -n 15000,15003p " + COPY)]}]
    turns += (
        [
            {
                "tools": [
                    call("toolu_recall_compacted", RECALL_TOOL, handle=HANDLE, grep="retry budget")
                ]
            }
        ]
        if resident
        else []
    )
    turns += ["third answer"]
    return {
        "turns": turns,
        "permissions": "default",
        "timeout_s": 120,
        "subagents": {
            "SUB-TASK": [
                {"tools": [bash("toolu_sub", "cat build.log")]},
                {"tools": [bash("toolu_sub_sed", "sed -n 15000,15003p " + COPY)]},
                {"tools": [call("toolu_sub_read", "Read", file_path=COPY, offset=16000, limit=4)]},
                "sub answer",
            ]
        },
        "compact_turns": [
            {
                "text": "<analysis>a</analysis><summary>The log was cut: [ck: recall "
                + HANDLE
                + "]</summary>"
            }
        ],
        "files": dict(PROJECT_FILES, **{"stop_and_kill.py": stop_and_kill(root)}),
        "mcp": {
            "mcpServers": {
                "mini": {"command": "{{python}}", "args": [os.path.join(HERE, "mini_mcp.py")]}
            }
        },
        "user_settings": {
            "permissions": {"allow": ["mcp__mini", "Bash(./stop_and_kill.py)", RECALL_TOOL]}
        },
        "runs": [
            {"prompt": "start"},
            {"prompt": "go on", "resume": True},
            {"prompt": "/compact keep the log", "resume": True},
            {"prompt": "and on", "resume": True},
        ],
    }


def grep_size() -> int:
    """Characters that `grep -rn needle src` prints in the project."""
    return sum(
        len(f"{path}:{number}:{line}\n")
        for path, text in source_files().items()
        for number, line in enumerate(text.rstrip("\n").split("\n"), 1)
    )
