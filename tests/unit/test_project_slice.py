"""The slice as a program: frames always stay, budgets hold or are called unsatisfiable, nothing
stale is sold as fresh.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import types

import pytest

from contextkernel import tokens
from contextkernel.handlers import repo_slice
from contextkernel.slicing import ranking
from contextkernel.slicing.repository import Repository
from contextkernel.slicing.scan import scan_file
from contextkernel.slicing.symptom import text as symptom

ENTRY = (
    os.path.join(
        os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(repo_slice.__file__)))),
        "ck.py",
    ),
    "slice",
)
TRACE = """sorting of open shelves fails
Traceback (most recent call last):
  File "/somewhere/shop/main.py", line 5, in main
    open_shelf(3)
  File "/somewhere/shop/shelves.py", line 11, in open_shelf
    raise ShelfError("the number of shelves must not be below %d" % n)
  File "/usr/lib/python3.11/json/decoder.py", line 1, in decode
shop.errors.ShelfError: the number of shelves must not be below 3
"""
FILES = {
    "shop/__init__.py": "",
    "shop/main.py": (
        "from shop.shelves import open_shelf\n\n\ndef main():\n    return open_shelf(3)\n"
    ),
    "shop/shelves.py": (
        "from shop.errors import ShelfError\n\n\nclass Shelf:\n    pass\n\n\ndef open_shelf(n):\n"
        "    if n < 4:\n        # checked here\n        raise ShelfError('the number of shelves "
        "must not be below %d' % n)\n    return n\n"
    ),
    "shop/errors.py": "class ShelfError(Exception):\n    pass\n",
    "shop/far.py": "def sorting_of_open_shelves():\n    return 'the number of shelves'\n",
    "utils/json/decoder.py": "def decode():\n    pass\n",
    "tests/test_shelves.py": (
        "from shop.shelves import open_shelf\n\n\ndef test_open_shelf():\n"
        "    assert open_shelf(5)\n"
    ),
}


@pytest.fixture
def shop(tmp_path, monkeypatch):
    root = tmp_path / "shop repo"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    monkeypatch.setenv("CK_DATA", str(tmp_path / "state"))
    return root


def sliced(root, *arguments, text=TRACE):
    ran = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            *ENTRY,
            "--repo",
            str(root),
            "--symptom",
            "-",
            "--json",
            *arguments,
        ],
        input=text.encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ),
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def lines_of(found):
    return {
        (row["path"], number)
        for row in found["files"]
        for first, last in row["ranges"]
        for number in range(first, last + 1)
    }


def size_of(root, found):
    return sum(
        len((root / path).read_text().split("\n")[number - 1].encode()) + 1
        for path, number in lines_of(found)
    )


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--depth", "full"),
        ("--depth", "2"),
        ("--depth", "1"),
        ("--depth", "1", "--importers", "1"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("budget", [1, 30, 60, 120, 400, 8000])
@pytest.mark.loop(4)
def test_frames_stay_at_every_depth_and_budget(shop, options, budget):
    found = sliced(shop, "--wait", "--budget", str(budget), *options)
    assert {("shop/main.py", 5), ("shop/shelves.py", 11)} <= lines_of(found)
    assert found["tokens"] == tokens.of_bytes(size_of(shop, found))
    assert found["fits"] == (found["tokens"] <= budget)
    assert found["fits"] or found["tokens"] == found["smallest"]
    assert all(
        row["path"] != "utils/json/decoder.py"
        for row in found["files"]
        if row["path"] in found["seeds"]
    )
    assert found["frames"][0]["path"] in ("shop/shelves.py",)


def test_an_unsatisfiable_budget_is_said(shop):
    text = repo_slice.answer(str(shop), TRACE, repo_slice.Request(1))
    assert "more than the budget of 1." in text
    assert "Even the smallest answer needs ~" in text


def test_depth_keeps_to_the_imports_of_the_seeds(shop):
    everything = {row["path"] for row in sliced(shop, "--wait", "--budget", "8000")["files"]}
    near = {
        row["path"] for row in sliced(shop, "--wait", "--budget", "8000", "--depth", "1")["files"]
    }
    assert "shop/far.py" in everything
    assert near == {
        "shop/main.py",
        "shop/shelves.py",
        "shop/errors.py",
    }
    with_importers = {
        row["path"]
        for row in sliced(shop, "--wait", "--budget", "8000", "--depth", "1", "--importers", "1")[
            "files"
        ]
    }
    assert with_importers == near | {"tests/test_shelves.py"}


def test_the_manifest_has_commands_that_print_the_places(shop):
    text = repo_slice.answer(str(shop), TRACE, repo_slice.Request(8000))
    assert text.startswith("T2@")
    assert "sufficient" not in text.lower()
    assert "blind spots:" in text
    assert "budget: ~" in text
    commands = [line.strip() for line in text.split("\n") if line.strip().startswith("sed -n")]
    shown = "".join(
        subprocess.run(
            command, shell=True, cwd=str(shop), stdout=subprocess.PIPE, check=True
        ).stdout.decode()
        for command in commands
    )
    assert "raise ShelfError" in shown
    assert tokens.estimate(shown) <= 8000


def test_inlined_lines_carry_the_numbers_of_the_file(shop):
    text = repo_slice.answer(str(shop), TRACE, repo_slice.Request(8000), form="lines")
    assert "    11\t        raise ShelfError" in text


def test_a_frame_of_another_version_is_found_by_its_function(shop):
    (shop / "shop/shelves.py").write_text("\n" * 40 + FILES["shop/shelves.py"])
    found = sliced(shop, "--wait", "--budget", "40")
    assert ("shop/shelves.py", 48) in lines_of(found)


def test_a_diff_is_a_symptom(shop, tmp_path):
    (tmp_path / "change.diff").write_text(
        "--- a/shop/errors.py\n+++ b/shop/errors.py\n@@ -1,2 +1,2 @@\n"
        "-class Old(Exception):\n+class ShelfError(Exception):\n     pass\n"
    )
    ran = subprocess.run(
        [
            sys.executable,
            *ENTRY,
            "--repo",
            str(shop),
            "--from-diff",
            str(tmp_path / "change.diff"),
            "--importers",
            "1",
            "--depth",
            "1",
            "--wait",
            "--json",
        ],
        stdout=subprocess.PIPE,
        check=True,
    )
    assert {"shop/errors.py", "shop/shelves.py"} <= {
        row["path"] for row in json.loads(ran.stdout)["files"]
    }


@pytest.mark.parametrize(
    "arguments",
    [
        ["--symptom", "/no/such/file"],
        ["--symptom"],
        [],
        ["--symptom", "-", "--budget", "0"],
        ["--symptom", "-", "--budget", "x"],
        ["--symptom", "-", "--depth", "9"],
        ["--symptom", "-", "--wat"],
        ["--symptom", "-", "--repo", "/no/such/folder"],
        ["--symptom", "-", "--importers", "-1"],
    ],
)
def test_a_wrong_call_is_one_line_and_exit_2(shop, arguments):
    ran = subprocess.run(
        [sys.executable, "-I", "-S", *ENTRY]
        + (arguments if "--repo" in arguments else ["--repo", str(shop)] + arguments),
        input=b"x",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert ran.returncode == 2
    assert ran.stdout == b""
    assert ran.stderr.count(b"\n") == 1
    assert b"Traceback" not in ran.stderr


@pytest.mark.parametrize("text", ["", "\n", "\x00\xff", "zzzz qqqq"])
def test_a_symptom_without_evidence_gives_nothing(shop, text):
    assert sliced(shop, "--wait", text=text)["files"] == []


def test_an_answer_is_kept_and_an_edit_makes_a_new_one(shop):
    first = sliced(shop, "--wait")
    assert sliced(shop, "--wait") == first
    path = shop / "shop/shelves.py"
    path.write_text("# moved\n" + path.read_text())
    assert ("shop/shelves.py", 9) in lines_of(sliced(shop, "--wait"))
    assert sliced(shop, "--wait")["handle"] != first["handle"]


def test_without_waiting_an_old_index_names_what_changed(shop, monkeypatch):
    sliced(shop, "--wait")
    monkeypatch.setattr(repo_slice, "INLINE_BYTES", -1)
    started = []
    monkeypatch.setattr(subprocess, "Popen", lambda command, **options: started.append(command))
    (shop / "shop/far.py").write_text("def other():\n    pass\n")
    found = json.loads(
        repo_slice.answer(str(shop), TRACE, repo_slice.Request(8000), wait=False, form="json")
    )
    assert found["index"]["changed_since"] == ["shop/far.py"]
    assert found["index"]["building"]
    assert started[0][-1] == "--build"
    assert any(
        "the index is out of date for 1 file: shop/far.py" in line for line in found["blind_spots"]
    )


def test_without_waiting_a_first_answer_comes_from_the_best_named_files(shop, monkeypatch):
    monkeypatch.setattr(repo_slice, "INLINE_BYTES", -1)
    monkeypatch.setattr(repo_slice, "FIRST_FILES", 2)
    monkeypatch.setattr(subprocess, "Popen", lambda command, **options: None)
    found = json.loads(
        repo_slice.answer(str(shop), TRACE, repo_slice.Request(8000), wait=False, form="json")
    )
    assert found["index"]["files"] == 2
    assert len(found["index"]["changed_since"]) == 5
    assert {("shop/main.py", 5), ("shop/shelves.py", 11)} <= lines_of(found), "frames need no index"


def test_the_child_brings_the_index_up_to_date(shop):
    ran = subprocess.run(
        [sys.executable, "-I", "-S", *ENTRY, "--repo", str(shop), "--build"], stdout=subprocess.PIPE
    )
    assert ran.returncode == 0
    assert ran.stdout == b""
    assert len(
        repo_slice.indexes.Index(
            repo_slice.indexes.file_of(str(shop)), repo_slice.operator_hash(repo_slice.SCANNERS)
        ).files()
    ) == len(FILES)


@pytest.mark.slow
def test_a_build_that_nobody_waits_for_ends_by_the_clock(shop, tmp_path):
    """Its only argument makes the limit small; a scan that does not come back is ended as well."""
    for number in range(3000):
        (shop / f"shop/more_{number}.py").write_text("def more():\n    pass\n" * 200)
    started = time.monotonic()
    ran = subprocess.run(
        [sys.executable, "-I", "-S", *ENTRY, "--repo", str(shop), "--build", "--build-seconds", "0"]
    )
    assert time.monotonic() - started < 60
    assert ran.returncode == 0
    kept = repo_slice.indexes.Index(
        repo_slice.indexes.file_of(str(shop)), repo_slice.operator_hash(repo_slice.SCANNERS)
    )
    assert len(kept.files()) < 3000


@pytest.mark.slow
def test_a_build_whose_scan_never_ends_is_ended(shop):
    program = (
        "import sys, time; sys.path.insert(0, sys.argv[1])\n"
        "from contextkernel.commands import slice\n"
        "slice.LAST_COMMIT_SECONDS = 0.5\n"
        "slice.build = lambda root, seconds: time.sleep(60)\n"
        "slice.main(['--repo', sys.argv[2], '--build', '--build-seconds', '0'])\n"
    )
    ran = subprocess.run([sys.executable, "-c", program, os.path.dirname(ENTRY[0]), str(shop)])
    assert ran.returncode == -signal.SIGALRM


def test_files_over_the_limit_are_named_and_still_reached(shop):
    (shop / "shop/large.py").write_text("X = 1\n" * 200_000 + "def load():\n    raise KeyError\n")
    named = 'File "/x/shop/large.py", line 200002, in load\nShelfError: open shelf'
    found = sliced(shop, "--wait", "--budget", "2000", text=named)
    assert found["files"][0]["path"] == "shop/large.py"
    assert ("shop/large.py", 200_002) in lines_of(found)
    shown = repo_slice.answer(str(shop), "ShelfError: open shelf", repo_slice.Request(2000))
    assert "  over 1 MB, not scanned, read by path: shop/large.py\n" in shown


@pytest.mark.parametrize(
    "frame, read",
    [
        ('File "app/entry.py", line 6, in start', True),
        ("at start (app/entry.js:2:5)", True),
        ('File "app/entry.py", line 10, in <module>', True),
        ('File "app/entry.py", line 6', True),
        ('File "app/entry.py", line 6, in start\n  File "app/main.py", line 1, in x', True),
        ('File "app/entry.py", line 6, in start\n    return depot.load(y)', False),
        ('File "app/entry.py", line 6, in another_version', False),
        ('File "app/entry.py", line 600, in start', False),
        ('File "app/gone.py", line 6, in start', False),
    ],
)
def test_a_frame_without_its_code_line_says_what_the_line_says(tmp_path, frame, read):
    texts = {
        "app/entry.py": (
            "from app import depot\n\n\ndef start(x):\n    y = x\n"
            "    return depot.unload_quickly(y)\n\n\nfor one in ():\n"
            "    depot.unload_quickly(one)\n"
        ),
        "app/entry.js": "function start(x) {\n    return depot.unload_quickly(x)\n}\n",
    }
    rows = [
        types.SimpleNamespace(path=path, number=number, note="")
        for number, path in enumerate(texts)
    ]
    facts = {
        number: ([], scan_file.scan(row.path, texts[row.path].encode()).definitions)
        for number, row in enumerate(rows)
    }
    repository = Repository(
        str(tmp_path), texts, rows, lambda path: texts[path].encode(), facts.get, lambda terms: {}
    )
    told = symptom.read(f"it fails:\n  {frame}\n")
    code = ranking.code_of_frames(told, repository)
    assert [line.strip().replace("return ", "") for line in code] == (
        [f"depot.unload_quickly({'one' if 'module' in frame else 'x' if '.js' in frame else 'y'})"]
        if read
        else []
    )
    more = symptom.with_code(told, code)
    assert ("unload_quickly" in more.coded) is read
    assert (more.weights.get("quickly", 0) == 1.5) is read
    assert (more is told) is not read
    assert all(more.weights[word] == weight for word, weight in told.weights.items()), (
        "what the report says itself weighs as before"
    )
