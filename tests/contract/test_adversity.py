"""Hooks and the command line where the machine itself is against them: closed or full streams,
full disks, rotten stores.
"""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from contextkernel import marks
from contextkernel.store import blobs, ledger

TEXT = "\n".join(
    f"[{n:4}/600] building object lib/module_{n % 97}.o with optimisation in {n * 7919 % 997} ms"
    for n in range(1, 601)
)
STREAMS = (
    "<&-",
    ">&-",
    "2>&-",
    "<&- >&- 2>&-",
    ">/dev/full",
    "2>/dev/full",
    ">/dev/full 2>/dev/full",
)


def event(**more):
    return dict(
        {
            "hook_event_name": "PostToolUse",
            "session_id": "s-1",
            "transcript_path": "",
            "cwd": "/",
            "tool_name": "Bash",
            "tool_input": {"command": "make all"},
            "tool_use_id": "toolu_1",
            "tool_response": {"stdout": TEXT, "stderr": "", "interrupted": False, "isImage": False},
        },
        **more,
    )


def started(root, *arguments, data=b"", streams=""):
    """A script of the plugin, its streams as a shell's redirections say."""
    return subprocess.run(
        [
            "sh",
            "-c",
            'exec "$@" ' + streams,
            "sh",
            "python3",
            "-I",
            "-S",
            os.path.join(root, "hooks", arguments[0]),
        ]
        + list(arguments[1:]),
        input=data,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=60,
    )


def rows(table):
    books = ledger.open_ledger()
    found = books.rows("SELECT * FROM " + table)
    books.close()
    return found


@pytest.mark.parametrize("script", ["post_tool_use.py", "session_start.py", "session_end.py"])
@pytest.mark.parametrize("streams", STREAMS)
@pytest.mark.loop(4)
def test_a_hook_ends_with_0_whatever_its_streams_are(plugin_root, state, streams, script):
    for data in (json.dumps(event()).encode(), b"not json"):
        done = started(plugin_root, script, data=data, streams=streams)
        assert done.returncode == 0
        assert b"Traceback" not in done.stderr
    assert len(rows("notes")) == (2 if "<&-" in streams else 1), (
        "why it passed is in the ledger even where stderr is not"
    )


@pytest.mark.parametrize("streams", STREAMS)
@pytest.mark.parametrize(
    "arguments",
    [
        ["ck.py", "normalize"],
        ["ck.py", "recall", "STORED"],
        ["ck.py", "recall", "0" * 12],
        ["ck.py", "savings"],
        ["ck.py", "help"],
        ["ck.py", "symbol"],
        ["savings.py"],
        ["ck.py", "slice", "--repo", "/nonexistent", "--symptom", "-"],
    ],
    ids=lambda words: "-".join(words)[:24],
)
@pytest.mark.loop(6)
def test_a_command_ends_with_0_or_2_and_one_line_whatever_its_streams_are(
    plugin_root, state, arguments, streams
):
    stored = blobs.put(TEXT.encode())
    done = started(
        plugin_root,
        *[stored if word == "STORED" else word for word in arguments],
        data=TEXT.encode(),
        streams=streams,
    )
    assert done.returncode in (0, 2)
    assert done.stderr.count(b"\n") <= 1
    assert (
        done.returncode == 2
        or ">/dev/full" not in streams.replace("2>", "")
        and "0" * 12 not in arguments
    )


@pytest.mark.parametrize("table", ["faults", "receipts", "notes"])
@pytest.mark.loop(1)
def test_a_ledger_without_its_tables_is_set_aside_in_one_line(plugin_root, state, table):
    books = ledger.open_ledger()
    books.db.execute("DROP TABLE " + table)
    books.close()
    done = started(plugin_root, "savings.py")
    assert done.returncode == 0
    assert done.stderr.count(b"\n") == 1
    assert table.encode() in done.stderr
    assert b"set aside" in done.stderr
    assert started(plugin_root, "ck.py", "recall", "0" * 12).returncode == 2


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "config" / "projects" / "p" / "s-1" / "tool-results"
    made.mkdir(parents=True)
    return made


