"""The canary believes only our own handle in exactly that tool result."""

import json
import os
import time

import pytest

from contextkernel import receipt
from contextkernel.clients.claude import transcript

HANDLE = "7f3a12bc90de"
OURS = f"head\n[ck: lines 2-90 hidden; recall {HANDLE}]\ntail"


def result_row(use_id, text, **extra):
    return dict(
        {
            "type": "user",
            "message": {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": use_id, "content": text}],
            },
        },
        **extra,
    )


@pytest.mark.parametrize(
    "shown, refusal, status",
    [
        (OURS, "", "verified"),
        ([{"type": "text", "text": OURS}], "", "verified"),
        ("head\nall lines\ntail", "", "missing"),
        ("a doc that quotes [ck: lines 2-90 hidden; recall 000000000000]", "", "missing"),
        ("<persisted-output>\nOutput too large\n\nPreview:\n" + OURS, "", "missing"),
        ("head\nall", "does not match Bash's output shape", "refused"),
        (OURS, "another plugin's replacement does not match", "verified"),
        (None, "", None),
    ],
)
def test_verdicts(tmp_path, shown, refusal, status):
    path = tmp_path / "t.jsonl"
    rows = [result_row("other", OURS)] + ([result_row("mine", shown)] if shown is not None else [])
    if refusal:
        rows.append(
            {
                "type": "attachment",
                "attachment": {
                    "type": "hook_error_during_execution",
                    "toolUseID": "mine",
                    "content": refusal,
                },
            }
        )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    news = transcript.advance({}, str(path))[1]
    found = news.results.get("mine")
    verdict = receipt.judge(HANDLE, found and found.text, news.refusals.get("mine", ""))
    assert (verdict and verdict.status) == status
    if status == "refused":
        assert refusal in verdict.reason


def test_follower_reads_only_what_is_new_and_waits_for_whole_lines(tmp_path):
    path = tmp_path / "t.jsonl"
    first, second = (json.dumps(result_row(name, name)) for name in ("a", "b"))
    path.write_text(first + "\n" + second[:20])
    state, news = transcript.advance({}, str(path))
    assert list(news.results) == ["a"]
    with open(str(path), "a") as file:
        file.write(second[20:] + "\n")
    state, news = transcript.advance(json.loads(json.dumps(state)), str(path))
    assert list(news.results) == ["b"]
    assert not news.more
    assert transcript.advance(state, str(path))[1].results == {}


def test_follower_survives_damage_and_starts_again_when_replaced(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_bytes(
        b"\xff\xfe\n[1]\nnull\n"
        + b"[" * 5000
        + b"\n"
        + json.dumps(result_row("a", "x")).encode()
        + b"\n"
    )
    state, news = transcript.advance({}, str(path))
    assert list(news.results) == ["a"]
    path.unlink()
    path.write_text(json.dumps(result_row("c", "x")) + "\n")
    assert list(transcript.advance(state, str(path))[1].results) == ["c"]
    assert transcript.advance(state, str(tmp_path / "none"))[1].results == {}


def test_follower_takes_bounded_steps(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(result_row(f"u{n}", "x" * 50)) + "\n" for n in range(50)))
    seen, state, more, calls = [], {}, True, 0
    while more:
        state, news = transcript.advance(state, str(path), step=700)
        seen += list(news.results)
        more, calls = news.more, calls + 1
    assert seen == [f"u{n}" for n in range(50)]
    assert calls > 10
    state, news = transcript.advance({}, str(path), step=700, from_start=False)
    assert news.skipped
    assert "u49" in news.results
    assert "u0" not in news.results


