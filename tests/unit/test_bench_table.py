"""README numbers, the page of results and the plot come from bench/results alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import xml.dom.minidom

import pytest

import plugin

sys.path.insert(0, os.path.join(plugin.ROOT, "bench"))
import bars  # noqa: E402
import headlines  # noqa: E402
import machine  # noqa: E402
import own_cost  # noqa: E402
import results_page  # noqa: E402
import table  # noqa: E402

MACHINE = {"commit": "abc", "python": "3.9.18", "load": 0.0}
UNKNOWN = {
    "machine": MACHINE,
    "readme": [
        {
            "number": "Turn time",
            "value": "50 ms",
            "baseline": "no hook 45 ms",
            "n": 108,
            "worst": "p95 90 ms",
        }
    ],
}
OUTPUTS = {
    "machine": MACHINE,
    "rows": [
        {
            "output": "made_up",
            "exit": 0,
            "raw": 1000,
            "client": 500,
            "shown": 100,
            "needles": 3,
            "kept": 3,
            "client_keeps": 1,
        },
        {
            "output": "short",
            "exit": 0,
            "raw": 200,
            "client": 200,
            "shown": 100,
            "needles": 1,
            "kept": 1,
            "client_keeps": 1,
        },
    ],
}
BLOCKS = "# a\n<!-- numbers -->\nold\n<!-- /numbers -->\nb\n<!-- own cost -->\n<!-- /own cost -->\n"


@pytest.fixture
def project(tmp_path):
    """A folder with a README and results of its own."""
    (tmp_path / "bench" / "results").mkdir(parents=True)
    (tmp_path / "README.md").write_text(BLOCKS)
    (tmp_path / "bench" / "results" / "outputs.json").write_text(json.dumps(OUTPUTS))
    return tmp_path


def page_of(folder):
    return results_page.page(str(folder), results_page.load(str(folder)))


def test_a_file_nobody_knows_is_shown_by_what_it_offers(tmp_path):
    (tmp_path / "other_thing.json").write_text(json.dumps(UNKNOWN))
    text = page_of(tmp_path)
    assert "## Other thing\n" in text
    assert "| Turn time | 50 ms | no hook 45 ms | 108 | p95 90 ms |" in text
    assert "`other_thing.json`: commit abc, python 3.9.18, load 0.0." in text


@pytest.mark.parametrize("content", ["[]", "{}", '{"rows": [1, 2]}', '{"readme": []}'])
def test_a_file_with_nothing_to_show_has_no_section(tmp_path, content):
    (tmp_path / "raw.json").write_text(content)
    assert "##" not in page_of(tmp_path)


def test_no_results_no_table():
    assert table.numbers({}) == table.own_cost({}) == "No results yet.\n"


def test_the_first_two_rows_are_reckoned_from_outputs():
    removed, facts = headlines.rows_of({"outputs": OUTPUTS})
    # (90 + 50) / 2, (50 + 0) / 2
    assert removed[1:3] == ["70 % of an output's tokens", "client alone: 25 %"]
    assert facts[1:3] == ["4 of 4", "client alone: 2 of 4"]
    assert facts[4] == "outputs that lost one: 0; client alone: 1"


def test_the_three_files_are_written_and_checked(project, capsys):
    root = ["--root", str(project)]
    assert table.main([*root, "--check"]) == 1
    assert capsys.readouterr().err.count("\n") == 3
    assert table.main(root) == 0
    assert table.main([*root, "--check"]) == 0
    assert "old" not in (project / "README.md").read_text()


@pytest.mark.parametrize(
    "name", ["README.md", "bench/results/README.md", "bench/results/headline.svg"]
)
def test_a_figure_changed_by_hand_is_found(project, name):
    root = ["--root", str(project)]
    table.main(root)
    path = project / name
    path.write_text(
        path.read_text()
        .replace("1,000", "1,001")
        .replace("70 %", "71 %")
        .replace("loses 2", "loses 3")
    )
    assert table.main([*root, "--check"]) == 1


@pytest.mark.parametrize("name", ["numbers", "own cost"])
def test_a_readme_without_a_block_is_refused(project, name, capsys):
    (project / "README.md").write_text(BLOCKS.replace(f"<!-- {name} -->", ""))
    assert table.main(["--root", str(project)]) == 2
    assert name in capsys.readouterr().err


@pytest.mark.parametrize(
    "values, share, wanted",
    [
        ([3], 0.5, 3),
        ([1, 2, 3, 4], 0.5, 2),
        ([1, 2, 3, 4], 0.95, 4),
        ([4, 1, 3, 2, 5], 0.5, 3),
        (list(range(1, 101)), 0.95, 95),
    ],
)
def test_quantile_is_the_nearest_rank(values, share, wanted):
    assert machine.quantile(values, share) == wanted


@pytest.mark.parametrize(
    "most, step", [(1, 1), (7, 1), (8, 2), (14155, 5000), (35000, 5000), (71000, 20000)]
)
def test_the_axis_has_round_steps(most, step):
    assert bars.step_of(most) == step


def elements(text, name):
    return xml.dom.minidom.parseString(text).getElementsByTagName(name)


def test_bars_are_as_long_as_their_numbers():
    by_kind = {
        kind: [
            float(rect.getAttribute("width"))
            for rect in elements(bars.svg(OUTPUTS["rows"]), "rect")[3:]
            if rect.getAttribute("class") == kind
        ]
        for kind in ("raw", "alone", "ours")
    }
    unit = by_kind["raw"][0] / 1000
    assert by_kind["raw"] == pytest.approx([1000 * unit, 200 * unit], abs=0.1)
    assert by_kind["alone"] == pytest.approx([500 * unit, 200 * unit], abs=0.1)
    assert by_kind["ours"] == pytest.approx([100 * unit, 100 * unit], abs=0.1)


def test_no_words_of_the_plot_lie_over_others():
    with open(os.path.join(machine.RESULTS, "headline.svg"), encoding="utf-8") as handle:
        drawn = elements(handle.read(), "text")
    boxes = []
    for one in drawn:
        words, x, y = (
            one.firstChild.data,
            float(one.getAttribute("x")),
            float(one.getAttribute("y")),
        )
        # px, more than a letter of 12 px takes
        width = len(words) * (8.5 if one.getAttribute("class") == "title" else 6.6)
        left = x - width * {"start": 0, "middle": 0.5, "end": 1}[one.getAttribute("text-anchor")]
        boxes.append((left, left + width, y - 10, y + 3, words))
    assert all(left >= 0 and right <= bars.WIDTH for left, right, _, _, _ in boxes)
    over = [
        (a[4], b[4])
        for i, a in enumerate(boxes)
        for b in boxes[:i]
        if a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3]
    ]
    assert over == []


def test_the_files_say_what_the_results_say():
    assert table.main(["--check"]) == 0, "run python3 bench/table.py"


def test_the_readme_has_five_rows_and_the_plot():
    with open(os.path.join(plugin.ROOT, "README.md"), encoding="utf-8") as handle:
        block = re.search(r"<!-- numbers -->\n(.*?)<!-- /numbers -->", handle.read(), re.S).group(1)
    assert len(re.findall(r"^\|", block, re.M)) == 2 + 5
    assert "(bench/results/headline.svg)" in block


def test_every_results_file_is_on_the_page():
    with open(os.path.join(machine.RESULTS, "README.md"), encoding="utf-8") as handle:
        page = handle.read()
    files = [
        name
        for name in os.listdir(machine.RESULTS)
        if name.endswith(".json") and name != "sufficiency.json"
    ]
    plots = [name for name in os.listdir(machine.RESULTS) if name.endswith(".svg")]
    assert len(files) > 6
    assert [name for name in files if f"`{name}`" not in page] == []
    assert len(plots) > 3
    assert [name for name in plots if f"({name})" not in page] == []


def test_the_quoted_own_cost_is_near_what_the_files_cost_now():
    with open(os.path.join(machine.RESULTS, "own_cost.json"), encoding="utf-8") as handle:
        quoted = json.load(handle)["rows"]
    now = own_cost.rows(plugin.ROOT)
    assert [row["count"] for row in now] == [row["count"] for row in quoted], (
        "run python3 bench/own_cost.py"
    )
    assert now[-1]["tokens"] == pytest.approx(quoted[-1]["tokens"], rel=0.2), (
        "run python3 bench/own_cost.py"
    )


def test_own_cost_counts_what_is_listed(tmp_path):
    root = tmp_path / "plugin"
    shutil.copytree(os.path.join(plugin.ROOT, "skills"), str(root / "skills"))
    before = own_cost.skills(str(root))
    (root / "skills" / "extra").mkdir()
    (root / "skills" / "extra" / "SKILL.md").write_text(
        '---\nname: extra\ndescription: "Use when: always."\n---\ntext\n'
    )
    (root / "skills" / "hidden").mkdir()
    (root / "skills" / "hidden" / "SKILL.md").write_text(
        "---\nname: hidden\ndescription: x\ndisable-model-invocation: true\n---\n"
    )
    assert sorted(set(own_cost.skills(str(root))) - set(before)) == [
        "- context-kernel:extra: Use when: always.\n"
    ]
