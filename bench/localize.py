#!/usr/bin/env python3
"""From a symptom to the lines of its fix: how often the slice holds them, on real bugs.

    python3 bench/localize.py REPO [--commits 30]
        fixes in a repository's own history; the commit message is the symptom
    python3 bench/localize.py --cases FILE --mirror DIR
        cases as JSON lines, trees from the git repositories below DIR
    python3 bench/localize.py --timing FOLDER
        CPU seconds of a slice as a process: cold, new symptom, same, after an edit

--budget N (8000), --limit N, --seed N, --self-test.  Writes bench/results/localize*.json and
prints its table.

A case: {"id", "snapshot": "owner/name", "base_commit", "symptom", "gold_files": […],
"gold_places": [{"file", "changed_lines"}, …]}, numbers of the tree before the fix; its tree is
DIR/owner+name/repo at base_commit.  A commit message is easier than a report of a user: compare
figures of one kind only.  The baseline beside it ranks by words alone and shows whole files while
they fit.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import NamedTuple

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "hooks")]
import machine  # noqa: E402
from contextkernel.handlers import repo_slice  # noqa: E402
from contextkernel.slicing import graph, ranking
from contextkernel.slicing.languages import language_of  # noqa: E402
from contextkernel.slicing.parts import Request
from contextkernel.slicing.repository import Repository  # noqa: E402
from contextkernel.slicing.scan import scan_file
from contextkernel.slicing.scan.file_kinds import role_of  # noqa: E402
from contextkernel.slicing.slice import slice_repository  # noqa: E402
from contextkernel.slicing.symptom import text as symptom  # noqa: E402
from contextkernel.store import index, tree  # noqa: E402

FIX = re.compile(r"\b(fix(e[sd])?|bug|regression|crash|broken|wrong|incorrect)\b", re.I)
HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? ", re.M)
MOST_FILES, MOST_LINES = 4, 120  # of a fix that is taken as a case: larger ones are no single bug
Shown = list[tuple[str, list[tuple[int, int]]]]  # path and line ranges, best file first


class Case(NamedTuple):
    """A bug: its symptom, and the lines its fix changed, by file, in the tree of `commit`."""

    name: str
    repository: str
    commit: str
    symptom: str
    gold: dict[str, list[int]]


class Outcome(NamedTuple):
    """`first`: place of the worst placed fixed file in the order of the files (0: not there).
    Shares from 0 to 1.
    """

    first: int
    whole: bool
    lines: float
    cpu: float


def git(folder: str, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", folder, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    return done.stdout.decode("utf-8", "replace")


def cases_of_history(folder: str, most: int, seed: int) -> list[Case]:
    """Commits whose message speaks of a fix and that change a few implementation files."""
    found = []
    for commit in git(
        folder, "log", "--no-merges", "-i", "--grep=fix", "--format=%H", "-n", str(most * 20)
    ).split():
        message = git(folder, "log", "-1", "--format=%B", commit)
        if (
            FIX.search(message.partition("\n")[0])
            and git(folder, "rev-list", "--parents", "-n", "1", commit).count(" ") == 1
        ):
            gold = changed_lines(
                git(folder, "diff", "-U0", "--no-renames", "--diff-filter=M", commit + "^", commit)
            )
            if gold and len(gold) <= MOST_FILES and sum(map(len, gold.values())) <= MOST_LINES:
                found.append(Case(commit[:12], folder, commit + "^", message, gold))
    random.Random(seed).shuffle(found)
    return found[:most]


def changed_lines(diff: str) -> dict[str, list[int]]:
    """File -> lines of the old side that a diff without context changes (for an insertion: the
    line before it); tests are left out.
    """
    gold: dict[str, list[int]] = {}
    for part in re.split(r"^diff --git ", diff, flags=re.M)[1:]:
        name = re.search(r"^--- a/(.+)$", part, re.M)
        path = name.group(1).strip() if name else ""
        if path and language_of(path) and role_of(path) == "impl":
            for match in HUNK.finditer(part):
                first, count = int(match.group(1)), int(match.group(2) or 1)
                gold.setdefault(path, []).extend(range(first, first + max(count, 1)))
    return {
        path: [number for number in numbers if number]
        for path, numbers in gold.items()
        if any(numbers)
    }


def cases_of_file(name: str, mirror: str) -> list[Case]:
    """The cases of a file of JSON lines."""
    found = []
    with open(name, encoding="utf-8") as handle:
        for line in handle:
            row = json.loads(line)
            gold: dict[str, list[int]] = {path: [] for path in row["gold_files"]}
            for place in row["gold_places"]:
                gold.setdefault(place["file"], []).extend(place["changed_lines"])
            found.append(
                Case(
                    row["id"],
                    os.path.join(mirror, row["snapshot"].replace("/", "+"), "repo"),
                    row["base_commit"],
                    row["symptom"],
                    gold,
                )
            )
    return found


def lay(case: Case, folder: str) -> None:
    """Write the tree of a case; no history comes with it."""
    archive = subprocess.Popen(
        ["git", "-C", case.repository, "archive", case.commit],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    subprocess.run(
        ["tar", "-x", "--no-same-owner", "-C", folder],
        stdin=archive.stdout,
        stderr=subprocess.DEVNULL,
    )
    archive.stdout.close()
    archive.wait()


def opened(folder: str, base: str) -> Repository:
    """The repository of a tree with an index of its own."""
    listing = tree.listing(folder)
    kept = index.Index(base, repo_slice.operator_hash(repo_slice.SCANNERS))
    kept.refresh(
        folder,
        {path: facts for path, facts in listing.files.items() if language_of(path)},
        scan_file.scan,
    )
    return repo_slice.repository_of(folder, list(listing.files), kept)


def by_slice(repository: Repository, text: str, budget: int) -> Shown:
    """What the product shows."""
    return [
        (place.path, list(place.ranges))
        for place in slice_repository(repository, text, Request(budget)).places
    ]


def by_words(repository: Repository, text: str, budget: int) -> Shown:
    """The baseline: whole files by words alone, while they fit."""
    scores, _ = ranking.lexical(symptom.read(text).weights, repository)
    left, shown = budget * 4, []
    for path in sorted(scores, key=lambda one: (-scores[one], one)):
        size = repository.rows[path].size
        if size <= left:
            left -= size
            shown.append((path, [(1, 1 << 30)]))
    return shown


def judged(case: Case, shown: Shown, cpu: float) -> Outcome:
    """How much of a fix is among what is shown."""
    order = [path for path, _ in shown]
    ranges = dict(shown)
    places = [order.index(path) + 1 if path in order else 0 for path in case.gold]
    hits = sum(
        any(first <= number <= last for first, last in ranges.get(path, ()))
        for path, numbers in case.gold.items()
        for number in numbers
    )
    total = sum(map(len, case.gold.values()))
    return Outcome(
        max(places) if all(places) else 0,
        all(places),
        hits / total if total else float(all(places)),
        cpu,
    )


SELECTORS = {"slice": by_slice, "words alone, whole files": by_words}


def measured(cases: list[Case], budget: int) -> dict[str, list[Outcome]]:
    """Outcomes by selector; a case whose tree lacks the fixed files is left out aloud."""
    outcomes: dict[str, list[Outcome]] = {name: [] for name in SELECTORS}
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = os.path.join(folder, "tree")
            os.mkdir(root)
            lay(case, root)
            missing = [path for path in case.gold if not os.path.isfile(os.path.join(root, path))]
            if missing:
                sys.stderr.write(f"left out {case.name}: its tree lacks {missing[0]}\n")
                continue
            repository = opened(root, os.path.join(folder, "index.db"))
            for name, select in SELECTORS.items():
                before = time.process_time()
                shown = select(repository, case.symptom, budget)
                outcomes[name].append(judged(case, shown, time.process_time() - before))
    return outcomes


def wilson(share: float, n: int) -> float:
    """Half the width of the 95 % Wilson interval of a share of n cases."""
    z = 1.96
    return z * ((share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5) / (1 + z * z / n)


def summary(outcomes: dict[str, list[Outcome]]) -> list[dict]:
    """One row a selector, shares in per cent."""
    rows = []
    for name, found in outcomes.items():
        n = len(found)
        within = {k: 100 * sum(0 < one.first <= k for one in found) / n for k in (1, 5, 10)}
        whole, cpus = sum(one.whole for one in found) / n, [one.cpu for one in found]
        rows.append(
            {
                "selector": name,
                "n": n,
                "acc_1": round(within[1], 1),
                "acc_5": round(within[5], 1),
                "acc_10": round(within[10], 1),
                "all_files": round(100 * whole, 1),
                "all_files_95": round(100 * wilson(whole, n), 1),
                "lines": round(100 * sum(one.lines for one in found) / n, 1),
                "cpu_median": round(machine.quantile(cpus, 0.5), 3),
                "cpu_p95": round(machine.quantile(cpus, 0.95), 3),
                "cpu_worst": round(max(cpus), 3),
            }
        )
    return rows


WORDS = (
    "reindex merge groupby concat pivot resample rolling astype fillna interpolate explode melt "
    "stack quantile shift cumsum"
).split()


def timing(folder: str, python: str = sys.executable, n: int = 12) -> dict[str, list[float]]:
    """CPU seconds of a slice as a process, on a copy of the folder: `n` times each, a cold index
    `n` / 4 times.

    "start" is the interpreter alone.  Each edit appends a definition to the first file that the
    last slice showed.
    """
    found: dict[str, list[float]] = {
        name: []
        for name in (
            "start",
            "cold",
            "new symptom",
            "same symptom",
            "after an edit",
            "after an edit, new symptom",
        )
    }
    with tempfile.TemporaryDirectory() as state:
        root, data = os.path.join(state, "tree"), os.path.join(state, "data")
        subprocess.run(["cp", "-r", folder, root], check=True)
        command = [
            python,
            "-I",
            "-S",
            os.path.join(os.path.dirname(HERE), "hooks", "ck.py"),
            "slice",
            "--repo",
            root,
            "--symptom",
            "-",
            "--budget",
            "8000",
            "--wait",
            "--json",
        ]

        def run(name: str, number: int, words: Sequence[str] = command) -> dict:
            text = (
                f"ValueError: cannot {WORDS[number % len(WORDS)]} on an axis with duplicate "
                f"labels {number}"
            )
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run(
                words,
                input=text.encode(),
                stdout=subprocess.PIPE,
                env=dict(os.environ, CK_DATA=data),
                check=True,
            )
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            found[name].append(
                round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 3)
            )
            return json.loads(done.stdout or b"null")

        def edit(shown: dict, number: int) -> None:
            with open(
                os.path.join(root, shown["files"][0]["path"]), "a", encoding="utf-8"
            ) as handle:
                handle.write(f"\n\ndef added_{number}(x):\n    return x\n")

        for number in range(max(1, n // 4)):
            shutil.rmtree(data, ignore_errors=True)
            run("cold", number)
        for number in range(n):
            run("start", number, [python, "-I", "-S", "-c", "pass"])
            shown = run("new symptom", 100 + 3 * number)
            run("same symptom", 100 + 3 * number)
            edit(shown, 2 * number)
            run("after an edit", 100 + 3 * number)
            edit(shown, 2 * number + 1)
            run("after an edit, new symptom", 101 + 3 * number)
    return found


def self_test() -> int:
    """0 when the judge sees a planted fault: lines beside the fix count nothing, a cut graph
    lowers nothing by itself.
    """
    case = Case("x", "", "", "", {"a.py": [3, 4]})
    assert judged(case, [("a.py", [(1, 3)])], 0) == Outcome(1, True, 0.5, 0)
    assert judged(case, [("b.py", [(1, 9)])], 0) == Outcome(0, False, 0.0, 0)
    assert changed_lines(
        "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -3,2 +3 @@ def f\n"
    ) == {"a.py": [3, 4]}
    assert (
        changed_lines("diff --git a/tests/a.py b/tests/a.py\n--- a/tests/a.py\n@@ -3 +3 @@\n") == {}
    )
    assert graph.closure(
        ["a"],
        0,
        Repository("", [], [], lambda path: b"", lambda number: ([], []), lambda terms: {}),
    ) == {"a": 0}
    print("self-test: passed")
    return 0


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("repository", nargs="?")
    parser.add_argument("--cases")
    parser.add_argument("--mirror", default="")
    parser.add_argument("--timing", metavar="FOLDER")
    parser.add_argument("--commits", type=int, default=30)
    parser.add_argument("--budget", type=int, default=8000)
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--name", default="localize", help="of the results file")
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args(argv)
    if args.self_test:
        return self_test()
    if args.timing:
        found = timing(args.timing)
        rows = [
            {
                "run": name,
                "n": len(cpus),
                "median_s": machine.quantile(cpus, 0.5),
                "p95_s": machine.quantile(cpus, 0.95),
                "worst_s": max(cpus),
            }
            for name, cpus in found.items()
        ]
        print(machine.markdown(list(rows[0]), [list(row.values()) for row in rows]))
        start = f"one start of Python here: {rows[0]['median_s']:.3f} s"
        readme = [
            {
                "number": f"Slice of pandas (1,481 files), CPU: {row['run']}",
                "value": f"{row['median_s']:.2f} s",
                "n": row["n"],
                "worst": f"p95 {row['p95_s']:.2f} s, worst {row['worst_s']:.2f} s",
                "baseline": start,
            }
            for row in rows[1:]
        ]
        machine.write(args.name, {"machine": machine.facts(), "timing": rows, "readme": readme})
        return 0
    if not (args.cases or args.repository):
        parser.error("a repository, --cases or --timing is needed")
    cases = (
        cases_of_file(args.cases, args.mirror)
        if args.cases
        else cases_of_history(args.repository, args.commits, args.seed)
    )
    if args.cases:
        random.Random(args.seed).shuffle(cases)
    outcomes = measured(cases[: args.limit] if args.limit else cases, args.budget)
    if not outcomes["slice"]:
        sys.stderr.write("localize.py: no case\n")
        return 2
    rows = summary(outcomes)
    print(
        machine.markdown(
            [
                "selector",
                "n",
                "Acc@1 %",
                "@5",
                "@10",
                f"all fixed files in {int(args.budget)} tokens %",
                "lines of the fix %",
                "CPU s median / p95 / worst",
            ],
            [
                [
                    row["selector"],
                    row["n"],
                    row["acc_1"],
                    row["acc_5"],
                    row["acc_10"],
                    f"{row['all_files']} ± {row['all_files_95']}",
                    row["lines"],
                    f"{row['cpu_median']} / {row['cpu_p95']} / {row['cpu_worst']}",
                ]
                for row in rows
            ],
        )
    )
    kind = "reported bugs" if args.cases else "fixes in a history"
    ours, words = rows
    readme = [
        {
            "number": f"{kind}: lines of the fix inside a slice of {int(args.budget)} tokens",
            "value": f"{ours['lines']} %",
            "baseline": f"{words['lines']} % words alone",
            "n": ours["n"],
            "worst": (
                f"all fixed files in {ours['all_files']} ± {ours['all_files_95']} %, first place "
                f"right in {ours['acc_1']} %"
            ),
        }
    ]
    machine.write(
        args.name,
        {
            "machine": machine.facts(),
            "budget": args.budget,
            "seed": args.seed,
            "kind": kind,
            "rows": rows,
            "readme": readme,
        },
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
