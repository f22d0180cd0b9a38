"""The list of files is the one that git gives, without git being started: git itself is the
oracle, over drawn trees and rules.
"""

from __future__ import annotations

import os
import random
import subprocess

import pytest

from contextkernel.store import tree

NAMES = [
    "a",
    "b",
    "ab",
    "a.py",
    "b.py",
    "x.log",
    "foo",
    "foo.py",
    "foobar",
    "build",
    "src",
    "[a]",
    "a b",
    "é.py",
    "!x",
    "#y",
    "back\\slash",
    "A",
    "-",
    "a]",
    "z-",
]
PIECES = [
    "*",
    "**",
    "?",
    "/",
    "[ab]",
    "[!a]",
    "[^b-z]",
    "[z-a]",
    "[]a]",
    "[!]]",
    "[[:alpha:]]",
    "[[:nope:]]",
    "[a",
    "[a/b]",
    "[\\]]",
    "[--a]",
    "[a-]",
    "[[:digit:]x]",
    "[[:a]",
    "\\",
    "\\*",
    "\\/",
    "a",
    "b",
    "foo",
    ".py",
    "**/",
    "/**",
    "***",
    " ",
    "\\ ",
    "é",
    "src",
    "build",
    "bar",
    "-",
]
WHOLE = [
    "",
    "#comment",
    "\\#y",
    "!a.py",
    "\\!x",
    "!",
    "/",
    "//",
    "a//",
    "*.py",
    "!*.py",
    "/foo*",
    "foo**bar",
    "foo**/bar",
    "/foo**/bar",
    "a/**/b",
    "**",
    "**/",
    "/**",
    "**/a",
    "a/**",
    "*/",
    "!*/",
    "!/src/",
    "*a*b*",
    "*a*b*c*o*",
    "**/a/**/b/**",
    "a\r",
    "*.py  ",
    "*.py\\ ",
    "a\t",
    "build/*",
    "!build/a.py",
    "src/**/*.py",
    "\\",
    "a\\",
    "[",
    "*[",
    "[a-",
    "é*",
    "???.py",
    "????.py",
]
ENVIRON = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "HOME": os.devnull,
}


def run_git(root, *arguments, stdin=b""):
    identity = [
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@example.org",
        "-c",
        "protocol.file.allow=always",
    ]
    return subprocess.run(
        ["git", "-C", str(root)] + identity + list(arguments),
        input=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        check=True,
        env=ENVIRON,
    ).stdout


def by_git(root):
    names = {
        os.fsdecode(name)
        for name in run_git(root, "ls-files", "-co", "--exclude-standard", "-z").split(b"\0")
        if name
    }
    return sorted(
        name
        for name in names
        if os.path.isfile(os.path.join(str(root), name))
        and not os.path.islink(os.path.join(str(root), name))
    )


def drawn_rules(draw):
    lines = []
    for _ in range(draw.randrange(0, 7)):
        lines.append(
            draw.choice(WHOLE)
            if draw.random() < 0.4
            else draw.choice(["", "", "!", "/"])
            + "".join(draw.choice(PIECES) for _ in range(draw.randrange(1, 6)))
        )
    return "\n".join(lines) + draw.choice(["", "\n", "\r\n"])


def drawn_tree(draw, root):
    folders = [""]
    for _ in range(draw.randrange(2, 8)):
        folders.append(os.path.join(draw.choice(folders), draw.choice(NAMES)))
    for folder in folders:
        try:
            os.makedirs(os.path.join(root, folder), exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            continue
        for name in draw.sample(NAMES, draw.randrange(0, 6)):
            path = os.path.join(root, folder, name)
            if not os.path.lexists(path):
                with open(path, "w"):
                    pass
        if draw.random() < 0.4:
            with open(os.path.join(root, folder, ".gitignore"), "w", newline="") as handle:
                handle.write(drawn_rules(draw))


@pytest.fixture(autouse=True)
def no_settings_of_the_person(monkeypatch):
    for name in ("GIT_CONFIG_GLOBAL", "HOME"):
        monkeypatch.setenv(name, os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.loop(6)
def test_a_drawn_tree_is_listed_as_git_lists_it(seed, tmp_path):
    draw = random.Random(seed)
    root = str(tmp_path / "r")
    os.mkdir(root)
    run_git(root, "init", "-q", *draw.choice([[], ["--object-format=sha256"]]))
    drawn_tree(draw, root)
    run_git(root, "config", "index.version", draw.choice("234"))
    for _ in range(draw.randrange(3)):
        base, folders, names = draw.choice(list(os.walk(root)))
        if ".git" not in base and names:
            run_git(root, "add", "-f", "--", os.path.join(base, draw.choice(sorted(names))))
    if draw.random() < 0.3:
        run_git(root, "add", "-A")
    if draw.random() < 0.2:
        run_git(root, "update-index", "--split-index")
        run_git(root, "add", "-f", ".")
    with open(os.path.join(root, ".git", "info", "exclude"), "w") as handle:
        handle.write(drawn_rules(draw))
    if draw.random() < 0.3:
        with open(str(tmp_path / "mine"), "w") as handle:
            handle.write(drawn_rules(draw))
        run_git(root, "config", "core.excludesFile", str(tmp_path / "mine"))
    folders = [base for base, _, _ in os.walk(root) if ".git" not in base.split(os.sep)]
    for _ in range(6):
        for folder in {root, draw.choice(folders)}:
            expected, found = by_git(folder), tree.listing(folder)
            if expected:
                assert (sorted(found.files), found.how) == (expected, "git"), (
                    f"seed {seed:d}, {folder[len(root) :]}, rules {rules_below(root)!r}"
                )
        for base in draw.sample(folders, min(3, len(folders))):
            with open(os.path.join(base, ".gitignore"), "w", newline="") as handle:
                handle.write(drawn_rules(draw))


def rules_below(root):
    paths = [
        os.path.join(base, ".gitignore")
        for base, _, names in os.walk(root)
        if ".gitignore" in names
    ] + [os.path.join(root, ".git", "info", "exclude")]
    return {os.path.relpath(path, root): open(path, newline="").read() for path in paths}
