"""The canary believes only our own handle in exactly that tool result."""

import json

import pytest

from contextkernel import canary
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
    verdict = canary.judge(HANDLE, found and found.text, news.refusals.get("mine", ""))
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
    from contextkernel.handlers import verification
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
        verification.end_session({"session_id": "s", "transcript_path": str(path)})
    found = books.rows("SELECT tool_use_id AS use, tool, raw, status FROM receipts ORDER BY use")
    assert found == [
        {"use": "a", "tool": "Bash", "raw": 40, "status": ""},
        {"use": "b", "tool": "Bash", "raw": None, "status": "verified"},
    ]
    books.close()


def test_a_receipt_without_a_handle_is_never_verified():
    assert canary.judge("", "recall the text: recall " + HANDLE, "").status == "missing"
