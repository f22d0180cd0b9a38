"""Texts that parsers stumble over: opening lines of every format, and bodies of any size to
stand below them.
"""

from __future__ import annotations

import random
from typing import Callable, NamedTuple


class Opening(NamedTuple):
    """Lines after which a format's parser runs, and the command and exit code that go with them."""

    command: str
    exit_code: int
    text: str


def _rows(pattern: str, count: int) -> str:
    return "".join(pattern.replace("#", str(i)) for i in range(count))


OPENINGS: dict[str, Opening] = {
    "plain": Opening("./deploy", 0, ""),
    "plain, failing": Opening("./deploy", 2, ""),
    "grep": Opening("grep -rn retry .", 0, _rows("lib/mod#.py:#:retry = #\n", 30)),
    "grep -C": Opening(
        "rg -C2 'r.*y' lib", 0, _rows("lib/m.py-#-before\nlib/m.py:#:retry\n--\n", 20)
    ),
    "search in one file": Opening("grep -n retry lib/m.py", 0, _rows("#:retry = #\n", 40)),
    "diff": Opening(
        "git diff",
        0,
        (
            "diff --git a/m.py b/m.py\nindex 1..2 100644\n--- a/m.py\n+++ b/m.py\n"
            "@@ -1,90 +1,90 @@ def f\n"
        )
        + _rows(" same #\n-old #\n+new #\n", 20),
    ),
    "diff, open hunk": Opening(
        "git diff",
        0,
        "diff --git a/a.lock b/a.lock\n--- a/a.lock\n+++ b/a.lock\n@@ -1,900000 +1,900000 @@\n"
        + _rows("+new #\n", 30),
    ),
    "diffstat": Opening("git diff --stat HEAD~1", 0, _rows(" lib/mod#.py | # ++--\n", 40)),
    "git log": Opening(
        "git log",
        0,
        _rows(
            (
                "commit 00000000000000000000000000000000000000aa\nAuthor: Ann <ann@example.org>\n"
                "Date:   Mon Nov 30 10:00:00 2026 +0000\n\n    change #\n\n"
            ),
            12,
        ),
    ),
    "git status": Opening(
        "git status",
        0,
        "On branch main\nChanges not staged for commit:\n"
        + _rows("\tmodified:   lib/mod#.py\n", 40),
    ),
    "listing": Opening(
        "ls -la", 0, "total 8\n" + _rows("-rw-r--r-- 1 ann staff # Jan  1 10:00 f#.txt\n", 40)
    ),
    "recursive listing": Opening("ls -R", 0, _rows("./d#:\nf#.txt\n\n", 20)),
    "paths": Opening("find .", 0, _rows("./lib/d#/m#.py\n", 50)),
    "table": Opening(
        "docker ps", 0, "ID      NAME      STATUS\n" + _rows("#     name#     up # hours\n", 40)
    ),
    "json": Opening(
        "curl api",
        0,
        '{"items": ['
        + ",".join(f'{{"id": {i}, "name": "n{i}"}}' for i in range(60))
        + '], "rest": "',
    ),
    "json rows": Opening("curl api", 0, "[" + ",".join(f'{{"id": {i}}}' for i in range(60)) + ","),
    "html": Opening(
        "curl page",
        0,
        "<!DOCTYPE html>\n<html><head><title>t</title></head><body>\n"
        + _rows("<p>par #</p>\n", 30),
    ),
    "CI log": Opening(
        "gh run view --log", 1, _rows("job\tstep\t2026-11-30T10:00:00.1234567Z line #\n", 50)
    ),
    "diagnostics": Opening(
        "tsc", 2, _rows("src/m#.ts(#,5): error TS2322: Type 'string' is not assignable.\n", 40)
    ),
    "diagnostics with excerpts": Opening(
        "make", 2, _rows("src/m#.c:#:5: error: expected ';'\n  int x\n      ^\n", 30)
    ),
    "rustc": Opening(
        "cargo build",
        101,
        _rows(
            "error[E0308]: mismatched types\n --> src/m#.rs:#:5\n  |\n# | let x\n  |     ^\n\n", 20
        ),
    ),
    "stylish": Opening(
        "eslint .", 1, _rows("/src/m#.js\n  #:5  error  no such thing  no-undef\n", 30)
    ),
    "installs": Opening(
        "apt-get install x", 0, _rows("Unpacking p# (1.#) ...\nSetting up p# (1.#) ...\n", 30)
    ),
    "pytest": Opening(
        "pytest",
        1,
        "=== test session starts ===\ncollected 9 items\n\n"
        + _rows("t.py::test_# PASSED\n", 40)
        + (
            "=== FAILURES ===\n___ test_x ___\n>       assert 1 == 2\nE       assert 1 == 2\n\n"
            "t.py:3: AssertionError\n"
        ),
    ),
    "jest": Opening(
        "npx jest",
        1,
        (
            "FAIL src/a.test.js\n  ● a › b\n\n    expect(received).toBe(expected)\n\n"
            "Test Suites: 1 failed\n"
        )
        + _rows("PASS src/b#.test.js\n", 30),
    ),
    "go test": Opening(
        "go test ./...",
        1,
        "=== RUN   TestA\n--- FAIL: TestA (0.00s)\n    a_test.go:3: bad\nFAIL\tx/y\t0.1s\n"
        + _rows("ok  \tx/p#\t0.1s\n", 30),
    ),
    "cargo test": Opening(
        "cargo test",
        101,
        "running 40 tests\n"
        + _rows("test t# ... ok\n", 30)
        + (
            "test a ... FAILED\n\nfailures:\n\n---- a stdout ----\n"
            "thread 'a' panicked at src/l.rs:3:5:\nboom\n\ntest result: FAILED. 40 passed; 1 "
            "failed\n"
        ),
    ),
    "TAP": Opening(
        "prove", 1, "TAP version 13\n1..50\n" + _rows("ok # - t\n", 30) + "not ok 41 - x\n"
    ),
    "unittest": Opening(
        "python -m unittest",
        1,
        _rows("test_# (t.T) ... ok\n", 30)
        + "======\nFAIL: test_x (t.T)\n------\nTraceback\nRan 41 tests in 0.1s\n",
    ),
    "other test runs": Opening(
        "gradle test",
        1,
        "Tests run: 5, Failures: 1\n" + _rows("T > t# PASSED\n", 30) + "T > x FAILED\n",
    ),
    "report": Opening("", 0, "Report\n======\n"),
}