def persisted(folder, content, shown=TEXT * 40):
    """The event of an output that the client wrote to a file, and shows 30,000 characters of."""
    given = event(transcript_path=str(folder.parent) + ".jsonl")
    (folder / "b1.txt").write_bytes(content)
    given["tool_response"] = dict(
        given["tool_response"],
        stdout=shown[:30000].strip(),
        persistedOutputPath=str(folder / "b1.txt"),
        persistedOutputSize=len(shown.encode()),
    )
    return given


OTHER = "".join(f"other line {n} took {n * 7919 % 997} ms\n" for n in range(90000)).encode()


@pytest.mark.parametrize(
    "content", [b"", OTHER, (TEXT * 40).encode()[:60000]], ids=["empty", "another", "cut"]
)
def test_a_persisted_file_that_is_another_by_now_hides_nothing(run_hook, state, folder, content):
    assert run_hook("post_tool_use", persisted(folder, content))[0] is None
    [note] = rows("notes")
    assert "b1.txt" in note["text"]
    assert rows("receipts") == []


def test_a_persisted_pipe_is_not_waited_for(run_hook, state, folder):
    given = persisted(folder, b"")
    os.unlink(str(folder / "b1.txt"))
    os.mkfifo(str(folder / "b1.txt"))
    assert run_hook("post_tool_use", given)[0] is None
    assert len(rows("notes")) == 1


@pytest.mark.parametrize(
    "shown",
    [
        "\n\n  \n" + TEXT * 40 + "\n\n",
        "\u3000\ufeff" + TEXT * 40,
        "\x1b[2J" + TEXT * 40,
        "a\r\n" + TEXT.replace("\n", "\r\n") * 40,
        "\U0001f600" * 9 + TEXT * 40,
    ],
    ids=["blank lines", "other blanks", "escape", "crlf", "emoji"],
)
@pytest.mark.loop(2)
def test_a_persisted_file_trimmed_by_the_client_is_the_same_file(run_hook, state, folder, shown):
    assert run_hook("post_tool_use", persisted(folder, shown.encode(), shown))[0]


@pytest.mark.slow
def test_the_recall_file_stays_what_it_was(run_hook, state, folder):
    """2.1.121 goes on writing to its file while a background process of the command prints; and
    a file of our name may be somebody else's.
    """
    raw = (TEXT * 40).encode()
    reply = run_hook("post_tool_use", persisted(folder, raw))[0]
    [handle] = marks.handles_in(reply["hookSpecificOutput"]["updatedToolOutput"]["stdout"])
    with open(str(folder / "b1.txt"), "ab") as file:
        file.write(b"LATE\n")
    copy = folder / (f"ck-{handle}.txt")
    assert copy.read_bytes() == raw
    copy.write_bytes(b"something else")
    (folder / "b1.txt").write_bytes(raw)
    assert run_hook("post_tool_use", persisted(folder, raw))[0] == reply
    assert copy.read_bytes() == raw


@pytest.mark.parametrize(
    "arguments",
    [
        ["slice", "--repo", ".", "--symptom", "-", "--budget", "9" * 5000],
        ["slice", "--repo", ".", "--symptom", "-", "--budget", "²"],
        ["symbol", "/dev/null", "f"],
        ["symbol", __file__, "event", "--budget", "9" * 5000],
        ["normalize", "--exit-code", "9" * 5000],
        ["normalize", "--exit-code", "--5"],
    ],
    ids=[
        "slice digits",
        "slice superscript",
        "device",
        "symbol digits",
        "exit code digits",
        "exit code minuses",
    ],
)
def test_numbers_and_files_that_are_none_are_one_line(plugin_root, state, arguments):
    done = started(plugin_root, "ck.py", *arguments, data=b"x")
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    assert len(done.stderr) < 500


@pytest.mark.slow
def test_every_spelling_of_a_handle_is_a_page_fault_of_its_receipt(
    run_hook, plugin_root, state, monkeypatch
):
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-1")
    reply = run_hook("post_tool_use", event())[0]
    [handle] = marks.handles_in(reply["hookSpecificOutput"]["updatedToolOutput"]["stdout"])
    for spelled in (handle, handle.upper(), f" {handle}", handle[:8]):
        assert started(plugin_root, "ck.py", "recall", spelled).returncode == 0
    report = json.loads(started(plugin_root, "savings.py", "--json").stdout)
    assert report["page_faults"]["count"] == 4
