"""The failure lane's wrapper by subprocess: nothing about a command changes; after a long
failure its file holds the normal form.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import pytest

import failing_runs
import lane as client
import plugin
from contextkernel import marks
from contextkernel.clients.claude import output_file, shell_prefix
from contextkernel.store import blobs

pytestmark = pytest.mark.skipif(
    os.name != "posix" or client.SHELLS["bash"] is None, reason="needs bash"
)
INTERPRETERS = {
    "installed": [],
    "dash": ["dash"],
    "busybox": ["busybox", "sh"],
    "bash --posix": ["bash", "--posix"],
}
LONG = client.failing("pytest", 300)
ODD_ENVIRONMENT = {
    "odd.name-x": "1",
    "BASH_FUNC_exported%%": "() {  echo from function\n}",
    "EMPTY": "",
    "LINES_": "a\nb",
}


@pytest.fixture
def wrapper(state, plugin_root):
    """The installed copy."""
    return shell_prefix.place(str(state), plugin_root, sys.executable)


@pytest.fixture
def play(wrapper, tmp_path):
    """play(command, …) -> (with the lane, without it): exit codes and texts of one command."""
    count = iter(range(1000))

    def run(command, interpreter=(), shell="bash", with_plain=True, **more):
        argument = client.argument(command, str(tmp_path), shell)
        ours = client.ran(
            list(interpreter) + [wrapper, argument], str(tmp_path / (f"out{next(count):d}")), **more
        )
        plain = (
            client.ran(
                [client.SHELLS[shell], "-c", argument],
                str(tmp_path / (f"out{next(count):d}")),
                **more,
            )
            if with_plain
            else None
        )
        return ours, plain

    return run


def rewritten(ran):
    """The text of a rewritten output, after the checks that all of them must pass."""
    text = ran.text.decode("utf-8", "replace")
    ended = f"exit {ran.code:d}" if ran.code >= 0 else f"ended by signal {-ran.code:d}"
    assert text.startswith(f"[ck: {ended}, "), text[:200]
    assert len(text) < 9900
    return text


def original(text):
    return blobs.get(marks.handles_in(text)[0])


def without_pids(data):
    return re.sub(rb"line 1: +\d+ Killed", b"line 1: PID Killed", data)


def receipts(state):
    rows = []
    for name in sorted(os.listdir(str(state / "spool"))) if (state / "spool").is_dir() else []:
        rows += [json.loads(line) for line in (state / "spool" / name).read_text().splitlines()]
    return [row for row in rows if row["kind"] == "receipt"]


# -- nothing changes -------------------------------------------------------------------------------
@pytest.mark.parametrize("interpreter", INTERPRETERS)
@pytest.mark.parametrize("code", [0, 1, 2, 42, 126, 127, 137, 143, 255])
@pytest.mark.loop(4)
def test_exit_codes(play, interpreter, code):
    if INTERPRETERS[interpreter] and not shutil.which(INTERPRETERS[interpreter][0]):
        pytest.skip("no " + interpreter)
    ours, plain = play(f"echo out; echo err >&2; exit {code:d}", INTERPRETERS[interpreter])
    assert ours == plain == (code, b"out\nerr\n")


@pytest.mark.parametrize(
    "command",
    [
        "no-such-command-at-all",
        "/etc/passwd",
        "set -e; false; echo never",
        "set -o pipefail; false | cat",
        "cat <<'E'\nhe're $x\nE\nfalse",
        "true && (exit 9)",
        "bash -c 'kill -9 $$'",
        "echo 'a'\\''b' \"$HOME\" '!x'; false",
        "printf 'no newline'; false",
        "trap 'echo bye' EXIT; exit 4",
        "exec false",
        "echo $0 $# $-",
        "echo $SHLVL",
        "trap -p; umask; ulimit -n; shopt -p | head -3",
        "exported; echo $?",
    ],
)
@pytest.mark.loop(5)
def test_text_and_code_are_the_same(play, command):
    ours, plain = play(command, env=ODD_ENVIRONMENT)
    assert (ours.code, without_pids(ours.text)) == (plain.code, without_pids(plain.text))


@pytest.mark.parametrize("interpreter", INTERPRETERS)
@pytest.mark.parametrize(
    "name", ["KILL", "TERM", "INT", "HUP", "PIPE", "USR1", "ABRT", "SEGV", "ALRM"]
)
@pytest.mark.loop(3)
def test_a_shell_that_ends_by_a_signal(play, tmp_path, interpreter, name):
    if INTERPRETERS[interpreter] and not shutil.which(INTERPRETERS[interpreter][0]):
        pytest.skip("no " + interpreter)
    ours, plain = play(
        f"echo out; ulimit -c 0; kill -s {name} $$; sleep 5", INTERPRETERS[interpreter]
    )
    assert ours == plain == (-getattr(signal, "SIG" + name), b"out\n")
    ours, plain = play(
        f"ulimit -c 0; trap '' {name if name != 'KILL' else 'TERM'}; kill -s {name} $$; exit "
        f"{128 + getattr(signal, 'SIG' + name):d}"
    )
    assert ours == plain


@pytest.mark.parametrize("name", ["KILL", "TERM"])
def test_a_shell_that_ends_by_a_signal_after_much_output(play, name):
    ours, plain = play(f"{LONG}; kill -s {name} $$")
    assert ours.code == plain.code == -getattr(signal, "SIG" + name)
    assert original(rewritten(ours)) == plain.text


def test_a_locale_that_is_not_installed(state, plugin_root, tmp_path, monkeypatch):
    """bash complains of it at its start: once, as without the lane; and a signal is told all the
    same.
    """
    monkeypatch.setenv("LC_ALL", "xx_YY.UTF-8")
    wrapper = shell_prefix.place(str(state), plugin_root, sys.executable)
    for number, (command, code) in enumerate(
        (
            ("echo out; kill -9 $$", -9),
            ("echo out; echo err >&2; exit 3", 3),
            ("ls /proc/self/fd; printenv LC_ALL", 0),
        )
    ):
        argument = client.argument(command, str(tmp_path))
        ours, plain = (
            client.ran(words + [argument], str(tmp_path / (f"{number:d}-{len(words)}")))
            for words in ([wrapper], [client.SHELLS["bash"], "-c"])
        )
        assert ours == plain
        assert ours.code == code


@pytest.mark.skipif(not os.path.exists("/proc/self/environ"), reason="needs /proc")
@pytest.mark.parametrize(
    "command",
    [
        "false | true; echo $?; echo $SHELLOPTS; bash -c 'echo $SHELLOPTS'; exit 4",
        "echo /nonex*; echo $BASHOPTS; false",
        LONG,
    ],
)
@pytest.mark.parametrize(
    "options",
    [
        {"SHELLOPTS": "pipefail"},
        {"BASHOPTS": "nullglob:extglob"},
        {"SHELLOPTS": "braceexpand:hashall:nounset", "BASHOPTS": "nullglob"},
        {"SHELLOPTS": "errexit"},
    ],
)
@pytest.mark.loop(3)
def test_exported_shell_options_are_the_commands(play, command, options):
    ours, plain = play(command, env=options)
    assert ours.code == plain.code
    assert original(rewritten(ours)) == plain.text if command == LONG else ours == plain


def test_no_variable_of_the_wrapper_can_be_one_of_the_users(play):
    """An exported `prefix` or `shell` that the wrapper assigned would reach the command changed."""
    with open(os.path.join(plugin.ROOT, "hooks", "failure_lane"), encoding="utf-8") as handle:
        code = "\n".join(
            line.partition(" # ")[0]
            for line in handle.read().split("\n")
            if not line.lstrip().startswith("#")
        )
    assigned = set(re.findall(r"(?<![\w$/.{-])([A-Za-z_]\w*)=", code)) | set(
        re.findall(r"\b(?:read -r|for) (\w+)", code)
    )
    assert {name for name in assigned if not name.startswith("ck_")} == {
        "IFS",
        "LC_ALL",
        "SHLVL",
        "SHELLOPTS",
        "BASHOPTS",
    }, "the last two are patterns"
    names = (
        "MOST bash bash_call chained child code early ended found here now options prefix python "
        "rest root script shell signal start state told"
    ).split()
    env = dict({name: "mine" for name in names}, MAKEFLAGS="-s")
    ours, plain = play("env | grep =mine | sort; exit 5", env=env)
    assert ours == plain
    assert ours.text.count(b"=mine") == len(names)
    assert ours.code == 5


def test_environment_and_signals_are_the_same(play):
    command = (
        f"{shlex.quote(sys.executable)} -c 'import os, signal; print(sorted((k, v) for k, v in "
        'os.environb.items() if k != b"_")); print([signal.getsignal(n) for n in (1, 2, 3, '
        "13, 15, 17)])'"
    )
    ours, plain = play(command, env=ODD_ENVIRONMENT)
    assert ours == plain
    assert b"odd.name-x" in ours.text
    assert b"BASH_FUNC_exported%%" in ours.text


def test_the_working_folder_is_told_after_a_success_only(play, tmp_path):
    (tmp_path / "sub").mkdir()
    play(f"cd '{tmp_path / 'sub'}' && true", with_plain=False)
    assert (tmp_path / "cwd").read_text() == f"{tmp_path / 'sub'}\n"
    play("cd / && false", with_plain=False)
    assert (tmp_path / "cwd").read_text() == f"{tmp_path / 'sub'}\n"


def test_standard_input_reaches_the_command(wrapper, tmp_path):
    argument = client.argument("true", str(tmp_path)) + "; cat"
    process = client.started([wrapper, argument], str(tmp_path / "out"), stdin=subprocess.PIPE)
    process.communicate(b"typed\n", timeout=20)
    assert (tmp_path / "out").read_bytes() == b"typed\n"


def test_a_closed_standard_input(wrapper, tmp_path):
    ours = client.ran(
        [
            "/bin/sh",
            "-c",
            'exec "$@" <&-',
            "sh",
            wrapper,
            client.argument("echo ran; exit 6", str(tmp_path)),
        ],
        str(tmp_path / "out"),
    )
    assert ours.code == 6
    assert ours.text == b"ran\n"


def test_output_streams(wrapper, tmp_path):
    process = client.started(
        [wrapper, client.argument("echo first; sleep 20; exit 1", str(tmp_path))],
        str(tmp_path / "out"),
    )
    try:
        assert waited(lambda: (tmp_path / "out").read_bytes() == b"first\n")
        assert process.poll() is None
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def waited(condition, seconds=10):
    end = time.time() + seconds
    while time.time() < end and not condition():
        time.sleep(0.02)
    return condition()


@pytest.mark.parametrize("interpreter", ["installed", "dash"])
@pytest.mark.parametrize("name", ["TERM", "INT", "HUP"])
@pytest.mark.loop(2)
def test_a_signal_reaches_the_command(wrapper, tmp_path, name, interpreter):
    if INTERPRETERS[interpreter] and not shutil.which(INTERPRETERS[interpreter][0]):
        pytest.skip("no " + interpreter)
    argument = client.argument(
        (
            f"echo $$; trap 'echo got {name}; exit 7' {name}; for i in 1 2 3 4 5 6 7 8 9; do "
            "sleep 0.5; done"
        ),
        str(tmp_path),
    )
    process = client.started(INTERPRETERS[interpreter] + [wrapper, argument], str(tmp_path / "out"))
    assert waited(lambda: (tmp_path / "out").read_bytes().endswith(b"\n"))
    process.send_signal(getattr(signal, "SIG" + name))
    assert process.wait(timeout=20) == 7
    assert (tmp_path / "out").read_bytes().endswith(b"got %s\n" % name.encode())


@pytest.mark.parametrize("name", ["TERM", "INT", "HUP"])
def test_a_command_that_dies_of_a_signal(wrapper, tmp_path, name):
    process = client.started(
        [wrapper, client.argument("echo $$; exec sleep 30", str(tmp_path))], str(tmp_path / "out")
    )
    assert waited(lambda: (tmp_path / "out").read_bytes().endswith(b"\n"))
    process.send_signal(getattr(signal, "SIG" + name))
    # as the shell itself would end
    assert process.wait(timeout=20) == -getattr(signal, "SIG" + name)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "out").read_bytes()), 0)


@pytest.mark.parametrize("name", ["TERM", "INT", "HUP"])
@pytest.mark.slow
def test_a_signal_to_the_whole_group(wrapper, tmp_path, name):
    """bash's `wait` may say -1 then, which would be exit 255: often on a busy machine."""
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    codes = []
    try:
        for number in range(25):
            out = str(tmp_path / (f"out{number:d}"))
            process = client.started(
                [wrapper, client.argument("echo ready; exec sleep 30", str(tmp_path))], out
            )
            assert waited(lambda out=out: os.path.getsize(out) > 0)
            os.killpg(process.pid, getattr(signal, "SIG" + name))
            codes.append(process.wait(timeout=20))
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
    assert codes == [-getattr(signal, "SIG" + name)] * 25


