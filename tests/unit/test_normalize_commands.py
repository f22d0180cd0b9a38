"""Facts of command lines, terminal rendering, and what normalize leaves alone."""
from __future__ import annotations

import pytest

from contextkernel.normalize import Source, normalize
from contextkernel.normalize.commands import facts
from contextkernel.normalize.page import page_of

LOG = "\n".join("2026-03-01T10:00:%02dZ INFO worker-%d handled job %d in %d ms" % (i % 60, i % 4, i, i % 30) for i in range(120))
HANDLE = "7f3a12bc90de"


@pytest.mark.parametrize("command, names", [
    ("pytest -q", ["pytest"]), ("cd 'a b' && FOO=1 uv run pytest tests", ["cd a b", "pytest tests"]), ("python3.12 -m pytest tests", ["pytest tests"]),
    ("time npx --yes jest src", ["jest src"]), ("timeout 30 go test ./...", ["go test"]), ("git -C /x diff --stat", ["git diff"]), ("env A=b make all 2>&1 | tail -5", ["make all", "tail"]),
    ("bash -c 'cargo test && cargo clippy'", ["cargo test", "cargo clippy"]), ("sudo -u root apt-get install x", ["apt-get install"]), ("grep 'a;b|c' file", ["grep a;b|c"]),
    ("cat > out.txt <<'E'\nrm -rf /\nE", ["cat"]), ("/usr/bin/git status", ["git status"]), ("", []), ("poetry run mypy --strict src", ["mypy src"]),
], ids=lambda value: value[:24] if isinstance(value, str) else "")
def test_names(command, names):
    assert [name for name in facts(command).names] == names


@pytest.mark.parametrize("command", ["sed -n 1,90p x.log", "head -50 x.log", "cd a && tail -n 20 x.log", "cat x.log | awk 'NR>=3 && NR<=9'", "make 2>&1 | tail -60", "sed -n '1,9p' a; sed -n '1,9p' b",
                                     "cat x.log # ck:raw", "python3 hooks/ck.py recall 7f3a12bc90de", "ck.py recall 7f3a12bc90de", "python3 -I -S \"$CK_ROOT/hooks/ck.py\" slice --repo .",
                                     "cat /x/tool-results/ck-7f3a12bc90de.txt", "grep -n x '/a b/ck-7f3a12bc90de.txt'", "awk 'FNR==3' x.log", "sed --quiet 3p x.log"])
def test_explicit_extraction_passes(command):
    assert facts(command).explicit
    assert normalize(LOG, Source(command=command)) == (LOG, (), 0)


@pytest.mark.parametrize("command", ["cat x.log", "sed s/a/b/ x.log", "awk '{print $1}' x.log", "tail -f x.log", "head -5 a && make all", "echo head -5", "python3 check.py", "pytest tests/test_stack.py", "python3 -m unittest mock.py",
                                     "cat x/check.py.log", "cat logs/ck-notes.txt", "cat /x/stack-7f3a12bc90de.txt", "awk '{print $1}' NRG.log SNR"])
def test_other_commands_do_not(command):
    assert not facts(command).explicit
    assert normalize(LOG, Source(command=command, handle=HANDLE)).text != LOG


@pytest.mark.parametrize("text", ["", "short", LOG[:700], "\0" + LOG, LOG + "\n[ck: lines 3-9 hidden; recall 7f3a12bc90de]", "\ufffd" * 900], ids=["empty", "short", "under-least", "NUL", "marked", "undecodable"])
def test_left_alone(text):
    assert normalize(text, Source(command="cat x.log")) == (text, (), 0)


def test_a_marked_text_over_the_failure_cap_is_cut_all_the_same():
    text = "[ck: lines 3-9 hidden; recall 7f3a12bc90de]\n" + LOG * 3
    assert len(text) > 9900 > len(normalize(text, Source(command="make", exit_code=2)).text)


def test_verdict_is_the_exit_code():
    assert normalize(LOG, Source(command="make", exit_code=137, handle=HANDLE)).text.startswith("[ck: exit 137, 120 lines, ")


def test_handle_is_of_the_content():
    import hashlib

    text = LOG + "\udcff"
    shown = normalize(text, Source(command="cat x.log")).text
    assert "recall " + hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:12] in shown


@pytest.mark.parametrize("raw, lines", [
    ("a\r\nb\r\n", ["a", "b", ""]), ("10%\r20%\rdone", ["20%", "done"]), ("\x1b[31mred\x1b[0m", ["red"]), ("x\by", ["y"]), ("one\ntwo\x1b[1A\x1b[2Kuno\nend", ["one", "two", "uno", "end"]),
    ("\x1b]0;title\x07text", ["text"]), ("ERROR: bad sum\rretrying", ["ERROR: bad sum", "retrying"]), ("load 1%\rload 2%\rload 3%", ["load 3%"]), ("\r\r", [""]),
], ids=["crlf", "states", "colour", "backspace", "cursor-up", "osc", "overwritten-error", "last-state", "only-returns"])
def test_page(raw, lines):
    assert page_of(raw).lines == lines


def test_carriage_returns_of_a_file_stay():
    text = LOG.replace("\n", "\r\n")
    shown = normalize(text, Source(command="cat x.log", handle=HANDLE)).text
    assert text.split("\n")[0] in shown.split("\n")


@pytest.mark.parametrize("tool", ["Agent", "Task"])
def test_prose_of_agents_is_never_dropped(tool):
    text = "\n".join("Finding %d: the gate of module %d opens %d times." % (i, i, i) for i in range(80))
    assert normalize(text, Source(tool=tool)).text == text


def test_a_whole_function_of_code_is_a_read_whatever_its_name():
    code = "import os\n\n" + "\n".join("def width_%d(gate):\n    return gate.width + %d\n" % (i, i) for i in range(60))
    assert normalize(code, Source(command="cat script")).text == code
    assert normalize(code, Source(command="git show HEAD:src/gate.py")).text == code