def test_script_lane_counts_what_its_hooks_let_pass(tmp_path, monkeypatch):
    from contextkernel.handlers import session_end
    from contextkernel.store import ledger, recorder

    monkeypatch.setenv("CK_DATA", str(tmp_path / "state"))
    path = tmp_path / "t.jsonl"
    rows = [
        {
            "type": "assistant",
            "message": {"content": [{"type": "tool_use", "id": use, "name": "Bash"}]},
        }
        for use in ("a", "b")
    ] + [result_row("a", "x" * 40), result_row("b", OURS)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    books = ledger.open_ledger()
    monkeypatch.setattr(recorder, "ledger", books)
    books.take(
        "receipt",
        {
            "session": "s",
            "tool_use_id": "b",
            "lane": "script",
            "status": "pending",
            "handle": HANDLE,
            "tool": "Bash",
            "transcript": str(path),
        },
    )
    for _ in range(2):
        session_end.end_session({"session_id": "s", "transcript_path": str(path)})
    found = books.rows("SELECT tool_use_id AS use, tool, raw, status FROM receipts ORDER BY use")
    assert found == [
        {"use": "a", "tool": "Bash", "raw": 40, "status": ""},
        {"use": "b", "tool": "Bash", "raw": None, "status": "verified"},
    ]
    books.close()


@pytest.fixture
def books(tmp_path, monkeypatch):
    from contextkernel.store import ledger, recorder

    monkeypatch.setenv("CK_DATA", str(tmp_path / "state"))
    opened = ledger.open_ledger()
    monkeypatch.setattr(recorder, "ledger", opened)
    yield opened
    opened.close()


def write_rows(path, *rows, mode="w"):
    with open(str(path), mode) as file:
        file.write("".join(json.dumps(row) + "\n" for row in rows))


def end(path):
    from contextkernel.handlers import session_end

    session_end.end_session({"session_id": "s", "transcript_path": str(path)})


def uses(books):
    return [row["tool_use_id"] for row in books.rows("SELECT * FROM receipts ORDER BY at, rowid")]


def test_a_session_that_ends_again_is_read_on_from_where_it_ended(tmp_path, books):
    path = tmp_path / "t.jsonl"
    write_rows(path, result_row("first", "x"), *[result_row("more", "y" * 80)] * 100)
    end(path)
    with open(str(path), "r+") as file:  # nobody reads this again
        file.write(json.dumps(result_row("other", "x")))
    write_rows(path, result_row("last", "x"), mode="a")
    end(path)
    assert sorted(uses(books)) == ["first", "last", "more"]


@pytest.mark.parametrize("how", ["rewritten", "shorter", "another file"])
def test_a_transcript_that_is_not_the_same_any_more_is_read_anew(tmp_path, books, how):
    path = tmp_path / "t.jsonl"
    write_rows(path, *[result_row(f"a{n}", "x") for n in range(20)])
    end(path)
    if how == "another file":
        path.rename(tmp_path / "old.jsonl")
    write_rows(path, *[result_row(f"b{n}", "x") for n in range(1 if how == "shorter" else 60)])
    end(path)
    assert "b0" in uses(books)


def test_a_result_before_the_stored_offset_is_still_judged(tmp_path, books):
    path = tmp_path / "t.jsonl"
    write_rows(path, result_row("mine", OURS), *[result_row("more", "y")] * 10)
    end(path)
    row = {"session": "s", "tool_use_id": "late", "lane": "resident", "transcript": str(path)}
    write_rows(path, result_row("late", OURS), mode="a")
    end(path)
    books.db.execute("DELETE FROM receipts WHERE tool_use_id = 'late'")
    books.take("receipt", dict(row, status="pending", handle=HANDLE, tool="Bash"))
    end(path)
    [late] = books.rows("SELECT status FROM receipts WHERE tool_use_id = 'late'")
    assert late["status"] == "verified"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
@pytest.mark.parametrize("kind", ["fifo", "device"])
def test_a_transcript_that_is_no_file_ends_the_session_at_once(tmp_path, books, kind):
    path = tmp_path / "t.jsonl"
    os.mkfifo(str(path)) if kind == "fifo" else path.symlink_to("/dev/zero")
    row = {"session": "s", "tool_use_id": "mine", "lane": "script", "transcript": str(path)}
    books.take("receipt", dict(row, status="pending", handle=HANDLE, tool="Bash"))
    started = time.monotonic()
    end(path)
    assert time.monotonic() - started < 5
    assert books.rows("SELECT status FROM receipts") == [{"status": "expired"}]


def test_the_server_that_leaves_stores_how_far_it_read(tmp_path, books, monkeypatch):
    from contextkernel.handlers import verification

    path = tmp_path / "t.jsonl"
    write_rows(path, result_row("mine", OURS))
    row = {"session": "s", "tool_use_id": "mine", "lane": "resident", "transcript": str(path)}
    books.take("receipt", dict(row, status="pending", handle=HANDLE, tool="Bash"))
    monkeypatch.setitem(verification._state, "offsets", {})
    assert verification.judge_pending(books, "s", str(path)) == 1
    verification.leave()
    assert books.offset(str(path))["offset"] == path.stat().st_size


def codex_row(use, output):
    payload = {"type": "function_call_output", "call_id": use, "output": output}
    return {"type": "response_item", "payload": payload}


@pytest.mark.parametrize(
    "output, status",
    [
        (OURS, "verified"),
        (
            [{"type": "input_text", "text": "head"}, {"type": "input_text", "text": OURS}],
            "verified",
        ),
        ("Process exited with code 0\nOutput:\nall lines", "missing"),
        (None, "pending"),
    ],
)
@pytest.mark.parametrize("looked", ["by the report", "as the server leaves"])
def test_a_codex_receipt_is_judged_by_its_rollout(tmp_path, books, output, status, looked):
    from contextkernel.handlers import verification

    path = tmp_path / "rollout-2026.jsonl"
    call = {"type": "function_call", "call_id": "mine", "name": "exec_command"}
    other = codex_row("other", OURS)
    write_rows(path, {"type": "response_item", "payload": call}, other)
    write_rows(path, *[codex_row("mine", output)] * (output is not None), mode="a")
    row = {"client": "codex", "session": "c", "tool_use_id": "mine", "lane": "script"}
    row.update(transcript=str(path), status="pending", handle=HANDLE, tool="Bash")
    books.take("receipt", row)
    if looked == "by the report":
        verification.judge_pending(books, None, whole=True)
    else:
        verification.leave()
    assert books.rows("SELECT status FROM receipts") == [{"status": status}]


def test_a_codex_receipt_that_never_came_expires_after_a_day(tmp_path, books):
    from contextkernel.handlers import verification

    row = {"client": "codex", "session": "c", "lane": "script", "handle": HANDLE}
    for age in (1, 100000):
        at = time.time() - age
        books.take("receipt", dict(row, tool_use_id=f"u{age}", status="pending", at=at))
    verification.judge_pending(books, None, whole=True)
    found = {r["tool_use_id"]: r["status"] for r in books.rows("SELECT * FROM receipts")}
    assert found == {"u1": "pending", "u100000": "expired"}


def test_a_receipt_without_a_handle_is_never_verified():
    assert receipt.judge("", "recall the text: recall " + HANDLE, "").status == "missing"
