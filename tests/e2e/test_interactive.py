"""The interactive client, once: a plugin installed from its marketplace folder rewrites what the
model reads.
"""

from __future__ import annotations

import pytest

import plugin
import run_claude
import run_claude_tui
import session as script
from contextkernel import marks

pytestmark = pytest.mark.e2e


def test_a_long_output_in_the_interactive_client(tmp_path):
    client = run_claude.default_client()
    if client is None or not run_claude_tui.available():
        pytest.skip("no client (CLAUDE_BIN) or no tmux")
    seen = run_claude_tui.run(
        {
            "turns": [
                {"tools": [script.bash("toolu_long", "cat build.log")]},
                {"tools": [script.bash("toolu_sed", "sed -n 15000,15003p " + script.COPY)]},
                "ALL-DONE",
            ],
            "files": {"build.log": script.build_log()},
            "plugin": plugin.copy_to(str(tmp_path)),
        },
        client,
        str(tmp_path / "run"),
    )
    assert seen["finished"], seen["screen"]
    assert "ALL-DONE" in seen["screen"]
    assert marks.carries_mark(seen["tool_results"]["toolu_long"])
    assert seen["tool_results"]["toolu_sed"] == "\n".join(
        script.build_line(number) for number in range(15000, 15004)
    )
