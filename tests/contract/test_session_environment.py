"""SessionStart tells the model's own shell where the plugin, the store and the session are."""

import glob
import json
import os
import re
import subprocess
import sys

import pytest

import plugin

EVENT = {"hook_event_name": "SessionStart", "source": "startup", "session_id": "s", "cwd": "/w"}


@pytest.mark.parametrize(
    "transcript", ["/c/projects/-w/s.jsonl", '/it\'s "here"/$HOME/`x`/s.jsonl', ""]
)
def test_what_is_exported(run_hook, plugin_root, state, tmp_path, transcript):
    file = tmp_path / "env.sh"
    run_hook(
        "session_start", dict(EVENT, transcript_path=transcript), env={"CLAUDE_ENV_FILE": str(file)}
    )
    shell = subprocess.run(
        ["bash", "-c", '. "$0"; printf "%s\\n" "$CK_ROOT" "$CK_DATA" "$CK_TRANSCRIPT"', str(file)],
        stdout=subprocess.PIPE,
        check=True,
    )
    assert shell.stdout.decode() == f"{plugin_root}\n{state}\n{transcript}\n"


def test_nothing_is_written_without_an_environment_file(run_hook):
    reply, stderr = run_hook("session_start", dict(EVENT, transcript_path="/c/projects/-w/s.jsonl"))
    assert "recall HANDLE" in reply["hookSpecificOutput"]["additionalContext"]
    assert stderr == ""


@pytest.mark.parametrize("name", ["session_start", "subagent_start", "codex"])
def test_the_model_is_told_the_path_of_ck_py_as_a_word_of_its_shell(
    plugin_root, state, tmp_path, name
):
    given = dict(EVENT, transcript_path="/c/projects/-w/s.jsonl")
    script, client = ("session_start", "codex") if name == "codex" else (name, "claude")
    start = [sys.executable, "-I", "-S", f"{plugin_root}/hooks/{script}.py", "--client", client]
    reply = subprocess.run(start, input=json.dumps(given).encode(), stdout=subprocess.PIPE).stdout
    said = json.loads(reply)["hookSpecificOutput"]["additionalContext"]
    [word] = re.findall(r"CK_PY in its skills is (.*)\.$", said)
    done = subprocess.run(
        ["sh", "-c", f'printf "%s\n" {word}; python3 -I -S {word} recall feedfeedfeed'],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert done.stdout.decode() == os.path.join(plugin_root, "hooks", "ck.py") + "\n"
    assert b"unknown or expired" in done.stderr


@pytest.mark.parametrize("path", ["/a/b-c_d.py", "/a b/c", "/it's/$HOME/`x`", "/ü/x", "/a;b"])
def test_a_path_as_one_word(path):
    from contextkernel.handlers import session

    done = subprocess.run(
        ["sh", "-c", f'printf "%s" {session.quoted(path)}'], stdout=subprocess.PIPE, check=True
    )
    assert done.stdout.decode() == path


TEXTS = sorted(
    os.path.relpath(path, plugin.ROOT)
    for pattern in ("skills/*/SKILL.md", "agents/*.md")
    for path in glob.glob(os.path.join(plugin.ROOT, pattern))
)


@pytest.mark.parametrize("name", TEXTS)
def test_no_text_for_the_model_names_a_script_by_a_variable(name):
    with open(os.path.join(plugin.ROOT, name), encoding="utf-8") as handle:
        text = handle.read()
    assert "$CK_" not in text
    assert "CK_PY" not in text or "`CK_PY`" in text  # what it stands for


def test_an_environment_file_that_cannot_be_written_stops_nothing(run_hook, tmp_path):
    reply, stderr = run_hook(
        "session_start",
        dict(EVENT, transcript_path="/c/projects/-w/s.jsonl"),
        env={"CLAUDE_ENV_FILE": str(tmp_path)},
    )
    assert reply
    assert "not exported" in stderr
