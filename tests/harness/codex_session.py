"""One session of the real Codex between `bash install.sh` and `bash install.sh --uninstall`,
driven by a scripted model.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import Any

import pytest

import plugin

CODEX = os.environ.get("CODEX_BIN", "")
RUNNER = os.path.join(plugin.ROOT, "tests", "harness", "run_codex.py")
MINE = (
    '# my own settings\n[mcp_servers.other]\ncommand = "true"   # keep this\n\n'
    '[projects."/somewhere"]\ntrust_level = "trusted"\n'
)


def needed() -> None:
    """Skips the test where the client cannot be run, or could reach a network."""
    if not os.access(CODEX, os.X_OK):
        pytest.skip("no Codex client: set CODEX_BIN")
    if not shutil.which("unshare"):
        pytest.skip("no unshare(1): the client could reach a network")


def played(base: Any, root: str, turns: list[Any], **more: Any) -> dict[str, Any]:
    """The runner's result of one session in the folder `base`; `texts`: what the model was sent for
    each call id.

    `more`: scenario keys, and `more_setup`, commands to run after the installation.
    """
    quoted = root.replace("'", "'\\''")
    install = f"bash '{quoted}/install.sh' --no-claude --no-demo"
    scenario = dict(
        {
            "prompt": "go",
            "trust": "none",
            "turns": turns,
            "config_toml": MINE,
            "env": {
                "CODEX_BIN": CODEX,
                "CK_DATA": str(base / "state"),
                "PATH": os.path.dirname(plugin.BASE_PYTHON) + ":" + os.environ["PATH"],
            },
            "setup": [
                "cp $CODEX_HOME/config.toml {root}/before.toml",
                install + " --yes",
                "cp $CODEX_HOME/config.toml {root}/once.toml",
                install + " --yes",
                "cmp {root}/once.toml $CODEX_HOME/config.toml",
            ]
            + more.pop("more_setup", []),
            "after": [
                install.replace(" --no-demo", "") + " --uninstall",
                "cmp {root}/before.toml $CODEX_HOME/config.toml",
                "ls -d $CODEX_HOME/plugins/cache/context-kernel-marketplace",
                f"ls -d {base / 'state'}/codex-bundle",
            ],
        },
        **more,
    )
    (base / "scenario.json").write_text(json.dumps(scenario))
    done = subprocess.run(
        [
            sys.executable,
            RUNNER,
            str(base / "scenario.json"),
            "--codex",
            CODEX,
            "--root",
            str(base),
            "--out",
            str(base / "result.json"),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout.decode("utf-8", "replace")
    result = json.loads((base / "result.json").read_text())
    result["texts"] = {row["call_id"]: row["text"] for row in result["tool_outputs"]}
    return result


def call(use_id: str, name: str, namespace: str | None = None, **arguments: Any) -> dict[str, Any]:
    """A turn with one tool call."""
    return {
        "calls": [
            dict(
                {"name": name, "call_id": use_id, "arguments": arguments},
                **({"namespace": namespace} if namespace else {}),
            )
        ]
    }


def body_of(text: str) -> str:
    """A tool result behind Codex's own lines."""
    return text.split("Output:\n", 1)[1]
