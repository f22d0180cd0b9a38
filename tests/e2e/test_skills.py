"""Every skill and agent in the real client: it loads, and its first step works, in the default
permission mode.
"""

from __future__ import annotations

import os
import re

import pytest

import plugin
import session as script

pytestmark = pytest.mark.e2e
SERVER = "mcp__plugin_context-kernel_kernel__"
SKILLS = (
    "kernel-repo-slice",
    "kernel-slice",
    "kernel-invariants",
    "kernel-verify",
    "kernel-pipeline",
    "kernel-recall",
)
# they grant a slicer, so that the client asks before it loads them
ASKS = ("kernel-repo-slice", "kernel-slice", "kernel-pipeline")
LOG = "".join(
    f"[{n:05}] compiling module m_{n % 97} in {n * 7919 % 4001} ms\n" for n in range(3000)
)
FILES = {
    "app.py": (
        "RATE = 3\n\n\ndef total(prices):\n    return sum(prices) * RATE\n\n\ndef other():\n"
        "    return 1\n"
    ),
    "use.py": "from app import total\n\nassert total([1]) == 2\n",
    "build.log": LOG,
    "small.log": LOG[:20000],
}
TRACE = (
    'Traceback (most recent call last):\n  File "{{project}}/use.py", line 3, in <module>\n'
    "    assert total([1]) == 2\nAssertionError\n"
)
GIT = (
    "git init -q . && git add -A && git -c user.email=a@b -c user.name=n commit -qm x && echo '# "
    "touched' >> app.py"
)


def skill(name):
    return {"tools": [script.call("load_" + name, "Skill", skill="context-kernel:" + name)]}


def first_steps():
    """Per skill: the turn that loads it and the one that does what it says first."""
    steps = {
        "kernel-repo-slice": script.call(
            "do_kernel-repo-slice", SERVER + "kernel_repo_slice", symptom=TRACE, repo="{{project}}"
        ),
        "kernel-slice": script.call(
            "do_kernel-slice", SERVER + "kernel_slice", file="app.py", symbol="total"
        ),
        "kernel-invariants": script.bash(
            "do_kernel-invariants", "grep -rnw 'total' --include='*.py' ."
        ),
        "kernel-verify": script.bash("do_kernel-verify", "git diff --stat HEAD"),
        "kernel-pipeline": script.call(
            "do_kernel-pipeline", SERVER + "kernel_repo_slice", symptom=TRACE, repo="{{project}}"
        ),
        "kernel-recall": script.bash("do_kernel-recall", "sed -n '41,42p' " + script.COPY),
    }
    return [turn for name in SKILLS for turn in (skill(name), {"tools": [steps[name]]})]


def agent(name, prompt):
    return {
        "tools": [
            script.call(
                "start_" + name,
                "Agent",
                description="work",
                prompt=prompt,
                subagent_type="context-kernel:" + name,
                run_in_background=False,
            )
        ]
    }


def played(claude, root, turns, **more):
    result = claude.run(
        script.installed_plugin_scenario(
            root, turns, permissions="default", files=FILES, setup=[GIT], **more
        )
    )
    assert result.exit_code == 0, result.stderr()
    return result


def texts_of(result, lane="main"):
    return {
        use_id: (wrong, script.text_of(content))
        for use_id, (wrong, content) in result.tool_results(lane).items()
    }


@pytest.fixture(scope="module")
def asked_once(claude, plugin_root):
    """A session of someone who agreed to the three skills that grant a slicer, and to nothing
    else.
    """
    rules = {"permissions": {"allow": [f"Skill(context-kernel:{name})" for name in ASKS]}}
    return played(
        claude,
        plugin_root,
        [{"tools": [script.bash("long", "cat build.log")]}] + first_steps() + ["done"],
        user_settings=rules,
    )


def test_the_client_lists_them_all(asked_once):
    seen = "".join(str(request["body"]) for request in asked_once.lane("main"))
    assert all(f"context-kernel:{name}: Use " in seen for name in SKILLS)
    assert all(
        "context-kernel:" + name in seen
        for name in ("kernel-scout", "kernel-extractor", "kernel-verifier")
    )


