"""Texts that made patterns look through the rest of a line again and again: each ends, at a size
at which a square would take minutes.
"""

import os
import signal
import sys

import pytest

import plugin
from contextkernel import marks, shell
from contextkernel import reread as delta
from contextkernel.clients.claude import permission_rules
from contextkernel.normalize import Source, needle, normalize
from contextkernel.slicing.symptom import text as symptom

sys.path.insert(0, os.path.join(plugin.ROOT, "bench"))
import hostile_texts  # noqa: E402
import scaling  # noqa: E402

SIZE = 80000  # characters
ENDS = 6.0  # CPU seconds; such a text takes less than 1, a square minutes

KINDS = (
    ("plain", "[ck: "),
    ("plain", "[ck: recall 0123456789ab"),
    ("plain", "a\b"),
    ("plain", "\x1b[1;"),
    ("plain", "\x1b]0;"),
    ("plain", "errorerror-"),
    ("plain, failing", "warn-"),
    ("pytest", ":"),
    ("pytest", "a::b"),
    ("pytest", "tests/x.s"),
    ("pytest", "t.py::a PASSE"),
    ("pytest", "=== passed "),
    ("pytest", "=== a="),
    ("pytest", "FAILED a.py"),
    ("html", "<a b='"),
    ("html", '<a b="'),
    ("html", "<!--"),
    ("html", "<script>"),
    ("html", "<a b='>'"),
    ("html", "&#"),
    ("html", "<![CDATA["),
    ("diagnostics", "\x0c\x0b\x1c"),
    ("diagnostics", "‘a"),
    ("diagnostics with excerpts", "^"),
    ("stylish", " \t"),
    ("rustc", " "),
    ("diffstat", " | Bin --- "),
    ("diffstat", "\t"),
    ("diff", "@@ -1 "),
    ("git log", " <a"),
    ("listing", "d "),
    ("grep", "{a "),
    ("grep", "1"),
    ("grep -C", "rr.py-1-"),
    ("search in one file", "1:"),
    ("paths", "a/"),
    ("table", "a  "),
    ("table", "a\n\n"),
    ("installs", "Hit mirror:"),
    ("jest", "FAIL > "),
    ("jest", "FAIL a"),
    ("go test", ".go:1"),
    ("cargo test", "error[E"),
    ("TAP", "not ok 1"),
    ("unittest", ". ... "),
    ("other test runs", "a > "),
    ("CI log", "\t"),
    ("json", "["),
    ("json rows", '{"a":'),
    ("report", "\r"),
    ("git status", "\ta "),
)


@pytest.fixture
def hurried():
    """Stops what takes longer than ENDS: a pattern obeys a timer too."""
    if not hasattr(signal, "setitimer"):
        pytest.skip("no timers here")
    with scaling.patience(ENDS):
        yield


@pytest.mark.parametrize("name, unit", KINDS)
@pytest.mark.loop(6)
def test_a_line_of_one_kind_ends(hurried, name, unit):
    opening = hostile_texts.OPENINGS[name]
    body = hostile_texts.filled(unit, SIZE)
    for text in (body, body + "\n", "x " + body + "x\n", "a" * SIZE + "\r" + body):
        normalize(
            opening.text + text,
            Source(
                "Bash",
                opening.command,
                opening.exit_code,
                "0123456789ab",
                9900 if opening.exit_code else 30000,
            ),
        )


