"""The real Codex after `bash install.sh`: outputs replaced in direct mode, left alone in code
mode, MCP tools, out to the byte.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

import codex_session
import plugin
from codex_session import CODEX, body_of, call

pytestmark = pytest.mark.e2e
PRINTS = (
    "python3 -c \"[print('[%05d] compiling module m_%d in %d ms' % (n, n % 97, n * 7919 % 4001)) "
    'for n in range(1, 901)]"'
)
RAW = "".join(
    f"[{n:05}] compiling module m_{n % 97} in {n * 7919 % 4001} ms\n" for n in range(1, 901)
)
FILES = {
    "app.py": "RATE = 3\n\n\ndef total(prices):\n    return sum(prices) * RATE\n",
    "use.py": "from app import total\n\nassert total([1]) == 2\n",
}
TRACE = (
    'Traceback (most recent call last):\n  File "use.py", line 3, in <module>\n'
    "    assert total([1]) == 2\nAssertionError\n"
)


@pytest.fixture(scope="module", autouse=True)
def needed():
    codex_session.needed()


def played(base, root, turns, **more):
    return codex_session.played(base, root, turns, **dict({"files": FILES}, **more))


@pytest.fixture(scope="module")
def direct(tmp_path_factory, plugin_root):
    """A session with a model that calls tools directly."""
    base = tmp_path_factory.mktemp("codex")
    turns = [
        call("long", "exec_command", cmd=PRINTS),
        call("back", "recall", "mcp__kernel", handle=r"$re:recall ([0-9a-f]{12})", lines="500-501"),
        call("fails", "exec_command", cmd=PRINTS + "; exit 3"),
        call("short", "exec_command", cmd="echo hi; exit 4"),
        call("cut", "exec_command", cmd=PRINTS.replace("901", "3001")),
        call("slice", "kernel_repo_slice", "mcp__kernel", symptom=TRACE, repo=str(base / "work")),
        call(
            "symbol",
            "kernel_slice",
            "mcp__kernel",
            file=str(base / "work" / "app.py"),
            symbol="total",
        ),
        {"text": "bye"},
    ]
    result = played(base, plugin_root, turns, model="gpt-5.5")
    return dict(result, state=str(base / "state"))


def test_set_up_twice_and_out_to_the_byte(direct):
    codes = [(row["cmd"], row["rc"], row["out"]) for row in direct["setup"]]
    assert [code for _, code, _ in codes] == [0] * 5, codes
    shown = direct["setup"][1]["out"]
    assert 'hooks/post_tool_use.py" --client codex' in shown
    assert "hooks are trusted" in shown
    codes = [(row["cmd"], row["rc"], row["out"]) for row in direct["after"]]
    assert [code == 0 for _, code, _ in codes] == [True, True, False, False], codes


def test_a_long_output_is_replaced_and_keeps_its_exit_code(direct):
    said = direct["texts"]["long"]
    assert said.startswith("Process exited with code 0\nOutput:\n")
    assert "[ck: " in said
    assert len(said) <= 10000
    assert len(said) < len(RAW) // 5
    kept = [line for line in body_of(said).split("\n") if line and "[ck: " not in line]
    assert kept
    assert all(line + "\n" in RAW for line in kept)
    assert direct["texts"]["fails"].startswith("Process exited with code 3\nOutput:\n")
    assert "[ck: " in direct["texts"]["fails"]


def test_what_codex_had_cut_is_said_not_to_be_stored(direct):
    said = direct["texts"]["cut"]
    assert re.search(r"\[ck: Codex itself cut \d+ tokens out of this output, .*not stored", said)
    assert "not stored" not in direct["texts"]["long"]


def test_the_report_knows_what_codex_showed(direct):
    script = os.path.join(plugin.ROOT, "hooks", "savings.py")
    done = subprocess.run(
        [sys.executable, "-I", "-S", script, "--json"],
        env=dict(os.environ, CK_DATA=direct["state"]),
        stdout=subprocess.PIPE,
        check=True,
    )
    report = json.loads(done.stdout)
    assert report["judged"]["verified"] == 3
    assert report["judged"]["pending"] == 0
    assert report["total"]["host"] > 15000


def test_a_short_output_is_left_alone(direct):
    assert "[ck: " not in direct["texts"]["short"]
    assert "Process exited with code 4" in direct["texts"]["short"]
    assert body_of(direct["texts"]["short"]).strip() == "hi"


def test_recall_and_slices_by_mcp(direct):
    assert body_of(direct["texts"]["back"]).strip("\n") == "\n".join(RAW.split("\n")[499:501])
    assert body_of(direct["texts"]["slice"]).startswith("T2@")
    assert "1. use.py:" in direct["texts"]["slice"]
    assert body_of(direct["texts"]["symbol"]).startswith("T2b@")
    assert "RATE = 3" in direct["texts"]["symbol"]


def test_the_model_is_told_how_hidden_text_comes_back_and_which_skills_there_are(direct):
    first = json.dumps(direct["requests"][0]["body"])
    assert "get it with the MCP tool recall(handle" in first
    names = [
        name
        for name in os.listdir(os.path.join(plugin.ROOT, "skills"))
        if name.startswith("kernel-")
    ]
    assert len(names) >= 6
    assert all(f"context-kernel:{name}" in first for name in names)


def test_code_mode_is_left_alone(tmp_path, plugin_root):
    script = (
        f"const r = await tools.exec_command({{cmd: {json.dumps(PRINTS)}}}); "
        "text(String(r.output.length) + (r.output.includes('[ck: ') ? ' marked' : ' whole'));"
        "text(await tools.mcp__kernel__recall({handle: 'feedfeedfeed'}));"
    )
    turns = [
        {"calls": [{"type": "custom", "name": "exec", "call_id": "script", "input": script}]},
        {"text": "bye"},
    ]
    said = played(tmp_path, plugin_root, turns, model="gpt-6.2-sol")["texts"]["script"]
    assert "Script completed" in said
    assert re.search(rf"\b{len(RAW)} whole", said)
    assert "unknown or expired" in said


def test_hooks_that_nobody_trusted_are_skipped_and_the_person_is_told(tmp_path, plugin_root):
    quoted = plugin_root.replace("'", "'\\''")
    install = f"bash '{quoted}/install.sh' --no-claude --no-demo"
    result = played(
        tmp_path,
        plugin_root,
        [call("long", "exec_command", cmd=PRINTS), {"text": "bye"}],
        model="gpt-5.5",
        setup=[install],
        after=[],
    )
    assert result["setup"][0]["rc"] == 0
    assert "skips its hooks until they are trusted" in result["setup"][0]["out"]
    assert "trusted_hash" not in result["config_toml"]
    assert "[ck: " not in result["texts"]["long"]


def test_a_home_without_config_is_without_it_afterwards(tmp_path, plugin_root):
    env = dict(
        os.environ,
        HOME=str(tmp_path),
        CODEX_HOME=str(tmp_path / "x"),
        CK_DATA=str(tmp_path / "state"),
    )
    for options in (["--yes", "--no-demo"], ["--uninstall"]):
        done = subprocess.run(
            ["bash", os.path.join(plugin_root, "install.sh"), "--no-claude"] + options,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout.decode("utf-8", "replace")
        assert (tmp_path / "x" / "config.toml").exists() is (options[0] == "--yes")


def test_the_configuration_by_hand_loads(tmp_path):
    home = tmp_path / "x"
    home.mkdir()
    with open(os.path.join(plugin.ROOT, "codex", "config.toml"), encoding="utf-8") as handle:
        (home / "config.toml").write_text(
            handle.read().replace("/path/to/context-kernel", plugin.ROOT)
        )
    env = dict(os.environ, HOME=str(tmp_path), CODEX_HOME=str(home))
    trusted = subprocess.run(
        [
            sys.executable,
            os.path.join(plugin.ROOT, "tests", "harness", "codex_hooks_trust.py"),
            "--codex",
            CODEX,
            "trust",
            str(home),
        ],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=str(tmp_path),
        timeout=120,
    )
    rows = trusted.stdout.decode().strip().split("\n")
    assert trusted.returncode == 0, rows
    assert len(rows) == 2, rows
    assert all(row.startswith("trusted enabled") for row in rows), rows
    servers = subprocess.run(
        [CODEX, "mcp", "list"],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        cwd=str(tmp_path),
        timeout=120,
    ).stdout.decode()
    assert "mcp/server.py --client codex" in servers
