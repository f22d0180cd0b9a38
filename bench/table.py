#!/usr/bin/env python3
"""The README's five numbers, bench/results/README.md and the plot, all from bench/results.

    python3 bench/table.py            writes the blocks <!-- numbers --> and <!-- own cost --> of
                                      README.md, bench/results/README.md and headline.svg there
    python3 bench/table.py --check    exit 1, and the names on stderr, where one is out of date

A results file has "machine" (machine.facts) and "rows"; results_page.py puts them into words.  A
file that it does not know is shown by its "readme": [{"number", "value", "baseline", …}, …].
"""

from __future__ import annotations

import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import bars
import headlines
import machine
import results_page

SHOWN = (
    "![tokens of each tool output: raw, client alone, with the plugin](bench/results/headline.svg)"
)


def numbers(results: dict[str, dict]) -> str:
    """The five rows and the plot."""
    rows = headlines.rows_of(results)
    if not rows:
        return "No results yet.\n"
    plot = "\n" + SHOWN + "\n" if "outputs" in results else ""
    return machine.markdown(headlines.COLUMNS, rows) + "\n" + plot


def own_cost(results: dict[str, dict]) -> str:
    """What the plugin itself adds to a session."""
    rows = results.get("own_cost", {}).get("rows")
    return results_page.known_table("own_cost", rows) + "\n" if rows else "No results yet.\n"


# a pair of comments in README.md -> what stands between them
BLOCKS = {"numbers": numbers, "own cost": own_cost}


def filled(text: str, results: dict[str, dict]) -> str:
    """README.md with its blocks written anew. Raises ValueError where one is missing."""
    for name, made in BLOCKS.items():
        head, start, rest = text.partition(f"<!-- {name} -->\n")
        _, stop, tail = rest.partition(f"<!-- /{name} -->")
        if not stop:
            raise ValueError(f"no <!-- {name} --> … <!-- /{name} --> block")
        text = head + start + made(results) + stop + tail
    return text


def read(path: str) -> str | None:
    """A file's text; None where there is no file."""
    try:
        with open(path, encoding="utf-8", newline="") as handle:
            return handle.read()
    except FileNotFoundError:
        return None


def generated(root: str) -> dict[str, str]:
    """Path -> text of each file made here. Raises ValueError where README.md lacks a block."""
    folder = os.path.join(root, "bench", "results")
    results = results_page.load(folder)
    readme = os.path.join(root, "README.md")
    files = {
        readme: filled(read(readme) or "", results),
        os.path.join(folder, "README.md"): results_page.page(folder, results),
    }
    if "outputs" in results:
        files[os.path.join(folder, "headline.svg")] = bars.svg(results["outputs"]["rows"])
    return files


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--root", default=machine.ROOT, help="the project's folder")
    args = parser.parse_args(argv)
    try:
        files = generated(args.root)
    except ValueError as error:
        print(f"table.py: README.md: {error}", file=sys.stderr)
        return 2
    stale = [path for path, text in files.items() if read(path) != text]
    if args.check:
        for path in stale:
            print(f"table.py: {path} is not what the results say", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        with open(path + ".tmp", "w", encoding="utf-8", newline="") as handle:
            handle.write(files[path])
        os.replace(path + ".tmp", path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
