"""install.sh without any client: settings files changed narrowly, refused when in doubt, and put
back to the byte.
"""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import zlib

import pytest

import plugin
from contextkernel.clients import events
from contextkernel.clients.claude import settings_file
from contextkernel.setup import codex_bundle

BEFORE = (
    b'{\n    "model": "opus",\n    "hooks": {"PostToolUse": [{"matcher": "Bash", "hooks": '
    b'[{"type": "command", "command": "true"}]}]},\n    "env": {}\n}'
)


class Place:
    """One person's machine: folders of their own, and no client on PATH."""

    def __init__(self, base, root):
        self.root, self.base = root, base
        self.config, self.state, self.bin = base / "c d", base / "state", base / "bin"
        self.settings = self.config / "settings.json"
        for folder in (self.config, self.bin):
            folder.mkdir()
        for name in ("bash", "sh", "dirname", "ls", "git", "env", "unshare", "mount"):
            found = [
                path
                for path in ("/bin/" + name, "/usr/bin/" + name, "/usr/local/bin/" + name)
                if os.path.exists(path)
            ]
            if found:
                os.symlink(found[0], self.bin / name)
        self.python(f"exec '{plugin.BASE_PYTHON}' \"$@\"")

    def python(self, line):
        """Makes `python3` a shell script, as a version manager's shim is."""
        (self.bin / "python3").write_text(f"#!/bin/sh\n{line}\n")
        (self.bin / "python3").chmod(0o755)

    def env(self, **more):
        kept = {
            name: value
            for name, value in os.environ.items()
            if name not in ("CLAUDE_BIN", "CODEX_BIN", "CK_CLAUDE_BINS", "PYTHON")
        }
        return dict(
            kept,
            PATH=str(self.bin),
            HOME=str(self.base),
            CLAUDE_CONFIG_DIR=str(self.config),
            CODEX_HOME=str(self.base / "x"),
            CK_DATA=str(self.state),
            **more,
        )

    def run(self, *options, code=0, wrap=None, **more):
        argv = ["bash", os.path.join(self.root, "install.sh")] + list(options)
        done = subprocess.run(
            wrap(argv) if wrap else argv,
            env=self.env(**more),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=120,
        )
        said = done.stdout.decode() + done.stderr.decode()
        assert done.returncode == code, said
        return said

    def store(self):
        """Lets the plugin hide, and so store, one output."""
        log = "".join(
            f"[{n:04}] compiling module m_{n % 97} in {n * 7919 % 4001} ms\n" for n in range(900)
        )
        argv = [
            "python3",
            os.path.join(self.root, "hooks", "ck.py"),
            "normalize",
            "--command",
            "make",
        ]
        done = subprocess.run(
            argv, input=log.encode(), env=self.env(), stdout=subprocess.PIPE, check=True
        )
        assert b"recall" in done.stdout
        assert (self.state / "blobs").exists()


@pytest.fixture
def place(tmp_path, plugin_root):
    return Place(tmp_path, plugin_root)


@pytest.fixture(scope="module")
def demonstrated(tmp_path_factory, plugin_root):
    """A place where install.sh ran with its demonstration, and what it printed."""
    place = Place(tmp_path_factory.mktemp("demonstrated"), plugin_root)
    return place, place.run()


def hooks_of(path):
    return json.loads(path.read_bytes())["hooks"]


def test_scripts_are_added_once_and_taken_out_to_the_byte(place):
    place.settings.write_bytes(BEFORE)
    place.run("--scripts", "--no-demo")
    once = place.settings.read_bytes()
    place.run("--scripts", "--no-demo")
    assert place.settings.read_bytes() == once
    settings, wanted = json.loads(once), events.settings_hooks(plugin.BASE_PYTHON, place.root)
    assert list(settings) == ["model", "hooks", "env"]
    assert set(settings["hooks"]) == set(wanted)
    assert (
        settings["hooks"]["PostToolUse"]
        == json.loads(BEFORE)["hooks"]["PostToolUse"] + wanted["PostToolUse"]
    )
    assert b'\n    "model"' in once, "the file's own indentation"
    place.run("--uninstall")
    assert place.settings.read_bytes() == BEFORE
    place.run("--uninstall")
    assert place.settings.read_bytes() == BEFORE


