"""What a language consists of: a module, a row in the table, a tree of cases.  Each test names the
part that is missing.
"""

from __future__ import annotations

import importlib
import os

import pytest

import plugin
from contextkernel.slicing import languages
from contextkernel.slicing.languages import FUNCTIONS, TABLE, LanguageModule, language_module

MODULES = os.path.join(plugin.ROOT, "hooks", "contextkernel", "slicing", "languages")
REPOS = os.path.join(plugin.ROOT, "tests", "repos")
RESOLVING = [row for row in TABLE if row.resolves]


def module_of(row):
    return importlib.import_module("contextkernel.slicing.languages." + row.module)


def texts_of(row):
    """(path, text) of the source files of a language's tree."""
    for folder, _, names in os.walk(os.path.join(REPOS, row.module)):
        for name in names:
            if name.endswith(row.suffixes):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as handle:
                    yield path, handle.read()


def test_every_module_has_a_row():
    modules = {name[:-3] for name in os.listdir(MODULES) if name.endswith(".py")} - {"__init__"}
    rows = {row.module for row in TABLE}
    assert sorted(modules - rows) == [], "no row in TABLE of slicing/languages/__init__.py"
    assert sorted(rows - modules) == [], "no such module in slicing/languages/"


def test_a_suffix_means_one_language():
    suffixes = [suffix for row in TABLE for suffix in row.suffixes]
    assert sorted({one for one in suffixes if suffixes.count(one) > 1}) == []


@pytest.mark.parametrize("row", RESOLVING, ids=lambda row: row.name)
def test_a_language_that_resolves_defines_how(row):
    needed = ("blank", "definitions", "imports", "targets")
    missing = {
        name: getattr(LanguageModule, name).__doc__
        for name in needed
        if not hasattr(module_of(row), name)
    }
    assert missing == {}, f"{row.module}.py lacks functions of LanguageModule"


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_what_a_module_leaves_out_has_a_default(row):
    loaded = language_module(row.name)
    for name in FUNCTIONS:
        given = getattr(module_of(row), name, None)
        assert getattr(loaded, name) == (given or getattr(loaded, name))
    assert language_module(row.name) is loaded, "loaded once"


def test_the_functions_are_those_of_the_protocol():
    declared = [name for name in vars(LanguageModule) if name in dir(languages._Loaded)]
    assert [name for name in declared if not name.startswith("_")] == list(FUNCTIONS)


def test_every_language_that_resolves_has_a_tree_of_cases():
    trees = set(os.listdir(REPOS))
    rows = {row.module for row in RESOLVING}
    assert sorted(rows - trees) == [], "no tests/repos/<module>/ with small files and EDGES"
    assert sorted(trees - rows) == [], "a tree in tests/repos/ without a row that resolves"


@pytest.mark.parametrize("row", RESOLVING, ids=lambda row: row.name)
def test_a_tree_of_cases_has_edges(row):
    path = os.path.join(REPOS, row.module, "EDGES")
    assert os.path.isfile(path), f"{path}: lines of `from -> to`"
    with open(path, encoding="utf-8") as handle:
        lines = handle.read().strip().split("\n")
    for line in lines:
        for name in line.split(" -> "):
            assert os.path.isfile(os.path.join(REPOS, row.module, name)), f"EDGES: no file {name}"


@pytest.mark.parametrize("row", RESOLVING, ids=lambda row: row.name)
def test_comments_and_strings_hide_imports(row):
    """The pattern of `blank` is the language's own: a case in the tree must need it."""
    module, hidden = module_of(row), []
    for path, text in texts_of(row):
        masked = module.blank(text)
        assert len(masked) == len(text), path
        assert masked.count("\n") == text.count("\n"), path
        if module.imports(text, text) != module.imports(text, masked):
            hidden.append(path)
    assert hidden, f"no file of tests/repos/{row.module}/ has an import in a comment or a string"