@pytest.mark.parametrize("name", SKILLS)
def test_a_skill_loads_and_its_first_step_works(asked_once, name):
    seen = texts_of(asked_once)
    assert seen["load_" + name][0] is False, seen["load_" + name]
    body = "".join(str(request["body"]) for request in asked_once.lane("main"))
    with open(os.path.join(plugin.ROOT, "skills", name, "SKILL.md"), encoding="utf-8") as handle:
        title = re.search(r"^# (.+)$", handle.read(), re.M).group(1)
    assert title in body, "the skill's text reached the model"
    wrong, said = seen["do_" + name]
    assert not wrong, said
    first = {
        "kernel-repo-slice": "T2@",
        "kernel-slice": "T2b@",
        "kernel-invariants": "app.py:4:def total",
        "kernel-verify": "app.py | 1 +",
        "kernel-pipeline": "T2@",
        "kernel-recall": LOG.split("\n")[40],
    }[name]
    assert first in said, said


def test_what_needs_no_grant_needs_no_consent(claude, plugin_root):
    free = [name for name in SKILLS if name not in ASKS]
    commands = [
        "git diff HEAD -- app.py # ck:raw",
        "grep -n '' app.py | sed -n '4,5p'",
        "git show HEAD:app.py | sed -n '4,5p'",
        "git status --short",
        "git rev-parse --short HEAD",
    ]
    turns = [skill(name) for name in free] + [
        {"tools": [script.bash(f"free_{n}", command)]} for n, command in enumerate(commands)
    ]
    seen = texts_of(played(claude, plugin_root, turns + ["done"]))
    assert not [use_id for use_id, (wrong, _) in seen.items() if wrong], seen


def test_the_agents_have_their_tools_and_their_words(claude, plugin_root):
    turns = [
        agent("kernel-scout", "SCOUT it"),
        agent("kernel-extractor", "EXTRACT it"),
        agent("kernel-verifier", "VERIFY it"),
        "done",
    ]
    subagents = {
        "SCOUT": [
            {
                "tools": [
                    script.call(
                        "scout", SERVER + "kernel_repo_slice", symptom=TRACE, repo="{{project}}"
                    )
                ]
            },
            "PLACES app.py:5",
        ],
        "EXTRACT": [
            {
                "tools": [
                    script.call("extract", SERVER + "kernel_slice", file="app.py", symbol="total")
                ]
            },
            "- C1. holds",
        ],
        "VERIFY": [
            {"tools": [script.bash("verify", "cat small.log; git diff HEAD -- app.py")]},
            "Verdict: STANDS",
        ],
    }
    allow = {"permissions": {"allow": [SERVER + "kernel_repo_slice", SERVER + "kernel_slice"]}}
    result = played(claude, plugin_root, turns, subagents=subagents, user_settings=allow)
    inner, outer = texts_of(result, "subagent"), texts_of(result)
    assert "T2@" in inner["scout"][1]
    assert "T2b@" in inner["extract"][1]
    for raw in (LOG[:20000], "+# touched"):
        assert raw in inner["verify"][1], "the verifier reads raw outputs"
    assert "app.py:5" in outer["start_kernel-scout"][1]
    assert "STANDS" in outer["start_kernel-verifier"][1]
    offered = {}
    for request in result.lane("subagent"):
        words = str(request["body"].get("system"))
        name = next(
            name
            for name, own in (
                ("scout", "You find the places"),
                ("extractor", "You write down the constraints"),
                ("verifier", "You try to show that a fix is wrong"),
            )
            if own in words
        )
        offered[name] = {tool["name"] for tool in request["body"]["tools"]}
    assert set(offered) == {"scout", "extractor", "verifier"}
    assert "Read" not in offered["verifier"]
    assert "Edit" not in set().union(*offered.values())
    assert "Bash" in offered["verifier"]
    assert SERVER + "kernel_repo_slice" in offered["scout"]
    assert SERVER + "kernel_slice" in offered["extractor"]