def test_a_written_hook_runs(place):
    place.run("--scripts", "--no-demo")
    group = hooks_of(place.settings)["PostToolUse"][0]
    log = "".join(
        f"[{n:04}] compiling module m_{n % 97} in {n * 7919 % 4001} ms\n" for n in range(900)
    )
    event = {
        "hook_event_name": "PostToolUse",
        "session_id": "s",
        "tool_use_id": "t",
        "tool_name": "Bash",
        "tool_input": {"command": "make"},
        "tool_response": {"stdout": log, "stderr": "", "interrupted": False, "isImage": False},
    }
    done = subprocess.run(
        ["/bin/sh", "-c", group["hooks"][0]["command"]],
        input=json.dumps(event).encode(),
        stdout=subprocess.PIPE,
        env=place.env(),
    )
    assert done.returncode == 0
    assert (
        len(json.loads(done.stdout)["hookSpecificOutput"]["updatedToolOutput"]["stdout"])
        < len(log) // 2
    )


def test_no_file_before_no_file_afterwards(place):
    place.run("--scripts", "--no-demo")
    assert stat.S_IMODE(place.settings.stat().st_mode) == 0o600
    place.run("--uninstall")
    assert not place.settings.exists()


@pytest.mark.slow
def test_what_others_wrote_meanwhile_stays(place):
    place.settings.write_bytes(BEFORE)
    place.run("--scripts", "--no-demo")
    settings = json.loads(place.settings.read_bytes())
    settings["later"] = [1]
    settings["hooks"]["PostToolUse"][1]["hooks"].append({"type": "command", "command": "theirs"})
    settings["hooks"]["Stop"] = [{"hooks": [{"type": "command", "command": "mine"}]}]
    place.settings.write_text(json.dumps(settings))
    place.run("--scripts", "--no-demo")
    place.run("--uninstall")
    left = json.loads(place.settings.read_bytes())
    assert [
        [hook["command"] for hook in group["hooks"]] for group in left["hooks"]["PostToolUse"]
    ] == [["true"], ["theirs"]]
    assert set(left["hooks"]) == {"PostToolUse", "Stop"}
    assert left["later"] == [1]
    assert left["env"] == {}, "env was there, and empty, before"


def test_uninstall_without_the_state_folder_still_finds_our_hooks(place):
    place.settings.write_bytes(BEFORE)
    place.run("--scripts", "--no-demo")
    for path in (place.state / "install").iterdir():
        path.unlink()
    place.run("--uninstall")
    assert json.loads(place.settings.read_bytes()) == json.loads(BEFORE)


@pytest.mark.slow
def test_another_clone_takes_the_hooks_over(place, own_plugin_root):
    place.run("--scripts", "--no-demo")
    place.root = own_plugin_root
    place.run("--scripts", "--no-demo")
    assert hooks_of(place.settings) == events.settings_hooks(plugin.BASE_PYTHON, own_plugin_root)


@pytest.mark.parametrize(
    "content",
    [
        b'{"a": 1, // why\n "b": 2}',
        b'{"a": [1, 2,]}',
        b'{"a": 1, "a": 2}',
        b"[1]",
        b'{"a": NaN}',
        b'{"a": 1e999}',
        b'\xff{"a": 1}',
        b'{"hooks": []}',
        b'{"hooks": {"PostToolUse": {}}}',
        b'{"permissions": [], "hooks": "x"}',
    ],
)
@pytest.mark.loop(3)
def test_what_cannot_be_changed_safely_is_refused_and_left(place, content):
    place.settings.write_bytes(content)
    said = place.run("--scripts", "--no-demo", code=1)
    assert place.settings.read_bytes() == content
    assert "settings" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"  \n",
        b"{}",
        b'\xef\xbb\xbf{\r\n\t"a": "\xc3\xa4",\r\n\t"b": 1.5\r\n}\r\n',
        b'{"a": "\\ud800"}',
    ],
)
@pytest.mark.loop(2)
def test_unusual_files_keep_their_form(place, content):
    place.settings.write_bytes(content)
    place.run("--scripts", "--no-demo")
    changed = place.settings.read_bytes()
    assert changed.startswith(content[:3] if content.startswith(b"\xef") else b"{")
    assert changed.endswith(content[-1:].replace(b" ", b"\n") or b"}" if content.strip() else b"\n")
    assert (b"\r\n" in changed) == (b"\r\n" in content)
    assert (b"\xc3\xa4" in changed) == (b"\xc3\xa4" in content)
    place.run("--uninstall")
    assert place.settings.read_bytes() == content


