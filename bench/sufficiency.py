#!/usr/bin/env python3
"""Is what must be fixed inside the slice?  Measured on real raise sites of any repository.

    python3 bench/sufficiency.py REPO [--sites 60] [--hops 1,2,3] [--drops 0,0.4,0.8]
        [--budgets 4000,8000,20000,40000] [--language python|javascript] [--seed 3]
        [--out FILE.jsonl] [--svg FILE.svg]
    python3 bench/sufficiency.py --self-test [--plant edges|oracle]

A symptom is what a user reports: the error's message and one caller's frame, one, two or three
calls above the raise and in another file; the raise site is never in it.  Rows:

    closure full, closure 2, closure 1 + importers 1
                   whole files that the import graph reaches from the symptom
    ranked N       the product's slice within N tokens (bytes/4)
    closure N      the same, kept to files the graph reaches
    no words N     ranked, the message replaced by "failed"
    bare frame N   ranked, neither message nor the frame's code line: file, line, function

"files": the raise site's file is in the slice; "lines": the raise itself is among the lines
shown.  The negative control deletes a share of the import edges (at the first distance).  Rows of
ranked slices say how much of them the graph carries: where the words of the report carry them,
deleting edges does not lower them.  Callers come from sufficiency_oracle.py or sufficiency_js.py,
which share no code with the slicer.  --self-test runs on a small generated repository and fails
when a fault is planted.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any, Callable, NamedTuple

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "hooks")]

import machine
import plot
import sufficiency_js
import sufficiency_oracle
import sufficiency_selftest
from contextkernel.slicing import graph
from contextkernel.slicing.languages import language_of
from contextkernel.slicing.parts import Request
from contextkernel.slicing.scan import scan_file
from contextkernel.slicing.slice import slice_repository

Z = 1.959964  # 95 % two-sided, for Wilson's interval
READER = 20000  # the budget of the rows that withhold evidence
CLOSURES = (("closure full", -1, 0), ("closure 2", 2, 0), ("closure 1 + importers 1", 1, 1))
MOST_MISSES = 20  # named in a row
ORACLES = {"python": sufficiency_oracle, "javascript": sufficiency_js}


class Case(NamedTuple):
    """One report: the raise that is sought and the frame that is shown."""

    site: sufficiency_oracle.Site
    frame: sufficiency_oracle.Frame
    text: str


class Outcome(NamedTuple):
    """What one slice held.  Sizes in tokens."""

    file: bool
    lines: bool
    tokens: int
    files: int
    seconds: float


def wilson(hits: int, n: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927)."""
    if not n:
        return 0.0, 1.0
    share, square = hits / n, Z * Z
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = Z / (1 + square / n) * (share * (1 - share) / n + square / (4 * n * n)) ** 0.5
    return max(0.0, middle - half), min(1.0, middle + half)


def cases(tree: Any, oracle: Any, hops: int, most: int, seed: int) -> list[Case]:
    """At most so many cases: one caller of every site first, further callers only when sites are
    few.
    """
    chance = random.Random(f"{seed}/{hops}")
    sites = [(site, tree.callers_at(site, hops)) for site in tree.sites(random.Random(seed))]
    sites = [(site, frames) for site, frames in sites if frames]
    chance.shuffle(sites)
    for _, frames in sites:
        chance.shuffle(frames)
    found: list[Case] = []
    for turn in range(max([len(frames) for _, frames in sites], default=0)):
        for site, frames in sites:
            if turn < len(frames) and len(found) < most:
                found.append(Case(site, frames[turn], oracle.symptom(site, frames[turn])))
    return found


def keeps_edge(drop: float, seed: int) -> Callable[[str, str], bool] | None:
    """Which import edges stay when a share is deleted: by a hash of the edge and the seed."""
    if not drop:
        return None
    return lambda source, target: (
        int(hashlib.sha256((f"{seed} {source} {target}").encode()).hexdigest()[:8], 16)
        >= drop * 16**8
    )


