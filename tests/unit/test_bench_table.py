"""README numbers come from bench/results and from nowhere else."""
from __future__ import annotations

import json
import os
import sys

import pytest

import plugin

sys.path.insert(0, os.path.join(plugin.ROOT, "bench"))
import machine  # noqa: E402
import table  # noqa: E402

RESULT = {"machine": {"commit": "abc", "python": "3.9.18", "load": 0.1}, "readme": [{"number": "Turn time", "value": "50 ms", "baseline": "no hook 45 ms", "n": 108, "worst": "p95 90 ms"}]}


def test_a_row_for_each_number_that_a_results_file_offers(tmp_path):
    (tmp_path / "latency.json").write_text(json.dumps(RESULT))
    (tmp_path / "raw.json").write_text(json.dumps({"rows": [1, 2]}))
    (tmp_path / "list.json").write_text("[]")
    lines = table.block(str(tmp_path)).split("\n")
    assert lines[2] == "| Turn time | 50 ms | no hook 45 ms | 108 | p95 90 ms | `latency.json` |"
    assert lines[4] == "Measured on: `latency.json`: commit abc, python 3.9.18, load 0.1."
    assert len(lines) == 6


def test_no_results_no_table(tmp_path):
    assert table.block(str(tmp_path)) == "No results yet.\n"


@pytest.mark.parametrize("values, share, wanted", [([3], 0.5, 3), ([1, 2, 3, 4], 0.5, 2), ([1, 2, 3, 4], 0.95, 4), ([4, 1, 3, 2, 5], 0.5, 3), (list(range(1, 101)), 0.95, 95)])
def test_quantile_is_the_nearest_rank(values, share, wanted):
    assert machine.quantile(values, share) == wanted


def test_the_readme_says_what_the_results_say():
    with open(os.path.join(plugin.ROOT, "README.md"), encoding="utf-8") as handle:
        if not table.BLOCK.search(handle.read()):
            pytest.skip("README.md has no block of numbers")
    assert table.main(["--check"]) == 0, "run python3 bench/table.py"
