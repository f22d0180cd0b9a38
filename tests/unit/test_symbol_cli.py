"""`ck.py symbol` as the shell sees it, and slices that cannot be cut."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from contextkernel import tokens
from contextkernel.symbols.fitting import within
from contextkernel.symbols.slice import symbol_slice

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
SOURCE = '''import os
import re


def first():
    return re.compile("a")


class Box:
    """A box."""

    size = 3

    def __init__(self):
        self.name = "box"

    def show(self):
        return first(), self.size

    def hide(self):
        return os.name
'''


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "a module.py"
    path.write_bytes(SOURCE.encode())
    return str(path)


def call(*argv, seed="0"):
    done = subprocess.run(
        [sys.executable, "-S", os.path.join(ROOT, "hooks", "ck.py"), "symbol", *argv],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    return done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")


def test_json(module):
    code, out, err = call(module, "Box.show", "--json")
    facts = json.loads(out)
    assert (code, err) == (0, "")
    assert facts["file"] == module
    assert facts["symbol"] == "Box.show"
    assert facts["ranges"] == [[2, 9], [12, 18]]
    assert facts["tokens"]["shown"] < facts["tokens"]["file"]


def test_text_shows_true_numbers_gaps_and_a_command(module):
    code, out, _ = call(module, "Box.show")
    lines = out.split("\n")
    assert code == 0
    assert lines[0].startswith("T2b@")
    assert lines[0].endswith(f"{module} Box.show")
    source = SOURCE.split("\n")
    for line in lines:
        number, tab, text = line.partition("\t")
        assert not tab or source[int(number) - 1] == text
    assert "… lines 1-1 left out" in lines
    assert "… lines 19-21 left out" in lines
    command = next(line for line in lines if line.startswith("same lines: "))[len("same lines: ") :]
    shown = subprocess.run(command, shell=True, stdout=subprocess.PIPE, check=True).stdout.decode()
    assert shown.split("\n")[:-1] == [line.partition("\t")[2] for line in lines if "\t" in line]


def test_same_bytes_whatever_the_hash_seed(module):
    assert call(module, "Box.show", seed="1") == call(module, "Box.show", seed="2")


@pytest.mark.parametrize(
    "argv, word",
    [
        (["{}", "Bx"], "near: Box"),
        (["{}", "show"], "near: Box.show"),
        (["{}", "Box.shw"], "near: Box.show"),
        (["{}.py", "Box"], "No such file"),
        (["{}"], "required"),
        (["{}", "Box", "--budget", "0"], "number of tokens"),
        (["{}", "Box", "--budget", "x"], "number of tokens"),
        ([], "required"),
    ],
)
def test_wrong_calls_exit_2_with_one_line(module, argv, word):
    code, out, err = call(*[part.format(module) for part in argv])
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("ck.py symbol: ")
    assert word in err


@pytest.mark.parametrize("budget", [1, 10, 20, 40, 60, 80, 1000])
def test_budget_holds_and_what_does_not_fit_is_named(module, budget):
    code, out, _ = call(module, "Box.show", "--json", "--budget", str(budget))
    facts = json.loads(out)
    assert code == 0
    assert facts["tokens"]["shown"] <= budget
    needed = symbol_slice(SOURCE, "Box.show").parts
    shown = [number for first, last in facts["ranges"] for number in range(first, last + 1)]
    for part in needed:
        named = any(
            (one["first"], one["last"]) == (part.first, part.last) for one in facts["outline"]
        )
        assert named or set(range(part.first, part.last + 1)) <= set(shown)
    if facts["outline"]:
        assert f"does not fit into {budget:d} tokens" in facts["notes"][0]


def test_cost_is_what_is_printed(module):
    _, out, _ = call(module, "Box.show")
    numbered = [line for line in out.split("\n") if "\t" in line]
    assert within(SOURCE, symbol_slice(SOURCE, "Box.show"), None).cost == sum(
        tokens.estimate(line + "\n") for line in numbered
    )


@pytest.mark.parametrize(
    "source, name, word",
    [
        ("def f(:\n    pass\n", "f", "cannot parse"),
        ("def f():\n    return eval('g')\n\n\ndef g():\n    pass\n", "f", "eval"),
        ("a = 1\rdef f():\n    pass\n", "f", "carriage return"),
        ("print 'x'\ndef f():\n    pass\n", "f", "cannot parse"),
        ("def f():\n    pass\n\x00", "f", "cannot parse"),
    ],
)
def test_what_cannot_be_cut_is_kept_whole_and_said(source, name, word):
    found = symbol_slice(source, name)
    assert found.found
    assert found.ranges == ((1, len(source.rstrip("\n").split("\n"))),)
    assert word in found.notes[0]
    assert "whole" in found.notes[0]


@pytest.mark.parametrize("source", ["def f(:\n    pass\n", "x = 1\n", ""])
def test_unknown_symbol_is_never_the_whole_file(source):
    found = symbol_slice(source, "missing")
    assert not found.found
    assert found.ranges == ()
    assert found.notes


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfdef f():\n    return '\xc3\xa9'\n",
        b"# coding: latin-1\ndef f():\n    return '\xe9'\n",
        b"def f():\r\n    return 1\r\n",
        b"# coding: no-such\ndef f():\n    return 1\n",
        b"def f():\n    return '\xff'\n",
        b"def f(): return 1",
    ],
)
def test_encodings_and_line_ends(tmp_path, data):
    path = tmp_path / "m.py"
    path.write_bytes(data)
    code, out, err = call(str(path), "f")
    assert code == 0
    assert err == ""
    assert "def f()" in out
