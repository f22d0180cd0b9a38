"""Files that others own are opened in one place: `contextkernel.store.files`. Whatever else
opens a file is named here, with its reason.
"""

from __future__ import annotations

import ast
import os

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SWEPT = ("hooks", "mcp") + tuple(
    "hooks/contextkernel/" + name
    for name in (
        "handlers",
        "commands",
        "server",
        "setup",
        "clients",
        "clients/claude",
        "clients/codex",
    )
)  # the modules of these folders, not of those below
OPENERS = {
    ("", "open"),
    ("os", "open"),
    ("io", "open"),
    ("os", "fdopen"),
    ("codecs", "open"),
    ("tokenize", "open"),
}
METHODS = {"read_text", "read_bytes", "write_text", "write_bytes"}
ALLOWED = {  # (module, function): (calls, why)
    ("hooks/contextkernel/clients/hook_io.py", "run"): (
        1,
        "the null device stands in for a closed stderr",
    ),
    ("hooks/contextkernel/clients/hook_io.py", "_silence"): (
        1,
        "the null device takes the place of a broken descriptor",
    ),
    ("hooks/contextkernel/clients/cli_io.py", "*"): (
        2,
        "the null device stands in for closed streams",
    ),
    ("mcp/server.py", "own_streams"): (1, "the null device becomes standard input"),
    ("hooks/contextkernel/clients/claude/settings_file.py", "write"): (
        2,
        "a new file of ours beside the one to replace: O_EXCL",
    ),
    ("hooks/contextkernel/clients/claude/shell_prefix.py", "_leave"): (
        1,
        "an empty note in our own folder: no link is followed, nothing is read",
    ),
    ("hooks/contextkernel/clients/claude/output_file.py", "__init__"): (
        1,
        "a second descriptor of the output file we hold: a regular file by fstat before and after",
    ),
    ("hooks/contextkernel/setup/codex_bundle.py", "build"): (
        1,
        "writes the bundle into a folder made anew",
    ),
    ("hooks/contextkernel/setup/demo.py", "*"): (
        1,
        "writes the demonstration into a scratch folder of its own",
    ),
    ("hooks/contextkernel/commands/slice.py", "*"): (
        3,
        "files of the repository, read by the slicer",
    ),
    ("hooks/contextkernel/handlers/repo_slice.py", "*"): (
        3,
        "files of the repository, read by the slicer",
    ),
    ("hooks/contextkernel/commands/symbol.py", "*"): (
        1,
        "files of the repository, read by the slicer",
    ),
}


def modules():
    found = []
    for folder in SWEPT:
        names = sorted(os.listdir(os.path.join(ROOT, folder)))
        found += [folder + "/" + name for name in names if name.endswith(".py")]
    return found


def opens(source, name):
    """(function, line) of each call that opens a file by itself."""
    found = []

    def visit(node, function):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            function = node.name
        if isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Name) and ("", called.id) in OPENERS:
                found.append((function, node.lineno))
            elif isinstance(called, ast.Attribute):
                owner = called.value.id if isinstance(called.value, ast.Name) else ""
                if (owner, called.attr) in OPENERS or called.attr in METHODS:
                    found.append((function, node.lineno))
        for child in ast.iter_child_nodes(node):
            visit(child, function)

    visit(ast.parse(source, name), "")
    return found


@pytest.mark.parametrize(
    "source, count",
    [
        ("def f():\n    open('x')", 1),
        ("import os\nos.open('x', 0)", 1),
        ("path.read_text()", 1),
        ("import io\nio.open('x')", 1),
        ("files.opened('x')", 0),
        ("install.opened(a, b)", 0),
        ("book.open_ledger()", 0),
    ],
)
def test_the_checker_itself(source, count):
    assert len(opens(source, "x")) == count


def test_there_is_something_to_check():
    assert len(modules()) > 30


def strays_in(name):
    """Where a module opens a file beyond what ALLOWED gives it."""
    with open(os.path.join(ROOT, name), "rb") as file:
        found = opens(file.read(), name)
    left = {key: count for (module, key), (count, _) in ALLOWED.items() if module == name}
    strays = []
    for function, line in found:
        key = function if left.get(function) else "*"
        if left.get(key):
            left[key] -= 1
        else:
            strays.append(f"{name}:{line:d}")
    return strays


def test_files_are_opened_in_one_place():
    strays = [stray for name in modules() for stray in strays_in(name)]
    assert not strays, (
        "opens a file by itself; use contextkernel.store.files (opened, content, append, "
        f"replace): {strays}"
    )
