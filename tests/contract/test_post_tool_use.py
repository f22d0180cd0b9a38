"""PostToolUse as a whole: what is stored, booked, offered back, and what passes untouched. One
store for every entry.
"""

import json
import os
import shlex
import shutil
import subprocess

import pytest

from contextkernel import marks
from contextkernel.store import blobs, ledger

LOG = "".join(
    (
        f"2026-11-30T10:{n // 60 % 60:02}:{n % 60:02}Z INFO  svc-{n % 5} request {n} served in "
        f"{3 + n * 7 % 40} ms\n"
    )
    for n in range(6000)
)
SHORT = LOG[: 60000 // 4]


@pytest.fixture
def session(tmp_path):
    folder = tmp_path / "config" / "projects" / "p"
    folder.mkdir(parents=True)
    return folder / "s-1.jsonl"


def event(text, session="", **more):
    return dict(
        {
            "hook_event_name": "PostToolUse",
            "session_id": "s-1",
            "transcript_path": str(session),
            "cwd": "/w",
            "tool_name": "Bash",
            "tool_input": {"command": "TOKEN=abc123 journalctl"},
            "tool_use_id": "toolu_1",
            "tool_response": {"stdout": text, "stderr": "", "interrupted": False, "isImage": False},
        },
        **more,
    )


def rows(table, state):
    before = os.environ.get("CK_DATA")
    os.environ["CK_DATA"] = str(state)
    try:
        books = ledger.open_ledger()
        found = books.rows(f"SELECT * FROM {table}")
        books.close()
        return found
    finally:
        os.environ.pop("CK_DATA") if before is None else os.environ.update(CK_DATA=before)


def stdout(reply):
    return reply["hookSpecificOutput"]["updatedToolOutput"]["stdout"]


def command(root, *arguments, data=b""):
    return subprocess.run(
        ["python3", "-I", "-S", os.path.join(root, "hooks", arguments[0])] + list(arguments[1:]),
        input=data,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=60,
    )


def test_every_entry_finds_what_a_hook_stored(run_hook, plugin_root, session, state, monkeypatch):
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-1")
    reply, _ = run_hook("post_tool_use.py", event(SHORT, session))
    [handle] = marks.handles_in(stdout(reply))
    assert (session.parent / "s-1" / "tool-results" / (f"ck-{handle}.txt")).read_text() == SHORT
    assert command(plugin_root, "ck.py", "recall", handle).stdout.decode() == SHORT
    assert command(
        plugin_root, "ck.py", "recall", handle[:8], "--lines", "2-3"
    ).stdout.decode() == "".join(SHORT.splitlines(True)[1:3])
    assert (
        command(plugin_root, "ck.py", "recall", handle, "--grep", "request 7 ").stdout.decode()
        == "8:" + SHORT.split("\n")[7] + "\n"
    )
    [receipt] = rows("receipts", state)
    assert receipt["handle"] == handle
    assert receipt["raw"] == receipt["host"] == len(SHORT)
    assert receipt["shown"] == len(stdout(reply))
    assert receipt["status"] == "pending"
    assert "abc123" not in json.dumps(receipt)
    assert receipt["lane"] == "script"
    faults = sorted((fault["route"], fault["spans"]) for fault in rows("faults", state))
    assert faults == [("cli", f"1-{len(SHORT.splitlines())}"), ("cli", "2-3"), ("cli", "8")]
    report = json.loads(command(plugin_root, "savings.py", "--json").stdout)
    assert report["judged"]["pending"] == 1, "nothing verified"
    assert report["net"] < 0, "three recalls against us"


def recall_in_shell(root, words, env, interactive=False):
    """`ck.py recall` as a shell runs it: at a terminal, or with its output taken by a pipe."""
    call = ["sh", "-c", f'exec python3 -I -S "$0" recall {words}', root + "/hooks/ck.py"]
    if interactive:
        call = ["script", "-qec", " ".join(map(shlex.quote, call)), "/dev/null"]
    done = subprocess.run(
        call, env=dict(os.environ, **env), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    )
    assert done.returncode == 0
    return done.stdout.decode()


@pytest.mark.parametrize(
    "env, words, counts",
    [
        ({}, "", False),
        ({"CLAUDE_CODE_SESSION_ID": "s-1"}, "", True),
        ({"CK_TRANSCRIPT": "/p/s-1.jsonl"}, "", True),
        ({"CODEX_THREAD_ID": "s-1"}, "", True),
        ({"CLAUDE_CODE_SESSION_ID": "s-1"}, "> out.txt", False),
        ({"CLAUDE_CODE_SESSION_ID": "s-1"}, "> /dev/null", False),
        ({"CLAUDE_CODE_SESSION_ID": "s-1"}, ">> output", True),
    ],
    ids=["no session", "claude", "claude 2.1.121", "codex", "a file", "nowhere", "claude's file"],
)
def test_only_what_a_model_reads_is_a_page_fault(
    run_hook, plugin_root, session, state, tmp_path, monkeypatch, env, words, counts
):
    monkeypatch.chdir(tmp_path)
    reply, _ = run_hook("post_tool_use.py", event(SHORT, session))
    [handle] = marks.handles_in(stdout(reply))
    recall_in_shell(plugin_root, f"{handle} --any {words}", env)
    assert [fault["session"] for fault in rows("faults", state)] == ["s-1"] * counts


@pytest.mark.skipif(not shutil.which("script"), reason="no script(1) to open a terminal")
def test_a_recall_at_a_terminal_is_no_page_fault(run_hook, plugin_root, session, state):
    reply, _ = run_hook("post_tool_use.py", event(SHORT, session))
    [handle] = marks.handles_in(stdout(reply))
    env = {"CLAUDE_CODE_SESSION_ID": "s-1"}
    said = recall_in_shell(plugin_root, f"{handle} --any", env, interactive=True)
    assert said.replace("\r\n", "\n") == SHORT
    assert rows("faults", state) == []


def test_a_persisted_output_is_read_whole(run_hook, plugin_root, session, tmp_path, state):
    whole = session.parent / "s-1" / "tool-results" / "b123.txt"
    whole.parent.mkdir(parents=True)
    whole.write_bytes(LOG.encode() + b"caf\xff end\n")
    given = event(LOG[:30000], session)
    given["tool_response"].update(
        persistedOutputPath=str(whole), persistedOutputSize=whole.stat().st_size
    )
    reply, stderr = run_hook("post_tool_use.py", given)
    new = reply["hookSpecificOutput"]["updatedToolOutput"]
    assert set(new) == {"stdout", "stderr", "interrupted", "isImage"}
    assert len(new["stdout"]) < 30000
    assert "caf\ufffd end" in new["stdout"]
    [handle] = marks.handles_in(new["stdout"])
    assert command(plugin_root, "ck.py", "recall", handle).stdout == whole.read_bytes()
    assert (whole.parent / (f"ck-{handle}.txt")).read_bytes() == whole.read_bytes()
    [receipt] = rows("receipts", state)
    assert (receipt["raw"], receipt["host"]) == (whole.stat().st_size, 2240)


def test_a_missing_persisted_file_passes_with_a_row(run_hook, session, state):
    given = event(LOG[:30000], session)
    given["tool_response"].update(
        persistedOutputPath="/nowhere/b1.txt", persistedOutputSize=99999999
    )
    assert run_hook("post_tool_use.py", given)[0] is None
    assert "b1.txt" in rows("notes", state)[0]["text"]


@pytest.mark.parametrize(
    "agent, rewritten",
    [
        ("kernel-verifier", False),
        ("context-kernel:kernel-scout", False),
        ("other:kernel-scout", True),
        ("Explore", True),
    ],
)
def test_our_judges_read_raw_output(run_hook, agent, rewritten):
    assert (
        bool(run_hook("post_tool_use.py", event(SHORT, agent_id="a1", agent_type=agent))[0])
        == rewritten
    )


COPY = "/x/tool-results/ck-7f3a12bc90de.txt"


@pytest.mark.parametrize(
    "call, lines",
    [
        (
            {
                "tool_name": "Read",
                "tool_input": {"file_path": COPY},
                "tool_response": {
                    "type": "text",
                    "file": {
                        "filePath": "a",
                        "content": SHORT,
                        "numLines": 3,
                        "startLine": 5,
                        "totalLines": 9,
                    },
                },
            },
            "5-7",
        ),
        ({"tool_input": {"command": "grep -n foo " + COPY}}, None),
        ({"tool_input": {"command": "cat " + COPY}}, None),
        ({"tool_input": {"command": "sed -n '41,80p' " + COPY}}, "41-80"),
    ],
    ids=["Read", "grep", "cat", "sed"],
)
def test_a_recall_is_a_page_fault_and_stays_raw(run_hook, state, call, lines):
    assert run_hook("post_tool_use.py", event(SHORT, **call)) == (None, "")
    [fault] = rows("faults", state)
    assert fault["handle"] == "7f3a12bc90de"
    assert fault["route"] == "file"
    assert fault["bytes"] == len(SHORT)
    assert fault["spans"] == lines


@pytest.mark.parametrize(
    "call",
    [
        {
            "tool_name": "mcp__plugin_context-kernel_kernel__recall",
            "tool_response": [{"type": "text", "text": SHORT}],
        },
        {"tool_name": "Edit", "tool_response": {"filePath": "x"}},
        {
            "tool_name": "Read",
            "tool_input": {"file_path": "/w/a.log"},
            "tool_response": {
                "type": "text",
                "file": {
                    "filePath": "/w/a.log",
                    "content": SHORT,
                    "numLines": 1,
                    "startLine": 1,
                    "totalLines": 1,
                },
            },
        },
    ],
)
def test_left_alone(run_hook, call):
    assert run_hook("post_tool_use.py", event(SHORT, **call)) == (None, "")


def test_an_unknown_shape_is_named_by_its_keys_only(run_hook, state):
    given = event("")
    given["tool_response"] = {"stdout": "secret " * 2000, "novel": 1}
    assert run_hook("post_tool_use.py", given)[0] is None
    [note] = rows("notes", state)
    assert "object(novel,stdout)" in note["text"]
    assert "secret" not in note["text"]


@pytest.mark.parametrize(
    "name, value, rewritten",
    [
        ("CK_MIN_TOKENS", "100000", False),
        ("CK_TOOLS", "Read", False),
        ("CK_TOOLS", "Ba*", True),
        ("CK_MIN_TOKENS", "junk", True),
    ],
)
def test_settings(run_hook, name, value, rewritten):
    assert bool(run_hook("post_tool_use.py", event(SHORT), env={name: value})[0]) == rewritten


def test_without_a_store_the_original_passes(run_hook, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    reply, stderr = run_hook("post_tool_use.py", event(SHORT), env={"CK_DATA": str(blocked / "x")})
    assert reply is None
    assert "original passed through" in stderr


def test_log_off_keeps_recall(run_hook, plugin_root, state):
    reply, _ = run_hook("post_tool_use.py", event(SHORT), env={"CK_LOG_OFF": "1"})
    [handle] = marks.handles_in(stdout(reply))
    assert command(plugin_root, "ck.py", "recall", handle).stdout.decode() == SHORT
    assert rows("receipts", state) == []


def test_the_tap_logs_key_names(run_hook, tmp_path):
    tap = tmp_path / "tap"
    tap.write_text("")
    run_hook("post_tool_use.py", event(SHORT), env={"CK_TAP_FLAG": str(tap)})
    assert "object(interrupted,isImage,stderr,stdout)" in tap.read_text()
    assert "request" not in tap.read_text()


def test_codex_gets_feedback_in_direct_mode_and_silence_in_code_mode(plugin_root, state, tmp_path):
    rows = [
        {
            "type": "event_msg",
            "payload": {
                "type": "item_completed",
                "item": {"type": "CommandExecution", "id": use_id, "exit_code": code},
            },
        }
        for use_id, code in (("call_1", 0), ("call_2", 3), ("exec-1", 0))
    ]
    rollout = tmp_path / "rollout.jsonl"
    rollout.write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"type": "half a ro')

    def answer(use_id):
        given = dict(
            event(""), tool_use_id=use_id, tool_response=SHORT, transcript_path=str(rollout)
        )
        done = command(
            plugin_root, "post_tool_use.py", "--client", "codex", data=json.dumps(given).encode()
        )
        assert done.returncode == 0
        assert done.stderr == b""
        return json.loads(done.stdout) if done.stdout else None

    reply = answer("call_1")
    assert set(reply) == {"continue", "reason"}
    assert reply["continue"] is False
    assert len(reply["reason"]) <= 10000
    assert marks.carries_mark(reply["reason"])
    assert reply["reason"].startswith("Process exited with code 0\nOutput:\n"), (
        "a replacement takes Codex's own head away"
    )
    assert answer("call_2")["reason"].startswith("Process exited with code 3\nOutput:\n")
    assert answer("call_9") is None, "no row tells its exit code: the original passes"
    assert answer("exec-1") is None


def codex_answer(root, tmp_path, response, tool="Bash"):
    """What the hook of Codex answers to a tool's result; "" for nothing."""
    item = {"type": "CommandExecution", "id": "call_1", "exit_code": 0}
    row = {"type": "event_msg", "payload": {"type": "item_completed", "item": item}}
    (tmp_path / "rollout.jsonl").write_text(json.dumps(row) + "\n")
    given = dict(event(""), tool_use_id="call_1", tool_name=tool, tool_response=response)
    given.update(transcript_path=str(tmp_path / "rollout.jsonl"), tool_input={"command": "x"})
    data = json.dumps(given).encode()
    done = command(root, "post_tool_use.py", "--client", "codex", data=data)
    assert done.stderr == b""
    return json.loads(done.stdout)["reason"] if done.stdout else ""


@pytest.mark.parametrize(
    "tool, response, alone",
    [
        ("Bash", SHORT * 2, 2 * len(SHORT)),
        ("mcp__x__y", {"content": [{"type": "text", "text": SHORT}]}, len(SHORT)),
        ("mcp__x__y", {"content": [{"type": "text", "text": LOG}]}, 48000),
    ],
    ids=["a command", "a short result", "a result that Codex would cut"],
)
def test_codex_alone_would_have_shown_its_own_cut(
    plugin_root, state, tmp_path, tool, response, alone
):
    assert codex_answer(plugin_root, tmp_path, response, tool)
    [receipt] = rows("receipts", state)
    assert receipt["host"] == alone


def test_a_mark_says_that_what_codex_cut_is_not_stored(plugin_root, state, tmp_path):
    lines = LOG.split("\n")
    head, tail = "\n".join(lines[:200]), "\n".join(lines[-200:])
    warning = (
        "Warning: truncated output (original token count: 30466)\nTotal output lines: 3000\n\n"
    )
    cut = f"{warning}{head}\n2026-11-{chr(0x2026)}20466 tokens truncated{chr(0x2026)} ms\n{tail}"
    said = codex_answer(plugin_root, tmp_path, cut).split("\n")
    [handle] = marks.handles_in("\n".join(said))
    assert said[:2] == ["Process exited with code 0", "Output:"]
    assert said[2] == (
        "[ck: Codex itself cut 20466 tokens out of this output, which are not stored; "
        f"recall {handle}]"
    )
    whole = codex_answer(plugin_root, tmp_path, head + "\n" + tail)
    assert "[ck: " in whole
    assert "not stored" not in whole


@pytest.mark.parametrize(
    "response, replaced",
    [
        ({"content": [{"type": "text", "text": SHORT}]}, True),
        (
            {
                "content": [
                    {"type": "text", "text": SHORT},
                    {"type": "image", "data": "AAAA", "mimeType": "image/png"},
                ]
            },
            False,
        ),
        ({"content": [{"type": "text", "text": SHORT}], "structuredContent": {"a": 1}}, False),
    ],
)
def test_codex_loses_nothing_but_text_to_a_replacement(plugin_root, state, response, replaced):
    given = dict(event(""), tool_name="mcp__x__y", tool_input={}, tool_response=response)
    done = command(
        plugin_root, "post_tool_use.py", "--client", "codex", data=json.dumps(given).encode()
    )
    assert bool(done.stdout) is replaced, done.stderr


def test_a_served_session_is_left_to_the_server(run_hook, state):
    (state / "live").mkdir(parents=True)
    (state / "live" / "s-1").write_text(str(os.getpid()))
    assert run_hook("post_tool_use.py", event(SHORT)) == (None, "")
    (state / "live" / "s-1").write_text("not a pid")
    assert run_hook("post_tool_use.py", event(SHORT))[0]


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["frobnicate"], "unknown command"),
        (["normalize", "--foo"], "unrecognized arguments: --foo"),
        (["normalize", "--command"], "expected one argument"),
        (["normalize", "--exit-code", "x"], "not a number"),
        (["recall"], "required: HANDLE"),
        (["recall", "zz"], "not a handle"),
        (["recall", "0" * 12], "unknown or expired"),
        (["recall", "0" * 12, "--lines", "b"], "lines: A-B"),
        (["recall", "0" * 12, "--grep", "("], "grep: not a"),
        (["savings", "--since", "soon"], "--since"),
        (["savings", "--what"], "unrecognized arguments: --what"),
    ],
)
@pytest.mark.loop(4)
def test_wrong_calls_say_why_in_one_line(plugin_root, state, arguments, words):
    done = command(plugin_root, "ck.py", *arguments)
    assert done.returncode == 2
    assert words in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1
    assert done.stdout == b""


