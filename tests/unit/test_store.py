"""The store: durable before it is named, byte-exact, one meaning per handle, usable or plainly
refused.
"""

import json
import os
import sqlite3
import stat
import subprocess
import sys
import time
import zlib

import pytest

from contextkernel import savings
from contextkernel.receipt import Receipt
from contextkernel.store import backoff, blobs, ledger, presence, recorder, schema, settings, spool
from rounds import drawing


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("CK_DATA", str(tmp_path / "state"))
    monkeypatch.setattr(recorder, "ledger", None)
    monkeypatch.setattr(spool, "_path", "")


def test_bytes_come_back_exactly(record_property):
    draw, count = drawing(record_property, 4, 400)
    for size in [0, 1, 100, 70000][:count] + [draw.randrange(20000) for _ in range(count - 4)]:
        data = bytes(draw.randrange(256) for _ in range(size))
        handle = blobs.put(data)
        assert blobs.get(handle) == data
        assert blobs.get(handle[:8]) == data
        assert blobs.put(data) == handle


def test_files_are_private(tmp_path):
    blobs.put(b"secret")
    spool.append("note", {"why": "x"})
    ledger.open_ledger().close()
    for folder, _, names in os.walk(str(tmp_path / "state")):
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700, folder
        for name in names:
            assert stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode) & 0o077 == 0, name


def test_a_handle_keeps_its_meaning_when_digits_clash(monkeypatch):
    monkeypatch.setattr(blobs, "digest_of", lambda data: "ab" * 6 + (f"{data[0]:02x}") * 26)
    first, second = blobs.put(b"\x01one"), blobs.put(b"\x02two")
    assert first == "ab" * 6
    assert len(second) > 12
    assert blobs.find(first).endswith(".12")
    assert blobs.find(second).endswith(".16")
    with pytest.raises(blobs.UnknownHandle, match="ambiguous"):
        blobs.find(first[:10])


@pytest.mark.parametrize("handle", ["", "abc", "xyzxyzxyz", "../../etc/passwd", "0" * 12, "ABCDEF"])
def test_no_such_handle(handle):
    with pytest.raises(blobs.UnknownHandle):
        blobs.get(handle)


def test_a_damaged_blob_is_refused_and_written_anew():
    handle = blobs.put(b"text" * 100)
    with open(blobs.find(handle), "wb") as file:
        file.write(zlib.compress(b"other"))
    with pytest.raises(blobs.UnknownHandle, match="damaged"):
        blobs.get(handle)
    assert blobs.put(b"text" * 100) == handle
    assert blobs.get(handle) == b"text" * 100


