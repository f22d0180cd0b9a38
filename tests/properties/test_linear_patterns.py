"""Patterns that were rewritten to go through a line once say what the simple, slow ones say."""

from __future__ import annotations

import random
import re

import pytest

from contextkernel import marks
from contextkernel.clients.claude import permission_rules
from contextkernel.normalize import formats, markup, terminal
from contextkernel.normalize.formats import (
    diagnostics,
    diff,
    diffstat,
    git_log,
    grep,
    html,
    runners,
    test_runs,
)
from contextkernel.slicing.symptom import frames
from contextkernel.slicing.symptom import text as symptom

SEED, DRAWS = 20261130, 4000


def _format(name: str) -> str:
    return next(row.content for row in formats.FORMATS if row.name == name)


def _once(text: str) -> str:
    """Backspaces as pairs that are struck out until none is left."""
    while True:
        shorter = re.sub(r"[^\x08]\x08", "", text)
        if shorter == text:
            return text.replace("\b", "")
        text = shorter


def _matches(simple: str, flags: int = 0):
    return lambda text: re.match(simple, text, flags) is not None


def _whole(simple: str):
    def groups(text):
        found = re.match(simple, text)
        return found and found.groups()

    return groups


def _groups(found: re.Match[str] | None):
    return found and found.groups()


def _first(found: re.Match[str] | None):
    return found and found.group(1)


def _searched(simple: str):
    return lambda text: re.search(simple, text, re.M) is not None


def _form(number: int):
    pattern = re.compile(frames._FORMS[number].pattern, re.M)
    return lambda text: [
        found.group("path", "line") for found in pattern.finditer(text) if found.group("path")
    ]


def _found(simple: str):
    return lambda text: [found.group("path", "line") for found in re.finditer(simple, text, re.M)]


