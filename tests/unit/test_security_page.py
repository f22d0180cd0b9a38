"""SECURITY.md: each line of its tables names tests that exist, and says something once."""

from __future__ import annotations

import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def text_of(*parts):
    with open(os.path.join(ROOT, *parts), encoding="utf-8") as file:
        return file.read()


ROWS = re.findall(r"^\| (?!what holds|---)(.+?) \| (.+?) \|$", text_of("SECURITY.md"), re.M)


def names_of_all_tests():
    found = set()
    for folder, _, names in os.walk(os.path.join(ROOT, "tests")):
        for name in names:
            if name.startswith("test_") and name.endswith(".py"):
                found |= set(re.findall(r"^def (test_\w+)", text_of(folder, name), re.M))
    return found


def test_there_are_rows():
    assert len(ROWS) >= 12


def test_each_row_names_tests_that_exist():
    there = names_of_all_tests()
    for claim, named in ROWS:
        names = re.findall(r"`(test_\w+)`", named)
        assert names, claim
        assert not set(names) - there, claim
