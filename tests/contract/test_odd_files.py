"""Settings, transcripts, rollouts and tool output files that are no files: every entry answers
soon, and leaves with 0.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys

import pytest

import plugin
from contextkernel import paths
from contextkernel.clients.claude import (
    context_check,
    permission_rules,
    session_files,
    settings_file,
    transcript,
)
from contextkernel.clients.codex import rollout
from contextkernel.store import files

SOON = 40  # seconds: what opens such a thing never ends
LONG = "\n".join(
    f"2026-11-30T10:00:{i % 60:02}Z INFO worker-{i % 7} took job {i}" for i in range(900)
)
EVENTS = {
    "session_start": "SessionStart",
    "user_prompt_submit": "UserPromptSubmit",
    "pre_tool_use": "PreToolUse",
    "post_tool_use": "PostToolUse",
    "post_tool_use_failure": "PostToolUseFailure",
    "subagent_start": "SubagentStart",
    "subagent_stop": "SubagentStop",
    "stop": "Stop",
    "session_end": "SessionEnd",
}
CODEX = ("session_start", "post_tool_use")


def unix_socket(path):
    before = os.getcwd()
    os.chdir(os.path.dirname(path))  # the name of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(os.path.basename(path))
    finally:
        os.chdir(before)


def sparse(path):
    with open(path, "wb") as file:
        file.truncate(1 << 36)


KINDS = {
    "fifo": os.mkfifo,
    "zeros": lambda path: os.symlink("/dev/zero", path),
    "random": lambda path: os.symlink("/dev/urandom", path),
    "terminal": lambda path: os.symlink("/dev/tty", path),
    "folder": os.mkdir,
    "socket": unix_socket,
    "linked fifo": lambda path: (os.mkfifo(path + ".real"), os.symlink(path + ".real", path)),
    "loop": lambda path: os.symlink(os.path.basename(path), path),
    "sparse": sparse,
}


@pytest.fixture(params=sorted(KINDS))
def thing(request, tmp_path):
    """thing(name) -> the path of something that is no ordinary file."""

    def made(name):
        path = str(tmp_path / name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        KINDS[request.param](path)
        return path

    made.kind = request.param
    return made


def event_of(name, path, cwd, **more):
    return dict(
        {
            "session_id": "s-1",
            "transcript_path": path,
            "cwd": str(cwd),
            "hook_event_name": EVENTS[name],
            "tool_name": "Bash",
            "tool_use_id": "toolu_1",
            "tool_input": {"command": "make"},
            "source": "resume",
            "agent_id": "a-1",
            "agent_type": "context-kernel:kernel-verifier",
            "agent_transcript_path": path,
            "error": "Exit code 1\n" + LONG,
            "tool_response": {"stdout": LONG, "stderr": "", "interrupted": False, "isImage": False},
        },
        **more,
    )


def asked(root, name, event, *arguments, **env):
    """The reply of a hook script in its own time limit."""
    argv = [sys.executable, "-I", "-S", os.path.join(root, "hooks", name + ".py"), *arguments]
    done = subprocess.run(
        argv,
        input=json.dumps(event).encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=plugin.environment(root, env),
        timeout=SOON,
    )
    return plugin.hooked(done)


@pytest.mark.loop(1)
def test_every_script_with_such_a_transcript(thing, plugin_root, state, tmp_path):
    path = thing("t.jsonl")
    for name in EVENTS:
        asked(plugin_root, name, event_of(name, path, tmp_path))
    for name in CODEX:
        event = event_of(name, path, tmp_path, tool_response=LONG)
        asked(plugin_root, name, event, "--client", "codex")


@pytest.mark.loop(2)
def test_a_sub_agents_transcript(thing, plugin_root, state, tmp_path):
    (tmp_path / "t.jsonl").write_text("")
    thing("t/subagents/agent-a-1.jsonl")
    for name in ("post_tool_use", "subagent_stop", "session_end"):
        asked(plugin_root, name, event_of(name, str(tmp_path / "t.jsonl"), tmp_path))


@pytest.mark.parametrize(
    "path",
    ["/a\0b.jsonl", "/\ud800.jsonl", f"/{'x' * 5000}.jsonl", "/" + "d/" * 3000 + "t.jsonl"],
    ids=["nul", "surrogate", "long", "deep"],
)
@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.loop(4)
def test_a_transcript_path_that_names_no_file(plugin_root, state, tmp_path, name, path):
    asked(plugin_root, name, event_of(name, str(tmp_path) + path, tmp_path))


@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
@pytest.mark.loop(3)
def test_settings_that_are_no_file_keep_a_call_as_it_is(thing, plugin_root, state, tmp_path, name):
    if thing.kind == "loop":
        pytest.skip("a loop of links is no rule either way")
    thing(os.path.join("project", ".claude", name))
    event = event_of(
        "pre_tool_use",
        "",
        tmp_path / "project",
        tool_input={"command": "python3 /x/ck.py slice --repo . --symptom s"},
    )
    assert (
        asked(plugin_root, "pre_tool_use", event, CLAUDE_CONFIG_DIR=str(tmp_path / "none")).reply
        is None
    )


@pytest.mark.loop(2)
def test_a_persisted_output_that_is_no_file(thing, plugin_root, state, tmp_path):
    response = {
        "stdout": LONG,
        "stderr": "",
        "interrupted": False,
        "isImage": False,
        "persistedOutputPath": thing("whole.txt"),
        "persistedOutputSize": 10**6,
    }
    event = event_of("post_tool_use", "", tmp_path, tool_response=response)
    assert asked(plugin_root, "post_tool_use", event).reply is None


@pytest.mark.loop(2)
def test_an_environment_file_that_is_no_file_of_ours(thing, plugin_root, state, tmp_path):
    path = thing("env.sh")
    if thing.kind == "sparse":
        pytest.skip("a large file may grow")
    said = asked(
        plugin_root, "session_start", event_of("session_start", "", tmp_path), CLAUDE_ENV_FILE=path
    )
    assert "not exported" in said.stderr


def test_no_link_is_followed_where_we_write(plugin_root, state, tmp_path):
    (tmp_path / "victim").write_text("theirs")
    os.symlink("victim", str(tmp_path / "env.sh"))
    event = event_of("session_start", "", tmp_path)
    asked(plugin_root, "session_start", event, CLAUDE_ENV_FILE=str(tmp_path / "env.sh"))
    asked(
        plugin_root,
        "post_tool_use",
        event_of("post_tool_use", "", tmp_path),
        CK_TAP_FLAG=str(tmp_path / "env.sh"),
    )
    assert (tmp_path / "victim").read_text() == "theirs"


@pytest.mark.parametrize("linked", ["s-1", "s-1/tool-results"])
def test_a_session_folder_that_is_a_link_gets_no_copy(tmp_path, linked):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "s-1").parent.mkdir(exist_ok=True)
    if linked != "s-1":
        (tmp_path / "s-1").mkdir()
    os.symlink(str(tmp_path / "elsewhere"), str(tmp_path / linked))
    with pytest.raises(OSError):
        session_files.offer(str(tmp_path / "s-1.jsonl"), "0123456789ab", b"text")
    assert not [name for _, _, names in os.walk(str(tmp_path / "elsewhere")) for name in names]


def test_a_recall_file_that_is_a_link_is_replaced_not_written_through(tmp_path):
    (tmp_path / "s-1" / "tool-results").mkdir(parents=True)
    (tmp_path / "victim").write_bytes(b"theirs")
    os.symlink(
        str(tmp_path / "victim"), str(tmp_path / "s-1" / "tool-results" / "ck-0123456789ab.txt")
    )
    path = session_files.offer(str(tmp_path / "s-1.jsonl"), "0123456789ab", b"text")
    assert (tmp_path / "victim").read_bytes() == b"theirs"
    assert not os.path.islink(path)
    with open(path, "rb") as file:
        assert file.read() == b"text"


@pytest.mark.parametrize("where", ["settings", "state"])
@pytest.mark.loop(2)
def test_the_lane_refuses_in_one_line(thing, plugin_root, state, tmp_path, where):
    path = thing("config/settings.json" if where == "settings" else "ck-state/lane/where")
    argv = [sys.executable, "-I", "-S", os.path.join(plugin_root, "hooks", "ck.py"), "failure-lane"]
    for verb in ("status", "on", "off"):
        words = argv + [verb] + ["--yes"] * (verb == "on")
        done = subprocess.run(
            words,
            env=dict(os.environ, CLAUDE_CONFIG_DIR=str(tmp_path / "config")),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=SOON,
        )
        assert done.returncode in (0, 1), done.stderr
        assert b"Traceback" not in done.stderr, done.stderr
    assert os.path.lexists(path) or where == "state"


# -- the readers, by themselves --------------------------------------------------------------------
def test_readers_of_such_a_thing(thing):
    path = thing("t.jsonl")
    assert context_check.shown_texts(path, "toolu_1", ["toolu_0"]) is None
    assert rollout.exit_code(path, "toolu_1") is None
    assert rollout.occupancy(path) is None
    assert transcript.advance({}, path)[1].results == {}
    if thing.kind != "loop":
        assert permission_rules.would_fall_silent("ck.py slice", [path])
    with pytest.raises(settings_file.Refused):
        settings_file.read(path)


@pytest.mark.parametrize("path", ["a\0b", "\ud800"])
def test_readers_of_a_path_that_names_no_file(path):
    assert context_check.shown_texts(path, "toolu_1", ["toolu_0"]) is None
    assert rollout.exit_code(path, "toolu_1") is None
    assert transcript.advance({}, path)[1].results == {}
    assert permission_rules.would_fall_silent("ck.py slice", [path])
    assert session_files.offer(path + ".jsonl", "0123456789ab", b"x") == ""
    assert not paths.names_a_file(path)
    with pytest.raises(settings_file.Refused):
        settings_file.read(path)


def test_a_line_beyond_all_measure_does_not_hide_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr(transcript, "LONGEST", 1000)
    row = {
        "type": "user",
        "message": {
            "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "found"}]
        },
    }
    (tmp_path / "t.jsonl").write_text(f'{{"x": "{"a" * 5000}"}}\n{json.dumps(row)}\n')
    state, found, more = {}, {}, True
    while more:
        state, news = transcript.advance(state, str(tmp_path / "t.jsonl"), step=500)
        found.update(news.results)
        more = news.more
    assert found["toolu_1"].text == "found"


def test_only_the_newest_part_of_a_large_transcript(tmp_path):
    row = (
        '{"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": '
        '"toolu_%d", "content": "found"}]}}\n'
    )
    (tmp_path / "t.jsonl").write_text("".join(row % n for n in range(100)))
    found, state, more = {}, {}, True
    while more:
        state, news = transcript.advance(state, str(tmp_path / "t.jsonl"), step=300, last=1000)
        found.update(news.results)
        more = news.more
    assert "toolu_99" in found
    assert "toolu_80" not in found


def test_what_is_appended_goes_to_a_regular_file_alone(tmp_path):
    files.append(str(tmp_path / "new"), b"a")
    files.append(str(tmp_path / "new"), b"b")
    assert (tmp_path / "new").read_bytes() == b"ab"
    assert os.stat(str(tmp_path / "new")).st_mode & 0o777 == 0o600
    os.mkfifo(str(tmp_path / "fifo"))
    reader = os.open(str(tmp_path / "fifo"), os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(OSError):
        files.append(str(tmp_path / "fifo"), b"c")
    os.close(reader)


@pytest.mark.loop(1)
def test_the_resident_server_goes_on_and_leaves(thing, plugin_root, state, tmp_path):
    path = thing("t.jsonl")
    told = [
        {
            "jsonrpc": "2.0",
            "id": 0,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "claude-code"},
            },
        }
    ]
    for number, name in enumerate(EVENTS, 1):
        event = {
            key: value if isinstance(value, str) else json.dumps(value)
            for key, value in event_of(name, path, tmp_path).items()
        }
        arguments = dict(event, ck_client="claude", ck_lane="resident")
        told.append(
            {
                "jsonrpc": "2.0",
                "id": number,
                "method": "tools/call",
                "params": {"name": "hook", "arguments": arguments},
            }
        )
    done = subprocess.run(
        [sys.executable, "-I", "-S", os.path.join(plugin_root, "mcp", "server.py")],
        input="".join(json.dumps(one) + "\n" for one in told).encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=plugin.environment(plugin_root),
        timeout=SOON,
    )
    answers = [json.loads(line) for line in done.stdout.split(b"\n") if line]
    assert done.returncode == 0
    assert b"passed through" not in done.stderr
    assert {answer["id"] for answer in answers} == set(range(len(EVENTS) + 1))


def files_below(folder):
    return sorted(
        os.path.join(inner, name) for inner, _, names in os.walk(folder) for name in names
    )


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.loop(2)
def test_files_of_our_own_state_that_became_something_else(kind, plugin_root, state, tmp_path):
    (tmp_path / "t.jsonl").write_text("")
    events = [event_of(name, str(tmp_path / "t.jsonl"), tmp_path) for name in EVENTS]
    for name, event in zip(EVENTS, events):
        asked(plugin_root, name, event)
    (state / "live").mkdir(exist_ok=True)
    (state / "rest").mkdir(exist_ok=True)
    (state / "spool").mkdir(exist_ok=True)
    own = [*files_below(state), str(state / "live" / "s-1"), str(state / "rest" / "s-1.json")]
    own += [str(state / "spool" / "999999-1.jsonl")]
    for path in own:
        if os.path.basename(path).startswith("state.db"):
            continue
        if os.path.lexists(path):
            os.unlink(path)
        KINDS[kind](path)
    for name, event in zip(EVENTS, events):
        asked(plugin_root, name, dict(event, tool_use_id="toolu_2"))
    argv = [sys.executable, "-I", "-S", os.path.join(plugin_root, "hooks", "savings.py")]
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SOON)
    assert (done.returncode, done.stderr) == (0, b"")
