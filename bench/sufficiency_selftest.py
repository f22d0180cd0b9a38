"""The self-test of sufficiency.py: a small generated repository whose answers are known."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from typing import Any

CHAINS = 6  # a.py -> b.py -> c.py each; c raises
WORDS = "amber basil cedar dahlia elder fennel".split()


def sources() -> dict[str, str]:
    """Path -> text: chains of three modules and a package that re-exports, each with one raise
    at its end.
    """
    files = {
        "shop/__init__.py": "from shop.checks import refuse_order\n",
        "shop/checks.py": (
            'def refuse_order(order):\n    raise ValueError(f"order {order} cannot be delivered")\n'
        ),
    }
    files["shop/entry.py"] = (
        "from shop import refuse_order\n\n\ndef accept(order):\n    return refuse_order(order)\n"
    )
    for index, word in enumerate(WORDS[:CHAINS]):
        files[f"garden/{word}_top.py"] = (
            f"from garden import {word}_middle as middle\n\n\ndef plant(seed):\n"
            "    return middle.water(seed)\n"
        )
        files[f"garden/{word}_middle.py"] = (
            f"from .{word}_base import grow\n\n\ndef water(seed):\n    return grow(seed)\n"
        )
        files[f"garden/{word}_base.py"] = (
            f'def grow(seed):\n    if seed < {index}:\n        raise RuntimeError("seed went '
            'dry here")\n    return seed\n'
        )
    files["garden/__init__.py"] = ""
    return files


EXPECTED = [
    (f"garden/{word}_base.py", f"garden/{word}_middle.py", f"garden/{word}_top.py")
    for word in WORDS[:CHAINS]
]
EXPECTED.append(("shop/checks.py", "shop/entry.py", ""))


def verdict(bench: Any, args: Any) -> int:
    """0 when oracle, slicer and negative control give what is known; 1 with the reasons printed."""
    root = tempfile.mkdtemp(prefix="ck-selftest-")
    try:
        for path, text in sources().items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as stream:
                stream.write(text)
        faults = _faults(bench, args, root)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    print("\n".join("self-test: " + fault for fault in faults) or "self-test: passed")
    return 1 if faults else 0


def _faults(bench: Any, args: Any, root: str) -> list[str]:
    oracle = bench.ORACLES["python"]
    tree = oracle.Tree(root)
    if args.plant == "oracle":
        tree.callers = {
            key: [frame for frame in frames if "import" in frame.text]
            for key, frames in tree.callers.items()
        }
    faults: list[str] = []
    seen = {site.path: site for site in tree.sites(random.Random(0))}
    for base, one, two in EXPECTED:
        if base not in seen:
            faults.append(f"the raise in {base} was not found")
            continue
        for hops, wanted in ((1, one), (2, two)):
            given = [frame.path for frame in tree.callers_at(seen[base], hops)]
            if given != ([wanted] if wanted else []):
                faults.append(f"callers of {base} at {hops} hops: {given}, not {wanted}")
    measure = bench.Bench(root, args.seed)
    planted = 1.0 if args.plant == "edges" else 0.0
    found = bench.cases(tree, oracle, 1, 60, args.seed)
    whole = [measure.closure(case, planted, -1, 0).file for case in found]
    cut = [measure.closure(case, 1.0, -1, 0).file for case in found]
    if not found or not all(whole):
        faults.append(f"full closure holds {int(sum(whole))} of {len(whole)} raise sites, not all")
    if sum(cut) >= sum(whole) > 0:
        faults.append(f"with every edge deleted it still holds {int(sum(cut))} of {len(cut)}")
    if any(case.site.path in case.text for case in found):
        faults.append("a symptom names the file that is sought")
    return faults
