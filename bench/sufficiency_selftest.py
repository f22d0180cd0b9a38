"""The self-test of sufficiency.py: a small generated repository whose answers are known."""
from __future__ import annotations

import os
import random
import shutil
import tempfile
from typing import Any, Dict, List

CHAINS = 6  # a.py -> b.py -> c.py each; c raises
WORDS = "amber basil cedar dahlia elder fennel".split()


def sources() -> Dict[str, str]:
    """Path -> text: chains of three modules and a package that re-exports, each with one raise at its end."""
    files = {"shop/__init__.py": "from shop.checks import refuse_order\n", "shop/checks.py": (
        "def refuse_order(order):\n    raise ValueError(f\"order {order} cannot be delivered\")\n")}
    files["shop/entry.py"] = "from shop import refuse_order\n\n\ndef accept(order):\n    return refuse_order(order)\n"
    for index, word in enumerate(WORDS[:CHAINS]):
        files["garden/%s_top.py" % word] = "from garden import %s_middle as middle\n\n\ndef plant(seed):\n    return middle.water(seed)\n" % word
        files["garden/%s_middle.py" % word] = "from .%s_base import grow\n\n\ndef water(seed):\n    return grow(seed)\n" % word
        files["garden/%s_base.py" % word] = "def grow(seed):\n    if seed < %d:\n        raise RuntimeError(\"seed went dry here\")\n    return seed\n" % index
    files["garden/__init__.py"] = ""
    return files


EXPECTED = [("garden/%s_base.py" % word, "garden/%s_middle.py" % word, "garden/%s_top.py" % word) for word in WORDS[:CHAINS]]
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


def _faults(bench: Any, args: Any, root: str) -> List[str]:
    oracle = bench.ORACLES["python"]
    tree = oracle.Tree(root)
    if args.plant == "oracle":
        tree.callers = {key: [frame for frame in frames if "import" in frame.text] for key, frames in tree.callers.items()}
    faults: List[str] = []
    seen = {site.path: site for site in tree.sites(random.Random(0))}
    for base, one, two in EXPECTED:
        if base not in seen:
            faults.append("the raise in %s was not found" % base)
            continue
        for hops, wanted in ((1, one), (2, two)):
            given = [frame.path for frame in tree.callers_at(seen[base], hops)]
            if given != ([wanted] if wanted else []):
                faults.append("callers of %s at %d hops: %s, not %s" % (base, hops, given, wanted))
    measure = bench.Bench(root, args.seed)
    planted = 1.0 if args.plant == "edges" else 0.0
    found = bench.cases(tree, oracle, 1, 60, args.seed)
    whole = [measure.closure(case, planted, -1, 0).file for case in found]
    cut = [measure.closure(case, 1.0, -1, 0).file for case in found]
    if not found or not all(whole):
        faults.append("full closure holds %d of %d raise sites, not all" % (sum(whole), len(whole)))
    if sum(cut) >= sum(whole) > 0:
        faults.append("with every edge deleted it still holds %d of %d" % (sum(cut), len(cut)))
    if any(case.site.path in case.text for case in found):
        faults.append("a symptom names the file that is sought")
    return faults
