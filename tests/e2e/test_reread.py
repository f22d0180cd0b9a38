"""Repeated Reads in the real client: what the model is sent the second and third time, and after
an epoch.
"""

from __future__ import annotations

import pytest

import session as script

pytestmark = pytest.mark.e2e
TEXT = "".join(
    f"value_{n} = {n * 7919 % 1000}  # a line of a file that is read more than once\n"
    for n in range(1, 301)
)


def read(use_id, name="a.py", **more):
    return {
        "delay_ms": 300,
        "tools": [script.call(use_id, "Read", file_path="{{project}}/" + name, **more)],
    }


@pytest.fixture(scope="module")
def played(claude, plugin_root):
    turns = [
        read("toolu_first"),
        read("toolu_again"),
        read("toolu_third"),
        read("toolu_range", offset=10, limit=200),
        {
            "tools": [
                script.bash("toolu_change", "sed -i 's/^value_150 = .*/value_150 = \"new\"/' a.py")
            ]
        },
        read("toolu_changed"),
        {
            "tools": [
                script.call(
                    "toolu_edit",
                    "Edit",
                    file_path="{{project}}/a.py",
                    old_string='value_150 = "new"',
                    new_string='value_150 = "newer"',
                )
            ]
        },
        read("toolu_edited"),
        {
            "tools": [
                script.call(
                    "toolu_failed",
                    "Edit",
                    file_path="{{project}}/a.py",
                    old_string="no such text",
                    new_string="x",
                )
            ]
        },
        read("toolu_after_failure"),
        {
            "tools": [
                script.call(
                    "toolu_agent",
                    "Agent",
                    prompt="subread please",
                    description="d",
                    subagent_type="general-purpose",
                    run_in_background=False,
                )
            ]
        },
        read("toolu_lf", "ends.py"),
        {"tools": [script.bash("toolu_ends", "sed -i 's/$/\\r/' ends.py")]},
        read("toolu_crlf", "ends.py"),
        "first part done",
        read("toolu_resumed"),
        "done",
    ]
    scenario = script.installed_plugin_scenario(
        plugin_root,
        turns,
        [{"prompt": "go"}, {"prompt": "on", "resume": True}],
        files={"a.py": TEXT, "ends.py": TEXT},
        subagents={"subread": [read("toolu_sub"), "sub done"]},
    )
    scenario["runs"] = script.install_runs(plugin_root) + [
        run for run in scenario["runs"] if "cmd" not in run
    ]
    result = claude.run(scenario)
    seen = dict(result.tool_results("subagent"), **result.tool_results())
    return (
        {use_id: script.text_of(content) for use_id, (_, content) in seen.items()},
        claude.version,
        {use_id for use_id, (wrong, _) in seen.items() if wrong},
    )


def is_stub(text, version):
    """Clients before 2.1.332 answer an unchanged Read with a stub of their own, which nobody can
    replace.
    """
    return version != "2.1.332" and "nchanged since" in text and "[ck:" not in text


def is_whole(text):
    return "300\tvalue_300" in text and "150\tvalue_150" in text


def test_first_reads_are_whole(played):
    texts, _, _ = played
    assert is_whole(texts["toolu_first"])
    assert is_whole(texts["toolu_sub"])
    assert is_whole(texts["toolu_resumed"])


def test_an_unchanged_file_comes_as_a_mark_then_whole(played):
    texts, version, _ = played
    if is_stub(texts["toolu_again"], version):
        return
    assert "[ck: " in texts["toolu_again"]
    assert "unchanged; recall " in texts["toolu_again"]
    assert len(texts["toolu_again"]) < 500
    assert is_whole(texts["toolu_third"])


def test_a_changed_file_comes_as_a_diff_without_false_numbers(played):
    texts, _, _ = played
    assert '\n+value_150 = "new"' in texts["toolu_changed"]
    assert "@@ -147,7 +147,7 @@" in texts["toolu_changed"]
    assert "value_300" not in texts["toolu_changed"]
    assert "\t+value" not in texts["toolu_changed"]


def test_a_change_of_line_ends_is_never_called_none(played):
    texts, version, _ = played
    assert is_whole(texts["toolu_lf"])
    said = texts["toolu_crlf"]
    assert is_whole(said) or "ends.py changed on disk: LF -> CRLF; recall " in said
    assert "unchanged" not in said


def test_a_range_is_never_touched(played):
    texts, _, _ = played
    assert "\n10\tvalue_10" in "\n" + texts["toolu_range"]
    assert "209\tvalue_209" in texts["toolu_range"]


def test_an_edit_after_a_diff_succeeds(played):
    texts, version, errors = played
    assert "toolu_edit" not in errors
    assert "toolu_failed" in errors
    assert '+value_150 = "newer"' in texts["toolu_edited"]
    assert "value_300" not in texts["toolu_edited"]
    assert is_whole(texts["toolu_after_failure"]) or is_stub(texts["toolu_after_failure"], version)
