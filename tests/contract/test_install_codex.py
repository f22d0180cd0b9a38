"""Codex found on PATH, without a real one: what --dry-run shows."""

from __future__ import annotations

import os
import subprocess

import plugin


def test_dry_run_shows_the_hooks_and_writes_nothing(plugin_root, tmp_path):
    codex = tmp_path / "codex"
    codex.write_text("#!/bin/sh\necho codex-cli 0.171.0\n")
    codex.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    env = dict(
        os.environ,
        HOME=str(home),
        CODEX_BIN=str(codex),
        CODEX_HOME=str(home / "x"),
        CK_DATA=str(home / "state"),
        PYTHON=plugin.BASE_PYTHON,
    )
    done = subprocess.run(
        ["bash", os.path.join(plugin_root, "install.sh"), "--dry-run", "--no-claude", "--no-demo"],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=60,
    )
    said = done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b"")
    assert "would: build Codex's bundle" in said
    assert "hooks/session_start.py" in said
    assert "hooks/post_tool_use.py" in said
    assert os.listdir(home) == []
