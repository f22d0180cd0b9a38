"""The budget in the real client: slicers called without one get `auto`, which reads the window
of this very session.
"""

from __future__ import annotations

import re

import pytest

import session as script

pytestmark = pytest.mark.e2e
SLICE = 'python3 -I -S "$CK_ROOT/hooks/ck.py" slice --repo . --symptom symptom.txt --wait'
SERVER = "mcp__plugin_context-kernel_kernel__"
LINE = re.compile(r"budget: auto: [^\n]*")
FILES = {
    "pkg/__init__.py": "",
    "pkg/calc.py": "def total(items):\n    return sum(item.price for item in items)\n",
    "symptom.txt": (
        'Traceback (most recent call last):\n  File "pkg/calc.py", line 2, in total\n'
        "AttributeError: price\n"
    ),
}


def turn(*tools, used):
    return {
        "tools": list(tools),
        "delay_ms": 300,
        "usage": {
            "input_tokens": 2000,
            "cache_read_input_tokens": used - 2000,
            "output_tokens": 500,
        },
    }


@pytest.fixture(scope="module")
def played(claude, plugin_root):
    turns = [
        turn(script.bash("toolu_first", "true"), used=361500),
        turn(script.bash("toolu_slice", SLICE), used=361500),
        turn(script.bash("toolu_piped", f"cd pkg && cd .. && {SLICE} | tail -n 1"), used=361600),
        turn(
            script.call("toolu_mcp", SERVER + "kernel_repo_slice", symptom=FILES["symptom.txt"]),
            used=361700,
        ),
        turn(script.bash("toolu_given", SLICE + " --budget 5000"), used=361800),
        turn(script.bash("toolu_quoted", "echo 'python3 ck.py slice'"), used=361900),
        turn(script.bash("toolu_subst", f'echo "$({SLICE})"'), used=361900),
        turn(
            script.call(
                "toolu_agent",
                "Agent",
                prompt="subslice please",
                description="d",
                subagent_type="general-purpose",
                run_in_background=False,
            ),
            used=361900,
        ),
        "done",
    ]
    ours = {
        "subslice": [
            turn(script.bash("toolu_sub_first", "true"), used=400000),
            turn(
                script.call(
                    "toolu_sub", SERVER + "kernel_repo_slice", symptom=FILES["symptom.txt"]
                ),
                used=400100,
            ),
            "sub done",
        ]
    }
    scenario = script.installed_plugin_scenario(
        plugin_root,
        turns,
        [{"prompt": "go", "args": ["--model", "claude-opus-4-6[1m]"]}],
        files=FILES,
        subagents=ours,
        env={"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "500000"},
        record_events=["PostToolUse"],
    )
    result = claude.run(scenario)
    ran = {
        payload["tool_use_id"]: payload["tool_input"] for payload in result.payloads("PostToolUse")
    }
    return (
        {
            use_id: script.text_of(content)
            for use_id, (_, content) in dict(
                result.tool_results("subagent"), **result.tool_results()
            ).items()
        },
        ran,
        claude.version,
    )


@pytest.mark.parametrize("use_id", ["toolu_slice", "toolu_piped", "toolu_mcp"])
def test_the_budget_is_that_of_the_session(played, use_id):
    texts, _, _ = played
    line = LINE.search(texts[use_id])
    assert line, texts[use_id]
    assert re.fullmatch(
        (
            r"budget: auto: session [0-9a-f]{8}, model claude-opus-4-6(\[1m\])?, window ~467k, "
            r"in use ~362k, headroom ~10[45]k -> budget 4[12]k"
        ),
        line.group(),
    )


def test_a_sub_agent_has_the_budget_of_its_own_window(played):
    texts, _, _ = played
    line = LINE.search(texts["toolu_sub"])
    assert line
    assert re.search(
        (
            r"session [0-9a-f]{8} agent [0-9a-z]{8}, model claude-opus-4-6(\[1m\])?, window "
            r"~467k, in use ~400k, headroom ~66k -> budget 26k"
        ),
        line.group(),
    ), line


def test_the_large_window_is_known_where_the_client_tells_it(played):
    texts, _, version = played
    assert ("claude-opus-4-6[1m]" in LINE.search(texts["toolu_slice"]).group()) == (
        version == "2.1.332"
    )


def test_the_input_is_whole_and_nothing_else_changes(played):
    texts, ran, _ = played
    assert ran["toolu_slice"]["command"] == SLICE + " --budget auto"
    assert ran["toolu_piped"]["command"].count("--budget auto") == 1
    assert ran["toolu_piped"]["command"].endswith("--wait --budget auto | tail -n 1")
    assert ran["toolu_mcp"] == {"symptom": FILES["symptom.txt"], "budget": "auto"}
    for use_id in ("toolu_given", "toolu_quoted", "toolu_subst"):
        assert "auto" not in ran[use_id]["command"]
    assert texts["toolu_quoted"].startswith("python3 ck.py slice")
    assert not LINE.search(texts["toolu_given"])
    assert LINE.search(texts["toolu_subst"]), (
        "a call that is not rewritten takes the session's budget by itself"
    )


@pytest.mark.parametrize(
    "rule, refused",
    [
        ("Bash(python3 hooks/ck.py slice --repo .)", True),
        ("Bash(python3 hooks/ck.py slice:*)", True),
        ("Bash(python3 hooks/ck.py symbol:*)", False),
    ],
)
def test_a_deny_rule_goes_on_denying(claude, plugin_root, rule, refused):
    scenario = script.installed_plugin_scenario(
        plugin_root,
        [{"tools": [script.bash("toolu_denied", "python3 hooks/ck.py slice --repo .")]}, "done"],
        files={"hooks/ck.py": "print('it ran')\n"},
        user_settings={"permissions": {"deny": [rule]}},
    )
    wrong, content = claude.run(scenario).tool_results()["toolu_denied"]
    assert (wrong and "denied" in script.text_of(content)) == refused
    assert ("it ran" in script.text_of(content)) != refused