def test_a_link_stays_a_link_and_the_mode_stays(place):
    target = place.base / "dotfiles.json"
    target.write_bytes(BEFORE)
    target.chmod(0o640)
    place.settings.symlink_to(target)
    place.run("--scripts", "--no-demo")
    assert place.settings.is_symlink()
    assert len(hooks_of(target)) > 1
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    place.run("--uninstall")
    assert place.settings.is_symlink()
    assert target.read_bytes() == BEFORE


@pytest.mark.slow
def test_dry_run_changes_nothing(place):
    place.settings.write_bytes(BEFORE)
    said = place.run("--scripts", "--yes", "--failure-lane", "--dry-run")
    assert "would: write" in said
    assert place.settings.read_bytes() == BEFORE
    assert not place.state.exists()
    place.run("--scripts", "--no-demo")
    once = place.settings.read_bytes()
    assert "would: put back" in place.run("--uninstall", "--purge", "--dry-run")
    assert place.settings.read_bytes() == once


@pytest.mark.slow
def test_without_a_client_the_two_lines_are_shown_and_the_demonstration_runs(demonstrated):
    place, said = demonstrated
    assert (
        f"/plugin marketplace add {place.root}\n/plugin install "
        "context-kernel@context-kernel-marketplace"
    ) in said
    assert "Outputs made just now" in said
    assert not place.settings.exists(), "no consent, no rule"