def test_an_expired_handle_says_what_it_was(run_hook, plugin_root, state):
    [handle] = marks.handles_in(stdout(run_hook("post_tool_use.py", event(SHORT))[0]))
    for folder, _, names in os.walk(str(state / "blobs")):
        for name in names:
            os.unlink(os.path.join(folder, name))
    done = command(plugin_root, "ck.py", "recall", handle)
    assert done.returncode == 2
    assert b"of Bash: TOKEN=*** journalctl" in done.stderr


def test_normalize_is_a_filter(plugin_root, state):
    done = command(
        plugin_root,
        "ck.py",
        "normalize",
        "--command",
        "journalctl",
        "--exit-code=0",
        data=LOG.encode(),
    )
    assert done.returncode == 0
    assert len(done.stdout) < len(LOG) / 5
    assert (
        command(
            plugin_root, "ck.py", "normalize", "--command", "journalctl", data=done.stdout
        ).stdout
        == done.stdout
    )
    assert (
        command(plugin_root, "ck.py", "recall", marks.handles_in(done.stdout.decode())[0]).stdout
        == LOG.encode()
    )


@pytest.mark.parametrize(
    "tool, given, text, rewritten",
    [
        ("mcp__kernel__execute", {"code": "run()"}, SHORT, True),
        ("mcp__kernel__recall", {"handle": "7f3a12bc90de"}, SHORT, False),
        ("mcp__plugin_context-kernel_kernel__kernel_repo_slice", {}, SHORT, False),
        (
            "mcp__files__read_text_file",
            {"path": "/x/a.py"},
            "".join(f"def part_{n}(value):\n    return value + {n}\n\n" for n in range(900)),
            False,
        ),
        ("mcp__tests__run", {"path": "/x/a.py"}, SHORT, True),
    ],
)
def test_mcp_tools(run_hook, session, tool, given, text, rewritten):
    """A server of the user's own may be called `kernel`; what reads a source file is a read."""
    reply, _ = run_hook(
        "post_tool_use.py",
        dict(
            event("", session),
            tool_name=tool,
            tool_input=given,
            tool_response=[{"type": "text", "text": text}],
        ),
    )
    assert bool(reply) is rewritten


@pytest.mark.parametrize("stored", [False, True])
def test_a_mark_in_an_output_counts_when_its_text_is_stored(run_hook, state, stored):
    handle = blobs.put(b"what was hidden") if stored else "deadbeefcafe"
    reply, _ = run_hook(
        "post_tool_use.py", event(LOG + f"\n[ck: lines 3-9 hidden; recall {handle}]")
    )
    assert (reply is None) is stored
