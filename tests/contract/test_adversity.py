"""Hooks and the command line where the machine itself is against them: closed or full streams, full disks, rotten stores."""
from __future__ import annotations

import json
import os
import subprocess

import pytest

from contextkernel.store import blobs, ledger

TEXT = "\n".join("[%4d/600] building object lib/module_%d.o with optimisation in %d ms" % (n, n % 97, n * 7919 % 997) for n in range(1, 601))
STREAMS = ("<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full", "2>/dev/full", ">/dev/full 2>/dev/full")


def event(**more):
    return dict({"hook_event_name": "PostToolUse", "session_id": "s-1", "transcript_path": "", "cwd": "/", "tool_name": "Bash", "tool_input": {"command": "make all"},
                 "tool_use_id": "toolu_1", "tool_response": {"stdout": TEXT, "stderr": "", "interrupted": False, "isImage": False}}, **more)


def started(root, *arguments, data=b"", streams=""):
    """A script of the plugin, its streams as a shell's redirections say."""
    return subprocess.run(["sh", "-c", 'exec "$@" ' + streams, "sh", "python3", "-I", "-S", os.path.join(root, "hooks", arguments[0])] + list(arguments[1:]),
                          input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)


def rows(table):
    books = ledger.open_ledger()
    found = books.rows("SELECT * FROM " + table)
    books.close()
    return found


@pytest.mark.parametrize("script", ["post_tool_use.py", "session_start.py", "session_end.py"])
@pytest.mark.parametrize("streams", STREAMS)
def test_a_hook_ends_with_0_whatever_its_streams_are(plugin_root, state, streams, script):
    for data in (json.dumps(event()).encode(), b"not json"):
        done = started(plugin_root, script, data=data, streams=streams)
        assert done.returncode == 0 and b"Traceback" not in done.stderr
    assert len(rows("notes")) == (2 if "<&-" in streams else 1), "why it passed is in the ledger even where stderr is not"


@pytest.mark.parametrize("streams", STREAMS)
@pytest.mark.parametrize("arguments", [["ck.py", "normalize"], ["ck.py", "recall", "STORED"], ["ck.py", "recall", "0" * 12], ["ck.py", "savings"], ["ck.py", "help"], ["ck.py", "symbol"],
                                       ["savings.py"], ["ck.py", "slice", "--repo", "/nonexistent", "--symptom", "-"]], ids=lambda words: "-".join(words)[:24])
def test_a_command_ends_with_0_or_2_and_one_line_whatever_its_streams_are(plugin_root, state, arguments, streams):
    stored = blobs.put(TEXT.encode())
    done = started(plugin_root, *[stored if word == "STORED" else word for word in arguments], data=TEXT.encode(), streams=streams)
    assert done.returncode in (0, 2) and done.stderr.count(b"\n") <= 1
    assert done.returncode == 2 or ">/dev/full" not in streams.replace("2>", "") and "0" * 12 not in arguments


@pytest.mark.parametrize("table", ["faults", "receipts", "notes"])
def test_a_ledger_without_its_tables_is_one_line(plugin_root, state, table):
    books = ledger.open_ledger()
    books.db.execute("DROP TABLE " + table)
    books.close()
    done = started(plugin_root, "savings.py")
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1 and table.encode() in done.stderr
    assert started(plugin_root, "ck.py", "recall", "0" * 12).returncode == 2
