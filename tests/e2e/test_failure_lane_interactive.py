"""The failure lane in the interactive client: a command that the user interrupts ends, and the
next failure is shown whole.
"""

from __future__ import annotations

import os

import pytest

import failing_runs
import plugin
import run_claude
import run_claude_tui
import session as script
from contextkernel.clients.claude import shell_prefix

pytestmark = pytest.mark.e2e
SLOW = "echo $$ >pid; python3 gen.py pytest 2000 0; sleep 45; echo never >over"


@pytest.mark.parametrize("key", ["Escape", "C-c"])
def test_an_interrupted_command_and_a_failure_after_it(tmp_path, key):
    client = run_claude.default_client()
    if client is None or not run_claude_tui.available():
        pytest.skip("no client (CLAUDE_BIN) or no tmux")
    with open(failing_runs.__file__, encoding="utf-8") as handle:
        generator = handle.read().split("\n", 1)[1]
    root = str(tmp_path / "run")
    wrapper = shell_prefix.place(
        os.path.join(root, "home", ".local", "state", "context-kernel"),
        plugin.copy_to(str(tmp_path)),
        shell_prefix.interpreter(),
    )
    seen = run_claude_tui.run(
        {
            "turns": [
                {"tools": [script.bash("toolu_slow", SLOW)]},
                {"tools": [script.bash("toolu_fails", "python3 gen.py pytest 2000")]},
                "ALL-DONE",
            ],
            "files": {"gen.py": generator},
            "settings": {"env": {shell_prefix.PREFIX: wrapper}},
            "keys": [[1, 4, [key]], [1, 2, ["go on", "Enter"]]],
        },
        client,
        root,
    )
    assert seen["finished"], seen["screen"]
    assert (
        "interrupted" in seen["tool_results"]["toolu_slow"].lower()
        or "rejected" in seen["tool_results"]["toolu_slow"].lower()
    ), seen["tool_results"]["toolu_slow"][:300]
    text = seen["tool_results"]["toolu_fails"]
    assert text.startswith("Exit code 1\n[ck: exit 1, ")
    assert [needle for needle in failing_runs.needles("pytest", 2000) if needle not in text] == []
    with open(os.path.join(root, "project", "pid"), encoding="utf-8") as handle:
        pid = int(handle.read())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert not os.path.exists(os.path.join(root, "project", "over"))
