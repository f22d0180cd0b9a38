"""The follower: usage, model and compactions from a session file, in bounded steps, whatever
else the file holds.
"""

import json
import random

import pytest

from contextkernel.clients.claude import transcript


def said(model="claude-opus-4-6", tokens=10, **more):
    return dict(
        {
            "type": "assistant",
            "message": {"id": "m", "model": model, "usage": {"input_tokens": tokens}},
        },
        **more,
    )


def compacted(trigger="auto", tokens=167500):
    return {
        "type": "system",
        "subtype": "compact_boundary",
        "compactMetadata": {"trigger": trigger, "preTokens": tokens},
    }


def news_of(path, *rows, **more):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return transcript.advance({}, str(path), **more)[1]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "t.jsonl"


@pytest.mark.parametrize(
    "rows, model, tokens",
    [
        ([said(tokens=5), said(tokens=7)], "claude-opus-4-6", 7),
        ([said(requestedModel="claude-opus-4-6[1m]")], "claude-opus-4-6[1m]", 10),
        ([said(requestedModel="claude-opus-4-6")], "claude-opus-4-6", 10),
        ([said(), said("<synthetic>", 0)], "claude-opus-4-6", 10),  # an API error is no message
        ([said(), said("claude-haiku-4-5", 99, isSidechain=True)], "claude-opus-4-6", 10),
        (
            [
                said(),
                {"type": "assistant", "message": {"usage": "none"}},
                {"type": "assistant"},
                {"type": "assistant", "message": []},
            ],
            "claude-opus-4-6",
            10,
        ),
    ],
)
def test_usage_and_model(path, rows, model, tokens):
    news = news_of(path, *rows)
    assert (news.model, news.usage["input_tokens"]) == (model, tokens)


@pytest.mark.parametrize(
    "rows, boundaries, at, used",
    [
        ([said(tokens=167000), compacted()], 1, 167500, None),
        ([said(), compacted(), said(tokens=9), compacted("manual", 5)], 2, 167500, None),
        ([compacted(), compacted("auto", 99), said(tokens=20)], 2, 99, 20),
        (
            [
                compacted("auto", "many"),
                {"type": "system", "subtype": "compact_boundary", "compactMetadata": 7},
                said(),
            ],
            2,
            0,
            10,
        ),
    ],
)
def test_compactions(path, rows, boundaries, at, used):
    news = news_of(path, *rows)
    assert (news.boundaries, news.compacted_at, news.usage and news.usage["input_tokens"]) == (
        boundaries,
        at,
        used,
    )


def result(use):
    return {
        "type": "user",
        "message": {"content": [{"type": "tool_result", "tool_use_id": use, "content": "x" * 500}]},
    }


def test_steps_of_any_size_read_every_row_once(path):
    seed = random.randrange(1 << 30)
    print("seed", seed)
    draw = random.Random(seed)
    rows = [
        json.dumps(result(f"u{n:d}"))
        if draw.random() < 0.7
        else draw.choice(["", "{", "null", "\u2028", "[" * 3000])
        for n in range(200)
    ]
    path.write_text("\n".join(rows) + "\n")
    expected = [
        json.loads(row)["message"]["content"][0]["tool_use_id"]
        for row in rows
        if row.startswith('{"')
    ]
    state, seen, more = {}, [], True
    while more:
        state, news = transcript.advance(
            json.loads(json.dumps(state)), str(path), draw.randrange(1, 4000)
        )
        seen, more = seen + list(news.results), news.more
    assert seen == expected
    assert len(seen) > 100


def test_a_huge_file_met_first_is_read_from_its_tail(path):
    news = news_of(path, *[result(f"u{n:d}") for n in range(100)], step=3000, from_start=False)
    assert "u99" in news.results
    assert "u0" not in news.results
    assert news.skipped > 0
    assert not news.more


def test_a_line_longer_than_a_step_is_read_whole(path):
    news = news_of(path, result("a"), step=20)
    assert list(news.results) == ["a"]


@pytest.mark.parametrize("tail", [b"", b'{"type": "user"', b"\xff"])
def test_a_line_without_its_end_waits(path, tail):
    path.write_bytes(json.dumps(result("a")).encode() + b"\n" + tail)
    state, news = transcript.advance({}, str(path))
    assert list(news.results) == ["a"]
    assert state["offset"] == path.stat().st_size - len(tail)
    assert not transcript.advance(state, str(path))[1].more


def test_a_file_that_shrank_is_read_again(path):
    state, _ = transcript.advance({"inode": 0, "offset": 5}, str(path))
    assert state == {"inode": 0, "offset": 5}  # no file: nothing changes
    news_of(path, result("a"), result("b"))
    state, _ = transcript.advance({}, str(path))
    with open(str(path), "r+") as file:
        file.write(json.dumps(result("c")) + "\n")
        file.truncate()
    assert list(transcript.advance(state, str(path))[1].results) == ["c"]


def test_refusals(path):
    row = {
        "type": "attachment",
        "attachment": {
            "type": "hook_error_during_execution",
            "toolUseID": "u",
            "content": "does not match",
        },
    }
    assert news_of(path, row, {"type": "attachment", "attachment": 5}).refusals == {
        "u": "does not match"
    }
