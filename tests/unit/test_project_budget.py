"""What a slice says of its size is what it makes its reader read, and keeps to the budget."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess

import pytest

import plugin
from contextkernel.handlers import repo_slice

LONG = """def part_{0}(stock):
    # counts the stock of shelf {0}
    if stock is None:
        raise ValueError('stock of shelf {0} is empty')
    return stock + {0}


"""
SYMPTOMS = {
    "frames": (
        'Traceback (most recent call last):\n  File "shop/big.py", line 40, in part_5\n'
        '  File "shop/small_3.py", line 4, in part_0\nValueError: stock of shelf 3 is empty\n'
    ),
    "words": "the stock of a shelf is empty, `part_7` counts it",
    "nothing": "zzzz qqqq",
    "many frames": "".join(
        f'  File "shop/small_{number}.py", line 4, in part_0\n' for number in range(60)
    )
    + "ValueError: stock is empty\n",
}


def small_files(root):
    for number in range(60):
        write(root, f"shop/small_{number}.py", LONG.format(0) + f"SHELF = {number}\n")
    write(root, "shop/big.py", "".join(LONG.format(number) for number in range(400)))


def odd_text(root):
    write(root, "shop/big.py", "# Lagerbestände: größer\r\n" + "x = 'stock of shelf'\r\n" * 900)
    write(root, "shop/ein lager's.py", "".join(LONG.format(number) for number in range(90)))
    write(root, "shop/wide.py", "stock = '" + "shelf empty " * 900 + "'\n" + LONG.format(7) * 60)


def own_tests(root):
    for folder in ("python", "javascript", "go"):
        source = os.path.join(plugin.ROOT, "tests", "repos", folder)
        shutil.copytree(source, str(root / folder))
    small_files(root)
    write(root, "tests/test_big.py", "from shop import big\n\n\n" + LONG.format(9) * 30)


def write(root, name, text):
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_bytes(text.encode())


@pytest.fixture(params=[small_files, odd_text, own_tests], ids=lambda make: make.__name__)
def repository(request, tmp_path, monkeypatch):
    monkeypatch.setenv("CK_DATA", str(tmp_path / "state"))
    request.param(tmp_path / "repo")
    return tmp_path / "repo"


def tokens_of(data):
    return (len(data) + 3) // 4


def commands_of(text):
    return [line.strip() for line in text.split("\n") if line.startswith("   sed -n ")]


def printed_by(commands, root):
    script = "\n".join(["set -e", *commands])
    return subprocess.run(
        ["sh", "-c", script], cwd=str(root), stdout=subprocess.PIPE, check=True
    ).stdout


def assert_within(said, real):
    assert abs(said - real) <= max(2, 0.02 * real)


@pytest.mark.parametrize("budget", [1, 150, 400, 1000, 8000])
@pytest.mark.parametrize("symptom", sorted(SYMPTOMS))
@pytest.mark.parametrize("form", ["lines", "text", "json"])
@pytest.mark.loop(20)
def test_the_size_of_a_slice(repository, symptom, form, budget):
    request = repo_slice.Request(budget, budget_line="budget 8,000: a word on where it comes from")
    shown = repo_slice.answer(str(repository), SYMPTOMS[symptom], request, form=form)
    if form == "json":
        found = json.loads(shown)
        lines = b"".join(
            b"".join((repository / row["path"]).read_bytes().splitlines(True)[first - 1 : last])
            for row in found["files"]
            for first, last in row["ranges"]
        )
        assert_within(found["tokens"], tokens_of(lines))
        assert found["fits"] == (tokens_of(lines) <= budget)
        assert found["fits"] or found["tokens"] == found["smallest"]
        return
    by_commands = tokens_of(printed_by(commands_of(shown), repository))
    size = tokens_of(shown.encode()) + by_commands
    said, of = re.search(r"^budget: ~(\d+) of (\d+) tokens", shown, re.M).groups()
    assert int(of) == budget
    assert_within(int(said), size)
    parts = re.search(r"~(\d+) here, ~(\d+) printed by the commands", shown)
    if by_commands:
        assert_within(int(parts.group(1)), tokens_of(shown.encode()))
        assert_within(int(parts.group(2)), by_commands)
    too_much = re.search(r"^Even the smallest answer needs ~(\d+) tokens, more than", shown, re.M)
    if size > budget:
        assert_within(int(too_much.group(1)), size)
    else:
        assert too_much is None
    if budget >= 1000 and symptom != "many frames":
        assert size <= budget


@pytest.mark.parametrize("form", ["lines", "text"])
def test_a_budget_is_used(tmp_path, monkeypatch, form):
    monkeypatch.setenv("CK_DATA", str(tmp_path / "state"))
    small_files(tmp_path / "repo")
    request = repo_slice.Request(3000)
    shown = repo_slice.answer(str(tmp_path / "repo"), SYMPTOMS["frames"], request, form=form)
    size = tokens_of(shown.encode()) + tokens_of(printed_by(commands_of(shown), tmp_path / "repo"))
    assert 0.9 * 3000 <= size <= 3000
