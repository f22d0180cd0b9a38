"""SessionStart tells the model's own shell where the plugin, the store and the session are."""

import subprocess

import pytest

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


def test_an_environment_file_that_cannot_be_written_stops_nothing(run_hook, tmp_path):
    reply, stderr = run_hook(
        "session_start",
        dict(EVENT, transcript_path="/c/projects/-w/s.jsonl"),
        env={"CLAUDE_ENV_FILE": str(tmp_path)},
    )
    assert reply
    assert "not exported" in stderr