@pytest.mark.parametrize(
    "command",
    [
        "kill 0; sleep 1; exit 4",
        "trap 'kill 0' EXIT; echo out; exit 4",
        "trap 'echo usr' USR1; kill -USR1 0; sleep 0.2; echo after; exit 4",
        "trap '' PIPE; kill -PIPE 0; echo after; exit 4",
        "trap '' USR2; kill -USR2 0; echo after",
        "kill -ALRM 0; sleep 1",
        "kill -USR1 $$; sleep 1",
        "trap 'echo x; exit 7' XCPU; kill -XCPU 0; sleep 1",
    ],
)
@pytest.mark.loop(2)
def test_a_command_that_signals_its_group(play, command):
    ours, plain = play(command)
    assert ours == plain


def test_success_and_short_failures_start_no_program(play):
    ours, _ = play("echo fine", with_plain=False, env={"PATH": "/nonexistent"})
    assert ours == (0, b"fine\n")
    ours, _ = play("echo broken; exit 3", with_plain=False, env={"PATH": "/nonexistent"})
    assert ours == (3, b"broken\n")


# -- what is not a Bash tool call ------------------------------------------------------------------
@pytest.mark.parametrize("interpreter", ["installed", "dash"])
def test_hook_commands_and_server_starts_are_replaced_by_exec(wrapper, tmp_path, interpreter):
    done = subprocess.Popen(
        INTERPRETERS[interpreter] + [wrapper, 'echo $$ "$CK_X"; cat; exit 5'],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=dict(os.environ, CK_X="a b"),
    )
    out, _ = done.communicate(b"event")
    assert (out, done.returncode) == (b"%d a b\nevent" % done.pid, 5)


