"""One version: every place states it, and the changelog's newest section is of it."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPT = os.path.join(ROOT, ".ci", "raise_version.py")


def loaded():
    spec = importlib.util.spec_from_file_location("raise_version", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def newest_section(changelog):
    return re.search(r"^## (\d+\.\d+\.\d+) ", changelog, re.M).group(1)


def copy_of_the_places(folder):
    for name in [*loaded().PLACES, "CHANGELOG.md", ".ci/raise_version.py"]:
        os.makedirs(os.path.dirname(folder / name), exist_ok=True)
        shutil.copy(os.path.join(ROOT, name), folder / name)
    return folder


def run(folder, *arguments):
    return subprocess.run(
        [sys.executable, str(folder / ".ci" / "raise_version.py"), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_every_place_states_the_changelogs_newest_version():
    with open(os.path.join(ROOT, "CHANGELOG.md"), encoding="utf-8") as file:
        assert set(loaded().versions().values()) == {newest_section(file.read())}


def test_raising_writes_every_place(tmp_path):
    folder = copy_of_the_places(tmp_path)
    assert run(folder, "99.0.1", "A line.").returncode == 0
    for name in loaded().PLACES:
        assert '"99.0.1"' in (folder / name).read_text(encoding="utf-8"), name
    changelog = (folder / "CHANGELOG.md").read_text(encoding="utf-8")
    assert newest_section(changelog) == "99.0.1"
    assert "- A line.\n" in changelog


def test_a_version_that_is_not_above_is_refused_in_one_line(tmp_path):
    folder = copy_of_the_places(tmp_path)
    before = (folder / "CHANGELOG.md").read_bytes()
    done = run(folder, "0.0.1", "A line.")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert (folder / "CHANGELOG.md").read_bytes() == before
