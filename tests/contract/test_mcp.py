"""The resident server over its pipes, started as the client starts it, from an oddly named
folder.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

import plugin
from resident import QUIET, TIMEOUT, Server, post, serving


@pytest.fixture
def start(plugin_root, state):
    with serving() as servers:

        def begin(*arguments, root=plugin_root, **more):
            servers.append(Server(root, arguments, **more))
            return servers[-1]

        yield begin


@pytest.fixture
def server(start):
    return start()


@pytest.fixture(scope="module")
def shared(plugin_root, tmp_path_factory):
    """One server for the tests that only ask; `kept` fills its store."""
    folder = str(tmp_path_factory.mktemp("shared"))
    with serving() as servers:
        servers.append(Server(plugin_root, env={"CK_DATA": folder}))
        servers[0].folder = folder
        yield servers[0]


@pytest.fixture
def kept(shared, monkeypatch):
    """put(bytes) -> handle, in the store of the shared server."""
    from contextkernel.store import blobs

    monkeypatch.setenv("CK_DATA", shared.folder)
    return blobs.put


@pytest.fixture
def store(state):
    """put(bytes) -> handle, in the store that the server of this test uses."""
    from contextkernel.store import blobs

    return blobs.put


def faults(state):
    """Page faults in the ledger and the spool of a state folder."""
    import sqlite3

    found = []
    if (state / "state.db").exists():
        with sqlite3.connect(str(state / "state.db")) as db:
            found = [
                {"handle": row[0], "route": row[1], "session": row[2]}
                for row in db.execute("SELECT handle, route, session FROM faults")
            ]
    for path in (state / "spool").glob("*.jsonl") if (state / "spool").exists() else []:
        found += [
            row for row in map(json.loads, path.read_text().splitlines()) if row["kind"] == "fault"
        ]
    return found


LONG = "\n".join(
    f"[{n:05d}] compiling module_{n % 977:d} in {n * 7919 % 4001:d} ms" for n in range(3000)
)


# -- the protocol -----------------------------------------------------------------------------
@pytest.mark.parametrize(
    "asked, given",
    [(v, v) for v in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")]
    + [
        ("2099-01-01", "2025-11-25"),
        ("", "2025-11-25"),
        (None, "2025-11-25"),
        (7, "2025-11-25"),
        ([], "2025-11-25"),
    ],
)
def test_initialize(shared, asked, given):
    result = shared.ask(
        "initialize",
        {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    )["result"]
    assert result["protocolVersion"] == given
    assert result["capabilities"] == {"tools": {}}
    assert result["serverInfo"]["name"] == "context-kernel"
    assert "recall" in result["instructions"]
    assert len(result["instructions"]) < 4096


def test_discover_is_refused_so_that_the_client_falls_back(shared):
    assert (
        shared.ask(
            "server/discover", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}
        )["error"]["code"]
        == -32601
    )
    assert (
        shared.ask("initialize", {"protocolVersion": "2025-11-25"}, 2)["result"]["protocolVersion"]
        == "2025-11-25"
    )


def test_ping_and_unknown_methods(shared):
    assert shared.ask("ping")["result"] == {}
    for method in (
        "resources/list",
        "prompts/list",
        "completion/complete",
        "logging/setLevel",
        "notifications/initialized",
        "x",
    ):
        assert shared.ask(method)["error"]["code"] == -32601
    assert shared.ask("ping", None, "text-id")["id"] == "text-id"


def test_notifications_are_never_answered(server):
    for method in (
        "notifications/initialized",
        "notifications/cancelled",
        "notifications/nothing",
        "ping",
        "tools/list",
        "tools/call",
        "initialize",
    ):
        for params in ({}, None, [], "x", 5):
            server.send({"jsonrpc": "2.0", "method": method, "params": params})
    assert server.alive()
    assert len(server.messages) == 1


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"   ",
        b"garbage",
        b"{",
        b"[]",
        b"1",
        b'"x"',
        b"null",
        b"true",
        b"{}",
        b'{"id":1}',
        b'{"id":null,"method":"ping"}',
        b'{"id":[],"method":"ping"}',
        b'{"id":1,"method":[]}',
        b'{"id":1,"method":"ping","params":[]}',
        b"\0",
        b'{"id":1,"method":"pi\0ng"}',
        b"\xff\xfe\xfa",
        b'{"id":1,"method":"\xff"}',
        b"\xef\xbb\xbf{}",
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
        b'{"id":1,"method":"tools/call","params":null}',
        b'{"id":1,"method":"tools/call","params":{"name":null}}',
        b'{"id":1,"method":"tools/call","params":{"name":["recall"],"arguments":{}}}',
        b'{"id":1,"method":"tools/call","params":{"name":"recall","arguments":"{}"}}',
        b'{"id":1,"method":"tools/call","params":{"name":"hook","arguments":[1]}}',
        b'{"id":1,"result":{"roots":[{"uri":5}]}}',
        b'{"id":"roots","result":[]}',
        b'{"id":"roots","error":{}}',
        b'{"id":1,"method":"initialize","params":{"capabilities":[],"clientInfo":null}}',
        b'[{"id":1,"method":"ping"},5,{"method":"x"}]',
        b"[[[]]]",
        b"[" * 900 + b"]" * 900,
        b'{"id":1,"method":"ping","params":' + b'{"a":' * 900 + b"1" + b"}" * 901,
        b"[" * 100000 + b"]" * 100000,
        b'{"id":1,"method":"tools/call","params":{"name":"hook","arguments":{"tool_response":"'
        + b"[" * 900
        + b"]" * 900
        + b'","hook_event_name":"PostToolUse"}}}',
    ],
    ids=lambda line: repr(line[:48]),
)
@pytest.mark.loop(6)
def test_survives(server, line):
    server.send(line)
    assert server.alive()
    began = time.monotonic()
    assert server.end() == 0
    assert time.monotonic() - began < 1.5, "something is still taken for running"


def test_batch_is_answered_as_a_batch(server):
    server.send(
        [
            {"jsonrpc": "2.0", "id": 1, "method": "ping"},
            {"jsonrpc": "2.0", "method": "notifications/x"},
            5,
            {"jsonrpc": "2.0", "id": 2, "method": "nope"},
        ]
    )
    replies = server.next()
    assert [
        (reply["id"], reply.get("result"), reply.get("error", {}).get("code")) for reply in replies
    ] == [(1, {}, None), (None, None, -32600), (2, None, -32601)]
    server.send([{"jsonrpc": "2.0", "method": "notifications/x"}])
    assert server.alive()
    assert len(server.messages) == 2


@pytest.mark.slow
def test_batch_with_a_tool(server, store):
    handle = store(b"one\ntwo\n")
    server.send(
        [
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": "recall", "arguments": {"handle": handle}},
            },
            {"jsonrpc": "2.0", "id": 2, "method": "ping"},
        ]
    )
    first, second = server.next()
    assert first["result"]["content"][0]["text"] == "one\ntwo\n"
    assert second["result"] == {}


@pytest.mark.slow
def test_line_of_100_megabytes(server):
    size = 100 << 20
    server.process.stdin.write(
        b'{"method":"tools/call","params":{"name":"hook","arguments":{"tool_response":"'
    )
    for _ in range(size >> 20):
        server.process.stdin.write(b"x" * (1 << 20))
    server.send(b'"}},"jsonrpc":"2.0","id":77}')
    assert server.answer(77)["error"]["code"] == -32700
    assert server.alive()
    with open(f"/proc/{server.process.pid:d}/status") as status:
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
    assert peak < 250 * 1024, f"{peak:d} KiB"


def test_a_line_that_is_no_message_leaves_a_note(start, state):
    server = start()
    server.send(
        b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"hook",'
        b'"arguments":{"tool_response":"\xff"}}}'
    )
    assert server.answer(5)["error"]["code"] == -32700
    assert server.end() == 0
    assert b"not understood" in b"".join(
        path.read_bytes() for path in state.rglob("*") if path.is_file()
    )


def test_long_hook_call_is_read_whole(server):
    text = LONG * 60  # 8 MB
    assert json.loads(server.text("hook", post(tool_name="Unknown", tool_response=text))) == {}


@pytest.mark.parametrize(
    "python",
    sorted(
        {sys.executable, "/usr/bin/python3"}
        & {p for p in (sys.executable, "/usr/bin/python3") if os.path.exists(p)}
    ),
)
def test_starts_on(start, python):
    server = start(python=python)
    assert server.alive()
    assert server.end() == 0
    assert server.stderr == ""


# -- tools ------------------------------------------------------------------------------------
def test_listed_tools(shared):
    tools = {tool["name"]: tool for tool in shared.ask("tools/list")["result"]["tools"]}
    assert list(tools) == ["recall", "kernel_repo_slice", "kernel_slice"], (
        "the tool for hooks stays hidden"
    )
    for tool in tools.values():
        assert tool["annotations"] == {"readOnlyHint": True, "openWorldHint": False}
        assert set(tool["inputSchema"]["required"]) <= set(tool["inputSchema"]["properties"])
        assert tool["_meta"]["anthropic/maxResultSizeChars"] >= 4 * 80000
    assert tools["recall"]["_meta"]["anthropic/alwaysLoad"] is True
    assert set(tools["recall"]["inputSchema"]["properties"]) == {"handle", "lines", "grep"}
    assert set(tools["kernel_repo_slice"]["inputSchema"]["properties"]) == {
        "symptom",
        "repo",
        "budget",
        "depth",
    }
    assert set(tools["kernel_slice"]["inputSchema"]["properties"]) == {"file", "symbol", "budget"}


def test_what_every_session_pays(shared):
    """330 tokens (bytes / 4) for descriptions, schemas and instructions together."""
    said = shared.ask("initialize", {})["result"]["instructions"]
    for tool in shared.ask("tools/list", None, 2)["result"]["tools"]:
        said += json.dumps(
            {name: tool[name] for name in ("name", "description", "inputSchema")},
            separators=(",", ":"),
        )
    assert len(said) / 4 <= 330


@pytest.mark.parametrize(
    "name, arguments, words",
    [
        ("recall", {}, "handle: missing"),
        ("recall", {"handle": "zz"}, "handle: 8 to 64 hex digits"),
        ("recall", {"handle": ["a"]}, "handle: a text is needed"),
        ("recall", {"handle": "0123456789ab", "extra": 1}, "extra: no such argument"),
        ("recall", {"handle": "0123456789ab"}, "0123456789ab is unknown or expired"),
        ("kernel_repo_slice", {}, "symptom: missing"),
        ("kernel_repo_slice", {"symptom": "x", "budget": "lots"}, "budget: auto or a number"),
        ("kernel_repo_slice", {"symptom": "x", "depth": "9"}, "depth: full, 2 or 1"),
        (
            "kernel_repo_slice",
            {"symptom": "x", "repo": "/no/such/folder"},
            "repo: no folder at /no/such/folder",
        ),
        ("kernel_repo_slice", {"symptom": "x", "repo": "a\0b"}, "repo: holds a NUL"),
        ("kernel_slice", {"file": "/no/such.py", "symbol": "f"}, "file: no file at /no/such.py"),
        ("kernel_slice", {"file": __file__, "symbol": "--help"}, "symbol: a name"),
    ],
)
def test_wrong_calls_say_why_in_one_line(shared, name, arguments, words):
    result = shared.call(name, arguments)
    assert result["isError"] is True
    text = result["content"][0]["text"]
    assert words in text
    assert "\n" not in text


def test_unknown_tools_are_an_error(shared):
    for name in ("nothing", "", None, 5, "hooks"):
        assert shared.ask("tools/call", {"name": name, "arguments": {}})["error"]["code"] == -32602


# -- recall -----------------------------------------------------------------------------------
def test_recall_is_exact(shared, kept):
    text = "\x1b[31mred\x1b[0m\r\nzwei ä \u2028 \U0001f600\n\n\ttab\x0c\nno newline at the end"
    assert shared.text("recall", {"handle": kept(text.encode())}) == text


def test_recall_takes_a_handle_as_the_model_writes_it(shared, kept):
    handle = kept(b"text")
    for form in (
        handle,
        handle[:8],
        "recall " + handle,
        f"ck-{handle}.txt",
        handle.upper(),
        f" {handle} ",
    ):
        assert shared.text("recall", {"handle": form}) == "text"


def test_recall_of_bytes_that_are_no_text_is_sound(shared, kept):
    assert shared.text("recall", {"handle": kept(b"a\xff\xc3\x00b")}) == "a\ufffd\ufffd\0b"


@pytest.mark.parametrize("client, cap", [("claude", 50000), ("codex", 10000)])
@pytest.mark.loop(1)
def test_pages_join_to_the_original(start, store, client, cap):
    server = start("--client", client)
    text = LONG + "\n" + "é" * 70000 + "\nlast\n"
    handle, lines, joined = store(text.encode()), "", ""
    for _ in range(200):
        page = server.text("recall", {"handle": handle, "lines": lines})
        assert len(page) <= cap
        body, mark, rest = page.rpartition("[ck: ")
        if not mark:
            joined += page
            break
        lines = rest.partition(f"next: recall {handle} lines ")[2].rstrip("]")
        assert lines
        # after a part of a line the mark has a line of its own
        joined += body[:-1] if "+" in lines else body
    assert joined == text


@pytest.mark.parametrize(
    "lines, text",
    [
        ("2", "b\n"),
        ("2-3", "b\nc\n"),
        ("3-", "c\nd\n"),
        ("4-99", "d\n"),
        ("1-1", "a\n"),
        (" 2 - 3 ", "b\nc\n"),
        (3, "c\n"),
        ("2+1-3", "\nc\n"),
    ],
)
def test_recall_lines(shared, kept, lines, text):
    assert shared.text("recall", {"handle": kept(b"a\nb\nc\nd\n"), "lines": lines}) == text


@pytest.mark.parametrize("lines", ["0", "5", "3-2", "x", "-1", "1-2-3", "99-100"])
def test_recall_of_no_lines(shared, kept, lines):
    result = shared.call("recall", {"handle": kept(b"a\nb\nc\nd\n"), "lines": lines})
    assert result["isError"]
    assert "lines:" in result["content"][0]["text"]


def test_recall_grep(shared, kept):
    handle = kept(b"alpha 1\nbeta 2\nalpha 3\n" + b"x" * 5000 + b"needle" + b"y" * 5000 + b"\n")
    assert (
        shared.text("recall", {"handle": handle, "grep": r"alpha \d"}) == "1:alpha 1\n3:alpha 3\n"
    )
    assert (
        shared.text("recall", {"handle": handle, "grep": "alpha", "lines": "2-4"}) == "3:alpha 3\n"
    )
    assert "no match in lines 1-4" in shared.text("recall", {"handle": handle, "grep": "gamma"})
    wide = shared.text("recall", {"handle": handle, "grep": "needle"})
    assert wide.startswith("4:x")
    assert "needle" in wide
    assert "characters 4801-6800 of 10006" in wide
    assert len(wide) < 2200
    assert (
        "regular expression"
        in shared.call("recall", {"handle": handle, "grep": "("})["content"][0]["text"]
    )


def test_grep_pages(shared, kept):
    handle = kept(LONG.encode())
    text = shared.text("recall", {"handle": handle, "grep": "compiling"})
    assert len(text) < 50000
    following = int(text.rpartition("lines ")[2].partition("-")[0])
    assert text.count("\n") == following - 1 < 3000
    assert shared.text(
        "recall", {"handle": handle, "grep": "compiling", "lines": f"{following}-"}
    ).startswith(f"{following}:")


@pytest.mark.slow
def test_catastrophic_pattern_is_ended_and_hooks_are_answered_meanwhile(
    own_plugin_root, start, store
):
    with open(
        os.path.join(own_plugin_root, "hooks", "contextkernel", "server", "tools.py")
    ) as handle:
        source = handle.read()
    assert re.search(r"recall_command,\s+20,", source)
    with open(
        os.path.join(own_plugin_root, "hooks", "contextkernel", "server", "tools.py"), "w"
    ) as handle:
        handle.write(re.sub(r"recall_command,\s+20,", "recall_command, 2,", source))
    server = start(root=own_plugin_root)
    server.send(
        {
            "jsonrpc": "2.0",
            "id": 5,
            "method": "tools/call",
            "params": {
                "name": "recall",
                "arguments": {"handle": store(b"a" * 60 + b"!"), "grep": "(a+)+$"},
            },
        }
    )
    assert server.text("hook", post()) == QUIET
    result = server.answer(5)["result"]
    assert result["isError"]
    assert "ended after 2 seconds" in result["content"][0]["text"]


def test_recall_is_a_page_fault(server, store, state):
    handle = store(b"text")
    server.call("hook", post(session_id="the-session"))
    server.call("recall", {"handle": handle})
    server.call("recall", {"handle": "0123456789ab"}, 2)
    assert server.end() == 0
    assert [(row["handle"], row["route"], row["session"]) for row in faults(state)] == [
        (handle, "mcp", "the-session")
    ]


def test_recall_says_what_an_expired_handle_was(server, state):
    from contextkernel.store import ledger

    books = ledger.open_ledger()
    books.take(
        "receipt",
        {
            "session": "s",
            "tool_use_id": "t",
            "tool": "Bash",
            "command": "make all",
            "handle": "feedfacecafe",
            "lines": 321,
        },
    )
    books.close()
    text = server.call("recall", {"handle": "feedfacecafe"})["content"][0]["text"]
    assert "expired" in text
    assert "321 lines of Bash: make all" in text


# -- hooks ------------------------------------------------------------------------------------
def test_no_opinion_is_the_quietest_reply(shared):
    assert shared.text("hook", post()) == QUIET
    assert shared.text("hook", {"hook_event_name": "Stop", "session_id": "s"}) == QUIET
    assert shared.text("hook", {"hook_event_name": "NoSuchEvent"}) == QUIET
    assert shared.text("hook", {}) == QUIET
    assert shared.text("hook", {"hook_event_name": "PreCompact"}) == ""
    assert shared.text("hook", {"hook_event_name": "PostCompact"}) == ""


def test_hook_replaces_what_the_script_would(server, run_hook):
    event = post(
        tool_response={"stdout": LONG, "stderr": "", "interrupted": False, "isImage": False}
    )
    resident = json.loads(server.text("hook", event))
    assert "recall " in resident["hookSpecificOutput"]["updatedToolOutput"]["stdout"]
    assert server.end() == 0
    plain = dict(
        event,
        tool_input=json.loads(event["tool_input"]),
        tool_response=json.loads(event["tool_response"]),
        session_id="s-2",
    )
    assert run_hook("post_tool_use", plain).reply == resident


def test_failing_hook_answers_and_leaves_a_note(own_plugin_root, start, state):
    with open(
        os.path.join(own_plugin_root, "hooks", "contextkernel", "handlers", "tool_result.py"), "w"
    ) as handle:
        handle.write(
            "import sys\ndef handle(event):\n    print('stray')\n"
            "    if event['tool_use_id'] == 'leave':\n        sys.exit(3)\n"
            "    raise RuntimeError('on purpose')\n"
        )
    server = start(root=own_plugin_root)
    assert server.text("hook", post()) == QUIET
    assert server.text("hook", post(tool_use_id="leave")) == QUIET
    assert server.alive()
    assert server.end() == 0
    assert "RuntimeError: on purpose" in server.stderr
    assert "SystemExit: 3" in server.stderr
    assert "stray" in server.stderr
    kept = b"".join(path.read_bytes() for path in state.rglob("*") if path.is_file())
    assert b"on purpose" in kept


def test_stray_output_of_imported_code_does_not_reach_the_client(own_plugin_root, start):
    with open(
        os.path.join(own_plugin_root, "hooks", "contextkernel", "__init__.py"), "a"
    ) as handle:
        handle.write(
            "\nimport os, sys\nprint('STRAY 1'); os.write(1, b'STRAY 2\\n'); os.system('echo "
            "STRAY 3'); sys.stdout.flush()\nassert sys.stdin.read() == ''\n"
        )
    server = start(root=own_plugin_root)
    assert server.alive()
    assert len(server.messages) == 1
    assert server.end() == 0
    assert all(f"STRAY {n:d}" in server.stderr for n in (1, 2, 3))


@pytest.mark.slow
def test_hook_overhead(server):
    """An event that no hook has an opinion on: the median round trip, pipes and all."""
    server.call("hook", post())
    spent = []
    for number in range(200):
        began = time.perf_counter()
        server.call("hook", post(), number)
        spent.append(time.perf_counter() - began)
    assert sorted(spent)[100] < 0.005, f"{1000 * sorted(spent)[100]:.2f} ms"


# -- long work --------------------------------------------------------------------------------
SLOW = """
import os, subprocess, sys, time
def main(argv):
    with open(os.environ["CK_TEST_PIDS"], "a") as handle:
        nothing = subprocess.DEVNULL
        child = subprocess.Popen(["sleep", "60"], stdout=nothing, stderr=nothing)
        handle.write("%d %d\\n" % (os.getpid(), child.pid))
    for step in range(int(os.environ.get("CK_TEST_STEPS", "600"))):
        sys.stderr.write("step %d\\n" % step)
        sys.stderr.flush()
        time.sleep(0.1)
    print("slice of", sys.stdin.read(), argv)
    return 0
