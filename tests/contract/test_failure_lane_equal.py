"""With the wrapper as without it: groups, variables, locales, shells that are gone, and the bash
of macOS (CK_BASH32 names one).
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

import lane as client
from contextkernel import marks
from contextkernel.clients import lane_keys
from contextkernel.clients.claude import settings_file, shell_prefix
from contextkernel.store import blobs

pytestmark = pytest.mark.skipif(
    os.name != "posix" or client.SHELLS["bash"] is None, reason="needs bash"
)
OLD_BASH = os.environ.get("CK_BASH32", "")
LONG = client.failing("pytest", 300)
STARTS = ("installed", "no setsid", "old bash", "old bash, no setsid")


@pytest.fixture(params=STARTS)
def wrapper(request, state, plugin_root):
    """The installed copy, started by this machine's bash or by 3.2, with setsid or (as on macOS)
    without.
    """
    path = shell_prefix.place(str(state), plugin_root, sys.executable)
    with open(path, "rb") as file:
        body = file.read()
    if "old bash" in request.param:
        if not OLD_BASH:
            pytest.skip("NO BASH 3.2: CK_BASH32 names none, the shell of macOS stays untried")
        body = b"#!" + os.fsencode(OLD_BASH) + b" -p\n" + body.split(b"\n", 1)[1]
    if "no setsid" in request.param:
        assert b"/usr/bin/setsid" in body
        body = body.replace(b"/usr/bin/setsid", b"/nonexistent/setsid")
    settings_file.write(path, body)
    return path


@pytest.fixture
def play(wrapper, tmp_path):
    count = iter(range(1000))

    def run(command, env=None, shell="bash"):
        argument = client.argument(command, str(tmp_path), shell)
        ours = client.ran([wrapper, argument], str(tmp_path / (f"out{next(count):d}")), env)
        plain = client.ran(
            [client.SHELLS[shell], "-c", argument], str(tmp_path / (f"out{next(count):d}")), env
        )
        return ours, plain

    return run


VOLATILE = (
    r"grep -av '^\(declare [-a-zA-Z]* "
    r"\)\?\(_\|BASHPID\|PPID\|RANDOM\|SRANDOM\|SECONDS\|EPOCH[A-Z]*\|BASH_EXECUTION_STRING\|PIPESTATUS\|BASH_ARG[CV]\)='"
)


@pytest.mark.parametrize(
    "env",
    [
        {},
        {"ck_state": "/x"},
        {"ck_code": "7", "ck_child": "8", "ck_most": "1", "ck_key": "-x"},
        {"ck_here": "a\nb", "ck_none": "'\"$x`\\"},
        {"ck_": "", "CK_X": "1"},
        {"ck_python": "\u00e9"},
        {
            "ck_shell": "/bin/false",
            "ck_prefix": "/bin/false",
            "ck_chained": "/bin/false",
            "ck_found": "y",
        },
        {"IFS": "x"},
        {"OPTIND": "3"},
        {"REPLY": "r"},
        {"SHLVL": "5"},
        {"OLDPWD": "/"},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "command",
    [
        "env -0 | sort -z | tr '\\0' '\\n' | grep -av '^_='; exit 3",
        f"set | {VOLATILE}; exit 3",
        f"declare -p | {VOLATILE}; exit 3",
        "declare -F; export -p | md5sum; false",
    ],
)
@pytest.mark.loop(5)
def test_variables(play, command, env, monkeypatch, request):
    monkeypatch.delenv("OLDPWD", raising=False)
    if "OLDPWD" in env and "old bash" in request.node.name:
        pytest.skip("bash before 4.4 forgets the OLDPWD that it is started with")
    ours, plain = play(command, env)
    assert ours == plain


@pytest.mark.parametrize(
    "command",
    [
        "kill -0 -- -$$; echo $?",
        "kill -TERM -- -$$; echo after",
        "kill -- -$$; echo after",
        "kill -KILL -- -$$",
        "trap 'echo got' USR1; kill -USR1 -- -$$; echo after; exit 4",
        "sleep 9 & kill 0",
        "trap '' TERM; kill -TERM -- -$$; echo after; exit 5",
        "trap 'exit 9' HUP; kill -HUP 0; sleep 1",
        "bash -c 'kill -TERM -- -$PPID'; sleep 1; echo after",
        "python3 -I -S -c 'import os; print(os.getpgrp() == os.getppid())'; exit 3",
        "set -m; sleep 0.1 & fg; echo $?",
        "trap 'kill 0' EXIT; echo out; exit 4",
        "kill -QUIT 0; sleep 1",
    ],
)
@pytest.mark.loop(4)
def test_groups(play, command):
    ours, plain = play("ulimit -c 0; " + command)
    assert ours == plain


@pytest.mark.parametrize("last", ["exit 3", "exit 137", "kill -TERM $$", "true"])
@pytest.mark.slow
def test_a_command_that_is_stopped_and_goes_on(play, last):
    ours, plain = play("(sleep 0.4; kill -CONT $$) & kill -STOP $$; echo after; " + last)
    assert ours == plain
    assert ours.text == b"after\n"


@pytest.mark.parametrize("code", [0, 1, 2, 42, 126, 127, 129, 137, 143, 255])
@pytest.mark.loop(3)
def test_exit_codes(play, code):
    ours, plain = play(f"echo out; echo err >&2; exit {code:d}")
    assert ours == plain == (code, b"out\nerr\n")


@pytest.mark.parametrize(
    "name", ["KILL", "TERM", "INT", "HUP", "PIPE", "USR1", "ABRT", "SEGV", "ALRM"]
)
@pytest.mark.loop(3)
def test_a_shell_that_ends_by_a_signal(play, name):
    ours, plain = play(f"echo out; ulimit -c 0; kill -s {name} $$; sleep 5")
    assert ours == plain == (-getattr(signal, "SIG" + name), b"out\n")


def test_a_long_failure(play):
    ours, plain = play(LONG)
    text = ours.text.decode()
    assert ours.code == plain.code == 1
    assert text.startswith("[ck: exit 1, ")
    assert blobs.get(marks.handles_in(text)[0]) == plain.text


@pytest.mark.parametrize("name", ["KILL", "TERM"])
@pytest.mark.loop(2)
def test_a_long_output_and_a_signal(play, name):
    ours, plain = play(f"{LONG}; kill -s {name} $$")
    assert ours.code == plain.code == -getattr(signal, "SIG" + name)
    assert ours.text.startswith(b"[ck: ended by signal %d, " % getattr(signal, "SIG" + name))


@pytest.mark.parametrize("name", ["TERM", "INT", "HUP", "USR1", "QUIT"])
@pytest.mark.parametrize("to", [os.kill, os.killpg], ids=["process", "group"])
@pytest.mark.loop(3)
def test_a_signal_of_the_clients_reaches_the_command(wrapper, tmp_path, name, to):
    command = (
        f"trap 'echo got {name}; exit 7' {name}; echo ready; for i in 1 2 3 4 5 6 7 8 9; do "
        "sleep 0.5 & wait $!; done"
    )
    process = client.started(
        [wrapper, client.argument(command, str(tmp_path))], str(tmp_path / "out")
    )
    until = time.time() + 20
    while time.time() < until and b"ready" not in (tmp_path / "out").read_bytes():
        time.sleep(0.02)
    to(process.pid, getattr(signal, "SIG" + name))
    assert process.wait(timeout=20) == 7
    assert (tmp_path / "out").read_bytes().endswith(b"got %s\n" % name.encode())


@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "xx_YY"},
        {"LC_ALL": "xx_YY.UTF-8"},
        {"LC_CTYPE": "UTF-9"},
        {"LC_COLLATE": "qq"},
        {"LANG": "xx_YY"},
        {"LC_ALL": "xx_YY", "LC_CTYPE": "zz"},
        {"LC_MESSAGES": "zz"},
        {"LC_ALL": "xx\u00e9"},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "command", ["echo out; exit 3", "exit 0", "kill -TERM $$", "printenv LC_ALL LC_CTYPE; false"]
)
@pytest.mark.loop(4)
def test_a_locale_that_is_not_installed(play, command, env):
    ours, plain = play(command, env)
    assert ours == plain


def test_without_proc_everything_passes(wrapper, tmp_path):
    hidden = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs tmpfs /proc && exec "$@"', "sh"]
    if (
        shutil.which("unshare") is None
        or subprocess.run(hidden + ["true"], stderr=subprocess.DEVNULL).returncode
    ):
        pytest.skip("no mount namespace of our own here")
    for number, command in enumerate(
        ("echo out; exit 3", LONG, "kill -TERM $$", "echo $0 $# $-; kill -0 -- -$$; echo $?")
    ):
        argument = client.argument(command, str(tmp_path))
        ours, plain = (
            client.ran(hidden + words + [argument], str(tmp_path / (f"{number}-{len(words)}")))
            for words in ([wrapper], [client.SHELLS["bash"], "-c"])
        )
        assert ours == plain


# -- a bash that moves, or is not there ------------------------------------------------------------
def without_system_bash(words):
    return [
        "unshare",
        "-m",
        "sh",
        "-c",
        'mount --bind /dev/null /bin/bash; exec "$@"',
        "sh",
    ] + words


@pytest.fixture
def hides():
    if (
        shutil.which("unshare") is None
        or subprocess.run(without_system_bash(["true"]), stderr=subprocess.DEVNULL).returncode
    ):
        pytest.skip("no mount namespace of our own here")


def switched(plugin_root, verb, words=(), env=None, **more):
    argv = [
        sys.executable,
        "-I",
        "-S",
        os.path.join(plugin_root, "hooks", "ck.py"),
        "failure-lane",
        verb,
        *words,
    ]
    return subprocess.run(
        more.pop("around", lambda given: given)(argv),
        env=dict(os.environ, **(env or {})),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=120,
    )


def test_a_bash_that_moves(hides, plugin_root, state, tmp_path):
    old, new = tmp_path / "store" / "old" / "bin", tmp_path / "store" / "new" / "bin"
    old.mkdir(parents=True)
    shutil.copy("/bin/bash", str(old))
    env = {
        "CLAUDE_CONFIG_DIR": str(tmp_path / "config"),
        "SHELL": str(old / "bash"),
        "PATH": f"{old}:{os.environ['PATH']}",
    }
    assert switched(plugin_root, "on", ["--yes"], env, around=without_system_bash).returncode == 0
    wrapper = str(state / "bin" / "failure-lane")
    with open(wrapper, "rb") as file:
        assert str(tmp_path).encode() not in file.read()
    os.rename(str(old.parent), str(new.parent))
    for shell in (str(new / "bash"), str(old / "bash"), "", "/nonexistent/bash"):
        env.update(SHELL=shell, PATH=f"{new}:{os.environ['PATH']}")
        ours = client.ran(
            without_system_bash([wrapper, client.argument("echo hello; exit 3", str(tmp_path))]),
            str(tmp_path / ("out" + shell.replace("/", "_"))),
            env,
        )
        assert ours == (3, b"hello\n")


def test_no_bash_at_all(hides, plugin_root, state, tmp_path):
    bare = tmp_path / "bin"
    bare.mkdir()
    for name in ("sh", "env", "stat", "cat"):
        os.symlink(shutil.which(name), str(bare / name))
    bash_less = ["/usr/bin/env", f"PATH={bare}"]
    done = switched(
        plugin_root,
        "on",
        ["--yes"],
        {"CLAUDE_CONFIG_DIR": str(tmp_path / "config")},
        around=lambda words: without_system_bash(bash_less + words),
    )
    assert done.returncode == 1
    assert b"bash" in done.stderr
    assert not (tmp_path / "config" / "settings.json").exists()
    wrapper = shell_prefix.place(str(state), plugin_root, sys.executable)
    with open(wrapper, "rb") as file:
        body = file.read()
    settings_file.write(wrapper, b"#!/bin/sh\n" + body.split(b"\n", 1)[1])
    for argument, wanted in (("echo out; exit 3 # pwd -P >| ", 3), ("echo hook; exit 5", 5)):
        words = bash_less + ["SHELL=/bin/sh", wrapper, argument]
        ours = client.ran(without_system_bash(words), str(tmp_path / (f"out{wanted:d}")))
        assert ours.code == wanted
        assert ours.text.startswith((b"out", b"hook"))


def test_a_trial_that_fails_says_why(own_plugin_root, state, tmp_path):
    source = os.path.join(own_plugin_root, "hooks", "failure_lane")
    with open(source, encoding="utf-8") as file:
        body = file.read()
    with open(source, "w", encoding="utf-8") as file:
        without = body.replace('set -- /usr/bin/setsid "$@"', ":").replace("else set -m", "else :")
        assert without != body
        file.write(without)
    done = switched(
        own_plugin_root, "on", ["--yes"], {"CLAUDE_CONFIG_DIR": str(tmp_path / "config")}
    )
    assert done.returncode == 1
    assert b"trial" in done.stderr
    assert not (tmp_path / "config" / "settings.json").exists()
    assert [name for name in os.listdir(str(state / "lane")) if name.endswith(".tmp")] == []


# -- several settings files, one state folder ------------------------------------------------------
def prefix_in(folder):
    import json

    return json.loads((folder / "settings.json").read_text())["env"][shell_prefix.PREFIX]


@pytest.fixture
def folders(tmp_path):
    """Three configurations: the second has a prefix of its own."""
    made = [tmp_path / name for name in ("a", "b", "c")]
    own = tmp_path / "sandbox"
    own.write_text('#!/bin/sh\necho "[sandbox]"\nexec /bin/sh -c "$1"\n')
    own.chmod(0o755)
    for folder in made:
        folder.mkdir()
        (folder / "settings.json").write_text(
            "{}\n" if folder.name != "b" else f'{{"env": {{"{shell_prefix.PREFIX}": "{own}"}}}}\n'
        )
    return made


@pytest.mark.parametrize("order", ["abc", "bac", "cba"])
@pytest.mark.slow
def test_each_settings_file_keeps_its_own_prefix(plugin_root, state, tmp_path, folders, order):
    by_name = {folder.name: folder for folder in folders}
    before = {
        name: folder.joinpath("settings.json").read_bytes() for name, folder in by_name.items()
    }
    for name in order:
        done = switched(plugin_root, "on", ["--yes"], {"CLAUDE_CONFIG_DIR": str(by_name[name])})
        assert done.returncode == 0
        assert (b"Your own prefix" in done.stdout) is (name == "b")
    assert len({prefix_in(folder) for folder in folders}) == 3
    assert prefix_in(by_name[order[0]]) == str(state / "bin" / "failure-lane")
    for name, folder in by_name.items():
        out = tmp_path / ("out-" + name)
        client.ran(
            [
                prefix_in(folder),
                client.argument("echo hello", str(tmp_path)).replace("source", "."),
            ],
            str(out),
            {"CLAUDE_CONFIG_DIR": str(folder)},
        )
        assert out.read_bytes() == (b"[sandbox]\n" if name == "b" else b"") + b"hello\n"
    switched(plugin_root, "off", (), {"CLAUDE_CONFIG_DIR": str(by_name[order[0]])})
    for name in order[1:]:
        assert switched(
            plugin_root, "status", (), {"CLAUDE_CONFIG_DIR": str(by_name[name])}
        ).stdout.startswith(b"on: ")
        assert lane_keys.is_on(str(state), str(by_name[name] / "settings.json"))
    for name in order[1:]:
        switched(plugin_root, "off", (), {"CLAUDE_CONFIG_DIR": str(by_name[name])})
    assert {
        name: folder.joinpath("settings.json").read_bytes() for name, folder in by_name.items()
    } == before
    assert lane_keys.keys_on(str(state)) == []


def test_a_prefix_that_the_user_gave_up_is_not_chained_again(plugin_root, state, folders):
    env = {"CLAUDE_CONFIG_DIR": str(folders[1])}
    switched(plugin_root, "on", ["--yes"], env)
    switched(plugin_root, "off", (), env)
    (folders[1] / "settings.json").write_text("{}\n")
    assert b"Your own prefix" not in switched(plugin_root, "on", ["--yes"], env).stdout


@pytest.mark.slow
def test_an_update_reaches_every_wrapper(plugin_root, own_plugin_root, state, folders):
    for folder in folders:
        switched(plugin_root, "on", ["--yes"], {"CLAUDE_CONFIG_DIR": str(folder)})
    shell_prefix.refresh(str(state), own_plugin_root, sys.executable)
    assert len(lane_keys.keys_on(str(state))) == 3
    for key in lane_keys.keys_on(str(state)):
        assert (state / "lane" / ("where" + key)).read_text().split("\n")[1] == own_plugin_root


@pytest.mark.slow
def test_a_second_settings_file_that_shared_the_first_ones_wrapper(plugin_root, state, folders):
    """As an older version left it: both name the same wrapper, and only journals tell them
    apart.
    """
    first, second = folders[0], folders[2]
    switched(plugin_root, "on", ["--yes"], {"CLAUDE_CONFIG_DIR": str(first)})
    (state / "lane" / "owner").unlink()
    (second / "settings.json").write_text(
        f'{{"env": {{"{shell_prefix.PREFIX}": "{state / "bin" / "failure-lane"}"}}}}\n'
    )
    assert switched(plugin_root, "status", (), {"CLAUDE_CONFIG_DIR": str(first)}).stdout.startswith(
        b"on: "
    )
    assert not switched(
        plugin_root, "status", (), {"CLAUDE_CONFIG_DIR": str(second)}
    ).stdout.startswith(b"on: ")
    switched(plugin_root, "off", (), {"CLAUDE_CONFIG_DIR": str(second)})
    assert shell_prefix.PREFIX not in (second / "settings.json").read_text()
    assert switched(plugin_root, "status", (), {"CLAUDE_CONFIG_DIR": str(first)}).stdout.startswith(
        b"on: "
    )
