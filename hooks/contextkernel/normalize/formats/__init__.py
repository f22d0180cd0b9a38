"""The table of formats.  A newcomer is one module, one row here, one golden case under
tests/corpus/t1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from contextkernel.normalize.commands import Command


class Format(NamedTuple):
    """A row: `command` is searched in "program subcommand" of each command ("" any); one of `hints`
    must stand in
    the sample, then `content` (multi-line) must match it.  The module's `layout(document, ask)` returns a
    Layout, or None
    when the text is not of its kind after all."""

    name: str
    command: str
    hints: tuple[str, ...]
    content: str
    module: str
    arguments: tuple[str, ...] = ()  # of `layout`, after document and ask


def _gapped(start: str, end: str) -> str:
    """A line with a gap between two fields, or one that is a field with a blank line or an
    indented one below: each can match in one way only.
    """
    return rf"(?:(?={start}\S(?:[^\S\n]{{2,}}| \| )\S){end}|{start}\S(?=\s\s)[^\S\n]*\n\s*\S{end})"


FORMATS: tuple[Format, ...] = (
    Format("diff", "", ("\n@@ ", "@@ -"), r"^@@+ -\d+(?:,\d+)? \+\d+", "diff"),
    Format("diffstat", "", (" | ",), r"^ \S.*\s\| +\d+ [+-]+$", "diffstat"),
    Format(
        "git log",
        "",
        ("commit ",),
        r"\A(?:commit [0-9a-f]{7,40}.*\n)(?:Merge: .*\n)?Author: ",
        "git_log",
    ),
    Format(
        "CI log",
        "",
        ("Z ",),
        r"\A(?:[^\t\n]+\t[^\t\n]*\t)?\ufeff?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{5,7}Z ",
        "ci_log",
    ),
    Format(
        "json",
        "",
        ("{", "["),
        r"\A\s*(?:\{\s*\"|\[\s*(?:[\[{\"]|-?\d[\d.eE+-]*\s*[,\]]))",
        "json_document",
    ),
    Format(
        "html",
        "",
        ("<html", "<HTML", "<!DOCTYPE", "<!doctype", "<body", "</div>", "</p>"),
        r"(?i)\A\s*<(?:!doctype html|html|head|body|div|p|table|section|main)\b",
        "html",
    ),
    Format("git status", r"^git (?:status|st)\b", (), "", "git_status"),
    Format("listing", r"^(?:ls|ll|la|exa|eza)\b", (), "", "listing"),
    Format("listing", "", ("total ",), r"^total \d+\n[-dlcbps][-rwxsStT]{9}", "listing"),
    Format(
        "pytest",
        "",
        (
            "test session starts",
            "short test summary info",
            "= FAILURES =",
            "= ERRORS =",
            ".py::",
            " passed",
            " failed",
            "FAILED ",
        ),
        (
            r"^=+ (?:test session starts|FAILURES|ERRORS|short test summary info) =+$|^(?:FAILED"
            r"|ERROR) \S+\.py|^(?=(\S+?\.py::))\1.* (?:PASSED|FAILED)|^\d+ (?:passed|failed)[, "
            r"].* in [\d.]+s"
        ),
        "test_runs",
        ("pytest",),
    ),
    Format(
        "TAP",
        "",
        ("ok 1", "TAP version", "not ok"),
        r"^TAP version \d+|^1\.\.\d+$|^(?:not )?ok \d+ ",
        "test_runs",
        ("tap",),
    ),
    Format(
        "jest",
        "",
        ("Test Suites:", "PASS ", "FAIL ", " passing", " failing", "Test Files", "●"),
        (
            r"^Test Suites: |^(?:PASS|FAIL)\s+\S+\.[cm]?[jt]sx?|^[^\S\n]*\s\d+ (?:passing"
            r"|failing)\b|^[^\S\n]*Test Files  |^ *(?:✓|✔|❯|×) .*\.(?:test|spec)\."
        ),
        "test_runs",
        ("jest",),
    ),
    Format(
        "go test",
        "",
        ("--- FAIL", "--- PASS", "FAIL\t", "ok  \t", "=== RUN"),
        r"^[^\S\n]*--- (?:FAIL|PASS|SKIP): |^(?:FAIL|ok  )\t|^=== RUN ",
        "test_runs",
        ("gotest",),
    ),
    Format(
        "cargo test",
        "",
        ("test result:", "running ", "nextest"),
        r"^test result: |^running \d+ tests?$|^ +Summary \[",
        "test_runs",
        ("cargotest",),
    ),
    Format("grep", r"^(?:grep|egrep|fgrep|zgrep|rg|ag|ack|git grep)\b", (":",), "", "grep"),
    Format(
        "diagnostics",
        "",
        (": ", "error", "warning"),
        (
            r"^\S[^:\n]*(?:\(\d+,\d+\)|:\d+(?::\d+)?):? .*|^[^\S\n]*\s\d+:\d+\s+(?:error"
            r"|warning)\s|^(?:error|warning)(?:\[\w+\])?: .*\n\s*--> "
        ),
        "diagnostics",
    ),
    Format(
        "paths",
        (
            r"^(?:find|fd|fdfind|git ls-files|git ls-tree|git diff|git show|rg|grep|ls|tree"
            r"|locate|tar|unzip|du|ag|git grep|Glob)\b"
        ),
        ("/",),
        "",
        "path_list",
    ),
    Format(
        "grep",
        "",
        (":",),
        r"^[\w@+~-]*[./][\w./@+~-]*:\d+:.*\n[\w./@+~-]+[:-]\d+[:-]|\A\d+[:-].*\n(?:--\n)?\d+[:-]",
        "grep",
    ),
    Format("paths", "", ("/",), r"\A(?:[^\s/]*/\S+\n){8}", "path_list"),
    Format(
        "installs",
        "",
        ("Unpacking ", "Inst ", "Collecting ", "Get:1 ", "Setting up "),
        r"^(?:Unpacking|Inst|Collecting|Get:\d+|Setting up) \S",
        "package_install",
    ),
    Format(
        "table",
        "",
        ("  ", " | "),
        "^" + _gapped(r"\S.*", r".*\n") + _gapped(".*", r".*\n") + _gapped(".*", ""),
        "table",
    ),
    Format(
        "unittest",
        "",
        ("Ran ", "... ok", "... FAIL", "... ERROR"),
        r"^Ran \d+ tests? in |^(?:FAIL|ERROR): \w+ \(|^\S+ \(.*\) \.\.\. ",
        "test_runs",
        ("unittest",),
    ),
    Format(
        "other test runs",
        "",
        (
            " examples, ",
            "Tests:",
            "Tests run:",
            "[  FAILED",
            "[==",
            "tests completed",
            "Test project ",
            "Failed!",
            "Passed!",
        ),
        (
            r"^\d+ examples?, |^Tests: \d+, |Tests run: \d+|^\[=+\]|tests completed|^Test "
            r"project |^(?:Failed|Passed)!  - |^Executed \d+ tests"
        ),
        "test_runs",
        ("other",),
    ),
)


def candidates(sample: str, command: Command) -> Iterator[Format]:
    """Rows that may fit, in the order of the table."""
    names = "\n".join(command.names)
    for row in FORMATS:
        if row.command and not re.search(row.command, names, re.M):
            continue
        if row.hints and not any(hint in sample for hint in row.hints):
            continue
        if not row.content or re.search(row.content, sample, re.M):
            yield row
