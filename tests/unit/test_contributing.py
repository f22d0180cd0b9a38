"""A format, a language, a command, a setting is known to the reader: each has its row, and what
CONTRIBUTING.md names exists.

UPDATE_CORPUS=1 writes the lists of formats and languages in README.md; commands and settings have
rows in a person's words.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

import plugin
from contextkernel import commands
from contextkernel.normalize.formats import FORMATS
from contextkernel.slicing.languages import TABLE
from contextkernel.store import settings

FOLDER = "hooks/contextkernel/"
UPDATE = 'UPDATE_CORPUS=1 bash tests/run -k "corpus or contributing"'


def path_of(name):
    return os.path.join(plugin.ROOT, *name.split("/"))


def text_of(name):
    with open(path_of(name), encoding="utf-8") as file:
        return file.read()


def suffixes(row):
    return ", ".join(f"`{suffix}`" for suffix in row.suffixes)


LISTS = {  # block of README.md: (its text by the table, the table's module)
    "formats": (
        ", ".join(dict.fromkeys(row.name for row in FORMATS)) + "\n",
        "normalize/formats/__init__.py",
    ),
    "languages": (
        "".join(f"- {row.name}: {suffixes(row)}\n" for row in TABLE if row.resolves),
        "slicing/languages/__init__.py",
    ),
}
# what has rows: (module of the row, folder of the modules named)
KINDS = {"format": (FORMATS, "normalize/formats"), "language": (TABLE, "slicing/languages")}


@pytest.mark.parametrize("name", LISTS)
def test_readme_lists_what_the_table_has(name):
    wanted, table = LISTS[name]
    text = text_of("README.md")
    start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    for mark in (start, end):
        assert mark in text, f"README.md has lost its block {mark.strip()}"
    head, _, rest = text.partition(start)
    shown, _, tail = rest.partition(end)
    if os.environ.get("UPDATE_CORPUS") == "1" and shown != wanted:
        with open(path_of("README.md"), "w", encoding="utf-8", newline="") as file:
            file.write(head + start + wanted + end + tail)
        return
    assert shown == wanted, (
        f"README.md does not list the {name} of {FOLDER}{table}: {UPDATE} writes the list"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_row_has_its_module_and_every_module_its_row(kind):
    rows, folder = KINDS[kind]
    named = {row.module for row in rows}
    there = {
        name[:-3]
        for name in os.listdir(path_of(FOLDER + folder))
        if name.endswith(".py") and name != "__init__.py"
    }
    assert not named - there, (
        f"a row of {FOLDER}{folder}/__init__.py names a module that is missing: write "
        + ", ".join(f"{FOLDER}{folder}/{name}.py" for name in sorted(named - there))
    )
    missing = sorted(
        name
        for name in there - named
        if re.search(
            r"^def (plan|layout|definitions|imports)\(",
            text_of(f"{FOLDER}{folder}/{name}.py"),
            re.M,
        )
        and not is_imported_by_a_row(name, folder, named)
    )
    assert not missing, f"no row in {FOLDER}{folder}/__init__.py names the {kind} of " + ", ".join(
        f"{folder}/{name}.py" for name in missing
    )


def test_a_suffix_is_in_one_row():
    rows = {}
    for row in TABLE:
        for suffix in row.suffixes:
            rows.setdefault(suffix, []).append(row.name)
    twice = {suffix: names for suffix, names in rows.items() if len(names) > 1}
    assert not twice, f"a suffix belongs to one language: take it out of the other row: {twice}"


def is_imported_by_a_row(name, folder, named):
    """Whether a module is a part of another that has a row, or what the program falls back on."""
    dotted = "contextkernel." + folder.replace("/", ".")
    parts = [f"{FOLDER}{folder}/{other}.py" for other in named] + [FOLDER + "normalize/__init__.py"]
    word = re.compile(
        rf"\b(?:import|from) {re.escape(dotted)}\.{name}\b"
        rf"|\bfrom {re.escape(dotted)} import [^#]*\b{name}\b"
    )
    return any(os.path.exists(path_of(part)) and word.search(text_of(part)) for part in parts)


@pytest.mark.parametrize("name", sorted(commands.COMMANDS))
def test_a_command_has_its_row_its_help_and_its_module(name):
    module = name.replace("-", "_")
    assert os.path.exists(path_of(f"{FOLDER}commands/{module}.py")), (
        f"COMMANDS has a row for {name!r}: write {FOLDER}commands/{module}.py with main(argv)"
    )
    assert re.search(rf"^\| `(?:ck\.py )?{name}\b[^|]*` \| \S", text_of("README.md"), re.M), (
        f"README.md has no row for the command {name!r}: add | `{name}` | what it prints | to the "
        "table of commands"
    )


def ck(*words):
    return subprocess.run(
        [sys.executable, "-I", "-S", path_of("hooks/ck.py"), *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_help_names_every_command(state):
    shown = ck("help").stdout
    missing = [name for name in commands.COMMANDS if not re.search(rf"^  {name}\s", shown, re.M)]
    assert not missing, (
        f"`ck.py help` does not name {missing}: add a line to {FOLDER}commands/__init__.py"
    )


@pytest.mark.parametrize("name", sorted(commands.COMMANDS))
def test_a_wrong_call_is_one_line_and_exit_2(name, state):
    done = ck(name, "--no-such-option")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), (
        f"`ck.py {name} --no-such-option` must end with 2, one line on stderr and nothing else; it "
        f"ended with {done.returncode} and said {done.stdout + done.stderr!r}"
    )


def test_a_module_of_commands_has_a_row():
    there = {
        name[:-3].replace("_", "-")
        for name in os.listdir(path_of(FOLDER + "commands"))
        if name.endswith(".py")
        and re.search(r"^def main\(", text_of(FOLDER + "commands/" + name), re.M)
    } - {"--init--"}
    missing = sorted(there - set(commands.COMMANDS))
    assert not missing, f"COMMANDS in {FOLDER}commands/__init__.py has no row for {missing}"


@pytest.mark.parametrize("name", sorted(settings.DEFAULTS))
def test_a_setting_has_its_row(name):
    rows = re.findall(r"^\| ((?:`CK_\w+`(?:, )?)+) \|", text_of("README.md"), re.M)
    assert any(f"`{name}`" in row for row in rows), (
        f"README.md has no row for the setting {name}: add | `{name}` | "
        f"{settings.DEFAULTS[name]} | its meaning | to the table of settings"
    )


def test_what_contributing_names_is_there():
    text = text_of("CONTRIBUTING.md")
    examples = ("terraform", "ruby", "doctor")
    names = [
        name
        for name in re.findall(r"(?<![\w./])((?:hooks|tests|mcp|bench|\.ci)/[\w./]+)", text)
        if not any(word in name for word in examples)
    ]
    assert len(names) > 8
    missing = [name for name in names if not os.path.exists(path_of(name.rstrip("./")))]
    assert not missing, f"CONTRIBUTING.md names what is not there: {missing}"


def test_contributing_is_one_page():
    lines = text_of("CONTRIBUTING.md").split("\n")
    assert len(lines) <= 100
    assert max(len(line) for line in lines) <= 130
