"""PreToolUse: slicer calls get their budget by the whole input; nothing else changes and no
decision is ever given.
"""

import os

import pytest

BASH = {
    "hook_event_name": "PreToolUse",
    "session_id": "s",
    "tool_name": "Bash",
    "tool_use_id": "t",
    "cwd": "/w",
    "transcript_path": "",
}
SLICE = "mcp__plugin_context-kernel_kernel__kernel_repo_slice"


def bash(command, **more):
    return dict(BASH, tool_input={"command": command, "timeout": 5000, "description": "d"}, **more)


def test_a_slicer_command_keeps_the_rest_of_its_input(run_hook):
    reply, _ = run_hook("pre_tool_use", bash("cd a && python3 x/ck.py slice --repo ."))
    assert reply == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "updatedInput": {
                "command": "cd a && python3 x/ck.py slice --repo . --budget auto",
                "timeout": 5000,
                "description": "d",
            },
        }
    }


@pytest.mark.parametrize(
    "tool, given, budget",
    [
        (SLICE, {"symptom": "x"}, "auto"),
        (SLICE, {"symptom": "x", "budget": ""}, "auto"),
        (SLICE.replace("repo_", ""), {"file": "a", "symbol": "b"}, "auto"),
        ("mcp__kernel__kernel_slice", {"file": "a"}, "auto"),
    ],
)
def test_slicers_of_the_server(run_hook, tool, given, budget):
    reply, _ = run_hook("pre_tool_use", dict(BASH, tool_name=tool, tool_input=given))
    assert reply["hookSpecificOutput"] == {
        "hookEventName": "PreToolUse",
        "updatedInput": dict(given, budget=budget),
    }


@pytest.mark.parametrize(
    "event",
    [
        bash("npm install 'foo>=1'"),
        bash("pip install 'a>1' b"),
        bash("echo 'ck.py slice'"),
        bash("python3 x/ck.py slice --budget 5"),
        bash(7),
        dict(BASH, tool_input="text"),
        dict(BASH, tool_input={}),
        dict(BASH, tool_name=SLICE, tool_input={}),
        dict(BASH, tool_name=SLICE, tool_input={"symptom": "x", "budget": "100"}),
        dict(BASH, tool_name="mcp__other__kernel_slice", tool_input={"x": 1}),
        dict(
            BASH, tool_name="mcp__plugin_context-kernel_kernel__recall", tool_input={"handle": "x"}
        ),
    ],
)
@pytest.mark.loop(4)
def test_left_alone(run_hook, event):
    assert run_hook("pre_tool_use", event) == (None, "")


def test_switched_off(run_hook):
    assert run_hook("pre_tool_use", bash("ck.py slice"), env={"CK_PRETOOL": "0"})[0] is None


def test_our_judges_leave_a_note_for_the_failure_lane(run_hook, state):
    from contextkernel.clients.claude import shell_prefix

    (state / "lane").mkdir(parents=True)
    (state / "lane" / "where").write_text("")  # the lane is on
    assert (
        run_hook("pre_tool_use", bash("make check", agent_type="context-kernel:kernel-verifier"))[0]
        is None
    )
    assert shell_prefix.take_note(str(state), "make check", "s")
    assert not shell_prefix.take_note(str(state), "make check", "s")
    run_hook("pre_tool_use", bash("make check", agent_type="Explore"))
    assert not shell_prefix.take_note(str(state), "make check", "s")


def test_a_served_session_is_left_to_the_server(run_hook, state):
    (state / "live").mkdir(parents=True)
    (state / "live" / "s").write_text(str(os.getpid()))
    assert run_hook("pre_tool_use", bash("ck.py slice"))[0] is None


COMMAND = "python3 x/ck.py slice --repo ."


@pytest.mark.parametrize(
    "settings, rewritten",
    [
        ('{"permissions": {"deny": ["Bash(python3 x/ck.py slice --repo .)"]}}', False),
        ('{"permissions": {"allow": ["Bash(python3 x/ck.py slice --repo .)"]}}', False),
        ('{"permissions": {"ask": ["Bash(python3 * --repo .)"]}}', False),
        ('{"permissions": {"deny": ["Bash(python3 x/ck.py slice:*)", "Bash(python3 *)"]}}', True),
        ('{"permissions": {"deny": ["Bash(git push)", "Read(./x)", "Bash"]}}', True),
        ('{"model": "m"}', True),
        ('{"permissions": {"deny": [7]}}', False),
        ("{not json", False),
    ],
)
@pytest.mark.parametrize("place", ["user", "project", "parent"])
@pytest.mark.loop(4)
def test_a_rule_that_names_the_call_exactly_keeps_its_say(
    run_hook, tmp_path, settings, rewritten, place
):
    folder = tmp_path / "project" / "sub"
    folder.mkdir(parents=True)
    config = tmp_path / "config"
    home = {
        "user": config,
        "project": folder / ".claude",
        "parent": tmp_path / "project" / ".claude",
    }[place]
    home.mkdir()
    (home / "settings.json").write_text(settings)
    reply, _ = run_hook(
        "pre_tool_use",
        bash("cd a && " + COMMAND, cwd=str(folder)),
        env={"CLAUDE_CONFIG_DIR": str(config)},
    )
    assert (reply is not None) == rewritten
