"""The state folder is for one pair of eyes: 0700 and 0600 whoever comes first, whatever the
umask, and never another user's.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess

import pytest

import plugin

TEXT = "\n".join(
    f"[{n:4}/600] building object lib/module_{n % 97}.o with optimisation in {n * 7919 % 997} ms"
    for n in range(1, 601)
)
HANDSHAKE = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}},
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
)
SCRIPTS = (
    "session_start.py",
    "session_end.py",
    "pre_tool_use.py",
    "post_tool_use.py",
    "post_tool_use_failure.py",
    "user_prompt_submit.py",
    "stop.py",
    "subagent_start.py",
    "subagent_stop.py",
)
NAMES = {
    script: "".join(word.capitalize() for word in script[:-3].split("_")) for script in SCRIPTS
}
COMMANDS = (
    ("ck.py", "normalize", "--exit-code", "1"),
    ("ck.py", "recall", "0" * 12),
    ("ck.py", "savings"),
    ("ck.py", "failure-lane", "on", "--yes"),
    ("ck.py", "slice", "--repo", "REPO", "--symptom", "-", "--wait"),
    ("savings.py",),
    ("install.py", "--no-claude", "--no-codex", "--yes"),
)
OTHERS = ("server", "failure lane")
ENTRIES = [(script,) for script in SCRIPTS] + list(COMMANDS) + [(name,) for name in OTHERS]


def event(script, transcript, **more):
    return dict(
        {
            "hook_event_name": NAMES[script],
            "session_id": "s-1",
            "transcript_path": transcript,
            "cwd": "/",
            "tool_name": "Bash",
            "source": "startup",
            "tool_input": {
                "command": "make all # ck:raw" if script == "pre_tool_use.py" else "make all"
            },
            "tool_use_id": "toolu_1",
            "error": "Exit code 1\n" + TEXT,
            "agent_id": "a" if "agent" in script else "",
            "agent_type": "kernel-verifier" if "agent" in script else "",
            "tool_response": {"stdout": TEXT, "stderr": "", "interrupted": False, "isImage": False},
        },
        **more,
    )


def started(umask, argv, data=b"", **more):
    return subprocess.run(
        ["sh", "-c", f'umask {umask:03o}; exec "$@"', "sh"] + argv,
        input=data,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=60,
        **more,
    )


def run(root, entry, umask, tmp_path, wrap=lambda argv: argv):
    """One entry, as its client or a person starts it."""
    python = ["python3", "-I", "-S"]
    session = tmp_path / "config" / "projects" / "p" / "s-1.jsonl"
    session.parent.mkdir(parents=True, exist_ok=True)
    session.touch()
    repo = tmp_path / "repo"
    repo.mkdir(exist_ok=True)
    (repo / "a.py").write_text("def foo():\n    return 1\n")
    name = entry[0]
    if name == "server":
        hook = {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "hook", "arguments": event("post_tool_use.py", str(session))},
        }
        slicing = {
            "jsonrpc": "2.0",
            "id": 3,
            "method": "tools/call",
            "params": {
                "name": "kernel_repo_slice",
                "arguments": {"symptom": "foo fails", "repo": str(repo)},
            },
        }
        data = "".join(json.dumps(message) + "\n" for message in HANDSHAKE + (hook, slicing))
        return started(
            umask, wrap(python + [os.path.join(root, "mcp", "server.py")]), data.encode()
        )
    if name == "failure lane":
        assert (
            started(
                umask,
                wrap(
                    python + [os.path.join(root, "hooks", "ck.py"), "failure-lane", "on", "--yes"]
                ),
            ).returncode
            == 0
        )
        (tmp_path / "text").write_text(TEXT)
        command = (
            "source /x/shell-snapshots/snapshot-bash-1.sh 2>/dev/null; eval 'cat "
            f"{tmp_path / 'text'}; exit 3'"
        )
        with open(tmp_path / "out", "wb") as out:
            done = subprocess.run(
                [
                    "sh",
                    "-c",
                    f'umask {umask:03o}; exec "$@"',
                    "sh",
                    os.path.join(os.environ["CK_DATA"], "bin", "failure-lane"),
                    command,
                ],
                stdout=out,
                timeout=60,
            )
        assert done.returncode == 3
        assert "recall " in (tmp_path / "out").read_text()
        return done
    data = json.dumps(event(name, str(session))).encode() if name in NAMES else TEXT.encode()
    arguments = [str(repo) if word == "REPO" else word for word in entry[1:]]
    return started(umask, wrap(python + [os.path.join(root, "hooks", name)] + arguments), data)


def too_wide(state):
    """Paths of a state folder, itself among them, that another user could enter, read or write."""
    paths = [str(state)] + [
        os.path.join(folder, name)
        for folder, folders, files in os.walk(str(state))
        for name in folders + files
    ]
    return [
        f"{os.lstat(path).st_mode & 0o7777:o} {path}"
        for path in paths
        if stat.S_IMODE(os.lstat(path).st_mode)
        not in ((0o700,) if os.path.isdir(path) or path.endswith("bin/failure-lane") else (0o600,))
    ]


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o022])
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: " ".join(entry[:2]))
@pytest.mark.loop(2)
def test_whoever_comes_first_makes_it_private(plugin_root, state, config, tmp_path, entry, umask):
    done = run(plugin_root, entry, umask, tmp_path)
    assert b"Traceback" not in (done.stderr or b"")
    assert not os.path.exists(str(state)) or not too_wide(state)


@pytest.mark.slow
def test_the_entries_of_the_test_above_do_make_it(plugin_root, state, config, tmp_path):
    for entry in (("post_tool_use.py",), ("ck.py", "normalize"), ("server",)):
        run(plugin_root, entry, 0, tmp_path)
    assert {"blobs", "spool", "live", "pycache", "state.db", "index"} <= set(os.listdir(str(state)))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: " ".join(entry[:2]))
@pytest.mark.loop(1)
def test_one_that_is_too_wide_is_narrowed(plugin_root, state, config, tmp_path, entry):
    for first in (("post_tool_use.py",), ("server",), ("ck.py", "failure-lane", "on", "--yes")):
        run(plugin_root, first, 0, tmp_path)
    for folder, _, files in os.walk(str(state)):
        os.chmod(folder, 0o777)
        for name in files:
            os.chmod(os.path.join(folder, name), 0o777 if name == "failure-lane" else 0o666)
    outside = tmp_path / "outside"
    outside.write_text("")
    os.chmod(str(outside), 0o666)
    os.symlink(str(outside), str(state / "live" / "link"))
    run(plugin_root, entry, 0, tmp_path)
    os.unlink(str(state / "live" / "link"))
    assert not too_wide(state)
    assert stat.S_IMODE(os.stat(str(outside)).st_mode) == 0o666


@pytest.mark.parametrize("entry", [("session_start.py",), ("server",)], ids=lambda entry: entry[0])
@pytest.mark.loop(1)
def test_wide_files_in_a_narrow_folder_are_narrowed_at_the_start(
    plugin_root, state, config, tmp_path, entry
):
    run(plugin_root, ("post_tool_use.py",), 0, tmp_path)
    (state / "live").mkdir(exist_ok=True)
    (state / "rest").mkdir()
    for name in ("live/s", "rest/s.json", "state.db.old"):
        (state / name).write_text("")
        os.chmod(str(state / name), 0o644)
    run(plugin_root, entry, 0, tmp_path)
    assert not too_wide(state)


def test_what_is_not_ours_keeps_its_modes(plugin_root, state, config, tmp_path):
    (state / "notes").mkdir(parents=True)
    (state / "notes" / "run.sh").write_text("")
    os.chmod(str(state / "notes" / "run.sh"), 0o755)
    os.chmod(str(state), 0o755)
    run(plugin_root, ("session_start.py",), 0, tmp_path)
    assert stat.S_IMODE(os.stat(str(state / "notes" / "run.sh")).st_mode) == 0o755
    assert stat.S_IMODE(os.stat(str(state)).st_mode) == 0o700


def test_parents_that_are_missing_are_private_too(plugin_root, tmp_path, monkeypatch, config):
    monkeypatch.setenv("CK_DATA", str(tmp_path / "one" / "two" / "state"))
    run(plugin_root, ("post_tool_use.py",), 0, tmp_path)
    assert [
        oct(stat.S_IMODE(os.stat(str(tmp_path / path)).st_mode))
        for path in ("one", "one/two", "one/two/state")
    ] == ["0o700"] * 3


@pytest.mark.parametrize("umask", [0o000, 0o077])
@pytest.mark.parametrize(
    "entry",
    [("post_tool_use.py",), ("session_end.py",), ("ck.py", "savings")],
    ids=lambda entry: entry[-1],
)
@pytest.mark.loop(1)
def test_the_bytecode_of_a_read_only_plugin_is_private(
    own_plugin_root, state, config, tmp_path, entry, umask
):
    run(own_plugin_root, entry, umask, tmp_path, lambda argv: plugin.frozen(own_plugin_root, argv))
    assert not too_wide(state)


# -- another user's --------------------------------------------------------------------------------
AS_ROOT = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="only root can make another user's folder"
)


def planted(state, tmp_path, how):
    """A state folder that is another user's: itself, or by way of a link."""
    there = tmp_path / "theirs" if how != "folder" else state
    there.mkdir()
    if how != "their link to ours":
        os.chown(str(there), 65534, 65534)
    if how != "folder":
        os.symlink(str(there), str(state))
    if how == "their link to ours":
        os.chown(str(state), 65534, 65534, follow_symlinks=False)
    return there


