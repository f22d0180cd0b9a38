"""install.sh with the real Claude Code: set up twice, working in a session, taken out to the
byte; from oddly named folders.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess

import pytest

import plugin
import session as script

pytestmark = pytest.mark.e2e
BEFORE = b'{\n    "permissions": {\n        "allow": ["Bash(ls:*)"]\n    }\n}'
LOG = "".join(
    f"[{n:05}] compiling module m_{n % 97} in {n * 7919 % 4001} ms\n" for n in range(3000)
)


@pytest.fixture
def machine(claude, tmp_path, own_plugin_root):
    """(run, settings): install.sh of an oddly named root for one client, and the settings file
    it works on.
    """
    config = tmp_path / "config"
    config.mkdir()
    env = dict(
        {name: value for name, value in os.environ.items() if name != "CODEX_BIN"},
        HOME=str(tmp_path),
        CLAUDE_CONFIG_DIR=str(config),
        CK_DATA=str(tmp_path / "state"),
        CLAUDE_BIN=claude.path,
        PATH=os.path.dirname(plugin.BASE_PYTHON) + ":/usr/bin:/bin",
    )

    def run(*argv):
        done = subprocess.run(
            list(argv),
            env=env,
            cwd=str(tmp_path),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout.decode("utf-8", "replace")
        return done.stdout.decode("utf-8", "replace")

    def install(*options):
        return run("bash", os.path.join(own_plugin_root, "install.sh"), "--no-codex", *options)

    install.client = lambda *words: run(claude.path, *words)
    install.root = own_plugin_root
    return install, config / "settings.json"


def test_twice_in_and_out_to_the_byte(machine):
    install, settings = machine
    settings.write_bytes(BEFORE)
    said = install("--yes")
    assert "identical, " in said
    assert "DIFFERENT" not in said
    once = settings.read_bytes()
    install("--yes", "--no-demo")
    assert settings.read_bytes() == once
    held = json.loads(once)
    assert held["permissions"]["allow"] == [
        "Bash(ls:*)",
        "mcp__plugin_context-kernel_kernel__recall",
    ]
    assert held["enabledPlugins"] == {script.PLUGIN: True}
    [row] = [
        row
        for row in json.loads(install.client("plugin", "list", "--json"))
        if row["id"] == script.PLUGIN
    ]
    assert row["enabled"]
    assert not row.get("errors")
    assert "Connected" in install.client("mcp", "list")
    install("--uninstall")
    assert settings.read_bytes() == BEFORE
    assert script.PLUGIN not in install.client("plugin", "list", "--json")
    assert "context-kernel" not in install.client("plugin", "marketplace", "list", "--json")
    install("--uninstall")
    assert settings.read_bytes() == BEFORE


def test_the_upgrade_commands_of_the_readme(machine):
    install, _ = machine
    with open(os.path.join(plugin.ROOT, "README.md"), encoding="utf-8") as handle:
        commands = re.findall(
            r"`claude (plugin [^`]+)`", handle.read().split("## Upgrade")[1].split("\n## ")[0]
        )
    assert len(commands) == 2
    install("--no-demo")
    for command in commands:
        install.client(*command.split())  # asserts exit 0
    assert "Connected" in install.client("mcp", "list")


def test_what_the_person_changed_meanwhile_stays(machine):
    install, settings = machine
    settings.write_bytes(BEFORE)
    install("--yes", "--no-demo")
    held = dict(json.loads(settings.read_bytes()), later=1)
    settings.write_text(json.dumps(held))
    install("--uninstall")
    assert json.loads(settings.read_bytes()) == dict(json.loads(BEFORE), later=1)


def test_a_settings_file_with_comments_stops_everything(machine):
    install, settings = machine
    settings.write_bytes(b'{"a": 1, // mine\n}')
    with pytest.raises(AssertionError, match="is not plain JSON"):
        install("--yes", "--no-demo")
    assert settings.read_bytes() == b'{"a": 1, // mine\n}'


def test_a_linked_settings_file_stays_a_link(machine, tmp_path):
    install, settings = machine
    target = tmp_path / "dotfiles.json"
    target.write_bytes(BEFORE)
    settings.symlink_to(target)
    install("--yes", "--no-demo")
    install("--uninstall")
    assert settings.is_symlink()
    assert target.read_bytes() == BEFORE


def test_a_session_after_the_installation(claude, own_plugin_root):
    """The plugin that install.sh set up shortens an output and gives it back, in the default
    permission mode.
    """
    install = (
        f"CLAUDE_BIN='{claude.path}' bash \"$CK_TEST_ROOT/install.sh\" --yes --no-codex --no-demo"
    )
    turns = [
        {"tools": [script.bash("toolu_long", "cat build.log")]},
        {
            "tools": [
                script.call(
                    "toolu_back", script.RECALL_TOOL, handle=script.HANDLE, lines="1500-1501"
                )
            ]
        },
        "done",
    ]
    env = {
        "HOME": "{{root}}/home",
        "CLAUDE_CONFIG_DIR": "{{config}}",
        "CK_TEST_ROOT": own_plugin_root,
    }
    exports = "".join(f"export {name}={shlex.quote(value)}; " for name, value in env.items())
    result = claude.run(
        {
            "turns": turns,
            "permissions": "default",
            "files": {"build.log": LOG},
            "setup": [exports + install],
            "prompt": "go",
        }
    )
    seen = {
        use_id: (wrong, script.text_of(content))
        for use_id, (wrong, content) in result.tool_results().items()
    }
    assert "[ck: " in seen["toolu_long"][1]
    assert len(seen["toolu_long"][1]) < len(LOG) // 10
    assert (
        seen["toolu_back"] == (False, "\n".join(LOG.split("\n")[1499:1501]) + "\n")
        or seen["toolu_back"][1].split("<system")[0].strip().split("\n")
        == LOG.split("\n")[1499:1501]
    )


def test_always_on_cost(claude, machine):
    install, _ = machine
    install("--no-demo")
    try:
        said = install.client("plugin", "details", script.PLUGIN)
    except AssertionError as error:
        assert "unknown command" in str(error)
        pytest.skip("this client has no `plugin details`")
    tokens = int(said.split("Always-on:")[1].split("tok")[0].strip(" ~").replace(",", ""))
    assert 0 < tokens <= 400, said
