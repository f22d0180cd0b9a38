"""A sweep removes nothing that somebody may still be shown; one receipt that cannot be judged
stops nothing else.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest

from contextkernel.clients.claude import session_files as folders
from contextkernel.handlers import session_end, verification
from contextkernel.store import blobs, ledger, presence, recorder, spool

DAY = 86400


@pytest.fixture(autouse=True)
def no_room(own_ledger, monkeypatch):
    monkeypatch.setenv("CK_QUOTA_MB", "0")


def old_blob(days=3):
    handle = blobs.put(os.urandom(3000))
    os.utime(blobs.find(handle), (time.time() - days * DAY,) * 2)
    return handle


def given(books, handle, session, transcript="", days=3):
    assert books.take(
        "receipt",
        {
            "session": session,
            "tool_use_id": handle,
            "handle": handle,
            "at": time.time() - days * DAY,
            "status": "verified",
            "transcript": transcript,
        },
    )


def there(handle):
    try:
        blobs.find(handle)
    except blobs.UnknownHandle:
        return False
    return True


def test_a_sweep_removes_what_nobody_holds():
    books, handle = ledger.open_ledger(), old_blob()
    given(books, handle, "over")
    verification.sweep(books)
    assert not there(handle)


@pytest.mark.parametrize("days", [3, 40])
def test_what_a_row_in_the_spool_names_stays(days):
    books, one, other = ledger.open_ledger(), old_blob(days), old_blob(days)
    spool.append("receipt", {"session": "s", "handle": one + " " + other})
    verification.sweep(books)
    assert there(one)
    assert there(other)


def test_what_the_session_of_a_running_server_was_given_stays():
    books, handle = ledger.open_ledger(), old_blob()
    given(books, handle, "s/1")
    presence.mark("s/1")
    verification.sweep(books)
    assert there(handle)


def test_what_an_open_session_of_the_script_lane_was_given_stays_until_it_ends():
    books, handle = ledger.open_ledger(), old_blob()
    given(books, handle, "s")
    presence.first_in("s", "start-startup", 10)
    verification.sweep(books)
    assert there(handle)
    presence.ended("s")
    verification.sweep(books)
    assert not there(handle)


def test_what_a_session_was_given_whose_transcript_is_being_written_stays(tmp_path):
    books, handle = ledger.open_ledger(), old_blob()
    (tmp_path / "t.jsonl").write_text("")
    given(books, handle, "s", str(tmp_path / "t.jsonl"))
    verification.sweep(books)
    assert there(handle)
    os.utime(str(tmp_path / "t.jsonl"), (time.time() - 2 * DAY,) * 2)
    verification.sweep(books)
    assert not there(handle)


@pytest.mark.parametrize("use", ["put", "get", "touch"])
def test_a_use_that_is_in_no_ledger_keeps_a_blob_for_a_day(use):
    books, data = ledger.open_ledger(), os.urandom(3000)
    handle = blobs.put(data)
    os.utime(blobs.find(handle), (time.time() - 3 * DAY,) * 2)
    {
        "put": lambda: blobs.put(data),
        "get": lambda: blobs.get(handle),
        "touch": lambda: blobs.touch(handle),
    }[use]()
    verification.sweep(books)
    assert there(handle)
    blobs.sweep(set(), time.time() + 2 * DAY)
    assert not there(handle)


POISON = {
    "a NUL": "/x/a\0b.jsonl",
    "a lone surrogate": "/x/\ud83d.jsonl",
    "a long name": "/" + "x" * 5000 + ".jsonl",
    "a folder": "/",
    "nothing": "",
}


@pytest.mark.parametrize("what", sorted(POISON))
@pytest.mark.parametrize("agent", ["", "a\0b", "\ud83d"])
@pytest.mark.loop(2)
def test_a_receipt_that_cannot_be_judged_stops_no_other(what, agent, tmp_path):
    path = tmp_path / "t.jsonl"
    row = {
        "type": "user",
        "message": {
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "good",
                    "content": "[ck: 1 line hidden; recall abcdefabcdef]",
                }
            ]
        },
    }
    path.write_text(json.dumps(row) + "\n")
    books = ledger.open_ledger()
    base = {
        "session": "s",
        "handle": "abcdefabcdef",
        "status": "pending",
        "tool": "Bash",
        "lane": "script",
        "raw": 5000,
        "host": 5000,
        "shown": 10,
    }
    assert books.take(
        "receipt", dict(base, tool_use_id="bad", transcript=POISON[what], agent=agent, at=1)
    )
    assert books.take("receipt", dict(base, tool_use_id="good", transcript=str(path), at=2))
    books.close()
    session_end.end_session({"session_id": "s", "transcript_path": POISON[what]})
    found = {
        row["tool_use_id"]: row["status"]
        for row in recorder.ledger.rows("SELECT tool_use_id, status FROM receipts")
    }
    assert found == {"bad": "expired", "good": "verified"}
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            os.path.join(
                os.path.dirname(os.path.dirname(os.path.dirname(verification.__file__))),
                "savings.py",
            ),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=60,
    )
    assert done.returncode == 0
    assert done.stderr == b""


@pytest.mark.parametrize(
    "row",
    [
        b'{"type": "user", "n": ' + b"9" * 6000 + b"}",
        b'{"type": "user", "message": {"content": '
        + b'[{"type": "tool_result", "content": ' * 300
        + b'"x"'
        + b"}]" * 300
        + b"}}",
        (
            b'{"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": '
            b'{}, "content": 7}]}}'
        ),
        b"\0" * 100,
        b'{"type": ["user"]}',
        (
            b'{"type": "attachment", "attachment": {"type": "hook_error_during_execution", '
            b'"toolUseID": "good", "content": "\\ud83d"}}'
        ),
    ],
    ids=lambda row: repr(row[:24]),
)
def test_a_row_of_a_transcript_that_nobody_understands_stops_no_judgement(row, tmp_path):
    path = tmp_path / "t.jsonl"
    good = {
        "type": "user",
        "message": {
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "good",
                    "content": "[ck: 1 line hidden; recall abcdefabcdef]",
                }
            ]
        },
    }
    other = {
        "type": "attachment",
        "attachment": {
            "type": "hook_error_during_execution",
            "toolUseID": "other",
            "content": "\ud83d refused",
        },
    }
    path.write_bytes(
        row + b"\n" + json.dumps(good).encode() + b"\n" + json.dumps(other).encode() + b"\n"
    )
    books = ledger.open_ledger()
    for use in ("good", "other"):
        assert books.take(
            "receipt",
            {
                "session": "s",
                "handle": "abcdefabcdef",
                "status": "pending",
                "tool": "Bash",
                "lane": "script",
                "tool_use_id": use,
                "transcript": str(path),
            },
        )
    assert verification.judge_pending(books, "s", whole=True) == 2
    assert sorted(r["status"] for r in books.rows("SELECT status FROM receipts")) == [
        "refused",
        "verified",
    ]


def test_a_row_that_is_rotten_in_the_ledger_hides_no_other():
    books = ledger.open_ledger()
    for use in ("one", "two"):
        assert books.take(
            "receipt", {"session": "s", "tool_use_id": use, "command": "make", "raw": 9}
        )
    books.db.execute(
        "UPDATE receipts SET command = CAST(x'ff80' AS TEXT), raw = 'much' WHERE tool_use_id "
        "= 'one'"
    )
    books.db.commit()
    assert [
        row["tool_use_id"] for row in books.rows("SELECT * FROM receipts ORDER BY tool_use_id")
    ] == ["one", "two"]
    from contextkernel import savings

    assert savings.summary(books.receipts("1"), [])["total"]["results"] == 2


def test_a_recall_file_that_is_read_counts_as_a_use(tmp_path):
    from contextkernel.handlers import tool_result

    handle = old_blob()
    tool_result.handle(
        {
            "tool_name": "Read",
            "tool_input": {"file_path": "/x/" + folders.recall_name(handle)},
            "tool_response": {},
            "ck_client": "claude",
            "ck_lane": "script",
            "session_id": "s",
        }
    )
    assert os.stat(blobs.find(handle)).st_mtime > time.time() - 60
