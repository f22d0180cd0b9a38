"""Golden cases of the normal form: Markdown files under tests/corpus/t1, one folder per format.

A case is a heading, a line `command: …  · exit: N`, a block `input`, and a block `output` or
`unchanged`.  Escape, carriage return and backspace are written ␛ ␍ ␈.  UPDATE_CORPUS=1 rewrites
the outputs; review is the diff.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
import types
from typing import NamedTuple

import pytest

from contextkernel import marks
from contextkernel import normalize as normalize_package
from contextkernel.normalize import Source, formats, normalize
from contextkernel.normalize.commands import facts
from contextkernel.normalize.edits import accounting_error, rebuild
from contextkernel.normalize.formats import FORMATS, Format
from contextkernel.normalize.layout import Block, Layout, Rank, Request

CORPUS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "corpus", "t1")
CASE = re.compile(
    (
        r"^## (?P<name>[^\n]+)\n\ncommand: `(?P<command>[^\n]*)` · exit: "
        r"(?P<code>\d+)\n\n````input\n(?P<input>.*?)\n````\n\n````(?P<kind>output"
        r"|unchanged)\n(?P<output>(?:.*?\n)??)````$"
    ),
    re.M | re.S,
)
CONTROL = (("␛", "\x1b"), ("␍", "\r"), ("␈", "\b"))
HANDLE = "7f3a12bc90de"
PACKAGE = "contextkernel.normalize.formats."


def files():
    return sorted(
        os.path.join(folder, name)
        for folder, _, names in os.walk(CORPUS)
        for name in names
        if name.endswith(".md")
    )


def shortened(path):
    return "tests/corpus/t1/" + os.path.relpath(path, CORPUS).replace(os.sep, "/")


def decoded(text):
    for written, control in CONTROL:
        text = text.replace(written, control)
    return text


def encoded(text):
    for written, control in CONTROL:
        text = text.replace(control, written)
    return text


def cases():
    for path in files():
        with open(path, encoding="utf-8", newline="") as handle:
            for match in CASE.finditer(handle.read()):
                yield pytest.param(
                    path,
                    match,
                    id=(
                        f"{os.path.basename(os.path.dirname(path))}/"
                        f"{match.group('name').replace(' ', '-')}"
                    ),
                )


@pytest.mark.parametrize("path, case", list(cases()))
def test_case(path, case):
    text = decoded(case.group("input"))
    source = Source(command=case.group("command"), exit_code=int(case.group("code")), handle=HANDLE)
    normal = normalize(text, source)
    lines = text.split("\n")
    assert accounting_error(text, normal) == ""
    assert rebuild(normal, lambda number: lines[number - 1]) == text
    assert normalize(normal.text, source).text == normal.text
    if case.group("kind") == "unchanged":
        assert normal.text == text
        assert not normal.edits
        return
    assert normal.text != text
    assert marks.handles_in(normal.text) == [HANDLE]
    assert len(normal.text.encode()) < len(text.encode())
    shown = encoded(normal.text)
    if os.environ.get("UPDATE_CORPUS") == "1":
        rewrite(path, case, shown)
    else:
        assert shown + "\n" == case.group("output"), (
            f"{shortened(path)} shows another text now: UPDATE_CORPUS=1 writes it, git diff is the "
            "review"
        )


def rewrite(path, case, shown):
    with open(path, encoding="utf-8", newline="") as handle:
        text = handle.read()
    block = case.group(0)
    fresh = block[: case.start("output") - case.start()] + shown + "\n````"
    with open(path, "w", encoding="utf-8", newline="") as handle:
        handle.write(text.replace(block, fresh))


WITHOUT_ROW = ("plain", "terminal")  # what no format knows; what is cleaned before one is asked
HOW = "UPDATE_CORPUS=1 bash tests/run -k corpus"


class Known(NamedTuple):
    """A case and the row that lays it out; None where no row knows its text."""

    folder: str
    name: str
    kind: str
    chars: int
    row: Format | None


def folder_of(row):
    return (row.arguments or (row.module,))[0]


def known_cases():
    for param in cases():
        path, case = param.values
        text = decoded(case.group("input"))
        document = normalize_package.document_of(text)
        command = facts(case.group("command"))
        request = Request(HANDLE, int(case.group("code")), command=command)
        sample = "\n".join(document.lines)
        row_and_layout = formats.known(document, request, sample)
        yield Known(
            os.path.basename(os.path.dirname(path)),
            case.group("name"),
            case.group("kind"),
            len(text),
            row_and_layout[0] if row_and_layout else None,
        )


def missing_cases(rows, known):
    """What to write for rows that have no changed or no unchanged case."""
    there = {(case.folder, case.kind) for case in known}
    folders = dict.fromkeys([folder_of(row) for row in rows] + list(WITHOUT_ROW))
    return [
        f"no {kind} case: write one to tests/corpus/t1/{folder}/NAME.md"
        + (f" with an empty output, then run {HOW}" if kind == "output" else "")
        for folder in folders
        for kind in ("output", "unchanged")
        if (folder, kind) not in there
    ]


def missing_rows(rows, known):
    """Folders of cases that belong to no row."""
    folders = {folder_of(row) for row in rows}.union(WITHOUT_ROW)
    return [
        f"tests/corpus/t1/{folder} has cases and no row: write one in normalize/formats/__init__.py"
        " (of a test runner: in runners.py)"
        for folder in sorted({case.folder for case in known} - folders)
    ]


def short_twins(known):
    """Unchanged cases so short that no format is asked about them."""
    return [
        f"{case.folder}, {case.name!r}: {case.chars} characters prove nothing, any text under "
        f"{normalize_package.MIN_BYTES} passes; make it longer"
        for case in known
        if case.kind == "unchanged" and case.chars < normalize_package.MIN_BYTES
    ]


def shadowed_cases(known):
    """Changed cases that another row takes than their own."""
    return [
        f"{case.folder}, {case.name!r}: the row {case.row.name!r} takes it first; move that row "
        "below, or narrow its content"
        if case.row
        else f"{case.folder}, {case.name!r}: no row takes it; widen the command, hints or content"
        for case in known
        if case.kind == "output"
        and (folder_of(case.row) if case.row else "")
        != ("" if case.folder in WITHOUT_ROW else case.folder)
    ]


def unreached_rows(rows, known):
    """Rows that take no changed case."""
    reached = {case.row for case in known if case.kind == "output"}
    return [
        f"row {number}, {row.name!r} of {row.module}: no case reaches it; write one whose text no "
        "row above takes, or delete the row"
        for number, row in enumerate(rows)
        if row not in reached
    ]


@pytest.fixture(scope="module")
def known():
    return list(known_cases())


def test_every_row_has_a_changed_and_an_unchanged_case(known):
    assert missing_cases(FORMATS, known) == []


def test_every_folder_of_cases_has_a_row(known):
    assert missing_rows(FORMATS, known) == []


def test_every_unchanged_case_is_long_enough_to_prove_something(known):
    assert short_twins(known) == []


def test_every_changed_case_is_laid_out_by_its_own_row(known):
    assert shadowed_cases(known) == []


def test_every_row_is_reached(known):
    assert unreached_rows(FORMATS, known) == []


def test_every_module_that_lays_out_has_a_row():
    folder = os.path.dirname(formats.__file__)
    names = {name[:-3] for name in os.listdir(folder) if name.endswith(".py")} - {"__init__"}
    makers = {name for name in names if hasattr(importlib.import_module(PACKAGE + name), "layout")}
    strays = sorted(makers - {row.module for row in FORMATS} - {"plain"})
    assert strays == [], "write a row for each in normalize/formats/__init__.py"


def greedy(monkeypatch, place):
    """The table with a row at `place` that takes any text."""
    row = Format("greedy", "", (), "", "greedy")
    module = types.ModuleType(PACKAGE + "greedy")
    module.layout = lambda document, request: Layout([Block(0, 0, Rank.MUST)])
    monkeypatch.setitem(sys.modules, PACKAGE + "greedy", module)
    rows = FORMATS[:place] + (row,) + FORMATS[place:]
    monkeypatch.setattr(formats, "FORMATS", rows)
    return rows


def test_a_row_without_cases_is_named(known):
    row = Format("new", "", (), "", "new_format")
    first, second = missing_cases(FORMATS + (row,), known)
    assert "no output case: write one to tests/corpus/t1/new_format/NAME.md" in first
    assert "no unchanged case" in second


def test_a_case_without_a_row_is_named(known):
    case = Known("new_format", "a case", "output", 900, None)
    (fault,) = missing_rows(FORMATS, known + [case])
    assert "tests/corpus/t1/new_format has cases and no row" in fault


def test_a_twin_under_the_least_size_is_named():
    least = normalize_package.MIN_BYTES
    cases = [Known("diff", str(n), "unchanged", n, None) for n in (least - 1, least)]
    (fault,) = short_twins(cases)
    assert f"diff, '{least - 1}'" in fault


def test_a_row_that_takes_the_texts_of_others_is_named(monkeypatch):
    rows = greedy(monkeypatch, 0)
    taken = list(known_cases())
    assert any("the row 'greedy' takes it first" in fault for fault in shadowed_cases(taken))
    assert any("row 1, 'diff'" in fault for fault in unreached_rows(rows, taken))


def test_a_row_that_none_of_the_cases_reaches_is_named(monkeypatch):
    rows = greedy(monkeypatch, len(FORMATS))
    without_plain = [case for case in known_cases() if case.folder not in WITHOUT_ROW]
    assert unreached_rows(rows, without_plain) == [
        f"row {len(FORMATS)}, 'greedy' of greedy: no case reaches it; write one whose text no row "
        "above takes, or delete the row"
    ]


def test_every_heading_is_a_case():
    for path in files():
        with open(path, encoding="utf-8", newline="") as handle:
            text = handle.read()
        outside = re.sub(r"^````\w+\n.*?^````$", "", text, flags=re.M | re.S)
        headings = re.findall(r"^## (.+)", outside, re.M)
        read = [case.group("name") for case in CASE.finditer(text)]
        assert read == headings, (
            f"{shortened(path)}: a heading is no case; its form is the line command, a block input "
            "and a block output or unchanged, fenced by four backticks, a blank line between all"
        )
