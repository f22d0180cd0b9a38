"""The command line: each command shows its help with examples and the version, and ends a wrong
call with one line and exit 2.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

import plugin
from contextkernel import VERSION, commands
from contextkernel.clients import cli_io
from contextkernel.commands import COMMANDS, cli
from contextkernel.setup import install

PROGRAMS = [*COMMANDS, "install.sh"]
WRONG = {  # program: calls that it refuses
    "normalize": (["--command"], ["--exit-code", "x"], ["--comm", "ls"], ["out.txt"]),
    "recall": ([], ["a" * 12, "b" * 12], ["--an", "a" * 12]),
    "slice": ([], ["--symptom", "-", "--budget", "0"], ["--bud", "900", "--symptom", "-"]),
    "symbol": ([], ["a.py"], ["a.py", "f", "--budget", "few"]),
    "savings": (["--since", "soon"], ["--sess", "a"], ["--json=1"]),
    "failure-lane": ([], ["maybe"], ["off", "--yes"]),
    "install.sh": (["--frobnicate"], ["--purge"], ["--uninst"]),
}


def call(capsys, program, *words):
    """(exit code, stdout, stderr) of a call in this process."""

    def main(argv):
        return install.main(argv) if program == "install.sh" else commands.main([program, *argv])

    code = cli_io.run(main, list(words), program)
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.parametrize("program", PROGRAMS)
def test_help_has_examples(capsys, state, program):
    code, out, err = call(capsys, program, "--help")
    assert (code, err) == (0, "")
    examples = re.search(r"^Examples:\n((?:  \S.*\n)+)", out, re.M)
    assert examples
    assert 1 <= examples.group(1).count("\n") <= 3
    assert all(program in example for example in examples.group(1).splitlines())


@pytest.mark.parametrize("program", PROGRAMS)
def test_help_comes_first(capsys, state, program):
    """Whatever stands before it."""
    assert call(capsys, program, "--help") == call(capsys, program, "--what", "--help")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_by_name(capsys, state, name):
    assert call(capsys, "help", name) == call(capsys, name, "--help")


@pytest.mark.parametrize("program", [*PROGRAMS, "--version"])
def test_version(capsys, state, program):
    words = [] if program == "--version" else ["--version"]
    assert call(capsys, program, *words) == (0, f"context-kernel {VERSION}\n", "")


@pytest.mark.parametrize(
    "program, words",
    [(program, words) for program in PROGRAMS for words in [*WRONG[program], ["--what", "a\nb"]]],
)
def test_a_wrong_call_ends_with_one_line(capsys, state, program, words):
    code, out, err = call(capsys, program, *words)
    assert (code, out) == (2, "")
    assert re.fullmatch(rf"(ck\.py )?{re.escape(program)}: \S.*\n", err)
    assert not os.path.exists(state)


@pytest.mark.parametrize("words", [["help"], ["--help"], ["-h"], []])
def test_overview_lists_every_command(capsys, words):
    assert cli_io.run(commands.main, words, "ck.py") == 0
    out = capsys.readouterr().out
    assert re.findall(r"^  ([\w-]+)  +\S", out, re.M) == list(COMMANDS)
    assert all(row.summary in out for row in COMMANDS.values())
    assert max(map(len, out.splitlines())) <= 100


def test_an_unknown_command_names_those_there_are(capsys):
    assert cli_io.run(commands.main, ["frobnicate"], "ck.py") == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert all(name in said for name in ("frobnicate", *COMMANDS))


def test_words_of_a_process_arrive_in_a_pipe():
    """The process ends without taking the interpreter down: what argparse wrote must be out."""
    for script, words in (("ck.py", ["symbol", "--help"]), ("savings.py", ["--help"])):
        done = subprocess.run(
            [sys.executable, "-I", "-S", os.path.join(plugin.ROOT, "hooks", script), *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"Examples:" in done.stdout


@pytest.mark.parametrize(
    "words, value",
    [
        (["--grep", "-x"], "-x"),
        (["--grep=-x"], "-x"),
        (["--grep", "--grep"], "--grep"),
        (["--grep="], ""),
        (["--grep", "a=b c"], "a=b c"),
        ([], None),
    ],
)
def test_a_value_may_begin_with_a_dash(words, value):
    parser = cli.Parser("x", "try", ())
    parser.add_argument("--grep")
    assert parser.options(words, guarded=False).grep == value


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder with a repository in it, and a link to it outside."""
    repo = tmp_path / "homes" / "me" / "repo"
    repo.mkdir(parents=True)
    (repo / "a.py").write_text("def total():\n    return rate\n")
    (repo / "t.txt").write_text("NameError in a.py: total\n")
    os.symlink(str(repo.parent), str(tmp_path / "link"))
    monkeypatch.setenv("HOME", str(repo.parent))
    return repo.parent


@pytest.mark.parametrize(
    "folder, reason",
    [
        ("/", "whole machine"),
        ("{}", "your home folder;"),
        ("{}/repo/..", "your home folder;"),
        ("{}/../../link", "your home folder;"),
        ("{}/..", "your home folder lies in it"),
        ("{}/../..", "your home folder lies in it"),
    ],
)
@pytest.mark.parametrize("more", [["--build"], ["--symptom", "-"]])
def test_slice_refuses_what_is_no_repository(capsys, state, home, folder, reason, more):
    code, out, err = call(capsys, "slice", "--repo", folder.format(home), *more)
    assert (code, out) == (2, "")
    assert reason in err
    assert "--yes" in err
    assert err.count("\n") == 1
    assert not os.path.exists(state)


@pytest.mark.parametrize("folder, more", [("repo", []), (".", ["--yes"]), ("..", ["--yes"])])
def test_slice_of_a_repository_or_with_consent(state, home, folder, more):
    done = subprocess.run(
        [sys.executable, "-I", "-S", os.path.join(plugin.ROOT, "hooks", "ck.py"), "slice"]
        + ["--repo", str(home / folder), "--symptom", str(home / "repo" / "t.txt"), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"a.py" in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_tests(name):
    """Besides these."""
    folder = os.path.join(plugin.ROOT, "tests")
    sources = [
        os.path.join(base, file)
        for base, _, files in os.walk(folder)
        for file in files
        if file.startswith("test_") and file.endswith(".py") and file != os.path.basename(__file__)
    ]
    named = []
    for path in sources:
        with open(path, encoding="utf-8") as handle:
            if re.search(rf"[\"' ]{name}\b", handle.read()):
                named.append(path)
    assert named, f"no test names the command {name}: write one in tests/contract"
