"""Golden cases of T1: Markdown files under tests/corpus/t1, one folder per rule.

A case is a heading, a line `command: …  · exit: N`, a block `input`, and a block `output` or
`unchanged`.  Escape,
carriage return and backspace are written ␛ ␍ ␈.  UPDATE_CORPUS=1 rewrites the outputs; review is
the diff.
"""

from __future__ import annotations

import os
import re

import pytest

from contextkernel import marks
from contextkernel.edits import fault_in_account, rebuild
from contextkernel.normalize import Source, normalize
from contextkernel.normalize.formats import FORMATS

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
    assert fault_in_account(text, normal) == ""
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


def test_every_format_has_a_changed_and_an_unchanged_case():
    kinds = {}
    for param in cases():
        path, match = param.values
        kinds.setdefault(os.path.basename(os.path.dirname(path)), set()).add(match.group("kind"))
    for folder in {(row.arguments or (row.module,))[0] for row in FORMATS} | {"plain", "terminal"}:
        missing = sorted({"output", "unchanged"} - kinds.get(folder, set()))
        assert not missing, (
            f"tests/corpus/t1/{folder}/ has no case with a block " + " nor one with ".join(missing)
        )


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
