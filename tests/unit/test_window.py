"""The budget: window by model, occupancy by usage, 40 % of what is left until compaction."""

import json

import pytest

from contextkernel.clients.claude import context_budget, models
from contextkernel.clients.codex import rollout


@pytest.mark.parametrize(
    "model, size, known",
    [
        ("claude-opus-5-5", 1000000, True),
        ("claude-opus-4-8", 1000000, True),
        ("claude-sonnet-4-5-20250929", 200000, True),
        ("claude-opus-4-6", 200000, True),
        ("claude-opus-4-6[1m]", 1000000, True),
        ("claude-quartz-9", 200000, False),
        ("", 200000, False),
        ("local-llama", 200000, False),
        ("gpt-5.4-mini", 400000, True),
        ("gpt-5.4", 1050000, True),
    ],
)
def test_models(model, size, known):
    assert models.facts(model)[:2] == (size, known)


@pytest.mark.parametrize(
    "model, environ, used, point",
    [
        ("claude-opus-4-6", {}, 0, 167000),
        ("claude-opus-5-5", {}, 0, 967000),
        ("claude-opus-5-5", {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "500000"}, 0, 467000),
        ("claude-opus-5-5", {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "50000"}, 0, 67000),
        (
            "claude-opus-5-5",
            {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "500000", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "50"},
            0,
            240000,
        ),
        ("claude-opus-4-6", {}, 300000, 967000),
        ("claude-opus-5-5", {"CK_CONTEXT_WINDOW": "300000"}, 0, 267000),
        ("claude-opus-5-5", {"CK_CONTEXT_WINDOW": "many"}, 0, 967000),
        ("x", {"CK_CONTEXT_WINDOW": "10"}, 0, 0),
        ("claude-opus-5-5", {"CLAUDE_CODE_DISABLE_1M_CONTEXT": "1"}, 0, 167000),
        ("claude-opus-5-5", {"CLAUDE_CODE_DISABLE_1M_CONTEXT": "0"}, 0, 967000),
        ("claude-opus-5-5", {"CK_CONTEXT_WINDOW": "\u00b2"}, 0, 967000),
        ("claude-opus-5-5", {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "100"}, 0, 967000),
    ],
)
def test_compaction_point(model, environ, used, point):
    assert context_budget.compaction_point(model, environ, used)[0] == point


@pytest.mark.parametrize(
    "environ, used, compacted_at, point",
    [
        ({}, 20000, 168002, 168002),
        ({}, 300000, 168002, 967000),
        ({}, 20000, 0, 967000),
        ({}, 20000, 999000, 967000),
        ({"CK_CONTEXT_WINDOW": "1000000"}, 20000, 168002, 967000),
    ],
)
def test_where_the_client_compacted_once_it_will_again(environ, used, compacted_at, point):
    assert (
        context_budget.compaction_point("claude-sonnet-5", environ, used, compacted_at)[0] == point
    )


def test_the_line():
    usage = {
        "input_tokens": 2000,
        "cache_read_input_tokens": 350000,
        "cache_creation_input_tokens": 10000,
        "output_tokens": 500,
    }
    budget = context_budget.resolve(
        "6e2e49dc", "claude-opus-5-5", usage, {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "500000"}, 80000
    )
    assert budget == (
        41800,
        (
            "budget: auto: session 6e2e49dc, model claude-opus-5-5, window ~467k, in use ~362k, "
            "headroom ~104k -> budget 41k"
        ),
    )


@pytest.mark.parametrize(
    "used, most, tokens",
    [
        (0, 80000, 80000),
        (960000, 80000, 4000),
        (2000000, 80000, 4000),
        (867000, 80000, 40000),
        (867000, 10000, 10000),
        (867000, 0, 4000),
    ],
)
def test_bounds(used, most, tokens):
    assert (
        context_budget.resolve("s", "claude-opus-5-5", {"input_tokens": used}, {}, most).tokens
        == tokens
    )


def test_an_unknown_model_is_said_to_be_one():
    assert "unknown model" in context_budget.resolve("s", "mystery", {}, {}, 80000).text
    assert (
        "unknown model"
        not in context_budget.resolve(
            "s", "mystery", {}, {"CK_CONTEXT_WINDOW": "1000000"}, 80000
        ).text
    )


def test_from_the_session(tmp_path):
    folder = tmp_path / "projects" / "-w"
    folder.mkdir(parents=True)
    rows = [
        {
            "type": "assistant",
            "message": {"id": "m", "model": "claude-opus-4-6", "usage": {"input_tokens": 67000}},
        }
    ] * 2
    (folder / "s-1.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    environ = {"CLAUDE_CONFIG_DIR": str(tmp_path), "CLAUDE_CODE_SESSION_ID": "s-1"}
    assert context_budget.auto_budget(environ, 80000).tokens == 40000
    assert (
        context_budget.auto_budget({"CK_TRANSCRIPT": str(folder / "s-1.jsonl")}, 80000).tokens
        == 40000
    )


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"CLAUDE_CODE_SESSION_ID": "none", "CLAUDE_CONFIG_DIR": "/nowhere"},
        {"CLAUDE_CODE_SESSION_ID": "../x"},
        {"CK_TRANSCRIPT": "/nowhere"},
    ],
)
def test_without_a_session(environ):
    assert context_budget.auto_budget(environ, 80000) == (
        8000,
        "budget: auto: no session found -> budget 8k",
    )