@pytest.mark.parametrize(
    "given, wanted",
    [
        ("printf %s, a b", b"a,b,"),
        ("printf %s, https://x/?a=b&c=$HOME (d)", b"https://x/?a=b&c=$HOME,(d),"),
        ("printf %s, 'quoted one' two", b"quoted one,two,"),
        ("printf %s, {root}/mcp/server.py --x y", b"{root}/mcp/server.py,--x,y,"),
        ("printf %s, {root}/server.py", b"{root}/server.py,"),
        ("printf %s, '{root}/server.py' z", None),
    ],
)
@pytest.mark.loop(2)
def test_a_server_start_of_a_client_that_does_not_quote(wrapper, given, wanted):
    root = "/odd & 'place' of $y \"z\"" if wanted is not None else "/odd place"
    env = dict(
        {name: value for name, value in os.environ.items() if name != "CLAUDE_PROJECT_DIR"},
        CLAUDE_PLUGIN_ROOT=root,
        AI_AGENT="claude-code/2.1.121/harness",
    )
    done = subprocess.run([wrapper, given.replace("{root}", root)], env=env, stdout=subprocess.PIPE)
    assert done.stdout == (
        b"/odd place/server.py,z," if wanted is None else wanted.replace(b"{root}", root.encode())
    )
    hook = subprocess.run(
        [wrapper, "printf '%s,' a | cat"],
        env=dict(env, CLAUDE_PROJECT_DIR="/x"),
        stdout=subprocess.PIPE,
    )
    assert hook.stdout == b"a,"


