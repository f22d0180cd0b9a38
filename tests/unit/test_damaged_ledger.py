"""A ledger that cannot serve is set aside, and a new one goes on: nothing is deleted, nothing
stops, one line says so.
"""

from __future__ import annotations

import json
import os
import pathlib
import random
import sqlite3
import subprocess
import sys
import time

import pytest

from contextkernel.handlers import verification
from contextkernel.store import blobs, ledger, presence, recorder, settings, spool

HOOKS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(verification.__file__))))
SEED = 20261201


pytestmark = pytest.mark.usefixtures("own_ledger")


def receipt(number, **more):
    return dict(
        {
            "session": "s",
            "tool_use_id": f"u{number:d}",
            "tool": "Bash",
            "handle": f"{number:012x}",
            "raw": 9000,
            "host": 9000,
            "shown": 100,
            "status": "pending",
            "lane": "resident",
            "command": f"make {number:d}",
        },
        **more,
    )


def filled(rows=400):
    """The path of a ledger with receipts in it, closed."""
    books = ledger.open_ledger()
    for number in range(rows):
        assert books.take("receipt", receipt(number))
    books.close()
    return os.path.join(settings.data_root(), "state.db")


def bytes_at(path, at, data):
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(data)


def overwrite(path, data):
    with open(path, "wb") as file:
        file.write(data)


def execute(path, *statements):
    db = sqlite3.connect(path)
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()


def noise(count):
    return bytes(random.Random(SEED).randrange(256) for _ in range(count))


def a_folder(path):
    os.unlink(path)
    os.mkdir(path)


def a_link(path):
    os.rename(path, path + "-elsewhere")
    os.symlink(path + "-elsewhere", path)


def a_pipe(path):
    os.unlink(path)
    os.mkfifo(path)