@AS_ROOT
@pytest.mark.parametrize("how", ["folder", "our link to theirs", "their link to ours"])
@pytest.mark.parametrize("entry", [(script,) for script in SCRIPTS], ids=lambda entry: entry[0])
@pytest.mark.loop(3)
def test_a_hook_passes_the_original_and_says_so_once(
    plugin_root, state, config, tmp_path, entry, how
):
    there = planted(state, tmp_path, how)
    done = run(plugin_root, entry, 0o022, tmp_path)
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.count(b"\n") == 1
    assert b"another user" in done.stderr
    assert os.listdir(str(there)) == []


@AS_ROOT
@pytest.mark.parametrize("how", ["folder", "our link to theirs", "their link to ours"])
@pytest.mark.parametrize(
    "entry",
    [entry for entry in COMMANDS if entry[1:2] != ("normalize",)],
    ids=lambda entry: " ".join(entry[:2]),
)
@pytest.mark.loop(3)
def test_a_command_is_one_line_and_exit_2(plugin_root, state, config, tmp_path, entry, how):
    there = planted(state, tmp_path, how)
    done = run(plugin_root, entry, 0o022, tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1
    assert b"another user" in done.stderr
    assert os.listdir(str(there)) == []


@AS_ROOT
def test_the_filter_and_the_server_hide_nothing(plugin_root, state, config, tmp_path):
    there = planted(state, tmp_path, "folder")
    done = run(plugin_root, ("ck.py", "normalize"), 0o022, tmp_path)
    assert (done.returncode, done.stdout) == (0, TEXT.encode())
    assert done.stderr.count(b"\n") == 1
    done = run(plugin_root, ("server",), 0o022, tmp_path)
    assert done.returncode == 0
    assert b"recall " not in done.stdout.split(b'"id":2')[-1]
    assert b"another user" in done.stderr
    assert os.listdir(str(there)) == []


def test_a_link_to_a_folder_of_ours_is_followed(plugin_root, state, config, tmp_path):
    (tmp_path / "ours").mkdir()
    os.chmod(str(tmp_path / "ours"), 0o755)
    os.symlink(str(tmp_path / "ours"), str(state))
    done = run(plugin_root, ("post_tool_use.py",), 0, tmp_path)
    assert b"recall " in done.stdout
    assert not too_wide(tmp_path / "ours")


# -- names that somebody else took -----------------------------------------------------------------
def test_a_planted_temporary_name_is_never_written_through(state, tmp_path, monkeypatch):
    """Whatever lies under the names that earlier versions used, or a link under the name itself:
    its target stays as it is.
    """
    from contextkernel.clients.claude import session_files, settings_file, shell_prefix
    from contextkernel.store import backoff, presence, settings

    victim = tmp_path / "victim"
    victim.write_text("precious")
    transcript = tmp_path / "projects" / "s.jsonl"
    transcript.parent.mkdir()
    folder = tmp_path / "projects" / "s" / "tool-results"
    folder.mkdir(parents=True)
    (tmp_path / "settings.json").write_text("{}")
    for name in ("live", "rest", "lane"):
        settings.folder(name)
    (state / "lane" / "where").write_text("python3\n/x\n")
    key = "raw-" + shell_prefix.key_of("make", "s")
    for place in (
        folder / "ck-abcdefabcdef.txt",
        state / "live" / "s",
        state / "rest" / "s.json",
        state / "lane" / key,
        state / "lane" / "agent-s-a",
    ):
        os.symlink(str(victim), str(place))
        os.symlink(str(victim), f"{place}.{os.getpid():d}.tmp")
    os.symlink(str(victim), str(tmp_path / (f"settings.json.context-kernel-{os.getpid():d}")))
    session_files.offer(str(transcript), "abcdefabcdef", b"text")
    presence.mark("s")
    backoff.alarm("s", "Bash", "why")
    shell_prefix.leave_note(str(state), "make", "s")
    shell_prefix.watch(str(state), "s", "a", True)
    settings_file.write(str(tmp_path / "settings.json"), b"{ }")
    assert victim.read_text() == "precious"
    assert (folder / "ck-abcdefabcdef.txt").read_bytes() == b"text"
    assert presence.served("s")
    assert backoff.untold("s") == "why"
    assert shell_prefix.watched(str(state), "s")


def test_a_recall_file_that_is_a_pipe_is_not_waited_for(tmp_path, state):
    from contextkernel.clients.claude import session_files

    folder = tmp_path / "projects" / "s" / "tool-results"
    folder.mkdir(parents=True)
    os.mkfifo(str(folder / "ck-abcdefabcdef.txt"))
    assert session_files.offer(str(tmp_path / "projects" / "s.jsonl"), "abcdefabcdef", b"")
    assert (folder / "ck-abcdefabcdef.txt").read_bytes() == b""
