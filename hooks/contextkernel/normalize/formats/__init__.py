"""The table of formats: how an output is told, and the module that lays it out.

A newcomer is one module, one row here (above every row that would take its texts, below those
whose texts it would take) and a case under tests/corpus/t1/MODULE: write the command, the input
and an empty output, then UPDATE_CORPUS=1 fills it in.  tests/unit/test_normalize_corpus.py names
what is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module

from contextkernel.normalize.commands import Command
from contextkernel.normalize.document import Document
from contextkernel.normalize.formats.runners import RUNNERS
from contextkernel.normalize.layout import Layout, Request
from contextkernel.records import NamedTuple


class Format(NamedTuple):
    """A row.  A text may be of this format when all that is given holds; then the module decides:
    its `layout(document, request, *arguments)` returns None for a text that is not of its kind
    after all, Layout([]) for one of which nothing is to be left out, else what is shown.
    """

    name: str
    command: str  # searched in "program subcommand" of each command; "" for any
    hints: tuple[str, ...]  # one of them must stand in the sample; () for any
    content: str  # then this must match at some line of it; "" for any
    module: str
    arguments: tuple[str, ...] = ()


def _runners(is_late: bool) -> Iterator[Format]:
    for key, row in RUNNERS.items():
        if row.is_late == is_late:
            yield Format(row.name, "", row.hints, row.content, "test_runs", (key,))


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
    *_runners(is_late=False),
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
    *_runners(is_late=True),
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


def known(document: Document, request: Request, sample: str) -> tuple[Format, Layout] | None:
    """The first row that knows a document, and its layout; None when none does."""
    for row in candidates(sample, request.command):
        module = import_module("contextkernel.normalize.formats." + row.module)
        layout: Layout | None = module.layout(document, request, *row.arguments)
        if layout is not None:
            return row, layout
    return None