def test_an_unusable_store_says_so(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CK_DATA", str(tmp_path / "file" / "below"))
    with pytest.raises(blobs.StoreError, match="below"):
        blobs.put(b"x")
    with pytest.raises(blobs.StoreError):
        ledger.open_ledger()
    spool.append("note", {})
    assert "no ledger row" in capsys.readouterr().err


def test_quota_and_age_spare_pins(monkeypatch):
    old, pinned, young = (blobs.put(os.urandom(3000)) for _ in range(3))
    for handle in (old, pinned):
        os.utime(blobs.find(handle), (1, 1))
    assert blobs.sweep({pinned}, 90 * 86400.0) == [old]
    monkeypatch.setenv("CK_QUOTA_MB", "0")
    assert blobs.sweep({pinned}, 90 * 86400.0) == [young]
    assert blobs.get(pinned)


def test_spool_is_taken_in_once_and_rows_survive_a_kill():
    script = (
        "import os, sys; sys.path.insert(0, sys.argv[1]); from contextkernel.store import spool; "
        "spool.append('receipt', {'session': 's', 'tool_use_id': 't', 'raw': 8}); "
        "os.kill(os.getpid(), 9)"
    )
    hooks = os.path.dirname(os.path.dirname(os.path.dirname(spool.__file__)))
    assert subprocess.run([sys.executable, "-c", script, hooks]).returncode == -9
    books = ledger.open_ledger()
    assert [row["raw"] for row in books.rows("SELECT * FROM receipts")] == [8]
    assert os.listdir(os.path.join(settings.data_root(), "spool")) == []
    assert books.take_spool() == 0


def test_damaged_spool_rows_become_notes():
    path = os.path.join(settings.folder("spool"), "1-999999999.jsonl")
    rows = [
        b'{"kind": "fault", "handle": "ab"}',
        b"not json",
        b"[]",
        b'{"kind": "receipt", "session": {"a": 1}}',
        b'{"kind": "rec',
    ]
    with open(path, "wb") as file:
        file.write(b"\n".join(rows))
    books = ledger.open_ledger()
    assert len(books.rows("SELECT * FROM faults")) == 1
    assert len(books.rows("SELECT * FROM notes WHERE event = 'spool'")) == 3


def test_a_newer_schema_is_left_alone():
    ledger.open_ledger().close()
    path = os.path.join(settings.data_root(), "state.db")
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.commit()
    db.close()
    with pytest.raises(blobs.StoreError, match="schema 99"):
        ledger.open_ledger()


def test_schema_moves_forward_and_rows_stay(monkeypatch):
    books = ledger.open_ledger()
    books.take("receipt", {"session": "s", "tool_use_id": "t", "raw": 5})
    books.close()
    monkeypatch.setattr(
        schema,
        "MIGRATIONS",
        {**schema.MIGRATIONS, schema.SCHEMA: "ALTER TABLE receipts ADD COLUMN extra TEXT;"},
    )
    monkeypatch.setattr(schema, "SCHEMA", schema.SCHEMA + 1)
    rows = ledger.open_ledger().rows("SELECT * FROM receipts")
    assert rows[0]["raw"] == 5
    assert "extra" in rows[0]


def test_a_locked_database_does_not_lose_rows():
    books = ledger.open_ledger()
    other = sqlite3.connect(os.path.join(settings.data_root(), "state.db"))
    other.execute("BEGIN EXCLUSIVE")
    recorder.ledger = books
    recorder.record("receipt", {"session": "s", "tool_use_id": "t", "raw": 7})
    other.rollback()
    other.close()
    assert [row["raw"] for row in books.rows("SELECT * FROM receipts")] == []
    assert books.take_spool() == 1
    assert [row["raw"] for row in books.rows("SELECT * FROM receipts")] == [7]


def test_same_result_is_booked_once():
    books = ledger.open_ledger()
    for lane in ("resident", "script"):
        books.take("receipt", {"session": "s", "tool_use_id": "t", "lane": lane})
    assert [row["lane"] for row in books.rows("SELECT * FROM receipts")] == ["resident"]


def test_log_off_books_nothing(monkeypatch):
    monkeypatch.setenv("CK_LOG_OFF", "1")
    recorder.record("receipt", {"session": "s"})
    assert not os.path.exists(os.path.join(settings.data_root(), "spool"))


def test_rest_after_three_refusals_probes_every_tenth_and_heals():
    for _ in range(3):
        assert not backoff.resting("s", "Bash")
        backoff.alarm("s", "Bash", "why")
    assert [backoff.resting("s", "Bash") for _ in range(20)] == ([True] * 9 + [False]) * 2
    assert not backoff.resting("s", "Grep")
    assert not backoff.resting("other", "Bash")
    assert backoff.untold("s") == "why"
    assert backoff.untold("s") == ""
    backoff.heal("s", "Bash")
    assert not backoff.resting("s", "Bash")


@pytest.mark.parametrize(
    "content",
    ["", "[]", "null", '{"refused": 3}', '{"refused": {"Bash": "many"}, "seen": []}', "{"],
)
def test_a_damaged_rest_file_means_no_rest(content):
    settings.folder("rest")
    with open(os.path.join(settings.data_root(), "rest", "s.json"), "w") as file:
        file.write(content)
    assert not backoff.resting("s", "Bash")
    backoff.alarm("s", "Bash", "why")


def test_live_is_this_process_until_it_ends():
    assert not presence.served("s")
    presence.mark("s")
    assert presence.served("s")
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    with open(os.path.join(settings.data_root(), "live", "s"), "w") as file:
        file.write(str(child.pid))
    assert not presence.served("s")


@pytest.mark.parametrize(
    "value, number, yes",
    [
        ("", 800, False),
        ("abc", 800, True),
        ("-5", 800, True),
        (" 12 ", 12, True),
        ("0", 0, False),
        ("1e3", 800, True),
    ],
)
def test_settings_are_read_tolerantly(monkeypatch, value, number, yes):
    monkeypatch.setenv("CK_MIN_TOKENS", value)
    monkeypatch.setenv("CK_LOG_OFF", value)
    assert settings.number("CK_MIN_TOKENS") == number
    assert settings.flag("CK_LOG_OFF") == yes


def test_a_relative_xdg_folder_is_ignored(monkeypatch):
    monkeypatch.delenv("CK_DATA")
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert settings.data_root() == os.path.join(
        os.path.expanduser("~"), ".local", "state", "context-kernel"
    )


def test_spool_rows_are_ascii_lines():
    spool.append("note", {"why": "é\n\u2028"})
    name = os.listdir(os.path.join(settings.data_root(), "spool"))[0]
    with open(os.path.join(settings.data_root(), "spool", name), "rb") as file:
        data = file.read()
    assert data.isascii()
    assert data.count(b"\n") == 1
    assert json.loads(data)["why"] == "é\n\u2028"


# -- what races and rot do ------------------------------------------------------------------------
def test_a_spool_file_of_the_same_name_is_new_rows():
    """A resident process takes its own file in and goes on appending under the same name."""
    books = ledger.open_ledger()
    for size in (5, 7):
        spool.append("fault", {"handle": "a" * 12, "bytes": size})
        assert books.take_spool() == 1
    assert [fault["bytes"] for fault in books.rows("SELECT * FROM faults ORDER BY bytes")] == [5, 7]


@pytest.mark.parametrize(
    "row",
    [
        b'{"kind": "fault", "bytes": 99999999999999999999999}',
        b"[" * 200000,
        b"\0" * 300,
        b'{"kind": "receipt", "raw": "abc", "status": "verified"}',
        b'{"kind": "fault", "bytes": 1e999}',
        b'{"kind": "receipt", "session": [1]}',
    ],
    ids=lambda row: repr(row[:30]),
)
def test_no_spool_row_stops_the_ledger(row):
    with open(os.path.join(settings.folder("spool"), "1-1.jsonl"), "wb") as file:
        file.write(row + b'\n{"kind": "note", "text": "ok"}\n')
    with open(
        os.path.join(settings.folder("spool"), f"{time.time_ns():d}-{1 << 70:d}.jsonl"), "wb"
    ) as file:
        file.write(b"{}\n")
    books = ledger.open_ledger()
    assert "ok" in [note["text"] for note in books.rows("SELECT * FROM notes")]
    assert os.listdir(settings.folder("spool")) == []
    savings.as_text(savings.summary(books.receipts("1"), books.rows("SELECT * FROM faults")))


def test_a_lone_surrogate_costs_no_receipt():
    books = ledger.open_ledger()
    assert books.take("receipt", {"session": "s", "tool_use_id": "t", "command": "echo \ud83d"})
    assert books.rows("SELECT command FROM receipts") == [{"command": "echo ?"}]


def test_results_without_an_id_are_one_each():
    books = ledger.open_ledger()
    for handle in ("a", "b"):
        assert books.take("receipt", {"session": "s", "tool_use_id": "", "handle": handle})
    assert len(books.rows("SELECT * FROM receipts")) == 2


def test_a_handle_keeps_its_meaning_when_its_blob_is_gone(monkeypatch):
    monkeypatch.setattr(
        blobs, "digest_of", lambda data: "abcdef123456" + ("0" if data == b"one" else "1") * 52
    )
    one, other = blobs.put(b"one"), blobs.put(b"other")
    os.unlink(blobs.find(one))
    with pytest.raises(blobs.UnknownHandle):
        blobs.get(one)
    assert blobs.get(other) == b"other"


def test_a_failed_write_leaves_what_is_there(monkeypatch):
    path = blobs.find(blobs.put(b"x" * 100))

    def full(*_):
        raise OSError(28, "full")

    monkeypatch.setattr(blobs, "_write", full)
    monkeypatch.setattr(blobs, "_content", lambda path: None)  # no descriptor free, a bad sector
    with pytest.raises(blobs.StoreError):
        blobs.put(b"x" * 100)
    assert os.path.exists(path)


def test_a_sweep_spares_what_was_stored_again_meanwhile_and_bears_a_second_sweep(monkeypatch):
    again, gone = blobs.put(b"again"), blobs.put(b"gone")
    for blob in blobs.every():
        os.utime(blob.path, (1, 1))
    listed = list(blobs.every())
    blobs.put(b"again")
    os.unlink(blobs.find(gone))
    monkeypatch.setattr(blobs, "every", lambda: iter(listed))
    assert blobs.sweep(set(), time.time()) == []
    assert blobs.get(again) == b"again"


@pytest.mark.parametrize("junk", ["9" * 30, "-1", "0", "", "x"])
def test_a_mark_that_names_no_process_serves_nothing(junk):
    with open(os.path.join(settings.folder("live"), "s"), "w") as file:
        file.write(junk)
    assert not presence.served("s")


def test_a_relative_state_folder_is_one_folder_from_everywhere(tmp_path, monkeypatch):
    monkeypatch.setenv("CK_DATA", "some/state")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path / "..")
    handle = blobs.put(b"x")
    monkeypatch.chdir("/")
    assert blobs.get(handle) == b"x"
    assert settings.data_root() == str(tmp_path / "some" / "state")


def test_a_receipt_is_one_list_of_fields_everywhere():
    books = ledger.open_ledger()
    columns = [row["name"] for row in books.rows("PRAGMA table_info(receipts)")]
    assert sorted(columns) == sorted(Receipt._fields)
    given = Receipt(session="s", tool_use_id="t", raw=7, shown=3, generation=0, at=5.0)
    assert books.take("receipt", given.as_row())
    assert books.receipts("session = ?", ("s",)) == [given]
    assert Receipt.of_row(dict(given.as_row(), of_tomorrow=1)) == given
