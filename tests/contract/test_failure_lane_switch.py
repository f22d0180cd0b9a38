"""`ck.py failure-lane on|off|status`: the settings file is changed narrowly and put back to the
byte; the event that links or advises.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import pytest

from contextkernel.clients.claude import shell_prefix, truncation

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a shell wrapper")
STYLES = {
    "two blanks": b'{\n  "model": "opus",\n  "env": {\n    "A": "1"\n  },\n  "hooks": {}\n}\n',
    "four blanks, no newline": b'{\n    "z": 1,\n    "a": [\n        2\n    ]\n}',
    "one line": b'{"permissions": {"allow": ["Bash(ls:*)"]}, "env": {}}',
    "tabs, CRLF": b'{\r\n\t"b": "\xc3\xa9",\r\n\t"a": null\r\n}\r\n',
    "BOM": b'\xef\xbb\xbf{\n  "a": 1\n}\n',
    "empty": b"",
    "braces": b"{}",
}


@pytest.fixture
def config(tmp_path, monkeypatch):
    (tmp_path / "config").mkdir()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.delenv(shell_prefix.PREFIX, raising=False)
    return tmp_path / "config" / "settings.json"


@pytest.fixture
def switch(state, plugin_root, config):
    def run(*words, code=0, **env):
        done = subprocess.run(
            [
                sys.executable,
                "-I",
                "-S",
                os.path.join(plugin_root, "hooks", "ck.py"),
                "failure-lane",
            ]
            + list(words),
            env=dict(os.environ, **env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=60,
        )
        assert done.returncode == code, done.stderr.decode()
        return (done.stdout + done.stderr).decode()

    return run


def ours(state):
    return str(state / "bin" / "failure-lane")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.loop(2)
def test_on_adds_one_key_and_off_restores_the_bytes(switch, state, config, style):
    config.write_bytes(STYLES[style])
    os.chmod(str(config), 0o640)
    before = json.loads(STYLES[style].decode("utf-8-sig") or "{}")
    switch("on", "--yes")
    after = json.loads(config.read_bytes().decode("utf-8-sig"))
    assert after["env"].pop(shell_prefix.PREFIX) == ours(state)
    assert list(after) == list(before) + (["env"] if "env" not in before else [])
    assert {**after, "env": None} == {**before, "env": None}
    assert after["env"] == before.get("env", {})
    assert os.stat(str(config)).st_mode & 0o777 == 0o640
    assert switch("status").startswith("on: ")
    switch("off")
    assert config.read_bytes() == STYLES[style]
    assert os.stat(str(config)).st_mode & 0o777 == 0o640
    assert switch("status").startswith("off: ")


def test_no_settings_file_before_none_after(switch, config):
    switch("on", "--yes")
    assert config.exists()
    switch("off")
    assert not config.exists()


def test_on_twice_is_on_once(switch, state, config):
    config.write_bytes(STYLES["two blanks"])
    switch("on", "--yes")
    first, wrapper = config.read_bytes(), pathlib.Path(ours(state)).read_bytes()
    switch("on", "--yes")
    assert config.read_bytes() == first
    assert pathlib.Path(ours(state)).read_bytes() == wrapper
    switch("off")
    switch("off")
    assert config.read_bytes() == STYLES["two blanks"]


def test_what_the_user_changed_since_stays(switch, state, config):
    config.write_bytes(STYLES["four blanks, no newline"])
    switch("on", "--yes")
    now = json.loads(config.read_text())
    now["theme"] = "dark"
    config.write_text(json.dumps(now, indent=4))
    switch("off")
    assert json.loads(config.read_text()) == {"z": 1, "a": [2], "theme": "dark"}


def test_a_prefix_that_was_there_is_chained_and_comes_back(switch, state, config):
    config.write_text(
        f'{{\n  "env": {{"{shell_prefix.PREFIX}": "/usr/bin/env -v", "B": "2"}}\n}}\n'
    )
    before = config.read_bytes()
    assert "/usr/bin/env -v" in switch("on", "--yes")
    assert (state / "lane" / "chained").read_text() == "/usr/bin/env -v\n"
    switch("on", "--yes")
    assert (state / "lane" / "chained").read_text() == "/usr/bin/env -v\n"
    changed = json.loads(config.read_text())
    config.write_text(json.dumps(dict(changed, extra=1)))
    switch("off")
    assert json.loads(config.read_text()) == dict(json.loads(before), extra=1)


def test_a_prefix_of_the_environment_is_chained(switch, state, config):
    switch("on", "--yes", **{shell_prefix.PREFIX: "/usr/bin/env"})
    assert (state / "lane" / "chained").read_text() == "/usr/bin/env\n"


def test_a_prefix_that_the_user_set_afterwards_is_not_taken_out(switch, state, config):
    switch("on", "--yes")
    config.write_text(f'{{"env": {{"{shell_prefix.PREFIX}": "/theirs"}}}}')
    switch("off")
    assert json.loads(config.read_text()) == {"env": {shell_prefix.PREFIX: "/theirs"}}


@pytest.mark.parametrize(
    "raw", [b'{"a": 1, // note\n}', b'{"a": 1, "a": 2}', b"[]", b'{"env": []}', b"\xff\xfe{}"]
)
def test_what_cannot_be_changed_safely_is_refused(switch, state, config, raw):
    config.write_bytes(raw)
    assert str(config) in switch("on", "--yes", code=1) or b"env" in raw
    assert config.read_bytes() == raw


def test_a_linked_settings_file_stays_a_link(switch, config, tmp_path):
    (tmp_path / "dotfiles.json").write_bytes(STYLES["two blanks"])
    os.symlink(str(tmp_path / "dotfiles.json"), str(config))
    switch("on", "--yes")
    assert os.path.islink(str(config))
    assert shell_prefix.PREFIX in (tmp_path / "dotfiles.json").read_text()
    switch("off")
    assert os.path.islink(str(config))
    assert (tmp_path / "dotfiles.json").read_bytes() == STYLES["two blanks"]


def test_nobody_agreed(switch, config):
    assert "on --yes" in switch("on", code=1)
    assert not config.exists()


@pytest.mark.parametrize("words", [[], ["maybe"], ["off", "--yes"], ["on", "-y"]])
def test_a_wrong_call(switch, words):
    said = switch(*words, code=2)
    assert said.startswith("ck.py failure-lane: ")
    assert said.count("\n") == 1


def test_a_state_folder_that_the_client_would_split(plugin_root, config, tmp_path):
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            os.path.join(plugin_root, "hooks", "ck.py"),
            "failure-lane",
            "on",
            "--yes",
        ],
        env=dict(os.environ, CK_DATA=str(tmp_path / "a -b")),
        stderr=subprocess.PIPE,
    )
    assert done.returncode == 1
    assert b"' -'" in done.stderr
    assert not config.exists()


def test_a_wrapper_that_does_not_run_is_not_named(switch, state, config, own_plugin_root):
    with open(
        os.path.join(own_plugin_root, "hooks", "failure_lane"), "w", encoding="utf-8"
    ) as handle:
        handle.write("#!/bin/sh\nexit 1\n")
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            os.path.join(own_plugin_root, "hooks", "ck.py"),
            "failure-lane",
            "on",
            "--yes",
        ],
        env=dict(os.environ),
        stderr=subprocess.PIPE,
    )
    assert done.returncode == 1
    assert b"trial" in done.stderr
    assert not config.exists()


def test_off_leaves_a_copy_that_passes_through(switch, state):
    switch("on", "--yes")
    switch("off")
    assert (
        subprocess.run([ours(state), "echo $0; exit 42"], stdout=subprocess.PIPE).returncode == 42
    )


# -- the event after a failure ---------------------------------------------------------------------
def cut_text(hidden, kept_lines="step %d of a long run\n"):
    body = "".join(kept_lines % n for n in range(1200))[:10000]
    return (
        f"Exit code 1\n{body[:4988]}\n\n... [{hidden:d} characters truncated] ...\n\n{body[5000:]}"
    )


def failure(error, command="make test", **more):
    return dict(
        {
            "hook_event_name": "PostToolUseFailure",
            "session_id": "s-1",
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "tool_use_id": "toolu_9",
            "error": error,
            "is_interrupt": False,
            "transcript_path": "",
            "cwd": "/",
        },
        **more,
    )


def said(reply):
    return reply["hookSpecificOutput"]["additionalContext"] if reply else ""


def test_a_cut_is_spoken_of_once_per_command(run_hook):
    first, _ = run_hook("post_tool_use_failure", failure(cut_text(4000)))
    assert "4000 characters" in said(first)
    assert "never read its end" not in said(first)
    assert "kernel_repo_slice" not in said(first)
    assert run_hook("post_tool_use_failure", failure(cut_text(4000)))[0] is None
    other, _ = run_hook("post_tool_use_failure", failure(cut_text(20012), command="make lint"))
    assert "never read its end" in said(other)


def test_a_cut_traceback_is_worth_a_slice(run_hook):
    text = cut_text(4000).replace(
        "step 3 of a long run",
        (
            'Traceback (most recent call last):\n  File "/srv/app/core.py", line 3, in run\n'
            "ValueError: no price"
        ),
    )
    assert "kernel_repo_slice" in said(run_hook("post_tool_use_failure", failure(text))[0])


@pytest.mark.parametrize(
    "event",
    [
        failure("Exit code 1\nshort"),
        failure("Exit code 1\n" + "x" * 9000),
        failure(cut_text(4000), tool_name="Read"),
        failure(cut_text(4000), command="make # ck:raw"),
        failure("Exit code 1\nquoted:\n\n... [12 characters truncated] ...\n\nend" + "x" * 200),
    ],
)
def test_nothing_is_said(run_hook, event):
    assert run_hook("post_tool_use_failure", event)[0] is None


def test_nothing_is_said_with_the_lane_on(run_hook, switch):
    switch("on", "--yes")
    assert run_hook("post_tool_use_failure", failure(cut_text(4000)))[0] is None


def test_a_rewritten_failure_is_linked_and_its_original_laid_ready(run_hook, state, tmp_path):
    from contextkernel.store import blobs

    raw = b"line\n" * 4000
    handle = blobs.put(raw)
    transcript = tmp_path / "projects" / "-p" / "s-1.jsonl"
    transcript.parent.mkdir(parents=True)
    event = failure(
        f"Exit code 1\n[ck: exit 1, 4000 lines, 2 shown; recall {handle}]\nline\nline" + " " * 100,
        agent_id="a7",
        agent_type="Explore",
        transcript_path=str(transcript),
    )
    assert run_hook("post_tool_use_failure", event)[0] is None
    [row] = [
        json.loads(line)
        for name in os.listdir(str(state / "spool"))
        for line in (state / "spool" / name).read_text().splitlines()
    ]
    assert (
        row["kind"],
        row["handle"],
        row["session"],
        row["tool_use_id"],
        row["agent"],
        row["agent_type"],
    ) == ("link", handle, "s-1", "toolu_9", "a7", "Explore")
    assert (
        tmp_path / "projects" / "-p" / "s-1" / "tool-results" / (f"ck-{handle}.txt")
    ).read_bytes() == raw


@pytest.mark.parametrize(
    "total, wanted", [(10001, (1, False)), (29999, (19999, False)), (30012, (20012, True))]
)
def test_what_a_cut_says_about_the_end(total, wanted):
    assert (
        truncation.cut_in(
            "a" * 5000 + f"\n\n... [{total - 10000:d} characters truncated] ...\n\n" + "b" * 5000
        )
        == wanted
    )


def test_a_mark_further_down_is_no_verdict():
    assert (
        truncation.rewritten_in(
            "Exit code 1\n" + "x\n" * 300 + "[ck: exit 1, 3 lines, 2 shown; recall 0123456789ab]"
        )
        == ""
    )


def test_a_session_of_a_moved_plugin_takes_the_lane_over(run_hook, switch, state, own_plugin_root):
    switch("on", "--yes")
    run_hook(
        "session_start",
        {
            "hook_event_name": "SessionStart",
            "source": "startup",
            "session_id": "s-1",
            "transcript_path": "",
            "cwd": "/",
        },
        root=own_plugin_root,
    )
    assert (state / "lane" / "where").read_text().split("\n")[1] == os.path.realpath(
        own_plugin_root
    )
    switch("off")
    run_hook(
        "session_start",
        {
            "hook_event_name": "SessionStart",
            "source": "startup",
            "session_id": "s-2",
            "transcript_path": "",
            "cwd": "/",
        },
        root=own_plugin_root,
    )
    assert not (state / "lane" / "where").exists()
