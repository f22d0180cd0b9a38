"""Symbol slices are executed: a module and its slice must answer the same calls alike.

Each module of tests/assets/symbol says in comments what is asked of it:
    # slice NAME: EXPRESSION       slice NAME, evaluate EXPRESSION in the whole module and in the
    slice
    # without NAME: A B            lines that define A and B are not in the slice of NAME
"""

from __future__ import annotations

import ast
import glob
import os
import re
import sys
import types

import pytest

from contextkernel.symbols.slice import symbol_slice

FOLDER = os.path.join(
    os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "assets", "symbol"
)
ASKED = re.compile(r"^# slice (\S+): (.+)$", re.M)
WITHOUT = re.compile(r"^# without (\S+): (.+)$", re.M)
FEWEST_MODULES = 40


def read(path):
    with open(path, encoding="utf-8", newline="") as stream:
        return stream.read()


MODULES = {
    os.path.basename(path)[:-3]: read(path)
    for path in sorted(glob.glob(os.path.join(FOLDER, "*.py")))
}
CASES = [
    (module, name)
    for module, text in MODULES.items()
    for name in dict.fromkeys(asked for asked, _ in ASKED.findall(text))
]


def answers(source, expressions):
    """What a module's source gives for each expression: its repr, or the type and message of
    what was raised.
    """
    module = types.ModuleType("sliced_module")
    sys.modules[module.__name__] = module  # for sys.modules[__name__] and for dataclasses
    found = []
    try:
        exec(compile(source, "sliced_module.py", "exec", dont_inherit=True), module.__dict__)
        for expression in expressions:
            try:
                found.append(repr(eval(expression, module.__dict__)))
            except Exception as fault:  # noqa: BLE001  # whatever the program raises is its behaviour
                found.append(f"{type(fault).__name__}: {fault}")
    except Exception as fault:  # noqa: BLE001
        found.append(f"import: {type(fault).__name__}: {fault}")
    finally:
        del sys.modules[module.__name__]
    return found


def only(source, ranges):
    """The source with every line outside the ranges emptied."""
    kept = {number for first, last in ranges for number in range(first, last + 1)}
    return "\n".join(
        line if number in kept else "" for number, line in enumerate(source.split("\n"), 1)
    )


def expressions_of(source, name):
    return [expression for asked, expression in ASKED.findall(source) if asked == name]


def test_there_are_enough_modules():
    assert len(MODULES) >= FEWEST_MODULES
    assert all(ASKED.search(text) for text in MODULES.values())


@pytest.mark.parametrize("module, name", CASES)
@pytest.mark.loop(20)
def test_slice_behaves_like_the_module(module, name):
    source = MODULES[module]
    found = symbol_slice(source, name)
    assert found.found, found.notes
    expressions = expressions_of(source, name)
    assert answers(only(source, found.ranges), expressions) == answers(source, expressions)


def definition_lines(source, name):
    """The first lines of what defines a name at any depth."""
    lines = set()
    for node in ast.walk(ast.parse(source)):
        if getattr(node, "name", None) == name or (
            isinstance(node, ast.Assign)
            and any(getattr(target, "id", None) == name for target in node.targets)
        ):
            lines.add(node.lineno)
    return lines


@pytest.mark.parametrize(
    "module, name, absent",
    [
        (m, n, a)
        for m, text in MODULES.items()
        for n, rest in WITHOUT.findall(text)
        for a in rest.split()
    ],
)
def test_slice_leaves_out_what_is_not_needed(module, name, absent):
    lines = definition_lines(MODULES[module], absent)
    assert lines, f"nothing in {module} defines {absent}"
    assert not [
        line
        for line in lines
        for first, last in symbol_slice(MODULES[module], name).ranges
        if first <= line <= last
    ]


def test_a_slice_with_a_part_missing_is_noticed():
    """The comparison above can fail: without one of its parts almost every slice answers
    differently.
    """
    parts = noticed = 0
    blind = []
    for module, name in CASES:
        source, expressions = MODULES[module], expressions_of(MODULES[module], name)
        expected = answers(source, expressions)
        found = symbol_slice(source, name).parts
        differing = 0
        for missing in found:
            rest = [(part.first, part.last) for part in found if part != missing]
            differing += answers(only(source, rest), expressions) != expected
        parts += len(found)
        noticed += differing
        if not differing:
            blind.append((module, name))
    assert not blind
    assert noticed >= 0.8 * parts, f"{noticed:d} of {parts}"
