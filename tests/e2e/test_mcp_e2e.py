"""The resident server under the real client: the hidden hook tool, the listed tools, a server
that dies in mid call.
"""

from __future__ import annotations

import os

import pytest

import plugin
from fake_anthropic import text_of
from session import HANDLE, bash, build_log, call

TOOL = "mcp__plugin_context-kernel_kernel__"
DYING = """
import os
_answer = handle
def handle(event):
    flag = os.path.join(os.environ["HOME"], "died-once")
    if event.get("tool_use_id") == "toolu_dies" and not os.path.exists(flag):
        open(flag, "w").close()
        os.kill(os.getpid(), 9)
    return _answer(event)
"""
TRACEBACK = (
    'Traceback (most recent call last):\n  File "app/price.py", line 5, in total\n'
    "    return net(x) * rate\nNameError: name 'rate' is not defined\n"
)


@pytest.fixture(scope="module")
def played(claude, tmp_path_factory):
    """One session: a long output, a server that dies in mid call, a long output again, then the
    three tools by the model.
    """
    root = plugin.copy_to(str(tmp_path_factory.mktemp("mcp")))
    with open(
        os.path.join(root, "hooks", "contextkernel", "handlers", "tool_result.py"), "a"
    ) as handle:
        handle.write(DYING)
    result = claude.run(
        {
            "prompt": "THE-PROMPT",
            "args": ["--plugin-dir", root],
            "timeout_s": 120,
            "files": {
                "build.log": build_log(3000),
                "app/__init__.py": "",
                "app/price.py": (
                    "def net(x):\n    return x\n\ndef total(x):\n    return net(x) * rate\n"
                ),
            },
            "turns": [
                {"tools": [bash("toolu_first", "cat build.log")]},
                {"tools": [bash("toolu_dies", "cat build.log | cat")]},
                {"tools": [bash("toolu_after", "cat build.log")]},
                {"tools": [call("toolu_recall", TOOL + "recall", handle=HANDLE, lines="700-702")]},
                {"tools": [bash("toolu_later", "cat build.log")]},
                {
                    "tools": [
                        call("toolu_grep", TOOL + "recall", handle=HANDLE, grep=r"^\[0070[0-2]\]")
                    ]
                },
                {
                    "tools": [
                        call(
                            "toolu_slice",
                            TOOL + "kernel_repo_slice",
                            symptom=TRACEBACK,
                            budget="4000",
                        )
                    ]
                },
                {
                    "tools": [
                        call(
                            "toolu_symbol",
                            TOOL + "kernel_slice",
                            file="app/price.py",
                            symbol="total",
                        )
                    ]
                },
                {"tools": [call("toolu_wrong", TOOL + "recall", handle="0123456789ab")]},
                "done",
            ],
        }
    )
    assert result.exit_code == 0, result.stderr()
    return result


def seen(played, use_id):
    is_error, content = played.tool_results()[use_id]
    return bool(is_error), text_of(content)


def test_hidden_tool_is_called_and_not_shown(played):
    assert "recall " in seen(played, "toolu_first")[1]
    assert "[ck: " in seen(played, "toolu_first")[1]
    body = str(played.lane("main")[0]["body"])
    assert TOOL + "recall" in body
    assert TOOL + "hook" not in body


def test_output_passes_when_the_server_dies_in_mid_call(played):
    is_error, text = seen(played, "toolu_dies")
    assert not is_error
    assert text.startswith("<persisted-output>")
    assert "[ck: " not in text
    assert build_log(3000).split("\n")[0] in text


def test_dead_server_is_started_again(played, claude):
    """For the next hook in new clients.  Old ones start it for the model's own calls only: their
    hooks pass to the session's end.
    """
    restarts = claude.version not in ("2.1.121", "2.1.200")
    assert ["[ck: " in seen(played, use_id)[1] for use_id in ("toolu_after", "toolu_later")] == [
        restarts,
        restarts,
    ]


def test_recall_by_the_model(played):
    lines = build_log(3000).split("\n")[699:702]
    assert seen(played, "toolu_recall") == (False, "\n".join(lines) + "\n")
    assert seen(played, "toolu_grep")[1].split("\n")[:3] == [
        f"{n}:{line}" for n, line in enumerate(lines, 700)
    ]
    is_error, text = seen(played, "toolu_wrong")
    assert is_error
    assert "unknown or expired" in text


def test_slices_by_the_model(played):
    is_error, text = seen(played, "toolu_slice")
    assert not is_error
    assert "app/price.py" in text
    is_error, text = seen(played, "toolu_symbol")
    assert not is_error
    assert "return net(x) * rate" in text


def test_hooks_without_an_opinion_say_nothing_to_the_model(played):
    for row in played.lane("main"):
        assert "hook success" not in str(row["body"])
    assert not played.attachments("hook_error_during_execution")
