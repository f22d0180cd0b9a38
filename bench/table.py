#!/usr/bin/env python3
"""The README's table of numbers, from bench/results/*.json and nothing else.

    python3 bench/table.py            rewrites README.md between <!-- numbers --> and <!-- /numbers -->
    python3 bench/table.py --check    exit 1 when README.md differs from what the results say

A results file takes part when it has "readme": [{"number", "value", "baseline", "n", "worst"}, …] ("worst" is free text about the spread
or the target) and "machine" (machine.facts).  Files are taken in the order of their names.
"""
from __future__ import annotations

import argparse
import glob
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import machine

BLOCK = re.compile(r"(<!-- numbers -->\n).*?(<!-- /numbers -->)", re.S)
COLUMNS = ["Number", "Measured", "Beside it", "n", "Spread or target", "Source"]


def rows_of(path: str) -> "tuple[list, str]":
    """Table rows of one results file and the line about its machine; no rows when it offers none."""
    with open(path, encoding="utf-8") as handle:
        result = json.load(handle)
    if not isinstance(result, dict) or not result.get("readme"):
        return [], ""
    name = os.path.basename(path)
    rows = [[row["number"], row["value"], row.get("baseline", ""), row.get("n", ""), row.get("worst", ""), "`%s`" % name] for row in result["readme"]]
    facts = result.get("machine") or {}
    return rows, "`%s`: %s" % (name, ", ".join("%s %s" % (key, facts[key]) for key in ("commit", "python", "client", "cpu", "cpus", "load") if facts.get(key)))


def block(folder: str) -> str:
    """The generated text between the markers."""
    parts = [rows_of(path) for path in sorted(glob.glob(os.path.join(folder, "*.json")))]
    rows = [row for found, _ in parts for row in found]
    machines = [line for _, line in parts if line]
    return machine.markdown(COLUMNS, rows) + "\n\nMeasured on: " + "; ".join(machines) + ".\n" if rows else "No results yet.\n"


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args(argv)
    path = os.path.join(machine.ROOT, "README.md")
    with open(path, encoding="utf-8") as handle:
        text = handle.read()
    if not BLOCK.search(text):
        print("table.py: README.md has no <!-- numbers --> … <!-- /numbers --> block", file=sys.stderr)
        return 2
    new = BLOCK.sub(lambda found: found.group(1) + block(machine.RESULTS) + found.group(2), text)
    if args.check:
        return int(new != text)
    if new != text:
        with open(path + ".tmp", "w", encoding="utf-8") as handle:
            handle.write(new)
        os.replace(path + ".tmp", path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
