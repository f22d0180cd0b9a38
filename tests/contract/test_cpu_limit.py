"""An operator that does not end: in every lane the original passes in time, one ledger row names
the rule, and the rest goes on.

The operator is planted into a copy of the plugin.  Two patterns: one that looks for signals as it
runs, and one that, up to Python 3.10, does not for hours.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time

import pytest

import failing_runs
import lane as client
import plugin
from contextkernel.clients import cpu_limit
from contextkernel.clients.claude import shell_prefix
from resident import QUIET, Server, post, serving

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs an interval timer")

ENDLESS = {
    "looks for signals": 'import re\nre.search(r"(a+)+$", "a" * 64 + "!")\n',
    "looks for none": 'import re\nre.search(r"[a-z]*x", "a" * 3000000)\n',
}
SOON = 30  # seconds: far above the limit on a busy machine, far below the patterns' own time
LONG = "\n".join(
    f"[{n:05}] compiling module_{n % 977} in {n * 7919 % 4001} ms" for n in range(3000)
)
GREP = "\n".join(f"src/package/module_{n % 9}.py:{n}:    value = compute({n})" for n in range(900))


def planted(root, module, function, code):
    """Make a function of an operator run `code` before its own body."""
    path = os.path.join(root, "hooks", "contextkernel", *module.split(".")) + ".py"
    with open(path, "a", encoding="utf-8") as file:
        body = "".join(f"    {line}\n" for line in code.rstrip().split("\n"))
        file.write(
            f"\n\n_before = {function}\n\n\ndef {function}(*given, **named):\n"
            f"{body}    return _before(*given, **named)\n"
        )


@pytest.fixture(params=sorted(ENDLESS))
def slow_root(request, own_plugin_root):
    """A plugin whose plain format does not end; its others do."""
    planted(own_plugin_root, "normalize.formats.plain", "layout", ENDLESS[request.param])
    return own_plugin_root


def rows_of(state):
    """Every ledger row of a state folder that says why something passed, from the ledger and
    from the spool.
    """
    found = []
    if (state / "state.db").exists():
        with sqlite3.connect(str(state / "state.db")) as db:
            found += [
                why
                for table, column in (("receipts", "reason"), ("notes", "text"))
                for (why,) in db.execute(f"SELECT {column} FROM {table}")
            ]
    for path in (state / "spool").glob("*.jsonl") if (state / "spool").exists() else ():
        found += [
            row.get("reason") or row.get("why")
            for row in map(json.loads, path.read_text().split("\n")[:-1])
        ]
    return [why for why in found if why]


def response(text):
    return {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}


def call(identity, event):
    return {
        "jsonrpc": "2.0",
        "id": identity,
        "method": "tools/call",
        "params": {"name": "hook", "arguments": event},
    }


def said(message):
    return message["result"]["content"][0]["text"]


@pytest.fixture
def start(state):
    with serving() as servers:

        def begin(root):
            servers.append(Server(root))
            return servers[-1]

        yield begin


@pytest.mark.loop(1)
def test_the_resident_lane_goes_on(start, slow_root, state):
    server = start(slow_root)
    server.send(call("slow", post(tool_response=response(LONG))))
    server.send(call("small", post(tool_response=response("hi"), tool_use_id="t2")))
    server.send({"jsonrpc": "2.0", "id": "ping", "method": "ping"})
    order = [server.next(SOON) for _ in range(3)]
    assert [message["id"] for message in order] == ["ping", "slow", "small"], (
        "a ping waits for no hook"
    )
    assert [said(message) for message in order[1:]] == [QUIET, QUIET]
    again = json.loads(
        said(
            server.send(
                call(
                    5,
                    post(tool_response=response(GREP), tool_input={"command": "grep -rn value ."}),
                )
            )
            or server.answer(5, SOON)
        )
    )
    assert "recall" in again["hookSpecificOutput"]["updatedToolOutput"]["stdout"], (
        "the next text has a worker again"
    )
    assert server.end() == 0
    assert [why for why in rows_of(state) if "limit" in why] == [
        "CPU limit reached in normalize > plain"
    ]
    assert not list((state / "blobs").rglob("*.tmp"))


@pytest.mark.slow
def test_calls_behind_a_slow_one_do_not_add_up(start, slow_root, state):
    server = start(slow_root)
    began = time.monotonic()
    for number in range(12):
        server.send(call(number, post(tool_response=response(LONG), tool_use_id=f"t{number}")))
    assert [said(server.answer(number, SOON)) for number in range(12)] == [QUIET] * 12
    assert time.monotonic() - began < 8, "12 limits one after another would be 12 seconds of CPU"
    assert server.end() == 0
    named = [why for why in rows_of(state) if "limit" in why]
    assert len(named) == 12
    assert "CPU limit reached in normalize > plain" in named
    assert "CPU limit reached in an earlier call" in named


@pytest.mark.slow
def test_the_script_lane(slow_root, state):
    event = {
        "session_id": "s",
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_use_id": "t",
        "tool_input": {"command": "make"},
        "tool_response": response(LONG),
        "transcript_path": "",
        "cwd": "",
    }
    began = time.monotonic()
    assert plugin.hooked(plugin.run_script(slow_root, "post_tool_use.py", event)) == (None, "")
    assert time.monotonic() - began < SOON
    assert rows_of(state) == ["CPU limit reached in normalize > plain"]


@pytest.mark.skipif(client.SHELLS["bash"] is None, reason="needs bash")
@pytest.mark.slow
def test_the_failure_lane(slow_root, state, tmp_path):
    wrapper = shell_prefix.place(str(state), slow_root, sys.executable)
    (tmp_path / "long.txt").write_text(LONG + "\n")
    argument = client.argument(f"cat {tmp_path / 'long.txt'}; exit 3", str(tmp_path))
    assert client.ran([wrapper, argument], str(tmp_path / "out")) == (3, (LONG + "\n").encode())
    assert rows_of(state) == ["CPU limit reached in normalize > plain"]


@pytest.mark.slow
def test_the_command_line(slow_root, state):
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            os.path.join(slow_root, "hooks", "ck.py"),
            "normalize",
            "--command",
            "make",
        ],
        input=LONG.encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=SOON,
    )
    assert (done.returncode, done.stdout) == (0, LONG.encode())
    assert (
        done.stderr
        == b"ck.py normalize: original passed through: CPU limit reached in normalize > plain\n"
    )
    assert rows_of(state) == ["CPU limit reached in normalize > plain"]


@pytest.mark.parametrize("kind", sorted(ENDLESS))
@pytest.mark.loop(1)
def test_the_symptom_of_a_slice(kind, own_plugin_root, state, tmp_path):
    planted(own_plugin_root, "slicing.symptom.text", "read", ENDLESS[kind])
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "a.py").write_text("def f():\n    return 1\n")
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            os.path.join(own_plugin_root, "hooks", "ck.py"),
            "slice",
            "--repo",
            str(tmp_path / "repo"),
            "--symptom",
            "-",
        ],
        input=b"f is wrong in a.py",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=SOON,
    )
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
    assert b"CPU limit reached in symptom" in done.stderr
    assert rows_of(state) == ["CPU limit reached in symptom"]


@pytest.mark.parametrize("kind", sorted(ENDLESS))
@pytest.mark.slow
def test_the_symptom_of_a_cut_failure(kind, own_plugin_root, state):
    planted(own_plugin_root, "slicing.symptom.text", "read", ENDLESS[kind])
    text = (
        "Exit code 1\n" + "x" * 5000 + "\n\n... [20000 characters truncated] ...\n\n" + "y" * 5000
    )
    event = {
        "session_id": "s",
        "hook_event_name": "PostToolUseFailure",
        "tool_name": "Bash",
        "tool_use_id": "t",
        "tool_input": {"command": "make"},
        "error": text,
        "transcript_path": "",
        "cwd": "",
    }
    assert plugin.run_script(own_plugin_root, "post_tool_use_failure.py", event).returncode == 0
    assert rows_of(state) == ["LimitError: CPU limit reached in symptom"]


@pytest.mark.parametrize(
    "code, why",
    [
        ('raise ValueError("planted")\n', "ValueError: planted"),
        ("import os\nos._exit(5)\n", "ended"),
    ],
)
@pytest.mark.loop(1)
def test_an_operator_that_fails(code, why, start, own_plugin_root, state):
    planted(own_plugin_root, "normalize.formats.plain", "layout", code)
    server = start(own_plugin_root)
    assert (
        said(server.send(call(1, post(tool_response=response(LONG)))) or server.answer(1, SOON))
        == QUIET
    )
    assert server.alive()
    assert server.end() == 0
    event = {
        "session_id": "s",
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_use_id": "t",
        "tool_input": {"command": "make"},
        "tool_response": response(LONG),
        "transcript_path": "",
        "cwd": "",
    }
    assert plugin.run_script(own_plugin_root, "post_tool_use.py", event).stdout == b""
    rows = rows_of(state)
    assert len(rows) == 2, rows
    assert all(why in row for row in rows), rows


# -- the limit itself ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "size, waited, least, most",
    [
        (0, 0, 0.3, 0.5),
        (30000, 0, 0.5, 0.6),
        (300000, 0, 1.0, 1.0),
        (16 << 20, 0, 2.0, 2.0),
        (1 << 40, 0, 2.0, 2.0),
        (300000, 1.2, 0.2, 0.4),
        (10, 1.49, 0.0, 0.02),
        (10, 60, -100, 0.0),
    ],
)
def test_seconds(size, waited, least, most):
    assert least <= cpu_limit.seconds_for(size, waited) <= most + 1e-9


def test_values_come_back_as_they_are():
    text = "a\udcff\ud800\x00\u2028" * 100000
    assert cpu_limit.call(_twice, (text, [(1, "b")]), 10) == (text, [(1, "b")], text)


def _twice(text, more):
    return text, more, text


def test_nothing_is_left_open():
    before = sorted(os.listdir("/dev/fd"))
    for _ in range(5):
        cpu_limit.call(_twice, ("a", []), 10)
        with pytest.raises(cpu_limit.OperatorError):
            cpu_limit.call(_twice, ("too", "many", "values"), 10)
    assert sorted(os.listdir("/dev/fd")) == before
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@pytest.mark.slow
def test_what_takes_no_cpu_is_ended_by_the_clock(start, own_plugin_root, state):
    planted(own_plugin_root, "normalize.formats.plain", "layout", "import time\ntime.sleep(1000)\n")
    server = start(own_plugin_root)
    server.send(call("slow", post(tool_response=response(LONG))))
    assert said(server.answer("slow", SOON)) == QUIET
    event = {
        "session_id": "s",
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_use_id": "t",
        "tool_input": {"command": "make"},
        "tool_response": response(LONG),
        "transcript_path": "",
        "cwd": "",
    }
    assert plugin.hooked(plugin.run_script(own_plugin_root, "post_tool_use.py", event)) == (
        None,
        "",
    )
    assert server.end() == 0
    assert rows_of(state) == ["CPU limit reached in normalize > plain"] * 2


@pytest.mark.parametrize("lines", [2000, 200000])
@pytest.mark.loop(1)
def test_an_ordinary_large_text_has_time(lines):
    from contextkernel.handlers import operators

    text = "\n".join(failing_runs.pytest(lines))
    ((_, rules),) = cpu_limit.call(
        operators.normal_forms, ([text], [("Bash", "pytest", 1, "0" * 12, 9900)]), len(text)
    )
    assert rules
