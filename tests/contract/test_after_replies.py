"""The resident server's work after its replies: gathered, and nothing lost by it."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from contextkernel.server import after_replies
from contextkernel.store import ledger
from resident import Server, post, serving

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "claude-code"}}


@pytest.fixture
def server(plugin_root, state):
    with serving() as begun:
        begun.append(Server(plugin_root))
        begun[0].ask("initialize", HELLO)
        begun[0].send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        yield begun[0]


def uses(state):
    """Tool uses in the ledger itself, the spool left where it is."""
    if not (state / "state.db").exists():
        return []
    with sqlite3.connect(f"file:{state}/state.db?mode=ro", uri=True) as db:
        return [use for (use,) in db.execute("SELECT tool_use_id FROM receipts")]


def until(what, seconds=20):
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.05)
    assert what()


def small_events(server, count):
    for number in range(count):
        event = post(tool_use_id=f"u{number}", session_id="s-1")
        assert server.call("hook", event, number + 10)["content"][0]["text"] == "{}"


def test_small_events_reach_the_ledger_soon(server, state):
    small_events(server, 30)
    until(lambda: len(uses(state)) == 30)
    assert server.end() == 0
    assert os.listdir(state / "spool") == []


def test_the_end_of_a_turn_has_it_done_at_once(server, state):
    small_events(server, 3)
    began = time.monotonic()
    server.call("hook", {"hook_event_name": "Stop", "session_id": "s-1"}, 99)
    until(lambda: len(uses(state)) == 3)
    assert time.monotonic() - began < after_replies.EVERY


@pytest.mark.parametrize("how", ["killed", "ended", "asked to leave"])
def test_no_row_is_lost_whatever_ends_the_server(server, state, how):
    small_events(server, 25)
    if how == "ended":
        server.end()
    else:
        server.process.send_signal(signal.SIGKILL if how == "killed" else signal.SIGTERM)
        server.process.wait(20)
    books = ledger.open_ledger()
    found = books.rows("SELECT tool_use_id FROM receipts")
    books.close()
    assert sorted(row["tool_use_id"] for row in found) == sorted(f"u{n}" for n in range(25))


LEFT_BEFORE_A_READ = """
import os, signal, sys; sys.path.insert(0, sys.argv[1])
from contextkernel.server import serve, streams
read = streams.Reader._read
def interrupted(reader):
    os.kill(os.getpid(), signal.SIGTERM)  # its handler has run when the read begins
    return read(reader)
streams.Reader._read = interrupted
requests, kept_open = os.pipe()
sys.exit(serve.serve(requests, 1, []))
"""


def test_a_signal_just_before_a_read_ends_the_server(plugin_root):
    code = [
        sys.executable,
        "-I",
        "-S",
        "-c",
        LEFT_BEFORE_A_READ,
        os.path.join(plugin_root, "hooks"),
    ]
    assert subprocess.run(code, stdin=subprocess.DEVNULL, timeout=60).returncode == 0


@pytest.mark.slow
def test_the_work_after_many_events_is_done_once(monkeypatch):
    from contextkernel.handlers import verification

    done = []
    monkeypatch.setattr(verification, "run", lambda event: done.append(event["n"]))
    monkeypatch.setattr(verification, "take_in", lambda: done.append("spool"))
    monkeypatch.setattr(after_replies, "EVERY", 0.3)
    work = after_replies.AfterReplies(lambda function: function())
    work.follow({"session_id": "s", "hook_event_name": "PostToolUse", "n": 0})
    until(lambda: done == ["spool", 0])  # the first of a session marks it at once
    for number in range(1, 50):
        work.follow({"session_id": "s", "hook_event_name": "PostToolUse", "n": number})
    assert done == ["spool", 0]
    until(lambda: len(done) > 2)
    assert done == ["spool", 0, "spool", 49]
    work.follow({"session_id": "s", "hook_event_name": "PreToolUse", "n": 50})
    work.end(lambda: done.append("last"), 5)
    assert done[4:] == ["spool", 50, "last"]
