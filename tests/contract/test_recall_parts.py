"""Parts of a stored original: `ck.py recall` and the MCP tool read lines and patterns alike."""

from __future__ import annotations

import pytest

from contextkernel import commands
from contextkernel.clients import cli_io
from contextkernel.server import recall as tool
from contextkernel.store import blobs

TEXT = "a\nb b\n\nZürich \u2028 x\nlast"


@pytest.fixture
def by_command(state, capfdbinary):
    """(exit code, bytes printed, stderr) of `ck.py recall`."""

    def run(data, *words):
        code = cli_io.run(commands.main, ["recall", blobs.put(data), *words], "ck.py")
        said = capfdbinary.readouterr()
        return code, said.out, said.err.decode()

    return run


@pytest.fixture
def by_tool(state, capfdbinary):
    """The same of what the MCP tool starts."""

    def run(data, **asked):
        options = [f"--{name}={value}" for name, value in asked.items()]
        code = cli_io.run(tool.main, [blobs.put(data), "--client=claude", *options], "recall.py")
        said = capfdbinary.readouterr()
        return code, said.out, said.err.decode()

    return run


@pytest.mark.parametrize("text", [TEXT, TEXT + "\n", "\n", "one", "one\n\n"])
@pytest.mark.parametrize("lines", ["1", "2-3", "3-", "4-99", "5", " 2 - 4 ", "2+2-3", "1+9-2"])
def test_both_give_the_same_lines(by_command, by_tool, text, lines):
    """By the lines as Python's own file reading has them."""
    rows = text.replace("\n", "\n\0").split("\0")
    rows = rows if rows[-1] else rows[:-1]
    first, _, last = lines.replace(" ", "").partition("-")
    first, _, skip = first.partition("+")
    end = len(rows) if "-" in lines and not last else int(last or first)
    wanted = rows[int(first) - 1 : end]
    command, tool_said = (
        by_command(text.encode(), "--lines", lines),
        by_tool(text.encode(), lines=lines),
    )
    if not wanted:
        assert command[:2] == tool_said[:2] == (2, b"")
        assert command[2] == "ck.py recall: " + tool_said[2]
        assert f"there are {len(rows)}," in tool_said[2]
        return
    body = wanted[0].rstrip("\n")[int(skip or 0) :] + "\n" * wanted[0].endswith("\n")
    assert command == tool_said == (0, (body + "".join(wanted[1:])).encode(), "")


@pytest.mark.parametrize("lines", ["0", "x", "3-2", "2,3", "2:3", "1-2-3", "-1"])
def test_both_refuse_the_same_in_the_same_words(by_command, by_tool, lines):
    command, tool_said = (
        by_command(TEXT.encode(), "--lines", lines),
        by_tool(TEXT.encode(), lines=lines),
    )
    assert command[:2] == tool_said[:2] == (2, b"")
    assert command[2] == "ck.py recall: " + tool_said[2]
    assert tool_said[2].startswith("lines: ")


@pytest.mark.parametrize(
    "pattern, lines, shown",
    [
        ("a", "", "1:a\n5:last\n"),
        ("a", "2-", "5:last\n"),
        ("^$", "", "3:\n"),
        ("Z.rich", "", "4:Zürich \u2028 x\n"),
        (r"\bZ\w+h\b", "", "4:Zürich \u2028 x\n"),
    ],
)
def test_both_find_the_same_lines(by_command, by_tool, pattern, lines, shown):
    data = (TEXT + "\n").encode()
    words = ["--grep", pattern] + (["--lines", lines] if lines else [])
    assert by_command(data, *words) == (0, shown.encode(), "")
    assert by_tool(data, grep=pattern, lines=lines) == (0, shown.encode(), "")


def test_what_matches_nothing(by_command, by_tool):
    assert by_command(b"a\n", "--grep", "b") == (1, b"", "")
    assert b"no match in lines 1-1" in by_tool(b"a\n", grep="b")[1]
    for said in (by_command(b"a\n", "--grep", "("), by_tool(b"a\n", grep="(")):
        assert said[:2] == (2, b"")
        assert "grep: not a Python regular expression" in said[2]


def test_a_command_gives_bytes_that_are_no_text(by_command):
    data = b"a\xff\r\nb\x00\xc3(\nc"
    assert by_command(data) == (0, data, "")
    assert by_command(data, "--lines", "1-2") == (0, b"a\xff\r\nb\x00\xc3(\n", "")
    assert by_command(data, "--grep", "b") == (0, b"2:b\x00\xc3(\n", "")


def test_a_page_counts_lines_as_both_do(by_tool):
    assert b"[ck: 9000 lines in all; next:" in by_tool(b"a line\n" * 9000)[1]


def test_a_prefix_that_is_too_short_says_nothing_of_what_it_was(state, capsys):
    handle = blobs.put(b"x" * 99)
    assert cli_io.run(commands.main, ["recall", handle[:7]], "ck.py") == 2
    said = capsys.readouterr().err
    assert "is not a handle" in said
    assert "it was" not in said
