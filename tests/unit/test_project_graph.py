"""The import graph of each language is the expected one, on tiny trees under
tests/repos/<language>/ with their edges in EDGES.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from contextkernel.handlers import repo_slice
from contextkernel.slicing import graph
from contextkernel.slicing.languages import language_of
from contextkernel.slicing.scan import scan_file
from contextkernel.store import index as indexes

REPOS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "repos")
LANGUAGES = sorted(os.listdir(REPOS))


def opened(root, paths, base, keeps_edge=None):
    """The repository of a folder by an index in the file `base`."""
    files = {path: (os.path.getsize(os.path.join(root, path)), 1, 1, 1) for path in paths}
    kept = indexes.Index(str(base), "1")
    kept.refresh(
        str(root),
        {path: facts for path, facts in files.items() if language_of(path)},
        scan_file.scan,
    )
    return repo_slice.repository_of(str(root), sorted(files), kept, keeps_edge)


def files_below(root):
    return sorted(
        os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")
        for folder, _, names in os.walk(root)
        for name in names
    )


def edges_of(repository):
    return {
        (path, target) for path in repository.rows for target in graph.imported(path, repository)
    }


def expected(language):
    path = os.path.join(REPOS, language, "EDGES")
    assert os.path.exists(path), (
        f"write tests/repos/{language}/EDGES: each import of the tree as a line `from -> to`"
    )
    with open(path, encoding="utf-8") as handle:
        return {tuple(line.split(" -> ")) for line in handle.read().strip().split("\n")}


def in_lines(edges):
    """Edges as the lines of EDGES: a difference is printed line by line, found against expected."""
    return sorted(" -> ".join(edge) for edge in edges)


@pytest.mark.parametrize("language", LANGUAGES)
def test_edges(language, tmp_path):
    root = os.path.join(REPOS, language)
    found = edges_of(
        opened(root, [path for path in files_below(root) if path != "EDGES"], tmp_path / "i.db")
    )
    assert in_lines(found) == in_lines(expected(language))


@pytest.mark.parametrize("language", LANGUAGES)
def test_importers_are_the_edges_backwards(language, tmp_path):
    root = os.path.join(REPOS, language)
    repository = opened(
        root, [path for path in files_below(root) if path != "EDGES"], tmp_path / "i.db"
    )
    backwards = {
        (source, target)
        for target in repository.rows
        for source in graph.importers(target, repository)
    }
    named = {
        (source, target)
        for source, target in expected(language)
        if any(
            os.path.basename(target).partition(".")[0] in re.findall(r"\w+", spec)
            for spec in repository.facts(source).imports
        )
    }
    assert backwards <= expected(language)
    assert named <= backwards
    assert len(named) >= 2


def test_closure_counts_steps_and_stops_at_depth(tmp_path):
    root = os.path.join(REPOS, "python")
    repository = opened(
        root, [path for path in files_below(root) if path != "EDGES"], tmp_path / "i.db"
    )
    assert graph.closure(["src/shop/__init__.py"], 1, repository) == {
        "src/shop/__init__.py": 0,
        "src/shop/core.py": 1,
        "src/shop/tools.py": 1,
    }
    full = graph.closure(["src/shop/__init__.py"], -1, repository)
    assert full["src/shop/store/opening.py"] == 2
    assert "src/shop/never.py" not in full


def test_edges_can_be_deleted_for_a_negative_control(tmp_path):
    root = os.path.join(REPOS, "python")
    paths = [path for path in files_below(root) if path != "EDGES"]
    assert edges_of(opened(root, paths, tmp_path / "i.db", lambda source, target: False)) == set()


@pytest.mark.parametrize("seed", ["0", "1", "77"])
@pytest.mark.loop(1)
def test_order_does_not_depend_on_the_hash_seed(seed, tmp_path):
    symptom = tmp_path / "symptom.txt"
    symptom.write_text(
        "main.ts fails in `one`, see util and kit parts\n  at run (web/src/main.ts:3:1)\n"
    )
    command = [
        sys.executable,
        os.path.join(
            os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(repo_slice.__file__)))),
            "ck.py",
        ),
        "slice",
        "--repo",
        os.path.join(REPOS, "javascript"),
        "--symptom",
        str(symptom),
        "--budget",
        "400",
        "--wait",
    ]
    ran = [
        subprocess.run(
            command,
            stdout=subprocess.PIPE,
            check=True,
            env=dict(os.environ, PYTHONHASHSEED=value, CK_DATA=str(tmp_path / value)),
        ).stdout
        for value in ("5", seed)
    ]
    assert ran[0] == ran[1]
    assert b"web/src/main.ts" in ran[0]
