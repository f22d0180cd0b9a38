"""The sufficiency benchmark: its oracle, its intervals, and that its self-test can fail."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
BENCH = os.path.join(ROOT, "bench")
sys.path.insert(0, BENCH)

import plot  # noqa: E402
import sufficiency  # noqa: E402
import sufficiency_js  # noqa: E402
import sufficiency_oracle  # noqa: E402

CORE = """\
class Gate:
    def __init__(self, n):
        raise ValueError(f'gate {n} is shut')

    def _open_it_now(self):
        raise ValueError('cannot open it')


def refuse(x):
    raise KeyError('nothing left here')


def run():
    raise KeyError('never called there')
"""
USER = """\
import pkg
from pkg import core
from pkg.core import Gate, run


def a():
    pkg.deny(1)


def b():
    Gate(2)


def c(thing):
    thing._open_it_now()


def d(run):
    run()


def e():
    core.refuse(2)
"""


def run(*argv):
    return subprocess.run(
        [sys.executable, os.path.join(BENCH, "sufficiency.py"), *argv],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


@pytest.mark.parametrize("plant, code", [("", 0), ("edges", 1), ("oracle", 1)])
@pytest.mark.loop(1)
def test_self_test_fails_when_a_fault_is_planted(plant, code):
    done = run("--self-test", *(["--plant", plant] if plant else []))
    assert done.returncode == code, done.stdout.decode()


def test_wilson_interval():
    low, high = sufficiency.wilson(57, 60)  # by hand: 0.863 to 0.983
    assert (round(low, 3), round(high, 3)) == (0.863, 0.983)
    assert sufficiency.wilson(0, 0) == (0.0, 1.0)


def tree_of(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(folder)


def test_oracle_follows_what_is_unambiguous_only(tmp_path):
    root = tree_of(
        tmp_path,
        {
            "pkg/__init__.py": "from .core import refuse as deny\n",
            "pkg/core.py": CORE,
            "pkg/user.py": USER,
            "tests/test_x.py": "from pkg.core import run\n\n\ndef test():\n    run()\n",
        },
    )
    tree = sufficiency_oracle.Tree(root)
    callers = {
        site.function: [frame.function for frame in tree.callers_at(site, 1)]
        for site in tree.sites(random.Random(0))
    }
    assert callers == {
        "Gate.__init__": ["b"],
        "Gate._open_it_now": ["c"],
        "refuse": ["a", "e"],
        "run": [],
    }


def test_the_symptom_has_the_caller_and_not_the_site(tmp_path):
    root = tree_of(
        tmp_path,
        {
            "low.py": "def refuse(x):\n    raise KeyError('nothing left here')\n",
            "high.py": "import low\n\n\ndef a():\n    low.refuse(1)\n",
        },
    )
    tree = sufficiency_oracle.Tree(root)
    (case,) = sufficiency.cases(tree, sufficiency_oracle, 1, 10, 3)
    assert "high.py" in case.text
    assert "low.py" not in case.text
    assert "KeyError: nothing left here" in case.text
    assert "nothing left" not in sufficiency.without_words(case)
    assert "low" not in sufficiency.bare(case)


def test_oracle_for_scripts(tmp_path):
    root = tree_of(
        tmp_path,
        {
            "lib/low.js": (
                "function refuseAll(x) {\n  if (x) {\n    throw new TypeError(`cannot take ${x} "
                "here`);\n  }\n}\nmodule.exports = { refuseAll };\n"
            ),
            "lib/high.js": (
                "const { refuseAll } = require('./low');\nfunction handle(y) {\n"
                "  // refuseAll(0)\n  return refuseAll(y);\n}\n"
            ),
            "lib/other.js": "function stray(y) {\n  return refuseAll(y);\n}\n",
        },
    )
    tree = sufficiency_js.Tree(root)
    (site,) = tree.sites(random.Random(0))
    assert (site.path, site.function, site.line) == ("lib/low.js", "refuseAll", 3)
    assert [(frame.path, frame.line, frame.function) for frame in tree.callers_at(site, 1)] == [
        ("lib/high.js", 4, "handle")
    ]


def test_edges_are_deleted_by_share_and_seed():
    keeps = sufficiency.keeps_edge(0.8, 3)
    kept = sum(keeps(f"a{index}", "b") for index in range(2000))
    assert 300 < kept < 500
    assert sufficiency.keeps_edge(0.0, 3) is None
    assert not any(sufficiency.keeps_edge(1.0, 3)(f"a{index}", "b") for index in range(500))


def test_plot_draws_every_curve():
    rows = [
        {
            "set": "ranked",
            "hops": 1,
            "dropped": drop,
            "budget": budget,
            "n": 10,
            "files": 9,
            "interval": [0.6, 0.98],
        }
        for drop in (0.0, 0.8)
        for budget in (4000, 8000)
    ]
    drawn = plot.svg(rows, "a <b>")
    assert drawn.count("<circle") == 4
    assert "a &lt;b&gt;" in drawn
    assert "80 % deleted" in drawn