class Bench:
    """A repository, its index, and slices of it with and without its edges."""

    def __init__(self, root: str, seed: int) -> None:
        from contextkernel.handlers import repo_slice
        from contextkernel.store import index, tree

        self.root, self.seed = os.path.realpath(root), seed
        listing = tree.listing(self.root)
        sources = {path: facts for path, facts in listing.files.items() if language_of(path)}
        started = time.process_time()
        self.index = index.Index(
            index.file_of(self.root), repo_slice.operator_hash(repo_slice.SCANNERS)
        )
        self.index.refresh(self.root, sources, scan_file.scan)
        self.index_seconds = time.process_time() - started
        self.sizes = {path: -(-facts[0] // 4) for path, facts in sources.items()}
        self._open = lambda drop: repo_slice.repository_of(
            self.root, list(listing.files), self.index, keeps_edge(drop, seed)
        )
        self._repositories: dict[float, Any] = {}
        self._known_seeds: dict[tuple[str, float], tuple[str, ...]] = {}

    def repository(self, drop: float) -> Any:
        """The repository with a share of its edges deleted; made once."""
        if drop not in self._repositories:
            self._repositories[drop] = self._open(drop)
        return self._repositories[drop]

    def _seeds(self, text: str, drop: float) -> tuple[str, ...]:
        if (text, drop) not in self._known_seeds:
            self._known_seeds[text, drop] = slice_repository(
                self.repository(drop), text, Request(1000)
            ).seeds
        return self._known_seeds[text, drop]

    def closure(self, case: Case, drop: float, depth: int, importers: int) -> Outcome:
        """Whole files that the graph reaches from what the symptom names."""
        repository = self.repository(drop)
        near = set(self._seeds(case.text, drop))
        # the walk alone; edges already resolved for an earlier case cost nothing
        started = time.process_time()
        near |= set(graph.closure(near, depth, repository)) | (
            set(graph.callers(near, importers, repository)) if importers else set()
        )
        inside = case.site.path in near
        return Outcome(
            inside,
            inside,
            sum(self.sizes.get(path, 0) for path in near),
            len(near),
            time.process_time() - started,
        )

    def sliced(self, text: str, case: Case, drop: float, request: Request) -> Outcome:
        """The product's slice within a budget."""
        started = time.process_time()
        cut = slice_repository(self.repository(drop), text, request)
        taken = time.process_time() - started
        lines = [
            spans
            for path, spans in ((place.path, place.ranges) for place in cut.places)
            if path == case.site.path
        ]
        shown = any(
            not spans or any(first <= case.site.line <= last for first, last in spans)
            for spans in lines
        )
        return Outcome(bool(lines), shown, -(-cut.size // 4), len(cut.places), taken)


def settings(
    budgets: list[int],
) -> Iterator[tuple[str, int, Callable[[Bench, Case, float], Outcome]]]:
    """(row name, budget or 0, how a case is answered)."""
    for name, depth, importers in CLOSURES:
        yield (
            name,
            0,
            lambda bench, case, drop, d=depth, i=importers: bench.closure(case, drop, d, i),
        )
    for budget in budgets:
        yield (
            "ranked",
            budget,
            lambda bench, case, drop, b=budget: bench.sliced(case.text, case, drop, Request(b)),
        )
        yield (
            "closure",
            budget,
            lambda bench, case, drop, b=budget: bench.sliced(
                case.text, case, drop, Request(b, "full")
            ),
        )
    for name, cut in (("no words", without_words), ("bare frame", bare)):
        budget = READER if READER in budgets else budgets[-1]
        yield (
            name,
            budget,
            lambda bench, case, drop, b=budget, c=cut: bench.sliced(
                c(case), case, drop, Request(b)
            ),
        )


def without_words(case: Case) -> str:
    """The case's symptom with the message's words replaced: only the frame and the error's class
    still speak.
    """
    return case.text.replace(case.site.message, "failed")


def bare(case: Case) -> str:
    """The symptom without the frame's line of code either."""
    return without_words(case).replace(f"    {case.frame.text}\n", "")


def row_of(
    name: str,
    budget: int,
    hops: int,
    drop: float,
    found: list[Case],
    outcomes: list[Outcome],
    bench: Bench,
) -> dict[str, Any]:
    """One line of the results."""
    n = len(outcomes)
    hits = sum(one.file for one in outcomes)
    total_tokens, total_files = sum(bench.sizes.values()) or 1, len(bench.sizes) or 1
    missed = [
        (
            f"{case.site.path}:{case.site.line} {case.site.function} <- "
            f"{case.frame.path}:{case.frame.line}"
        )
        for case, one in zip(found, outcomes)
        if not one.file
    ]
    unseen = [
        (
            f"{case.site.path}:{case.site.line} {case.site.function} <- "
            f"{case.frame.path}:{case.frame.line}"
        )
        for case, one in zip(found, outcomes)
        if one.file and not one.lines
    ]
    return {
        "set": name,
        "budget": budget,
        "hops": hops,
        "dropped": drop,
        "n": n,
        "files": hits,
        "interval": [round(x, 4) for x in wilson(hits, n)],
        "lines": sum(one.lines for one in outcomes),
        "token_rate": round(sum(one.tokens for one in outcomes) / n / total_tokens, 5) if n else 0,
        "file_rate": round(sum(one.files for one in outcomes) / n / total_files, 5) if n else 0,
        "tokens": round(sum(one.tokens for one in outcomes) / n) if n else 0,
        "cpu_ms": round(1000 * machine.quantile([one.seconds for one in outcomes], 0.5), 1)
        if n
        else 0,
        "cpu_ms_worst": round(1000 * max(one.seconds for one in outcomes), 1) if n else 0,
        "misses": missed[:MOST_MISSES],
        "missed": len(missed),
        "line_misses": unseen[:MOST_MISSES],
    }


def measured(
    bench: Bench, tree: Any, oracle: Any, args: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """Rows for every distance, setting and share of deleted edges."""
    for hops in args.hops:
        found = cases(tree, oracle, hops, args.sites, args.seed)
        for drop in args.drops if hops == args.hops[0] else args.drops[:1]:
            for name, budget, answer in settings(args.budgets):
                yield row_of(
                    name,
                    budget,
                    hops,
                    drop,
                    found,
                    [answer(bench, case, drop) for case in found],
                    bench,
                )


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as one Markdown table."""
    out = []
    for row in rows:
        share = (
            (
                f"{100 * row['files'] / row['n']:.1f} % ({100 * row['interval'][0]:.0f}-"
                f"{100 * row['interval'][1]:.0f})"
            )
            if row["n"]
            else "-"
        )
        label = f"{row['set']} {int(row['budget'] // 1000)}k" if row["budget"] else row["set"]
        out.append(
            [
                label,
                row["hops"],
                f"{int(100 * row['dropped'])} %",
                row["n"],
                share,
                f"{100 * row['lines'] / max(1, row['n']):.1f} %",
                row["tokens"],
                f"{100 * row['token_rate']:.2f} %",
                f"{100 * row['file_rate']:.2f} %",
                row["cpu_ms"],
                row["missed"],
            ]
        )
    return machine.markdown(
        [
            "slice",
            "hops",
            "edges deleted",
            "n",
            "file inside (95 %)",
            "raise line inside",
            "tokens",
            "of the tokens",
            "of the files",
            "CPU ms",
            "misses",
        ],
        out,
    )


def head_of(bench: Bench, args: argparse.Namespace, tree: Any) -> dict[str, Any]:
    """The first line of a results file: what was measured, on what, and with which seed."""
    name = os.path.basename(bench.root)
    return {
        "kind": "sufficiency",
        "repository": args.label or name,
        "language": args.language,
        "seed": args.seed,
        "sites": args.sites,
        "source_files": len(bench.sizes),
        "tokens": sum(bench.sizes.values()),
        "functions": len(tree.functions),
        "index_cpu_s": round(bench.index_seconds, 2),
        "machine": machine.facts(),
    }


def run(root: str, args: argparse.Namespace) -> list[dict[str, Any]]:
    """Measures one repository, prints the table and returns head and rows."""
    oracle = ORACLES[args.language]
    tree = oracle.Tree(root)
    bench = Bench(root, args.seed)
    head = head_of(bench, args, tree)
    rows = list(measured(bench, tree, oracle, args))
    head["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (
        1024 if sys.platform != "darwin" else 1 << 20
    )
    print(
        f"{head['repository']}: {head['source_files']} files, {head['tokens']} tokens, index "
        f"{head['index_cpu_s']:.2f} CPU s, peak {head['peak_mib']} MiB, seed {head['seed']}"
    )
    print(table(rows))
    for row in rows:
        if not row["dropped"] and row["set"] == "ranked" and row["misses"]:
            print(
                f"missed at {int(row['hops'])} hop(s), {int(row['budget'])} tokens: "
                f"{'; '.join(row['misses'])}"
            )
    if not any(row["n"] for row in rows):
        raise SystemExit(
            "sufficiency.py: no raise site with a caller in another file: nothing was measured"
        )
    return [head] + rows


def main(argv: list[str] | None = None) -> int:
    """The exit code: 0 when measured (or the self-test passes), 1 when the self-test fails."""
    args = arguments(argv)
    folder = tempfile.mkdtemp(prefix="ck-sufficiency-")
    os.environ.setdefault("CK_DATA", folder)
    try:
        if args.self_test:
            return sufficiency_selftest.verdict(sys.modules[__name__], args)
        rows = run(args.repo, args)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if args.out:
        with open(args.out, "w", encoding="utf-8") as stream:
            stream.writelines(json.dumps(row) + "\n" for row in rows)
    if args.svg:
        with open(args.svg, "w", encoding="utf-8") as stream:
            stream.write(
                plot.svg(rows, f"{rows[0]['repository']}: raise site's file inside the slice")
            )
    return 0


def arguments(argv: list[str] | None) -> argparse.Namespace:
    """The command line as values."""

    def numbers(kind):
        return lambda text: [kind(part) for part in text.split(",")]

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("repo", nargs="?")
    parser.add_argument("--sites", type=int, default=60)
    parser.add_argument("--hops", type=numbers(int), default=[1, 2, 3])
    parser.add_argument("--budgets", type=numbers(int), default=[4000, 8000, 20000, 40000])
    parser.add_argument("--drops", type=numbers(float), default=[0.0, 0.4, 0.8])
    parser.add_argument("--language", choices=sorted(ORACLES), default="python")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--label", default="", help="name and version for the results")
    parser.add_argument("--out")
    parser.add_argument("--svg")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument(
        "--plant", choices=("edges", "oracle"), help="a fault that the self-test must notice"
    )
    args = parser.parse_args(argv)
    if not args.self_test and not args.repo:
        parser.error("a repository is needed")
    return args


if __name__ == "__main__":
    raise SystemExit(main())
