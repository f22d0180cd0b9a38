"""The one way of an output to a shorter text, and the reasons why one passes instead."""

import io
import json
import os
import sys

import pytest

from contextkernel.commands import normalize as command
from contextkernel.handlers import tool_result
from contextkernel.receipt import Receipt
from contextkernel.store import blobs, ledger, recorder

NEEDLE = "batch 417 of worker"
LOG = "".join(f"12:00:{n % 60:02d} INFO batch {n} of worker {n % 7} done\n" for n in range(900))


def event(text=LOG, lane="resident", tool="Bash", **more):
    given = {
        "hook_event_name": "PostToolUse",
        "session_id": "s",
        "tool_name": tool,
        "tool_input": {"command": "journalctl"},
        "tool_use_id": "toolu_1",
        "tool_response": {"stdout": text, "stderr": "", "interrupted": False},
        "ck_client": "claude",
        "ck_lane": lane,
        "ck_since": None,
    }
    return dict(given, **more)


@pytest.fixture(autouse=True)
def books(own_ledger):
    recorder.ledger = ledger.open_ledger()
    return recorder.ledger


@pytest.fixture
def clash(monkeypatch):
    """A store in which another text has the first digits of every handle."""
    put = blobs.put
    monkeypatch.setattr(blobs, "put", lambda raw: put(raw) + "0")


def read_event(**more):
    lines = LOG.count("\n")
    file = {"filePath": "/x/a.log", "content": LOG, "numLines": lines, "startLine": 1}
    file["totalLines"] = lines
    return event(
        tool="Read",
        tool_input={"file_path": "/x/a.log"},
        tool_response={"type": "text", "file": file},
        **more,
    )


PASSING = {
    "below CK_MIN_TOKENS or CK_DELTA_MIN": event("short\n"),
    "the agent is in CK_AGENT_SKIP": event(agent_type="context-kernel:fix-judge"),
    "a Read that no copy in the context stands for": read_event(),
    "nothing to hide": event(tool_input={"command": "sed -n 1,900p a.log"}),
    "asked for as it is": event(tool_input={"command": "journalctl # ck:raw"}),
}


@pytest.mark.parametrize("reason", sorted(PASSING))
def test_the_ledger_says_why_an_output_passed(reason, books, monkeypatch):
    monkeypatch.setenv("CK_AGENT_SKIP", "fix-judge")
    assert tool_result.handle(PASSING[reason]) == {}
    books.take_spool()  # where receipts without a handle wait
    [row] = books.receipts("session = ?", ("s",))
    assert row.reason == reason
    assert (row.rule, row.handle, row.status) == ("", "", "")
    assert row.shown == row.host


def test_a_script_books_only_reasons_that_tell(books, monkeypatch):
    monkeypatch.setenv("CK_AGENT_SKIP", "fix-judge")
    for given in PASSING.values():
        assert tool_result.handle(dict(given, ck_lane="script")) == {}
    assert books.take_spool() == 0
    assert books.receipts("session = ?", ("s",)) == []


def test_a_rewritten_result_has_its_receipt(books):
    reply = tool_result.handle(event(cwd="/w", agent_id="a1"))
    shown = reply["hookSpecificOutput"]["updatedToolOutput"]["stdout"].encode()
    [row] = books.receipts("session = ?", ("s",))
    size = len(LOG.encode())
    assert row == Receipt(
        client="claude",
        session="s",
        agent="a1",
        generation=0,
        tool_use_id="toolu_1",
        tool="Bash",
        lane="resident",
        rule=row.rule,
        command="journalctl",
        handle=blobs.handle_of(LOG.encode()),
        raw=size,
        host=2240,
        shown=len(shown),
        lines=901,
        lines_shown=shown.count(b"\n") + 1,
        status="pending",
        at=row.at,
        cwd="/w",
        repo=row.repo,
    )
    assert row.rule
    assert blobs.get(row.handle) == LOG.encode()


def test_a_clash_of_handles_passes_the_original_of_a_hook(clash, books):
    assert tool_result.handle(event()) == {}
    assert books.receipts("1") == []
    [note] = books.rows("SELECT text FROM notes")
    assert note["text"].startswith("handle clash ")


def test_a_clash_of_handles_passes_the_original_of_the_command_line(clash, books, monkeypatch):
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LOG.encode())))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out))
    assert command.main(["--command", "journalctl"]) == 0
    assert out.getvalue() == LOG.encode()
    assert books.receipts("1") == []


# The floors as this test sees them: folders of the package, from the top.
FLOORS = (("handlers", "commands", "server", "setup"), ("normalize", "slicing", "symbols"))
FLOORS += (("clients", "store"),)
PACKAGE = os.path.dirname(os.path.dirname(tool_result.__file__)) + os.sep


def floor_of(frame):
    """0 for the application, a larger number below; None for other people's code."""
    path = frame.f_code.co_filename
    if not path.startswith(PACKAGE):
        return None
    room = path[len(PACKAGE) :].split(os.sep)[0]
    return next((n for n, names in enumerate(FLOORS) if room in names), len(FLOORS))


def carries(value, depth=4):
    """Whether a value is the event, or holds the text of its result."""
    if isinstance(value, (str, bytes)):
        return (NEEDLE if isinstance(value, str) else NEEDLE.encode()) in value
    if isinstance(value, dict):
        value = value.values()
    return (
        depth > 0
        and isinstance(value, (list, tuple, type({}.values())))
        and any(carries(part, depth - 1) for part in value)
    )


def climbs(given):
    """Functions that give the result's text, or what holds it, back to a higher floor."""
    found = []

    def watch(frame, what, value):
        if what == "return" and frame.f_back:
            here, above = floor_of(frame), floor_of(frame.f_back)
            if here is not None and above is not None and above < here and carries(value):
                found.append(f"{frame.f_code.co_name} {frame.f_code.co_filename}")

    sys.setprofile(watch)
    try:
        reply = tool_result.handle(given)
    finally:
        sys.setprofile(None)
    return reply, found


@pytest.mark.parametrize("lane", ["resident", "script"])
def test_a_result_climbs_back_up_at_most_six_times(lane, monkeypatch):
    monkeypatch.setenv("CK_MIN_TOKENS", "100")
    odd = LOG.replace(f"INFO {NEEDLE}", f"ERROR {NEEDLE}")  # what must be shown
    reply, found = climbs(event(odd, lane))
    assert NEEDLE in json.dumps(reply)
    assert "[ck: " in json.dumps(reply)
    assert 3 <= len(found) <= 6, found