P = r"[\w.@~+$%\-/\\:]"
SUFFIXES = symptom._SUFFIXES
CASES = {  # name: (what is asked, the simple form, parts that texts are made of)
    "marks": (
        marks.handles_in,
        lambda text: list(
            dict.fromkeys(re.findall(r"\[ck: [^\n]*?\brecall ([0-9a-f]{8,64})\b[^\n]*?\]", text))
        ),
        ["[ck: ", "recall 01234567", "recall 89abcdef0", "]", "a", " ", "\n", "recall 0123", ";"],
    ),
    "backspaces": (terminal._without_backspaces, _once, ["a", "b", "\b", "\r", " "]),
    "measures": (
        lambda text: terminal.MEASURE.sub(" ", text),
        lambda text: re.sub(
            r"\S*\d\S*|\b(?:[kKMGT]?i?B(?:/s)?|it/s|eta|ETA|ms|[smh])\b", " ", text
        ),
        ["a", "1", " ", "ms", "MB/s", "-", "s", "."],
    ),
    "stylish": (
        lambda text: _groups(diagnostics.STYLISH.match(text)),
        _whole(
            r"\s+(?P<l2>\d+):(?P<c2>\d+)\s+(?P<level>error|warning|warn"
            r"|info)\s+(?P<text>\S.*?)(?:\s{2,}(?P<rule>[\w@/.-]+))?$"
        ),
        [" ", "  ", "1:2", "error", "warn", "a", "b-c", "!", "\t"],
    ),
    "excerpt bars": (
        _matches(r"(?:\s*\d+)?\s+\|"),
        _matches(r"\s*\d*\s+\|"),
        [" ", "1", "|", "a", "\t"],
    ),
    "carets": (_matches(r"\s*[~^][\s~^]*$"), _matches(r"\s*[~^]+[\s~^]*$"), [" ", "^", "~", "a"]),
    "diffstat rows": (
        lambda text: _groups(diffstat.ROW.match(text)),
        _whole(r" (?P<path>\S.*?)\s+\| +(?P<count>\d+|Bin\b.*?) ?(?P<bar>[+-]*)$"),
        [" ", "a", "|", " | ", "1", "Bin", "+", "-", "0 -> 1", "\t"],
    ),
    "made by tools": (
        diff._is_generated,
        lambda text: (
            re.search(
                (
                    r"(?i)(?:^|/)(?:[\w.-]*lock[\w.-]*\.(?:json|ya?ml|toml)|[\w.-]*\.lock|go\.sum"
                    r"|yarn\.lock|Gemfile\.lock|.*\.min\.(?:js|css)|.*\.(?:map|snap|svg|pb\.go)"
                    r"|.*_pb2\.py|.*\.generated\.\w+|dist/.*|vendor/.*|node_modules/.*)$"
                ),
                text,
            )
            is not None
        ),
        [
            "a",
            "/",
            "lock",
            "Lock",
            ".",
            ".json",
            ".yml",
            ".lock",
            "go.sum",
            "yarn.lock",
            ".min",
            ".js",
            ".map",
            ".pb.go",
            "_pb2.py",
            ".generated",
            "dist",
            "vendor/",
            "node_modules",
            " ",
            "-",
        ],
    ),
    "addresses": (
        git_log._without_address,
        lambda text: re.sub(r" <[^>]*>$", "", text),
        ["a", " <", "<", ">", " ", "@"],
    ),
    "no paths": (
        lambda text: grep.NO_PATH.search(text) is None,
        lambda text: (
            re.search(
                (
                    r"\s\d|\s-\s|\s[/\[({]|^[\[({]\S*\s|^[A-Z]{3,9}\s|\d[-/.]\d\d[-/.]\d\d[T "
                    r"_]\d\d?$|^\d+(?:\.\d+){3}(?:\s|$)|[=\"<>|{}].*\s|\s.*[=\"<>|{}]"
                ),
                text,
            )
            is None
        ),
        ["a", " ", "=", "{", "1", "-", "GET", "/", "<"],
    ),
    "names of tests": (
        lambda text: bool(test_runs.NAMED.search(text)) and test_runs.NAMED.search(text).group(),
        lambda text: (
            bool(re.search(r"\S+::\S+(?:\[[^\]]*\])?", text))
            and re.search(r"\S+::\S+(?:\[[^\]]*\])?", text).group()
        ),
        ["a", ":", "::", " ", "[b c]", "[", "]"],
    ),
    "prefixes": (
        lambda text: _first(test_runs.PREFIX.match(text)),
        lambda text: _first(
            re.match(
                (
                    r"((?:FAILED|ERROR|FAIL|not ok)?\s*\S+?(?:::|\.py\b|\.[jt]sx?\b)\S*?(?:::|\["
                    r"|(?=\s)))"
                ),
                text,
            )
        ),
        ["FAILED", "not ok", " ", "a", "::", ":", ".py", ".ts", "[", "x"],
    ),
    "pytest stop": (
        _matches(runners.RUNNERS["pytest"].block_end),
        _matches(r"={3,} .*={3,}$|!{3,}|[\w./-]+\.py(?::| ).*\[ *\d+%\]$"),
        ["===", "=", " ", "a", "a.py:", "[ 5%]", "!!!"],
    ),
    "pytest verdict": (
        _matches(runners.RUNNERS["pytest"].summary),
        _matches(
            r"={3,} .*\b(?:passed|failed|errors?|skipped|deselected|no tests ran)\b.* in "
            r".*=*$|\d+ (?:passed|failed|errors?|skipped|deselected|xfailed)\b.* in [\d.]+"
            r"|!{3,} .* !{3,}$"
        ),
        ["===", "= ", " ", "1", "passed", " failed", " in ", "2.", "!!!", "error"],
    ),
    "pytest names": (
        _matches(runners.RUNNERS["pytest"].failed_name),
        _matches(r"(?:FAILED|ERROR) \S|\S+::\S.* (?:FAILED|ERROR)\b|(?:XPASS) \S"),
        ["a", ":", "::", " ", " FAILED", "ERROR", "XPASS "],
    ),
    "pytest passing": (
        _matches(runners.RUNNERS["pytest"].passing),
        _matches(r"\S+::.* (?:PASSED|SKIPPED|XFAIL)|(?:tests?/|\S+\.py )\S* *[.sxX]+ "),
        ["a", ":", "::", " ", " PASSED", "tests/", "b.py ", ".", "s", "x"],
    ),
    "jest begin": (
        _matches(runners.RUNNERS["jest"].block_start),
        _matches(r"\s{1,4}● (?!Console\b)\S|\s*(?:FAIL|❯ FAIL)\s+\S+.* > |  +\d+\) \S"),
        ["FAIL", "❯ FAIL", " ", "a", " > ", ">", "1) ", "● "],
    ),
    "TAP begin": (
        _matches(runners.RUNNERS["tap"].block_start),
        _matches(r"\s*not ok \d+(?!.*# (?:TODO|SKIP))"),
        [" ", "not ok ", "1", "23", "# TODO", "# SKIP", "a"],
    ),
    "gradle names": (
        _matches(runners.RUNNERS["other"].failed_name),
        _matches(
            r"rspec \S+|\[  FAILED  \] \S|\s+\d+ - .* \(|\[ERROR\]   \S|.* > .* FAILED$"
            r"|\s*\d+/\d+ Test .*\*\*\*"
        ),
        ["a", " > ", ">", " ", " FAILED", "rspec ", "1 - ", "("],
    ),
    "table": (
        _searched(_format("table")),
        _searched(r"^\S.*\S(?:\s{2,}| \| )\S.*\n.*\S(?:\s{2,}| \| )\S.*\n.*\S(?:\s{2,}| \| )\S"),
        ["a", " ", "  ", "\n", "\n\n", "a  b\n", "a | b\n", "a\n\n", "a\n b", "\t"],
    ),
    "eight paths": (
        _searched(_format("paths") or r"\A(?:[^\s/]*/\S+\n){8}"),
        _searched(r"\A(?:\S*/\S+\n){8}"),
        ["a/b\n", "/a\n", "a/\n", "a//b\n", "a\n", "a/b/c\n", "a/b \n", "a/b\n" * 6],
    ),
    "jest": (
        _searched(_format("jest")),
        _searched(
            r"^Test Suites: |^(?:PASS|FAIL)\s+\S+\.[cm]?[jt]sx?|^\s+\d+ (?:passing|failing)\b"
            r"|^\s*Test Files  |^ *(?:✓|✔|❯|×) .*\.(?:test|spec)\."
        ),
        ["\n", " ", "5 passing", "Test Files", "  ", "a", "1"],
    ),
    "go test": (
        _searched(_format("go test")),
        _searched(r"^\s*--- (?:FAIL|PASS|SKIP): |^(?:FAIL|ok  )\t|^=== RUN "),
        ["\n", " ", "--- FAIL: ", "a", "ok  \t"],
    ),
    "diagnostics": (
        _searched(_format("diagnostics")),
        _searched(
            r"^\S[^:\n]*(?:\(\d+,\d+\)|:\d+(?::\d+)?):? .*|^\s+\d+:\d+\s+(?:error|warning)\s"
            r"|^(?:error|warning)(?:\[\w+\])?: .*\n\s*--> "
        ),
        ["\n", " ", "1:2", " error ", "a", "warning: ", "--> "],
    ),
    "paths in a symptom": (
        lambda text: [one for one in symptom._PATH.findall(text) if one],
        lambda text: re.findall(
            rf"(?<![\w@])(?:[A-Za-z]:)?[\w./\\~+-]*[\w+-]\.(?:{SUFFIXES})\b(?![\w.(])", text
        ),
        ["a", ".py", ".js", "/", "\\", "C:", ":", "@", " ", "(", "-", ".", "b.c", "~"],
    ),
    "tests in a symptom": (
        symptom._TEST.findall,
        lambda text: re.findall(
            (
                r"(?m)--- FAIL: (\w+)|^(?:FAIL|ERROR): (\w+) \(|::(?:\w+::)*(test_?\w+)|^test "
                r"([\w:]+) \.\.\. FAILED"
            ),
            text,
        ),
        ["::", ":", "a", "test_b", "test", " ", "\n", "FAIL: x ("],
    ),
    "holes": (
        symptom._HOLE.split,
        lambda text: re.split(
            r"'[^'\n]*'|\"[^\"\n]*\"|`[^`\n]*`|<[^>\n]*>|[\d.]*\d|[\[({][^\])}\n]*[\])}]", text
        ),
        ["a", "1", ".", "'", "<", ">", "[", "]", "(", "}", " "],
    ),
    "node frames": (
        _form(5),
        _found(
            r"^\s*at (?:async )?(?:(?P<name>[^\n(]{1,120}?) \()?(?P<path>(?:file://|webpack://)?/?"
            + P
            + r"+?\.[a-z]{2,6})(?:\?[^:\n)]*)?:(?P<line>\d+):\d+\)?"
        ),
        ["\n", " ", "at ", "a.js", ":1", "f (", ")", "x"],
    ),
    "rust frames": (
        _form(9),
        _found(r"^\s+(?:at|-->) (?P<path>" + P + r"+?\.rs):(?P<line>\d+)(?::\d+)?"),
        ["\n", " ", "at ", "--> ", "a.rs", ":1", "x"],
    ),
    "native frames": (
        _form(10),
        _found(
            r"^\s*#\d+\s+(?:0x[0-9a-f]+ )?(?:in )?(?P<name>[\w:~<>*&]+)[^\n]*?(?: at "
            r"|\s)(?P<path>[\w./\\+-]+\.(?:c|cc|cpp|cxx|h|hpp|hh|hxx|inl|ipp|m"
            r"|mm)):(?P<line>\d+)"
        ),
        ["\n", " ", "#1 ", "0xa ", "in ", "f", "a.c", ":1", " at ", "("],
    ),
    "ruby frames": (
        _form(13),
        _found(r"(?P<path>[\w./-]+\.rb):(?P<line>\d+):in [`'](?P<name>[^'\n]*)'"),
        ["a", ".rb", ":1", ":in `", "f'", " ", "/"],
    ),
    "compilers' places": (
        _form(16),
        _found(r"(?P<path>(?:[A-Za-z]:)?[\w./\\+@-]+\.[A-Za-z]{1,5}):(?P<line>\d+)(?::\d+)?"),
        ["a", ".c", ":1", ":", "C:", "/", " ", "b.h:2", "\\", "-"],
    ),
    "permission rules": (
        lambda text: permission_rules._binds(text.partition("\n")[0], text.partition("\n")[2]),
        lambda text: (
            not text.partition("\n")[0].rstrip().endswith("*")
            and re.search(
                ".*".join(re.escape(piece.strip()) for piece in text.partition("\n")[0].split("*")),
                text.partition("\n")[2],
                re.S,
            )
            is not None
        ),
        ["a", "b", "*", " ", "\n", "ab"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_says_what_the_simple_form_says(name):
    asked, simple, parts = CASES[name]
    draw = random.Random(f"{SEED:d} {name}")
    told = set()
    for _ in range(DRAWS):
        text = "".join(draw.choice(parts) for _ in range(draw.randrange(1, 14)))
        expected = simple(text)
        assert asked(text) == expected, (SEED, text)
        told.add(repr(expected))
    assert len(told) > 1, "no draw told the two apart from a constant"


class Library(__import__("html.parser").parser.HTMLParser):
    """The standard library's reader of HTML, with the pieces it finds."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append(
            ("start", tag, self.getpos()[0], {key: value or "" for key, value in attrs})
        )

    def handle_endtag(self, tag):
        self.found.append(("end", tag, self.getpos()[0], {}))

    def handle_data(self, data):
        # nobody reads these
        if not self.found or self.found[-1][:2] not in (("start", "script"), ("start", "style")):
            self.found.append(("text", data, self.getpos()[0], {}))

    def handle_comment(self, data):
        self.found.append(("comment", data, self.getpos()[0], {}))


PIECES = (
    "<p>",
    "</p>",
    "<a href='x y' id=b>",
    '<img alt="a &gt; b"/>',
    "<br>",
    "<br/>",
    "<input disabled name=n>",
    "<!-- error -->",
    "<!DOCTYPE html>",
    "<?pi?>",
    "<script>if (a < b) '</p>'</script>",
    "<style>p > a {}</style>",
    "words",
    " ",
    "\n",
    "a &amp; b",
    "&eacute;",
    "&#65;",
    "&#x41;",
    "1 < 2",
    "<DIV CLASS=A>",
    "</DIV>",
    "<td\n  title='t'>",
    "<svg><g/></svg>",
    "é",
)


def test_html_is_read_as_the_library_reads_it():
    draw = random.Random(SEED)
    for _ in range(1500):
        page = "".join(draw.choice(PIECES) for _ in range(draw.randrange(1, 14)))
        library = Library()
        library.feed(page)
        library.close()
        assert _joined([tuple(piece) for piece in markup.pieces(page)]) == _joined(library.found), (
            SEED,
            page,
        )


def _joined(found):
    """Neighbouring texts as one: where text is divided differs between versions of the library."""
    out = []
    for piece in found:
        if out and piece[0] == out[-1][0] == "text":
            out[-1] = ("text", out[-1][1] + piece[1], out[-1][2], {})
        else:
            out.append(piece)
    return out


def test_broken_html_loses_no_words():
    draw = random.Random(SEED)
    for _ in range(800):
        words = [f"w{draw.randrange(1000):03}" for _ in range(6)]
        page = (
            "<p>".join(words[:3])
            + draw.choice(["<a b='", "<!-- ", "<a", "<![CDATA[", "</", "<?", '<a b="c'])
            + " ".join(words[3:])
        )
        reader = html.Reader()
        reader.read(page)
        shown = " ".join(text for _, text, _ in reader.lines)
        assert all(word in shown for word in words), (SEED, page)