def test_a_bash_call_without_a_file_is_replaced_by_exec(wrapper, tmp_path):
    done = subprocess.Popen(
        [wrapper, client.argument(f"echo $$; {LONG}", str(tmp_path))],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    out, _ = done.communicate()
    assert out.startswith(b"%d\n=====" % done.pid)
    assert done.returncode == 1
    assert not marks.carries_mark(out.decode())


def test_a_bash_call_without_a_snapshot(wrapper, tmp_path):
    argument = (
        "{ shopt -u extglob || setopt NO_EXTENDED_GLOB; } >/dev/null 2>&1 || true && eval "
        f"{shlex.quote(LONG)} && pwd -P >| {tmp_path / 'cwd'}"
    )
    rewritten(client.ran([wrapper, argument], str(tmp_path / "out")))


# -- after a long failure --------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["pytest", "jest", "cargo", "go", "log"])
@pytest.mark.parametrize("lines", [700, 6000])
@pytest.mark.loop(3)
def test_a_failing_run(play, state, kind, lines):
    ours, plain = play(client.failing(kind, lines))
    text = rewritten(ours)
    assert ours.code == plain.code == 1
    assert [needle for needle in failing_runs.needles(kind, lines) if needle not in text] == []
    assert original(text) == plain.text
    [receipt] = receipts(state)
    assert (receipt["lane"], receipt["raw"], receipt["shown"], receipt["handle"]) == (
        "failure",
        len(plain.text),
        len(ours.text),
        marks.handles_in(text)[0],
    )


def test_the_session_is_in_the_files_path(state, wrapper, tmp_path):
    session = "01dd6361-1259-435b-be83-dbfb86a5228b"
    (tmp_path / session / "tasks").mkdir(parents=True)
    client.ran(
        [wrapper, client.argument(LONG, str(tmp_path))],
        str(tmp_path / session / "tasks" / "b1.output"),
        {"CLAUDE_CODE_SESSION_ID": ""},
    )
    assert [row["session"] for row in receipts(state)] == [session]


def test_the_same_output_gives_the_same_bytes(play):
    first, _ = play(LONG, with_plain=False)
    second, _ = play(LONG, with_plain=False)
    assert first == second


@pytest.mark.parametrize(
    "command",
    [
        LONG + " >&2",
        LONG + " | cat; exit 42",
        "bash -ec " + shlex.quote(LONG + "; echo never"),
        f"set -o pipefail; {LONG} | cat",
        f"{LONG}; no-such-command",
        f"{LONG}; bash -c 'kill -9 $$'",
        f"{LONG} | tr '\\n' '\\r'; exit 3",
        "cat <<'E'\n%s\nE\nexit 2" % ("line of a here-document\n" * 900),
        f"{LONG}; printf 'no newline'; exit 1",
        f"( {LONG} )",
        f"{LONG}; exec false",
    ],
)
@pytest.mark.loop(3)
def test_ways_to_fail(play, command):
    ours, plain = play(command)
    assert ours.code == plain.code
    assert without_pids(original(rewritten(ours))) == without_pids(plain.text)
    assert ours.text.endswith(b"\n") == plain.text.endswith(b"\n")


def test_bytes_that_are_no_text(play):
    command = f"{LONG}; printf '\\377\\376 not utf-8\\n'; printf 'nul \\0 byte\\n'; exit 1"
    ours, plain = play(command)
    text = rewritten(ours)
    assert original(text) == plain.text
    assert b"\0" in plain.text
    assert b"\xff\xfe" in plain.text
    assert "3 failed, 297 passed" in text
    assert "\0" not in text


def test_characters_that_count_twice_in_the_client(play):
    ours, plain = play(
        'for i in $(seq 1 3000); do echo "\U0001f680\U0001f680\U0001f680 case $i \U0001f680 '
        '$((i*i%97)) $RANDOM"; done; exit 1'
    )
    text = rewritten(ours)
    assert len(text.encode("utf-16-le")) // 2 < 9900
    assert original(text).count(b"\n") == plain.text.count(b"\n") == 3000


@pytest.mark.parametrize(
    "command",
    [
        f"{LONG} # ck:raw",
        f"{LONG} | head -300; exit 1",
        "seq 1 20000; grep nothing-at-all /etc/passwd",
        "seq 1 20000; diff /etc/passwd /dev/null",
    ],
)
def test_what_stays_raw(play, state, command):
    ours, plain = play(command)
    assert ours == plain
    assert len(ours.text) > 10000
    assert not receipts(state)


@pytest.mark.parametrize("size", [9000, 9500, 9850])
def test_what_the_client_shows_whole_stays(play, size):
    ours, plain = play(
        f"{shlex.quote(sys.executable)} -c 'import random; random.seed(7); "
        f'print("".join(random.choice("abcdefghij  \\n") for _ in range({size:d}))); '
        "exit(1)'"
    )
    assert ours == plain


def test_what_the_client_shows_whole_but_is_noise(play):
    ours, plain = play(
        'for i in $(seq 1 170); do echo "download of layer $i of 170 is complete, next one '
        "follows\"; done; echo 'ERROR: no space'; exit 1"
    )
    assert 9000 < len(plain.text) < 10000
    assert "ERROR: no space" in rewritten(ours)
    assert len(ours.text) < 5000


def test_only_the_commands_own_bytes_are_rewritten(wrapper, tmp_path):
    (tmp_path / "out").write_bytes(b"before\n" * 2000)
    ours = client.ran([wrapper, client.argument(LONG, str(tmp_path))], str(tmp_path / "out"))
    assert ours.text.startswith(b"before\n" * 2000 + b"[ck: exit 1, ")


def test_the_file_keeps_its_mode_and_inode(wrapper, tmp_path):
    (tmp_path / "out").touch(0o640)
    os.chmod(str(tmp_path / "out"), 0o640)
    before = os.stat(str(tmp_path / "out"))
    rewritten(client.ran([wrapper, client.argument(LONG, str(tmp_path))], str(tmp_path / "out")))
    after = os.stat(str(tmp_path / "out"))
    assert (before.st_ino, before.st_mode) == (after.st_ino, after.st_mode)


@pytest.mark.slow
def test_what_a_process_in_the_background_writes_later_is_kept(play, tmp_path):
    ours, _ = play(f"(sleep 1.5; echo late) & {LONG}", with_plain=False)
    rewritten(ours)
    assert waited(lambda: (tmp_path / "out0").read_bytes() == ours.text + b"late\n")


@pytest.mark.slow
def test_a_file_that_never_rests_is_left_alone(play):
    ours, _ = play(
        (
            "(while sleep 0.001; do echo again; done) & p=$!; (sleep 4; kill $p) >/dev/null "
            f"2>&1 & {LONG}"
        ),
        with_plain=False,
    )
    text = ours.text.decode()
    assert ours.code == 1
    assert "tests/test_ledger.py::test_ledger_10 PASSED" in text or text.startswith("[ck: exit 1, ")


@pytest.mark.skipif(client.SHELLS["zsh"] is None, reason="no zsh")
def test_zsh(play):
    ours, plain = play(
        "echo $ZSH_VERSION ${options[shwordsplit]}; exit 5",
        shell="zsh",
        env={"SHELL": client.SHELLS["zsh"] or ""},
    )
    assert ours == plain
    assert ours.code == 5
    assert ours.text[:1].isdigit()
    ours, plain = play(LONG, shell="zsh", env={"SHELL": client.SHELLS["zsh"] or ""})
    assert original(rewritten(ours)) == plain.text


@pytest.mark.parametrize(
    "override, shell, wanted",
    [
        ("my-bash", "bash", "my-bash"),
        ("", "my-bash", "my-bash"),
        ("gone-bash", "my-bash", "my-bash"),
        ("my-zsh", "my-bash", "my-bash"),
    ],
)
def test_the_shell_that_the_client_would_have_started(wrapper, tmp_path, override, shell, wanted):
    for name in ("my-bash", "my-zsh"):
        os.symlink(client.SHELLS["bash"], str(tmp_path / name))

    def path(name):
        return str(tmp_path / name) if "-" in name else client.SHELLS["bash"]

    ours = client.ran(
        [wrapper, client.argument("echo $BASH; exit 3", str(tmp_path))],
        str(tmp_path / "out"),
        {"SHELL": path(shell), "CLAUDE_CODE_SHELL": path(override) if override else ""},
    )
    assert ours == (3, os.fsencode(path(wanted)) + b"\n")


# -- when something is missing ---------------------------------------------------------------------
def test_the_plugin_is_gone(state, own_plugin_root, tmp_path):
    copy = shell_prefix.place(str(state), own_plugin_root, sys.executable)
    shutil.rmtree(own_plugin_root)
    ours = client.ran(
        [copy, client.argument(LONG, str(tmp_path))],
        str(tmp_path / "out"),
        {"CLAUDE_CONFIG_DIR": str(tmp_path / "none")},
    )
    assert ours.code == 1
    assert ours.text.endswith(b"297 passed in 12.34s ==================\n")
    assert ours.text.startswith(b"=====")


@pytest.mark.slow
def test_the_plugin_moved_into_the_clients_cache(state, own_plugin_root, tmp_path):
    copy = shell_prefix.place(str(state), own_plugin_root, sys.executable)
    target = tmp_path / "config" / "plugins" / "cache" / "market" / "context-kernel" / "9.9.9"
    target.parent.mkdir(parents=True)
    shutil.move(own_plugin_root, str(target))
    rewritten(
        client.ran(
            [copy, client.argument(LONG, str(tmp_path))],
            str(tmp_path / "out"),
            {"CLAUDE_CONFIG_DIR": str(tmp_path / "config")},
        )
    )


def test_a_new_session_of_a_moved_plugin_repairs_the_lane(
    state, own_plugin_root, plugin_root, tmp_path
):
    copy = shell_prefix.place(str(state), own_plugin_root, sys.executable)
    shutil.rmtree(own_plugin_root)
    shell_prefix.refresh(str(state), plugin_root, sys.executable)
    rewritten(client.ran([copy, client.argument(LONG, str(tmp_path))], str(tmp_path / "out")))


def test_python_is_gone(state, plugin_root, tmp_path):
    copy = shell_prefix.place(str(state), plugin_root, "/nonexistent/python3")
    os.mkdir(str(tmp_path / "bin"))
    for name in ("stat", "cat"):
        os.symlink(shutil.which(name), str(tmp_path / "bin" / name))
    ours = client.ran(
        [copy, client.argument(LONG, str(tmp_path))],
        str(tmp_path / "out"),
        {"PATH": str(tmp_path / "bin")},
    )
    assert ours.code == 1
    assert ours.text.startswith(b"=====")
    assert ours.text.endswith(b"=\n")


@pytest.mark.parametrize(
    "mount",
    ["mount -t tmpfs -o ro tmpfs {0}/blobs", "mount -t tmpfs -o size=4k tmpfs {0}/blobs"],
    ids=["read-only", "full disk"],
)
def test_the_store_cannot_be_written(state, wrapper, tmp_path, mount):
    (state / "blobs").mkdir()
    if (
        shutil.which("unshare") is None
        or subprocess.run(
            ["unshare", "-m", "sh", "-c", mount.format(state)], stderr=subprocess.DEVNULL
        ).returncode
    ):
        pytest.skip("no mount namespace of our own here")
    words = [
        "unshare",
        "-m",
        "/bin/sh",
        "-c",
        mount.format(state) + ' && exec "$@"',
        "sh",
        wrapper,
        client.argument(client.failing("pytest", 4000), str(tmp_path)),
    ]
    ours = client.ran(words, str(tmp_path / "out"))
    assert ours.code == 1
    assert ours.text.startswith(b"=====")
    assert ours.text.endswith(b"=\n")
    assert not receipts(state)


@pytest.mark.slow
def test_an_agent_that_is_to_see_raw_text(state, play):
    shell_prefix.leave_note(str(state), LONG, "s-7")
    ours, plain = play(LONG, env={"CLAUDE_CODE_SESSION_ID": "s-8"})
    rewritten(ours)
    ours, _ = play(LONG, env={"CLAUDE_CODE_SESSION_ID": "s-7"}, with_plain=False)
    assert ours == plain
    ours, _ = play(LONG, env={"CLAUDE_CODE_SESSION_ID": "s-7"}, with_plain=False)
    rewritten(ours)


@pytest.mark.slow
def test_while_a_judge_runs_failures_stay_raw(state, play, run_hook):
    event = {
        "session_id": "s-9",
        "agent_id": "a1",
        "agent_type": "context-kernel:kernel-verifier",
        "transcript_path": "",
    }
    run_hook("subagent_start", dict(event, hook_event_name="SubagentStart"))
    ours, plain = play(LONG, env={"CLAUDE_CODE_SESSION_ID": "s-9"})
    assert ours == plain
    run_hook("subagent_stop", dict(event, hook_event_name="SubagentStop"))
    rewritten(play(LONG, env={"CLAUDE_CODE_SESSION_ID": "s-9"}, with_plain=False)[0])
    run_hook("subagent_start", dict(event, hook_event_name="SubagentStart", agent_type="Explore"))
    rewritten(play(LONG, env={"CLAUDE_CODE_SESSION_ID": "s-9"}, with_plain=False)[0])


def test_a_note_speaks_for_an_hour(state, play):
    shell_prefix.leave_note(str(state), LONG, "")
    [note] = [entry for entry in (state / "lane").iterdir() if entry.name.startswith("raw-")]
    os.utime(str(note), (time.time() - 3700, time.time() - 3700))
    rewritten(play(LONG, with_plain=False, env={"CLAUDE_CODE_SESSION_ID": ""})[0])
    shell_prefix.leave_note(str(state), "other", "")
    assert (
        len([entry for entry in (state / "lane").iterdir() if entry.name.startswith("raw-")]) == 1
    )


# -- a user's own prefix ---------------------------------------------------------------------------
@pytest.mark.parametrize("option", ["", " -v x"])
def test_the_users_own_prefix_is_chained(state, wrapper, tmp_path, option):
    own = tmp_path / "my own prefix"
    own.write_text(
        '#!/bin/sh\nprintf "%s\\n" "own $#" >>"$0.log"\nfor last; do :; done\n'
        'exec bash -c "$last"\n'
    )
    own.chmod(0o755)
    (state / "lane" / "chained").write_text(f"{own}{option}\n")
    rewritten(client.ran([wrapper, client.argument(LONG, str(tmp_path))], str(tmp_path / "out")))
    done = subprocess.run([wrapper, "echo hook"], stdout=subprocess.PIPE)
    assert done.stdout == b"hook\n"
    assert (tmp_path / "my own prefix.log").read_text() == ("own 3\n" if option else "own 1\n") * 2


# -- macOS, by code --------------------------------------------------------------------------------
def test_macos_names_the_file_by_fcntl(monkeypatch, tmp_path):
    import fcntl

    path = tmp_path / "out"
    path.write_bytes(b"x" * 50)
    asked = []
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(
        fcntl,
        "fcntl",
        lambda number, what, room: (
            asked.append((what, len(room))) or os.fsencode(str(path)).ljust(len(room), b"\0")
        ),
    )
    with open(str(path), "ab") as handle:
        file = output_file.opened(handle.fileno(), 0)
        assert asked == [(50, 1024)]
        assert file.read() == b"x" * 50
        assert file.replace(b"x" * 50, b"new")
        assert path.read_bytes() == b"new"
        file.close()
        (tmp_path / "other").write_bytes(b"")
        monkeypatch.setattr(
            fcntl,
            "fcntl",
            lambda number, what, room: os.fsencode(str(tmp_path / "other")).ljust(len(room), b"\0"),
        )
        assert output_file.opened(handle.fileno(), 0) is None


def test_a_file_that_changed_is_not_replaced(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"x" * 50)
    with open(str(path), "ab") as handle:
        file = output_file.opened(handle.fileno(), 0)
        os.write(handle.fileno(), b"late")
        assert not file.replace(b"x" * 50, b"new")
        assert path.read_bytes() == b"x" * 50 + b"late"
        file.close()


def test_a_pipe_is_no_output_file():
    read, write = os.pipe()
    assert output_file.opened(write, 0) is None
    os.close(read)
    os.close(write)