def test_the_demonstration_saves_against_what_the_client_alone_shows(demonstrated):
    table = demonstrated[1].split("recalled and compared\n")[1].split("  saved:")[0]
    row = re.compile(r"^  (.+?) +(\d+) +(\d+) +(\d+) +(-?\d+) %  identical, (\d+) bytes$")
    *rows, together = table.strip("\n").split("\n")
    found = [row.match(line).groups() for line in rows]
    assert {"python3 worker.py", "python3 -m unittest -v", "python3 -m unittest -v, failing"} <= {
        name for name, *_ in found
    }
    for name, raw, alone, ours, saved, size in [
        (name, *map(int, numbers)) for name, *numbers in found
    ]:
        # bytes the client alone shows
        wanted = min(size, 10040) if name.endswith("failing") else size if size <= 30000 else 2240
        assert (raw, alone) == ((size + 3) // 4, (wanted + 3) // 4)
        assert saved == round(100 * (alone - ours) / alone) > 0, name
    sums = [sum(int(one[column]) for one in found) for column in (2, 3)]
    assert together.split() == [
        "together",
        *map(str, sums),
        str(round(100 * (sums[0] - sums[1]) / sums[0])),
        "%",
    ]


def test_the_demonstration_names_a_line_that_the_client_alone_does_not_show(demonstrated):
    place, said = demonstrated
    line = re.search(
        r'see this line, 2,718 of 4,000 in\nthe output of "python3 worker.py":\n  (.+)\n', said
    ).group(1)
    blobs = [path for path in (place.state / "blobs").rglob("*") if path.is_file()]
    log = next(
        text
        for text in (zlib.decompress(path.read_bytes()) for path in blobs)
        if b"lost its lease" in text
    )
    assert log.decode().split("\n")[2717] == line
    assert line.encode() not in log[:2000]
    shown = subprocess.run(
        [
            "python3",
            os.path.join(place.root, "hooks", "ck.py"),
            "normalize",
            "--command",
            "python3 worker.py",
        ],
        input=log,
        env=place.env(),
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    assert line.encode() in shown
    assert re.search(
        rf"python3 worker\.py +{(len(log) + 3) // 4} +560 +{(len(shown) + 3) // 4} ", said
    )


def test_the_demonstration_says_what_to_do_next(demonstrated):
    place, said = demonstrated
    words = said.split("\nNext: ")[1]
    command = re.search(r"in your sessions: (python3 .+)\n", words).group(1)
    done = subprocess.run(
        ["bash", "-c", command], env=place.env(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert done.returncode == 0, done.stderr


def test_the_allow_rule_is_given_and_taken_back(place):
    place.settings.write_bytes(b'{"permissions": {"deny": ["X"]}}')
    place.run("--yes", "--no-demo")
    assert json.loads(place.settings.read_bytes())["permissions"] == {
        "deny": ["X"],
        "allow": ["mcp__plugin_context-kernel_kernel__recall"],
    }
    place.run("--uninstall")
    assert place.settings.read_bytes() == b'{"permissions": {"deny": ["X"]}}'


def test_a_rule_that_was_there_before_is_not_taken(place):
    mine = b'{"permissions": {"allow": ["mcp__plugin_context-kernel_kernel__recall"]}}'
    place.settings.write_bytes(mine)
    place.run("--yes", "--no-demo")
    settings = dict(json.loads(mine), later=1)
    place.settings.write_text(json.dumps(settings))
    place.run("--uninstall")
    assert json.loads(place.settings.read_bytes()) == settings


def test_the_failure_lane_goes_on_and_off(place):
    place.settings.write_bytes(BEFORE)
    assert "failure lane is on" in place.run("--failure-lane", "--no-demo")
    assert os.path.exists(
        json.loads(place.settings.read_bytes())["env"]["CLAUDE_CODE_SHELL_PREFIX"]
    )
    place.run("--uninstall")
    assert place.settings.read_bytes() == BEFORE


@pytest.mark.slow
def test_purge_removes_what_we_stored_and_nothing_else(place):
    place.run("--no-demo")
    place.store()
    place.run("--scripts", "--no-demo")
    session = place.config / "projects" / "p" / "s" / "tool-results"
    session.mkdir(parents=True)
    for name in ("ck-0123456789ab.txt", "theirs.txt", "ck-notes.txt"):
        (session / name).write_text("x")
    (place.state / "theirs").write_text("x")
    assert "kept" in place.run("--uninstall", "--purge"), "nobody there to agree"
    assert (place.state / "blobs").exists(), "nobody there to agree"
    said = place.run("--uninstall", "--purge", "--yes")
    assert sorted(path.name for path in session.iterdir()) == ["ck-notes.txt", "theirs.txt"]
    assert [path.name for path in place.state.iterdir()] == ["theirs"]
    assert "not ours: theirs" in said
    (place.state / "theirs").unlink()
    place.run("--no-demo")
    place.store()
    place.run("--uninstall", "--purge", "--yes")
    assert not place.state.exists()


@pytest.mark.slow
def test_purge_names_in_its_last_lines_what_it_leaves(place):
    place.run("--scripts", "--no-demo")
    copy = place.config / "plugins" / "cache" / "context-kernel-marketplace"
    (copy / "context-kernel" / "0.1.0").mkdir(parents=True)
    (copy / "context-kernel" / "0.1.0" / ".orphaned_at").write_text("1")
    other = place.config / "plugins" / "cache" / "theirs"
    other.mkdir()
    backup = place.config / "settings.json.bak-2026"
    backup.write_bytes(BEFORE)
    for _ in range(2):  # also where nothing is stored any more
        said = place.run("--uninstall", "--purge", "--yes")
        last = said.strip().split("\n")[-2:]
        assert last[0].startswith(f"left: {copy}, Claude Code's own copy of the plugin")
        assert last[1].startswith(f"left: {backup}, ")
        assert str(other) not in said
    assert (copy / "context-kernel" / "0.1.0" / ".orphaned_at").exists()
    assert backup.read_bytes() == BEFORE


@pytest.mark.slow
def test_a_read_only_plugin_folder(place, own_plugin_root):
    place.root = own_plugin_root
    place.run(wrap=lambda argv: plugin.frozen(own_plugin_root, argv))


@pytest.mark.parametrize(
    "script, words",
    [
        ("exit 1", "no python3 was found"),
        ('case "$*" in *argv*) echo python3:3.8;; *) exit 1;; esac', "python3:3.8 is all"),
    ],
)
def test_no_python_or_an_old_one(place, script, words):
    place.python(script) if "3.8" in script else (place.bin / "python3").unlink()
    said = place.run(code=1)
    assert words in said
    assert "Python 3.9 or newer" in said


def test_the_interpreter_is_the_one_behind_a_shim(place):
    place.run("--scripts", "--no-demo")
    assert (
        f"exec '{plugin.BASE_PYTHON}' -I -S"
        in hooks_of(place.settings)["PostToolUse"][0]["hooks"][0]["command"]
    )


@pytest.mark.parametrize("options", [["--frobnicate"], ["--purge"], ["x"]])
def test_wrong_calls(place, options):
    assert "install.sh: " in place.run(*options, code=2)


def test_help_names_every_option(place):
    said = place.run("--help")
    from contextkernel.setup import install as install_main

    assert all("--" + flag in said for flag in install_main.FLAGS)


def test_a_named_client_that_is_none(place):
    assert "CLAUDE_BIN=/no/such is no program" in place.run(
        "--no-demo", code=1, CLAUDE_BIN="/no/such"
    )


def test_an_old_codex_is_left_alone(place):
    (place.bin / "codex").write_text("#!/bin/sh\necho codex-cli 0.136.1\n")
    (place.bin / "codex").chmod(0o755)
    assert "Codex codex-cli 0.136.1 is left alone" in place.run("--no-demo", "--yes")
    assert not (place.base / "x").exists()


@pytest.mark.parametrize(
    "said, number",
    [
        ("codex-cli 0.171.0\n", (0, 171, 0)),
        ("codex-cli 0.142.0-alpha.3", (0, 142, 0)),
        ("what", ()),
    ],
)
def test_codex_version(said, number):
    assert codex_bundle.version(said) == number


def test_the_hook_file_for_codex_is_that_of_the_table():
    with open(os.path.join(plugin.ROOT, "codex", "hooks.json"), encoding="utf-8") as handle:
        assert handle.read() == events.as_text(events.codex_hooks()), (
            "run tests/write_hook_files.py"
        )


def test_the_configuration_by_hand_says_what_the_table_says():
    with open(os.path.join(plugin.ROOT, "codex", "config.toml"), encoding="utf-8") as handle:
        text = handle.read()
    for event, groups in events.codex_hooks()["hooks"].items():
        for group in groups:
            hook = group["hooks"][0]
            assert f"[[hooks.{event}]]" in text
            assert (
                f"command = '{hook['command'].replace('$PLUGIN_ROOT', '/path/to/context-kernel')}'"
            ) in text
            assert f"timeout = {hook['timeout']:d}" in text
            assert f'matcher = "{group["matcher"]}"' in text if "matcher" in group else True
    with open(os.path.join(plugin.ROOT, "codex", "mcp.json"), encoding="utf-8") as handle:
        server = json.load(handle)["mcpServers"]["kernel"]
    assert (
        json.dumps(server["args"]).replace("mcp/server.py", "/path/to/context-kernel/mcp/server.py")
        in text
    )
    assert json.dumps(server["env_vars"]) in text


def test_one_version_in_codex_too():
    with (
        open(os.path.join(plugin.ROOT, "codex", "plugin.json"), encoding="utf-8") as one,
        open(os.path.join(plugin.ROOT, ".claude-plugin", "plugin.json"), encoding="utf-8") as other,
    ):
        codex, claude = json.load(one), json.load(other)
    assert all(codex[key] == claude[key] for key in ("name", "version", "description", "license"))


def test_the_bundle_holds_what_sessions_need_and_no_more(tmp_path):
    target = str(tmp_path / "b")
    codex_bundle.build(plugin.ROOT, target, "/py", events.codex_hooks("/p y"))
    codex_bundle.build(plugin.ROOT, target, "/py", events.codex_hooks("/p y"))
    assert sorted(os.listdir(target)) == [
        ".claude-plugin",
        ".codex-plugin",
        "hooks",
        "mcp",
        "mcp.json",
        "skills",
    ]
    names = {os.path.relpath(path, target) for path in plugin.files_of(target)}
    assert {"hooks/ck.py", "mcp/server.py", "hooks/contextkernel/marks.py"} <= names
    assert not [name for name in names if "install_" in name or "pycache" in name]
    with open(os.path.join(target, "hooks", "hooks.json"), encoding="utf-8") as handle:
        assert "'/p y' -I -S" in json.load(handle)["hooks"]["PostToolUse"][0]["hooks"][0]["command"]


def test_a_failed_write_leaves_nothing_behind(tmp_path, monkeypatch):
    path = tmp_path / "settings.json"
    path.write_bytes(b"{}")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(settings_file.Refused, match="No space left"):
        settings_file.write(str(path), b'{"a": 1}')
    assert os.listdir(tmp_path) == ["settings.json"]
    assert path.read_bytes() == b"{}"
