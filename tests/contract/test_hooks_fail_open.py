"""Hook commands whose folder, modules or interpreter are gone: exit 0, nothing said.  Otherwise
the client blocks calls.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

import plugin
from contextkernel.clients import events
from contextkernel.clients.claude import settings_file

LOST = {  # what is gone -> how it goes
    "the folder": lambda root, python: os.rename(root, root + "-moved"),
    "the scripts": lambda root, python: [
        os.unlink(os.path.join(root, "hooks", name))
        for name in os.listdir(os.path.join(root, "hooks"))
        if name.endswith(".py")
    ],
    "the package": lambda root, python: shutil.rmtree(os.path.join(root, "hooks", "contextkernel")),
    "the store's modules": lambda root, python: shutil.rmtree(
        os.path.join(root, "hooks", "contextkernel", "store")
    ),
    "one module": lambda root, python: os.unlink(
        os.path.join(root, "hooks", "contextkernel", "clients", "hook_io.py")
    ),
    "half a module": lambda root, python: os.truncate(
        os.path.join(root, "hooks", "contextkernel", "clients", "hook_io.py"), 700
    ),
    "the interpreter": lambda root, python: os.unlink(python),
    "the interpreter's right to run": lambda root, python: os.chmod(python, 0o600),
    "the interpreter's file": lambda root, python: (os.unlink(python), os.mkdir(python)),
    "the interpreter's libraries": lambda root, python: write(
        python, "#!/bin/sh\necho 'error while loading shared libraries' >&2\nexit 127\n"
    ),
}
EVENT = {
    "session_id": "s",
    "transcript_path": "",
    "cwd": "",
    "tool_name": "Bash",
    "tool_use_id": "t",
    "tool_input": {"command": "make"},
    "tool_response": {
        "stdout": "line\n" * 20000,
        "stderr": "",
        "interrupted": False,
        "isImage": False,
    },
}

TEXT = "\n".join(
    f"[{n:05}] compiling module_{n % 977} in {n * 7919 % 4001} ms" for n in range(3000)
)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o700)


def commands(hooks):
    return [
        (name, hook["command"])
        for name, groups in hooks.items()
        for group in groups
        for hook in group["hooks"]
        if hook["type"] == "command"
    ]


def by_hand():
    with open(os.path.join(plugin.ROOT, "codex", "config.toml"), encoding="utf-8") as file:
        return [
            ("by hand", command.replace("/path/to/context-kernel", "$PLUGIN_ROOT"))
            for command in re.findall(r"^command = '(.*hooks/.*)'$", file.read(), re.M)
        ]


def every_command(root, python):
    """(event, command) of each place that we write commands into."""
    return (
        commands(events.settings_hooks(python, root))
        + commands(events.plugin_hooks()["hooks"])
        + commands(events.codex_hooks(python)["hooks"])
        + commands(events.codex_hooks()["hooks"])
        + by_hand()
    )


@pytest.mark.parametrize(
    "shell", [name for name in ("/bin/sh", "/bin/bash") if os.path.exists(name)]
)
@pytest.mark.parametrize("lost", sorted(LOST))
@pytest.mark.loop(2)
def test_nothing_is_blocked_and_nothing_said(lost, shell, own_plugin_root, state, tmp_path):
    if lost == "the interpreter's right to run" and os.geteuid() == 0 and sys.platform == "darwin":
        pytest.skip("root may run it")
    folder = tmp_path / "bin"
    folder.mkdir()
    python = str(folder / "python3")
    write(python, f"#!/bin/sh\nexec '{plugin.BASE_PYTHON}' \"$@\"\n")
    asked = every_command(own_plugin_root, python)
    assert len(asked) > 12
    LOST[lost](own_plugin_root, python)
    env = dict(plugin.environment(own_plugin_root), PLUGIN_ROOT=own_plugin_root, PATH=str(folder))
    for name, command in asked:
        done = subprocess.run(
            [shell, "-c", command],
            input=json.dumps(dict(EVENT, hook_event_name=name)).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            timeout=60,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), (name, command)


@pytest.mark.slow
def test_what_is_there_still_answers(own_plugin_root, state):
    for hooks in (
        events.settings_hooks(plugin.BASE_PYTHON, own_plugin_root),
        events.codex_hooks()["hooks"],
    ):
        ((_, command),) = [row for row in commands(hooks) if row[0] == "PostToolUse"]
        event = dict(
            EVENT,
            hook_event_name="PostToolUse",
            tool_name="mcp__logs__read",
            tool_response={"content": [{"type": "text", "text": TEXT}]},
        )
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            input=json.dumps(event).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=plugin.environment(own_plugin_root, {"PLUGIN_ROOT": own_plugin_root}),
            timeout=60,
        )
        assert done.returncode == 0, command
        assert b"recall" in done.stdout, command


# -- what earlier versions wrote -------------------------------------------------------------------
ROOT = "/home/it's me/clone"
EARLIER = "exec '/usr/bin/python3' -I -S '/home/it'\\''s me/clone/hooks/%s.py'"


@pytest.mark.parametrize(
    "command, ours",
    [
        (EARLIER % "post_tool_use", True),
        (EARLIER % "session_end", True),
        (f"({EARLIER}) 2>/dev/null; exit 0" % "post_tool_use", True),
        (EARLIER.replace("/usr/bin/python3", "/opt/py thon/bin/python3.12") % "stop", True),
        (EARLIER % "post_tool_use" + " && echo theirs", False),
        ("echo; " + EARLIER % "stop", False),
        (EARLIER % "their_own", False),
        (EARLIER.replace("clone", "another clone") % "stop", False),
        ("true", False),
        ("", False),
        (None, False),
        (7, False),
        (["x"], False),
    ],
)
def test_commands_of_ours_are_known(command, ours):
    assert events.is_settings_hook(command, ROOT) is ours


def test_a_command_of_the_table_is_known():
    for name, command in commands(events.settings_hooks("/usr/bin/python3", ROOT)):
        assert events.is_settings_hook(command, ROOT), name


def test_earlier_commands_are_taken_out_and_others_stay():
    theirs = {"type": "command", "command": "theirs"}
    settings = {
        "hooks": {
            "PostToolUse": [
                {
                    "matcher": "Bash",
                    "hooks": [{"type": "command", "command": EARLIER % "post_tool_use"}, theirs],
                },
                {"hooks": [{"type": "command", "command": EARLIER % "post_tool_use"}]},
                {"hooks": [{"type": "prompt"}]},
            ]
        }
    }
    settings_file.remove_hooks(settings, lambda command: events.is_settings_hook(command, ROOT))
    assert settings == {
        "hooks": {
            "PostToolUse": [{"matcher": "Bash", "hooks": [theirs]}, {"hooks": [{"type": "prompt"}]}]
        }
    }