"""


@pytest.fixture
def slow(own_plugin_root, start, tmp_path):
    """A server whose slicer takes a minute; `slow.pids()` waits for its processes and names
    them.
    """
    with open(
        os.path.join(own_plugin_root, "hooks", "contextkernel", "commands", "slice.py"), "w"
    ) as handle:
        handle.write(SLOW)
    path = tmp_path / "pids"

    def begin(**env):
        server = start(root=own_plugin_root, env=dict({"CK_TEST_PIDS": str(path)}, **env))

        def pids():
            until = time.monotonic() + TIMEOUT
            while not (path.exists() and path.read_text().endswith("\n")):
                assert time.monotonic() < until, "no child started"
                time.sleep(0.02)
            return [int(word) for word in path.read_text().split()]

        server.pids = pids
        server.slice = lambda identity, **meta: server.send(
            {
                "jsonrpc": "2.0",
                "id": identity,
                "method": "tools/call",
                "params": dict(
                    {
                        "name": "kernel_repo_slice",
                        "arguments": {
                            "symptom": "boom",
                            "repo": str(tmp_path),
                            "budget": 4000,
                            "depth": "2",
                        },
                    },
                    **meta,
                ),
            }
        )
        return server

    return begin


def gone(pids):
    """Whether all these processes end within a few seconds; zombies that nobody collects count
    as ended.
    """
    until = time.monotonic() + 5
    while time.monotonic() < until:
        states = []
        for pid in pids:
            try:
                with open(f"/proc/{pid:d}/stat") as handle:
                    states.append(handle.read().rpartition(")")[2].split()[0])
            except OSError:
                pass
        if not any(one != "Z" for one in states):
            return True
        time.sleep(0.05)
    return False


needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="no /proc here")


@needs_proc
def test_cancelled_call_ends_its_children_and_is_not_answered(slow):
    server = slow()
    server.slice(1)
    pids = server.pids()
    # another id: "1" is not 1
    server.send(
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "1"}}
    )
    assert server.alive()
    server.send(
        {
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": 1, "reason": "enough"},
        }
    )
    assert gone(pids)
    assert server.alive()
    assert server.end() == 0
    assert [message["id"] for message in server.messages] == ["alive", "alive"]
    assert server.said.empty(), "it answered before it left"


@needs_proc
@pytest.mark.parametrize("how", ["eof", "SIGTERM", "SIGINT"])
@pytest.mark.slow
def test_leaving_ends_the_children(slow, how):
    server = slow()
    server.slice(1)
    pids = server.pids()
    if how != "eof":
        server.process.send_signal(getattr(signal, how))
        assert server.process.wait(TIMEOUT) == 0
    assert server.end() == 0
    assert gone(pids)


@pytest.mark.slow
def test_progress_and_arguments(slow):
    server = slow(CK_TEST_STEPS="25")
    server.slice(1, _meta={"progressToken": "tok"})
    result = server.answer(1)["result"]["content"][0]["text"]
    assert "slice of boom" in result
    assert "'--budget', '4000'" in result
    assert "'--depth', '2'" in result
    assert "'--wait'" in result
    reports = [
        message["params"]
        for message in server.messages
        if message.get("method") == "notifications/progress"
    ]
    assert reports
    assert all(
        report["progressToken"] == "tok" and "step" in report["message"] for report in reports
    )
    steps = [report["progress"] for report in reports]
    assert steps == sorted(set(steps))


@pytest.mark.slow
def test_no_progress_unasked(slow):
    server = slow(CK_TEST_STEPS="15")
    server.slice(1)
    server.answer(1)
    assert len(server.messages) == 1


@pytest.mark.slow
def test_hooks_are_answered_while_slices_run(slow):
    server = slow()
    server.call("hook", post())
    for identity in range(10, 16):
        server.slice(identity)
    server.pids()
    spent = []
    for number in range(100, 150):
        began = time.perf_counter()
        assert server.call("hook", post(), number)
        spent.append(time.perf_counter() - began)
    assert sorted(spent)[25] < 0.02, f"{1000 * sorted(spent)[25]:.1f} ms"


@pytest.mark.slow
def test_calls_under_way_are_answered_at_the_end_of_input(start, store):
    """What a shell pipe does: all lines at once, then the end."""
    server = start()
    handle = store(b"text")
    for identity in range(3):
        server.send(
            {
                "jsonrpc": "2.0",
                "id": identity,
                "method": "tools/call",
                "params": {"name": "recall", "arguments": {"handle": handle}},
            }
        )
    assert server.end() == 0
    found = [server.said.get_nowait() for _ in range(3)]
    assert sorted(message["id"] for message in found) == [0, 1, 2]


def test_client_that_stops_reading(plugin_root, state):
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", os.path.join(plugin_root, "mcp", "server.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        process.stdout.close()
        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        process.stdin.flush()  # and the input stays open
        assert process.wait(TIMEOUT) == 0
    finally:
        process.kill()


@pytest.mark.slow
def test_slices_of_a_real_tree(server, tmp_path):
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "price.py").write_text(
        "import math\n\n\ndef net(x):\n    return math.floor(x)\n\n\ndef total(x):\n"
        "    return net(x) * rate\n\n\ndef other():\n    return 0\n"
    )
    trace = (
        'Traceback (most recent call last):\n  File "app/price.py", line 9, in total\n'
        "NameError: name 'rate' is not defined\n"
    )
    text = server.text(
        "kernel_repo_slice", {"symptom": trace, "repo": str(tmp_path), "budget": 4000}
    )
    assert "app/price.py" in text
    for more in ({"budget": "auto"}, {"depth": 1}, {"depth": "full"}, {}):
        assert "app/price.py" in server.text(
            "kernel_repo_slice", dict({"symptom": trace, "repo": str(tmp_path)}, **more)
        )
    for more in ({}, {"budget": "auto"}, {"budget": "2000"}):
        text = server.text(
            "kernel_slice",
            dict({"file": str(tmp_path / "app" / "price.py"), "symbol": "total"}, **more),
        )
        assert "return net(x) * rate" in text
        assert "math.floor" in text
    missing = server.call(
        "kernel_slice", {"file": str(tmp_path / "app" / "price.py"), "symbol": "nothing"}
    )
    assert missing["isError"]
    assert "nothing" in missing["content"][0]["text"]


@pytest.mark.parametrize(
    "repo, reason",
    [
        ("/", "the whole machine"),
        ("~", "your home folder;"),
        ("~/..", "your home folder lies in it"),
        (None, "your home folder;"),
    ],
)
def test_a_slice_of_what_is_no_repository_is_refused_with_the_reason(start, tmp_path, repo, reason):
    server = start(env={"HOME": str(tmp_path)}, cwd=str(tmp_path))
    named = {"repo": repo} if repo else {}
    result = server.call("kernel_repo_slice", dict(named, symptom="total in a.py"))
    assert result["isError"] is True
    text = result["content"][0]["text"]
    assert reason in text
    assert "--yes" not in text
    assert "\n" not in text


# -- where it runs ----------------------------------------------------------------------------
@pytest.mark.slow
def test_folder_comes_from_the_last_hook_then_from_roots(slow, tmp_path):
    here = tmp_path / "project ä"
    here.mkdir()
    server = slow(CK_TEST_STEPS="1")
    server.ask("initialize", {"capabilities": {"roots": {"listChanged": True}}})
    server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    asked = server.next()
    assert asked["method"] == "roots/list"
    server.send(
        {"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": [{"uri": here.as_uri()}]}}
    )
    assert repr(str(here)) in server.text("kernel_repo_slice", {"symptom": "x"}, 2)
    server.call("hook", post(cwd=str(tmp_path)), 3)
    assert repr(str(tmp_path)) in server.text("kernel_repo_slice", {"symptom": "x"}, 4)
    assert repr(str(here)) in server.text(
        "kernel_repo_slice", {"symptom": "x", "repo": "project ä"}, 5
    )


def test_started_inside_the_plugin_it_asks_for_a_folder(start, plugin_root):
    server = start(cwd=plugin_root)
    for name, arguments in (
        ("kernel_repo_slice", {"symptom": "x"}),
        ("kernel_slice", {"file": "mcp/server.py", "symbol": "main"}),
    ):
        assert "an absolute path is needed" in server.call(name, arguments)["content"][0]["text"]


@pytest.mark.slow
def test_codex_gets_slices_that_it_does_not_cut(slow, tmp_path):
    server = slow(CK_TEST_STEPS="1")
    server.ask("initialize", {"clientInfo": {"name": "codex-mcp-client", "version": "0.171.0"}})
    for given, kept in (
        ({}, "auto"),
        ({"budget": "auto"}, "auto"),
        ({"budget": 4000}, "4000"),
        ({"budget": "80000"}, "11000"),
    ):
        assert f"'--budget', '{kept}'" in server.text(
            "kernel_repo_slice", dict({"symptom": "x", "repo": str(tmp_path)}, **given), 2
        )


@pytest.mark.parametrize(
    "used, env, tokens",
    [
        (100, {}, "11k"),
        (220000, {}, "5k"),
        (100, {"CK_BUDGET_MAX": "6000"}, "6k"),
        (100, {"CK_BUDGET_MAX": "900000"}, "11k"),
        (None, {}, "8k"),
    ],
)
@pytest.mark.loop(2)
def test_codex_gets_the_budget_of_the_calling_thread(start, tmp_path, used, env, tokens):
    thread, folder = (
        "01a22b9a-de0e-78e3-b801-7569ec7473bb",
        tmp_path / "x" / "sessions" / "2026" / "11" / "30",
    )
    folder.mkdir(parents=True)
    (tmp_path / "app.py").write_text("def total():\n    return 1\n")
    if used is not None:
        info = {"last_token_usage": {"total_tokens": used}, "model_context_window": 258400}
        (folder / (f"rollout-2026-11-30T08-38-19-{thread}.jsonl")).write_text(
            json.dumps({"type": "event_msg", "payload": {"type": "token_count", "info": info}})
            + "\n"
        )
    server = start(env=dict(env, CODEX_HOME=str(tmp_path / "x")))
    server.ask("initialize", {"clientInfo": {"name": "codex-mcp-client", "version": "0.171.0"}})
    reply = server.ask(
        "tools/call",
        {
            "name": "kernel_repo_slice",
            "arguments": {"symptom": "total", "repo": str(tmp_path)},
            "_meta": {"threadId": thread},
        },
        2,
    )
    said = json.dumps(reply)
    assert re.search(rf"budget: auto: .*-> budget {tokens}\b", said), said
    assert ("session 01a22b9a, model unknown, window" in said) is (used is not None)


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.loop(1)
def test_plugin_folder_is_not_written(own_plugin_root, state, frozen):
    before = plugin.files_of(own_plugin_root)
    command = ["python3", "-I", "-S", os.path.join(own_plugin_root, "mcp", "server.py")]
    if frozen:
        command = plugin.frozen(own_plugin_root, command)
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "hook", "arguments": post()},
        },
        {
            "jsonrpc": "2.0",
            "id": 3,
            "method": "tools/call",
            "params": {"name": "recall", "arguments": {"handle": "0123456789ab"}},
        },
    ]
    done = subprocess.run(
        command,
        input="".join(json.dumps(line) + "\n" for line in lines).encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=plugin.environment(own_plugin_root),
        timeout=TIMEOUT,
    )
    assert done.returncode == 0
    assert done.stderr == b""
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 2, 3]
    assert plugin.files_of(own_plugin_root) == before
    assert list((state / "pycache").rglob("*.pyc"))


@pytest.mark.parametrize("broken", ["read-only", "a file"])
@pytest.mark.loop(2)
def test_unusable_state_folder(start, tmp_path, broken):
    where = tmp_path / "bad"
    if broken == "a file":
        where.write_text("no folder")
    else:
        where = "/proc/no-state-here"
    server = start(env={"CK_DATA": str(where)})
    assert server.text("hook", post()) == QUIET
    assert (
        server.text(
            "hook",
            post(
                tool_response={"stdout": LONG, "stderr": "", "interrupted": False, "isImage": False}
            ),
            2,
        )
        == QUIET
    )
    assert server.alive()
    assert server.end() == 0
