"""A process of ours killed at any moment: what it said it stored is there, and whole."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time

import pytest

from contextkernel.store import blobs, ledger, recorder, settings, spool
from rounds import for_seeds

HOOKS = os.path.dirname(os.path.dirname(os.path.dirname(spool.__file__)))
WRITER = """
import sys
sys.path.insert(0, sys.argv[1])
from contextkernel.store import blobs, spool
number = 0
while True:
    number += 1
    handle = blobs.put(b"text of number %d " % number * 400)
    row = {"session": "s", "tool_use_id": "t%d" % number, "raw": number, "handle": handle}
    spool.append("receipt", row)
    sys.stdout.write("%d %s\\n" % (number, handle))
    sys.stdout.flush()
"""


@pytest.fixture
def state(tmp_path, monkeypatch):
    """Function of a name: sets the state folder of a round, and gives it."""

    def begin(name):
        monkeypatch.setenv("CK_DATA", str(tmp_path / name))
        monkeypatch.setattr(recorder, "ledger", None)
        monkeypatch.setattr(spool, "_path", "")
        return tmp_path / name

    return begin


def killed_after(seconds):
    """What the writer had announced, as {number: handle}, when it was killed."""
    with subprocess.Popen([sys.executable, "-c", WRITER, HOOKS], stdout=subprocess.PIPE) as process:
        first = process.stdout.readline()
        time.sleep(seconds)
        process.kill()
        rest = process.stdout.read()
    whole = (first + rest).decode().split("\n")[:-1]
    return {int(number): handle for number, _, handle in (line.partition(" ") for line in whole)}


def test_a_kill_loses_nothing_that_was_announced(state, record_property):
    def check(seed):
        folder = state(str(seed))
        announced = killed_after(random.Random(seed).random() * 0.06)
        books = ledger.open_ledger()
        booked = {row["raw"] for row in books.rows("SELECT raw FROM receipts")}
        notes = books.rows("SELECT * FROM notes")
        books.close()
        assert announced
        assert set(announced) <= booked
        assert notes == []
        for number, handle in announced.items():
            assert blobs.get(handle) == b"text of number %d " % number * 400
        assert all(
            blobs.digest_of(blobs.get(blob.handle)).startswith(blob.handle)
            for blob in blobs.every()
        )
        assert os.listdir(os.path.join(settings.data_root(), "spool")) == []
        shutil.rmtree(str(folder))

    for_seeds(record_property, check, 2, 300)