DAMAGE = {
    "empty": lambda path: os.truncate(path, 0),
    "10 bytes": lambda path: os.truncate(path, 10),
    "a page and a bit": lambda path: os.truncate(path, 5000),
    "a third": lambda path: os.truncate(path, os.path.getsize(path) // 3),
    "noise": lambda path: bytes_at(path, 0, noise(os.path.getsize(path))),
    "a noisy head": lambda path: bytes_at(path, 0, noise(100)),
    "noisy pages": lambda path: bytes_at(path, 4096, noise(20000)),
    "a folder": a_folder,
    "a folder with something in it": lambda path: (
        a_folder(path),
        os.mkdir(os.path.join(path, "x")),
    ),
    "a pipe": a_pipe,
    "a link": a_link,
    "a link to nowhere": lambda path: (os.unlink(path), os.symlink("/nowhere/x", path)),
    "text": lambda path: overwrite(path, b"hello\n" * 2000),
    "no tables": lambda path: (os.unlink(path), execute(path, "PRAGMA user_version = 1")),
    "another's tables": lambda path: (
        os.unlink(path),
        execute(path, "CREATE TABLE receipts (a)", "CREATE TABLE x (b)", "PRAGMA user_version = 1"),
    ),
    "one table less": lambda path: execute(path, "DROP TABLE generations"),
    "one column less": lambda path: execute(path, "ALTER TABLE faults RENAME COLUMN bytes TO size"),
    "schema -1": lambda path: execute(path, "PRAGMA user_version = -1"),
    "schema -2147483648": lambda path: execute(path, "PRAGMA user_version = -2147483648"),
    "schema 2147483647": lambda path: execute(path, "PRAGMA user_version = 2147483647"),
    "newer, without our tables": lambda path: (
        os.unlink(path),
        execute(path, "CREATE TABLE x (b)", "PRAGMA user_version = 7"),
    ),
}
COMPANIONS = {
    "wal: a folder": ("-wal", os.mkdir),
    "shm: a folder": ("-shm", os.mkdir),
    "wal: a link": ("-wal", lambda path: os.symlink("/nowhere/x", path)),
    "journal: a folder": ("-journal", os.mkdir),
}
HARMLESS = {
    "wal: noise": ("-wal", lambda path: overwrite(path, noise(9000))),
    "shm: noise": ("-shm", lambda path: overwrite(path, noise(40000))),
    "journal: noise": ("-journal", lambda path: overwrite(path, noise(9000))),
}


def aside():
    return sorted(name for name in os.listdir(settings.data_root()) if ".damaged-" in name)


def report(capsys, *options):
    """What savings.py prints, its process apart."""
    return subprocess.run(
        [sys.executable, "-I", "-S", os.path.join(HOOKS, "savings.py")] + list(options),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=60,
    )


@pytest.mark.parametrize("what", DAMAGE)
@pytest.mark.loop(1)
def test_it_is_set_aside_and_the_next_goes_on(what, capsys):
    path = filled()
    spool.append("receipt", receipt(777, session="spooled"))
    DAMAGE[what](path)
    capsys.readouterr()
    for _ in range(2):  # as the report meets it: some damage shows only where rows are read
        done = report(capsys)
        assert done.returncode == 0, done.stderr
        assert b"Traceback" not in done.stderr, done.stderr
        assert done.stdout.count(b"set aside as state.db.damaged-") == 1
    assert aside()[0].startswith("state.db.damaged-2")
    assert len([name for name in aside() if not name.endswith(("-wal", "-shm"))]) == 1
    assert len(json.loads(report(capsys, "--json").stdout)["set_aside"]) == 1
    books = ledger.open_ledger()
    assert [row["session"] for row in books.rows("SELECT session FROM receipts")] == ["spooled"]
    assert books.take("receipt", receipt(1))
    books.close()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("what", [name for name in DAMAGE])
@pytest.mark.loop(1)
def test_one_line_says_so(what):
    DAMAGE[what](filled())
    lines = [line for _ in range(2) for line in report(None).stderr.split(b"\n") if line]
    assert len(lines) == 1
    assert b"set aside as state.db.damaged-" in lines[0]


@pytest.mark.parametrize("what", DAMAGE)
@pytest.mark.slow
def test_a_running_process_that_meets_it_goes_on(what, tmp_path, capsys):
    """The ledger was open in a resident process; the damage is done behind its back."""
    books = verification.open_book()
    for number in range(300):
        books.take("receipt", receipt(number))
    books.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    DAMAGE[what](os.path.join(settings.data_root(), "state.db"))
    for number in range(1000, 1004):  # into the old file, the spool or the new file
        recorder.record("receipt", receipt(number))
        verification.run({"session_id": "s", "hook_event_name": "Stop", "transcript_path": ""})
    for _ in range(2):
        assert report(None).returncode == 0
    for number in range(2000, 2004):
        recorder.record("receipt", receipt(number))
        verification.run({"session_id": "s", "hook_event_name": "Stop", "transcript_path": ""})
    verification.leave()
    recorder.ledger.close()
    recorder.ledger = None
    found = ledger.open_ledger()
    uses = {row["tool_use_id"] for row in found.rows("SELECT tool_use_id FROM receipts")}
    found.close()
    assert {f"u{number:d}" for number in range(2000, 2004)} <= uses


@pytest.mark.parametrize("what", sorted(COMPANIONS))
def test_a_companion_that_is_no_file_is_set_aside_alone(what, capsys):
    path = filled(5)
    COMPANIONS[what][1](path + COMPANIONS[what][0])
    books = ledger.open_ledger()
    assert len(books.rows("SELECT * FROM receipts")) == 5
    assert len(aside()) == 1
    assert capsys.readouterr().err.count("\n") == 1
    books.close()


@pytest.mark.parametrize("what", sorted(HARMLESS))
def test_a_companion_that_sqlite_can_judge_costs_nothing(what):
    path = filled(5)
    HARMLESS[what][1](path + HARMLESS[what][0])
    books = ledger.open_ledger()
    assert len(books.rows("SELECT * FROM receipts")) == 5
    assert not aside()
    books.close()


def test_the_log_of_a_ledger_that_is_gone_is_kept():
    path = filled(1)
    os.unlink(path)
    with open(path + "-wal", "wb") as file:
        file.write(b"the last rows")
    ledger.open_ledger().close()
    with open(os.path.join(settings.data_root(), aside()[0]), "rb") as file:
        assert aside()[0].endswith("-wal")
        assert file.read() == b"the last rows"


@pytest.mark.parametrize("gone", ["state.db", "state.db-wal", "all"])
def test_a_ledger_deleted_while_open_is_begun_anew(gone):
    books = verification.open_book()
    assert books.take("receipt", receipt(1))
    names = [gone] if gone != "all" else os.listdir(settings.data_root())
    for name in names:
        path = os.path.join(settings.data_root(), name)
        if os.path.isfile(path):
            os.unlink(path)
    recorder.record("receipt", receipt(2))
    verification.open_book(at_once=True).take_spool()
    db = sqlite3.connect(os.path.join(settings.data_root(), "state.db"))
    found = {use for (use,) in db.execute("SELECT tool_use_id FROM receipts")}
    db.close()
    assert found == ({"u1", "u2"} if gone == "state.db-wal" else {"u2"})


def test_a_locked_ledger_is_never_set_aside():
    filled(3)
    other = sqlite3.connect(os.path.join(settings.data_root(), "state.db"))
    other.execute("BEGIN EXCLUSIVE")
    books = ledger.open_ledger()
    assert not books.take("receipt", receipt(9))
    assert not books.damaged
    assert not aside()
    other.rollback()
    other.close()
    books.close()


def test_what_was_used_of_late_outlives_the_loss_of_the_ledger(monkeypatch):
    kept = blobs.put(os.urandom(4000))
    os.utime(blobs.find(kept), (time.time() - 3 * 86400,) * 2)
    path = filled(1)
    os.truncate(path, 100)
    monkeypatch.setenv("CK_QUOTA_MB", "0")
    books = verification.open_book()
    verification.sweep(books)
    assert os.path.exists(blobs.find(kept))


OPENER = """
import sys; sys.path.insert(0, sys.argv[1])
from contextkernel.store import ledger
sys.stdin.readline()
books = ledger.open_ledger()
for number in range(20):
    assert books.take("receipt", {"session": sys.argv[2], "tool_use_id": "u%d" % number})
books.close()
"""


@pytest.mark.parametrize("what", ["noise", "empty", "a folder", "no tables", "gone"])
@pytest.mark.slow
def test_two_that_find_it_damaged_set_it_aside_once(what):
    path = filled(50)
    os.unlink(path) if what == "gone" else DAMAGE[what](path)
    openers = [
        subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", OPENER, HOOKS, f"p{n}"],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for n in range(4)
    ]
    for opener in openers:
        opener.stdin.write(b"\n")
        opener.stdin.flush()
    said = [opener.communicate(timeout=60)[1] for opener in openers]
    assert [opener.returncode for opener in openers] == [0] * 4, said
    databases = [name for name in aside() if not name.endswith(("-wal", "-shm", "-journal"))]
    assert len(databases) == (what != "gone"), aside()
    assert b"".join(said).count(b"set aside") == (what != "gone")
    books = ledger.open_ledger()
    assert books.rows("SELECT COUNT(*) AS n FROM receipts") == [{"n": 80}]
    books.close()


@pytest.mark.slow
def test_killed_at_any_moment_of_the_mending_nothing_is_lost():
    print("seed", SEED)
    draw = random.Random(SEED)
    code = OPENER.replace("sys.stdin.readline()\n", "")
    for moment in range(12):
        path = (
            filled(5)
            if not os.path.lexists(os.path.join(settings.data_root(), "state.db"))
            else os.path.join(settings.data_root(), "state.db")
        )
        with open(path, "wb") as file:
            file.write(b"noise %d" % moment * 300)
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", code, HOOKS, f"k{moment}"], stderr=subprocess.DEVNULL
        )
        time.sleep(0.02 + draw.random() * 0.08)
        child.kill()
        child.wait()
        books = ledger.open_ledger()
        assert books.take("receipt", receipt(moment, session=f"after{moment}"))
        books.close()
        kept = [
            pathlib.Path(settings.data_root(), name).read_bytes()
            for name in os.listdir(settings.data_root())
            if ".damaged-" in name and not name.endswith(("-wal", "-shm"))
        ]
        assert b"noise %d" % moment * 300 in kept


def test_live_marks_are_set_again_with_the_new_ledger():
    verification.run({"session_id": "s", "hook_event_name": "Stop"})
    recorder.ledger.damaged = True
    os.unlink(os.path.join(settings.data_root(), "live", "s"))
    verification.run({"session_id": "s", "hook_event_name": "Stop"})
    verification.run({"session_id": "s", "hook_event_name": "Stop"})
    assert presence.served("s")
