"""Every hook by subprocess, as the hook files say: any folder name, a read-only folder, hostile
events, death at the worst moment.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time

import pytest

import plugin
from contextkernel import marks
from contextkernel.clients import events

SCRIPTS = sorted({event.module for event in events.EVENTS})
TEXT = "\n".join(
    f"[{n:4}/600] building object lib/module_{n % 97}.o with optimisation in {n * 7919 % 997} ms"
    for n in range(1, 601)
)
HOSTILE = {
    "nothing": b"",
    "no json": b"not json",
    "list": b"[]",
    "number": b"1",
    "null": b"null",
    "string": b'"x"',
    "half": b'{"tool_name": "Bash", ',
    "invalid utf-8": b'{"tool_name": "\xff\xfe"}',
    "wrong types": (
        b'{"hook_event_name": 3, "session_id": [], "tool_name": {}, "tool_input": 7, '
        b'"tool_response": true, "transcript_path": 0, "cwd": []}'
    ),
    "deep": b'{"tool_name": "mcp__x__y", "tool_response": ' + b"[" * 3000 + b"]" * 3000 + b"}",
    "empty object": b"{}",
    "lone surrogate": b'{"tool_name": "Bash", "tool_response": {"stdout": "'
    + b"\\ud800 x\\n" * 900
    + b'", "stderr": "", "interrupted": false}}',
}


def bash_event(stdout=TEXT, **more):
    return dict(
        {
            "hook_event_name": "PostToolUse",
            "session_id": "s-1",
            "transcript_path": "",
            "cwd": os.getcwd(),
            "permission_mode": "default",
            "tool_name": "Bash",
            "tool_input": {"command": "make all"},
            "tool_use_id": "toolu_1",
            "tool_response": {
                "stdout": stdout,
                "stderr": "",
                "interrupted": False,
                "isImage": False,
            },
        },
        **more,
    )


def shown(reply):
    return reply["hookSpecificOutput"]["updatedToolOutput"]["stdout"]


def recalled(root, handle):
    """The bytes that `ck.py recall` gives in a process of its own."""
    return subprocess.run(
        ["python3", "-I", "-S", os.path.join(root, "hooks", "ck.py"), "recall", handle],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        check=True,
        timeout=60,
    ).stdout


def test_the_hook_file_is_the_event_table():
    with open(os.path.join(plugin.ROOT, "hooks", "hooks.json"), encoding="utf-8") as handle:
        assert handle.read() == events.as_text(events.plugin_hooks())


def test_every_registered_script_is_there():
    assert len(SCRIPTS) > 5
    assert [
        name
        for name in SCRIPTS
        if not os.path.isfile(os.path.join(plugin.ROOT, "hooks", name + ".py"))
    ] == []


@pytest.mark.parametrize("event", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.loop(12)
def test_a_hostile_event_passes_in_silence(run_hook, script, event):
    reply, stderr = run_hook(script, event)
    assert "Traceback" not in stderr
    assert (
        reply is None
        or set(reply) == {"hookSpecificOutput"}
        and "updatedToolOutput" not in reply["hookSpecificOutput"]
        or marks.carries_mark(json.dumps(reply))
    )


def test_a_long_output_is_rewritten_and_comes_back(run_hook, plugin_root):
    reply, stderr = run_hook("post_tool_use", bash_event())
    assert stderr == ""
    assert len(shown(reply)) < len(TEXT) / 2
    [handle] = marks.handles_in(shown(reply))
    assert recalled(plugin_root, handle) == TEXT.encode()


def test_a_short_output_passes(run_hook):
    assert run_hook("post_tool_use", bash_event("hi")) == (None, "")


def test_no_hook_ever_decides_on_a_permission(run_hook):
    for command in ("git status", "rm -rf /", "npm install x", "sudo ls", "make test"):
        event = bash_event(hook_event_name="PreToolUse", tool_input={"command": command})
        event.pop("tool_response")
        reply, _ = run_hook("pre_tool_use", event)
        assert "permissionDecision" not in json.dumps(reply)


@pytest.mark.slow
def test_a_read_only_plugin_folder_works(run_hook, own_plugin_root, state):
    before = plugin.files_of(own_plugin_root)
    first = run_hook("post_tool_use", bash_event(), root=own_plugin_root, read_only=True)
    assert marks.carries_mark(shown(first.reply))
    assert first.stderr == ""
    assert plugin.files_of(own_plugin_root) == before
    assert os.path.isdir(os.path.join(state, "pycache")), "bytecode goes to the state folder"


def test_same_event_same_bytes(run_hook, tmp_path, monkeypatch):
    replies = []
    for name in ("one", "two"):
        monkeypatch.setenv("CK_DATA", str(tmp_path / name))
        replies.append(run_hook("post_tool_use", bash_event()).reply)
    assert replies[0] == replies[1]


def test_killed_while_answering_the_original_is_on_disk(plugin_root, state):
    """The pipe is full, so the hook hangs in its answer; by then the blob must be there.  A hook
    that stored later would never store.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        while os.write(writer, b"x" * 4096):
            pass
    except BlockingIOError:
        os.set_blocking(writer, True)
    child = subprocess.Popen(
        ["python3", "-I", "-S", os.path.join(plugin_root, "hooks", "post_tool_use.py")],
        stdin=subprocess.PIPE,
        stdout=writer,
    )
    os.close(writer)
    child.stdin.write(json.dumps(bash_event()).encode())
    child.stdin.close()
    blobs = os.path.join(state, "blobs")
    end = time.time() + 60
    while time.time() < end and child.poll() is None and not whole_blobs(blobs):
        time.sleep(0.02)
    assert child.poll() is None, "the hook did not wait for its reader"
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    os.close(reader)
    [name] = whole_blobs(blobs)
    assert recalled(plugin_root, name[:12]) == TEXT.encode()


def whole_blobs(folder):
    """Names of finished blobs: 64 hexadecimal digits, then what the store adds."""
    return [
        name
        for _, _, files in os.walk(folder)
        for name in files
        if re.fullmatch(r"[0-9a-f]{64}(\.\d+)?", name)
    ]