@pytest.mark.parametrize(
    "text",
    [
        "a" * SIZE + "\b" * SIZE,
        "a" * SIZE + "\r\n" + "ab\n" * 60,
        "\n".join(f"-rwsrwSr{'xwrst'[i % 5]}T 1 a b 1 Jan  1 10:00 f" for i in range(SIZE // 40)),
        "[" + ",".join(f'{{"k{i}": {i}}}' for i in range(SIZE // 12)) + "]",
        f"@@ -1,{'9' * 9000} +1,9 @@\n-a\n" * 9,
        "x\n" * 60 + "\x1b[" + "9" * 9000 + "A",
        f'{{"n": {"9" * 9000}, "rows": ['
        + ",".join(f'{{"id": {i}, "name": "n{i}"}}' for i in range(99))
        + "]}",
        '{"a":' * 900 + "1" + "}" * 900,
    ],
    ids=[
        "backspaces",
        "token and CR",
        "modes",
        "rows without a common key",
        "a hunk's size",
        "far up",
        "a large number",
        "deep",
    ],
)
@pytest.mark.loop(3)
def test_a_text_of_one_kind_ends(hurried, text):
    for command, code in (("./deploy", 0), ("ls -l", 0), ("./deploy", 1), ("git diff", 0)):
        normalize(text, Source("Bash", command, code, "0123456789ab", 9900 if code else 30000))


@pytest.mark.parametrize(
    "unit",
    [
        "\n",
        " \n",
        "/",
        ".",
        "-",
        "a.b.",
        "/a",
        "/blob/x/",
        "::Q",
        "[",
        "<",
        "1.",
        "panicked at '",
        "at f(",
        "at f() in ",
        "#1 a",
        "__",
        "a:",
        "/A:",
        "a.c:1",
        "x@",
        'File "a", line 1 ',
        "test_a(",
        "`a` b_c ",
    ],
)
@pytest.mark.loop(2)
def test_a_symptom_of_one_kind_ends(hurried, unit):
    body = hostile_texts.filled(unit, symptom.LONGEST - 40)
    for text in (
        body,
        "ValueError: " + body,
        'File "a.py", line 3, in f\n' + body,
        "at x.go:1 #1 a.rs:2 in /b.php:3\n" + body,
    ):
        symptom.read(text)


def test_a_mark_storm_is_scanned_once_a_line():
    text = (
        "[ck: a" * 30000
        + "\n"
        + "[ck: 1-2; recall 0123456789ab" * 9000
        + "\n[ck: 3-4; recall ba9876543210]\n"
    )
    searches = []

    class Counted:
        def search(self, *given):
            searches.append(1)
            return sound.search(*given)

    sound, marks.NAMED = marks.NAMED, Counted()
    try:
        assert marks.handles_in(text) == ["ba9876543210"]
    finally:
        marks.NAMED = sound
    assert len(searches) == 3


@pytest.mark.slow
def test_commands_of_one_kind_end(hurried):
    for unit in ("cd aa && ", "ck.py slice x; ", "A=1 ", "$(", "'a' ", "$x ", "{a"):
        command = hostile_texts.filled(unit, SIZE)
        shell.with_budget(command), shell.working_folder(command, "/w")
    assert (
        shell.with_budget("ck.py slice a; ck.py slice b")
        == "ck.py slice a --budget auto; ck.py slice b --budget auto"
    )


def test_rules_with_many_wildcards_end(hurried):
    assert not permission_rules._binds("*a" * 40 + "*b", "a" * 5000)
    assert permission_rules._binds("git *push*origin", "git -C x push --force origin main")


@pytest.mark.parametrize(
    "wanted",
    [
        "(a+)+$",
        "(a|aa)+b",
        "a*a*a*a*b",
        "(a|a)" * 30 + "b",
        "a?" * 40 + "a" * 40 + "b",
        "(.*)\\1b",
        "(?=(a+))b",
        "a{1,99999}b",
        "[a-z]+9",
        "(?:a{1,30}){1,30}b",
    ],
)
@pytest.mark.loop(3)
def test_a_search_pattern_of_the_agents_own_ends(hurried, wanted):
    pattern = needle.pattern_of(wanted)
    if pattern:
        pattern.search("a" * SIZE)


@pytest.mark.parametrize(
    "wanted, line",
    [
        ("retry", "a retry b"),
        ("re.*y", "a retry b"),
        ("foo\\|retry", "a retry b"),
        ("r[a-z]+y", "a retry b"),
        ("(re|de)try", "a retry"),
        ("retr?y", "a retry b"),
        ("foo(", "a foo( b"),
        ("r.*t.*y", "a retry b"),
    ],
)
def test_a_search_pattern_finds_where_its_match_begins(wanted, line):
    assert needle.pattern_of(wanted).search(line).start() == line.index(
        "foo" if wanted[-1] == "(" else "re"
    )


def test_a_diff_that_costs_too_much_is_given_up(hurried):
    one = "\n".join(str(i * 7919 % 50) for i in range(190)) + "\n"
    assert delta.unified(one, "x\n" + one) is not None
    few, many = "ab" * 95, "ba" * 9000
    delta.unified("\n".join(few), "\n".join(many))
    assert (
        delta.unified(
            "\n".join(str(i % 97) for i in range(1990)),
            "\n".join(str(i * 5 % 97) for i in range(1990)),
        )
        != ""
    )


@pytest.mark.slow
def test_the_bench_finds_a_planted_square():
    if hasattr(signal, "setitimer"):
        assert scaling.self_test() == 0
