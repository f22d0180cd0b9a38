"""The harness itself, on every client: what the fake API records is what the model is sent."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.e2e

REPLY = (
    "lambda event: {'hookSpecificOutput': {'hookEventName': 'PostToolUse', 'updatedToolOutput': "
    "dict({k: v for k, v in event['tool_response'].items() if not k.startswith('persisted')}, "
    "stdout='REPLACED')}}"
)


def test_a_replacement_is_recorded_and_a_failure_is_beyond_reach(claude):
    result = claude.run(
        {
            "turns": [
                {
                    "tools": [
                        {"name": "Bash", "input": {"command": "seq 1 20000"}, "id": "toolu_long"}
                    ]
                },
                {
                    "tools": [
                        {
                            "name": "Bash",
                            "input": {"command": "echo boom; exit 3"},
                            "id": "toolu_fails",
                        }
                    ]
                },
                "done",
            ],
            "hooks": [{"event": "PostToolUse", "matcher": "Bash", "respond_py": REPLY}],
        }
    )
    assert result.exit_code == 0, result.stderr()
    assert result.tool_results() == {
        "toolu_long": (False, "REPLACED"),
        "toolu_fails": (True, "Exit code 3\nboom"),
    }