def filled(unit: str, size: int) -> str:
    """A unit again and again, cut to so many characters."""
    return (unit * (size // len(unit) + 1))[:size]


def _repeated(unit: str) -> Callable[[int], str]:
    """The body of a size that is one unit again and again."""
    return lambda size: filled(unit, size)


def _lines(pattern: str) -> Callable[[int], str]:
    """Lines of a pattern; "#" is a number that rises, "~" a word that differs from line to line."""

    def body(size: int) -> str:
        draw, out, left, number = random.Random(11), [], size, 0
        while left > 0:
            word = (
                "".join(draw.choice("ghijklmnopqrstuvwxyz") for _ in range(8))
                if "~" in pattern
                else ""
            )
            out.append(pattern.replace("#", str(number)).replace("~", word))
            left -= len(out[-1]) + 1
            number += 1
        return "\n".join(out)

    return body


# one kind of character on one line
SINGLE = " \t!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~0aAé‘“│●✓\r\b\x0b\x0c\x1b\x1c\x85\u2028\n"
PAIRS = (
    ": ",
    "::",
    "a:",
    "1:",
    "1.",
    "a.",
    ".a",
    "/a",
    "a/",
    "a-",
    "-1",
    "a=",
    "a,",
    "a;",
    "a|",
    " |",
    "| ",
    "'\"",
    "\\'",
    "()",
    "[]",
    "{}",
    "<>",
    "a\b",
    "a\r",
    "\r\n",
    "\n ",
    "\n\t",
    " \n",
    "a\n",
    "=\n",
    "-\n",
    "::Q",
    ".py",
    "lock",
    "error ",
    "Error: ",
    "passed ",
    "in ",
    " > ",
    " - ",
    "at ",
    "FAILED ",
    " ... ",
    "\t",
    "@@",
    "a@",
    "e-",
    "\ud83d",
    "0x",
    "__",
    "*/",
    "//",
)
UNCLOSED = (
    "[ck: ",
    "[ck: recall 0123456789ab",
    "<a b='",
    '<a b="',
    "<a b=",
    "<a ",
    "</a",
    "<!--",
    "<!",
    "<?",
    "<![CDATA[",
    "<script>",
    "<style ",
    "<svg>",
    "&#",
    "&#x41",
    "&amp",
    "&lt",
    "'a",
    '"a',
    "`a",
    "‘a",
    "“a",
    "(a",
    "[a",
    "{a",
    '{"a":',
    "[[",
    "$(",
    "${",
    "<(",
    "<<E\n",
    "\\",
    "\x1b[",
    "\x1b[1;",
    "\x1b]0;",
    "\x1bP",
    "\x1b[2K",
    "\x1b[1A",
    "x\n\x1b[9A",
    "\x1b[1G.",
    "/*",
    '"""',
    "at f(",
    "/blob/x/",
    "pkg/mod/",
    "://",
)
LONG = {  # a long run, then what is looked for, or nearly
    f"{name}, a break": (lambda size, unit=unit, end=end: filled(unit, size - len(end)) + end)
    for unit, name, end in (
        ("a", "a token", "\n"),
        ("1", "digits", "x"),
        (" ", "blanks", "x"),
        ("\t", "tabs", "|"),
        ("=", "a rule", "x"),
        ("-", "dashes", ">"),
        (".", "dots", "("),
        ("a.", "a dotted name", "("),
        ("a/", "a path", "?"),
        ("a::", "a qualified name", " "),
        ("a ", "words", "\r"),
        ("^", "carets", "x"),
        ("_", "underlines", " x"),
        ("x", "a token and CR", "\r\n"),
    )
}
FRAMES = (  # frames of many languages, whole, halved, or with the end of another
    '  File "a#.py", line #, in f',
    '  File "a#.py", line',
    "a.py in f(x",
    "File ~/a.py:#, in f",
    "a.py:#: in f",
    "\tat a.b.C.d(E.java:#)",
    "\tat a.b.C.d(E.java",
    "    at f (/a/b.js:#:1)",
    "    at f (/a/b.js",
    "f@/a/b.js:#:1",
    "\t/a/b.go:# +0x1",
    "\t/a/b.go:",
    "goroutine # [running]:",
    "thread 'm' panicked at src/a.rs:#:1",
    "panicked at 'a",
    "  at ./src/a.rs:#:1",
    "  --> src/a.rs:#:1",
    "#1 0xaf in f~ (x) at a.c:#",
    "#1 0xaf in f~ (x) at a",
    "#1 /a/b.php(#): f()",
    "in /a/b.php on line #",
    "a.rb:#:in 'f'",
    "   at A.B(C d) in /a/b.cs:line #",
    "   at A.B(C d",
    "a.ts(#,1): error",
    "a.c:#:1",
    "Caused by: a.B: c",
    "Traceback (most recent call last):",
    'Exception in thread "a',
    "thread 'a",
)
LINES = (
    "~",
    "~ ~ ~ ~",
    "#",
    "~ # ~ #",
    "error: ~ # happened",
    "ERROR ~",
    "warning: ~",
    "Error ~\n  at ~",
    "                              x#",
    "k1=# k2=# k3=# ~",
    "2026-11-30T10:00:00Z INFO w-# ~",
    "a/b/c/d#.py",
    "d#/f.py",
    "d#/d#/d#/d#/d#/d#/d#/d#/f",
    "a.py:#:~",
    "d/a#.py:#:~",
    "d/a.py-#-~",
    "--",
    "a#.c:#:#: error: ~",
    "a.c:1:#: error: same",
    "@@ -#,3 +#,3 @@",
    "@@ -99999999999999999999,1 +1 @@",
    "diff --git a/f# b/f#\n--- a/f#\n+++ b/f#\n@@ -1 +1 @@\n-a\n+b",
    "+~",
    "-~",
    "?~",
    " a/{b => c}/d#.py | # +++--",
    " a | Bin 0 -> #",
    "commit 00000000000000000000000000000000000000ab\nAuthor: Ann#\nDate:   Mon\n\n    s#",
    "    ~",
    "Author: a <<<<",
    "Merge: a b",
    '{"k#": 1},',
    '{"id": #, "o": {"a": null}},',
    '"k#": #,',
    '"~",',
    "1e#,",
    "c#  c#  c#  c#  c#",
    "c# | c# | ~",
    "#\t#\t~",
    "ID  NAME",
    "-rw-r--r-- 1 a b # Jan  1 10:00 ~",
    "-rwsrwSrwT 1 a~ b # Jan  1 10:00 f",
    "./d#:\ntotal 0",
    "\tmodified:   a/b#/c.py",
    " M a/~/c",
    "Unpacking p#:amd64 (1.#) over (1.0) ...",
    "Downloading ~-1.0.tar.gz",
    "Hit mirror:#:x",
    "t/a#.py::test_# FAILED",
    "t/a.py::test_~ PASSED",
    "____ test_# ____\n\n>   assert x\nE   y#\nt.py:#: AssertionError",
    "==== ERRORS ====",
    "# passed",
    "==== passed",
    "tests/x.s",
    "--- FAIL: T# (0.0s)\n    a.go:#: ~",
    "  ● a › b#\n\n    expect #",
    "FAIL ~",
    "---- t# stdout ----\nthread 't#' panicked at a.rs:1:1:\n~",
    "not ok # - t\n  ---\n  x: #\n  ...",
    "not ok # # TODO",
    "======\nFAIL: test_# (a.B)\n------\n~",
    "2026-11-30T10:00:00.1234567Z ##[group]g#",
    "job#\tstep\t2026-11-30T10:00:00.1234567Z ~",
    "<p id=a#>~</p>",
    "<a b=\"#\" c='~'>",
    "<!-- error # -->",
    "<br/>",
    "&#1234567890123456789#;",
    "# | x",
    "  |",
    "   ^",
    "50% |####     |\r",
    "\x1b[31m~\x1b[0m",
    "~\r~",
    "~\b\b\b\b~",
)
COMMANDS = (
    "cd a && ",
    "A=1 ",
    "a; ",
    "a | ",
    "echo 'a' ",
    "ck.py slice x; ",
    "python3 ck.py slice x && ",
    "$x ",
    '"$x" ',
    "a\\ ",
    "-n ",
    "cat a#b ",
    "> a ",
    "2>&1 ",
    "bash -c 'a' ",
    "a\\\n",
    "--password=x ",
    "-u a:b ",
    "token: x ",
    "https://a:b@c/ ",
    "sk-aaaaaaaaaaaaaaaaaaaa ",
    "-----BEGIN PRIVATE KEY-----",
    "sed -nnnnn ",
    "docker exec ",
    "authorization: ",
    "{a,b}",
    "*?[a]",
    "~/",
)


def bodies() -> dict[str, Callable[[int], str]]:
    """Name -> body of a size.  Every kind is drawn from a table above."""
    found: dict[str, Callable[[int], str]] = {}
    for char in SINGLE:
        found[f"one line of {char!r}"] = _repeated(char)
    for unit in PAIRS + UNCLOSED:
        found[f"again and again {unit!r}"] = _repeated(unit)
    for unit in UNCLOSED[:12] + FRAMES:
        found[f"one line of {unit!r}"] = _repeated(unit.replace("#", "7").replace("\n", " "))
    found.update(LONG)
    for pattern in LINES + FRAMES:
        found[f"lines {pattern!r}"] = _lines(pattern)
    found["opened, then closed"] = lambda size: filled("[", size // 2) + filled("]", size // 2)
    found["written, then taken back"] = lambda size: (
        filled("a", size // 2) + filled("\b", size // 2)
    )
    found["lines that grow"] = lambda size: "\n".join("a " * i for i in range(1, int(size**0.5)))
    found["long lines of words"] = lambda size: "\n".join(
        [filled("error in the middle of some words ", 900)] * (size // 901)
    )
    found["rows without a key in common"] = lambda size: ",".join(
        f'{{"k{i}": 1}}' for i in range(size // 12)
    )
    return found


def near_misses(opening: str) -> dict[str, Callable[[int], str]]:
    """Bodies made of a format's own lines: cut in the middle, without line breaks, or with the
    next line's start.
    """
    lines = [line for line in dict.fromkeys(opening.split("\n")) if line.strip()][-6:]
    found: dict[str, Callable[[int], str]] = {}
    for line in lines:
        half = line[: len(line) // 2 + 1]
        found[f"own line {line[:20]!r}, half"] = _repeated(half + "\n")
        found[f"own line {line[:20]!r}, on one line"] = _repeated(line)
        found[f"own line {line[:20]!r}, half, on one line"] = _repeated(half)
        found[f"own line {line[:20]!r}, again and again"] = _repeated(line + "\n")
    return found