def test_nonsense_usage_counts_nothing():
    assert (
        context_budget.occupancy(
            {"input_tokens": "many", "output_tokens": -5, "cache_read_input_tokens": None}
        )
        == 0
    )


@pytest.mark.parametrize(
    "own, tokens, name",
    [
        ([], 40000, "session 11112222,"),
        ([{"type": "user", "isSidechain": True}], 40000, "session 11112222,"),
        (
            [
                {
                    "type": "assistant",
                    "isSidechain": True,
                    "message": {"model": "claude-opus-4-6", "usage": {"input_tokens": 117000}},
                }
            ],
            20000,
            "session 11112222 agent a1b2c3d4,",
        ),
    ],
)
def test_a_sub_agent_has_its_own_window(tmp_path, own, tokens, name):
    folder = tmp_path / "11112222-3333" / "subagents"
    folder.mkdir(parents=True)
    (tmp_path / "11112222-3333.jsonl").write_text(
        json.dumps(
            {
                "type": "assistant",
                "message": {"model": "claude-opus-4-6", "usage": {"input_tokens": 67000}},
            }
        )
        + "\n"
    )
    path = folder / "agent-a1b2c3d4e5.jsonl"
    if own:
        path.write_text("".join(json.dumps(row) + "\n" for row in own))
    budget = context_budget.auto_budget({"CK_TRANSCRIPT": str(path)}, 80000)
    assert budget.tokens == tokens
    assert name in budget.text


THREAD = "01a22b9a-de0e-78e3-b801-7569ec7473bb"


def rollout_of(folder, rows):
    path = (
        folder / "sessions" / "2026" / "11" / "30" / (f"rollout-2026-11-30T08-38-19-{THREAD}.jsonl")
    )
    path.parent.mkdir(parents=True)
    path.write_text(
        "".join(
            (row if isinstance(row, str) else json.dumps({"payload": row})) + "\n" for row in rows
        )
    )
    return str(path)


def counted(used, window=258400):
    return {
        "type": "token_count",
        "info": {
            "last_token_usage": {"total_tokens": used},
            "total_token_usage": {"total_tokens": 7 * used},
            "model_context_window": window,
        },
    }


@pytest.mark.parametrize(
    "rows, state",
    [
        (
            [{"type": "turn_context", "model": "gpt-5.5"}, counted(50210), counted(6858)],
            ("gpt-5.5", 258400, 6858),
        ),
        (
            [
                {"type": "task_started", "model_context_window": 258400},
                {
                    "type": "token_usage_record",
                    "usage": {"total_tokens": 110},
                    "thread_token_usage": {"total_tokens": 9},
                },
            ],
            ("", 258400, 110),
        ),
        ([counted(5), '{"payload": {"type": "token_usage_record", "usage"'], ("", 258400, 5)),
        ([counted(5), "[" * 900 + '"token_count"', '"token_count" \x00'], ("", 258400, 5)),
        ([counted(-1)], None),
        ([counted(True)], None),
        ([counted(5, "wide")], None),
        ([], None),
    ],
)
def test_the_window_of_a_codex_thread(tmp_path, rows, state):
    path = rollout_of(tmp_path, rows)
    assert rollout.occupancy(path) == state
    budget = context_budget.auto_budget({"CK_TRANSCRIPT": path}, 80000)
    assert budget.tokens == (80000 if state else 8000)
    assert (
        f"session 01a22b9a, model {state[0] or 'unknown'}," in budget.text
        if state
        else "no usage" in budget.text
    )


def test_a_codex_thread_is_found_by_its_id(tmp_path):
    path = rollout_of(tmp_path, [counted(200000)])
    environ = {"CODEX_HOME": str(tmp_path)}
    assert rollout.of_thread(THREAD, environ) == path
    assert [
        rollout.of_thread(thread, environ)
        for thread in ("01a22b9a-0000-78e3-b801-7569ec7473bb", "*", "../..", "")
    ] == [""] * 4
    assert context_budget.auto_budget({"CK_TRANSCRIPT": path}, 80000).tokens == int(
        (int(258400 * 0.9) - 200000) * 0.4
    )
    assert (
        context_budget.auto_budget(
            {"CK_TRANSCRIPT": path, "CK_CONTEXT_WINDOW": "250000"}, 80000
        ).tokens
        == 20000
    )
