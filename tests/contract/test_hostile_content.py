"""Names, kinds and ignore files that nobody expects in a repository: the slice names what it
could not read, the rest answers.
"""

from __future__ import annotations

import json
import os
import random
import re
import socket
import sqlite3
import subprocess
import sys
import time

import pytest

import plugin
from contextkernel.slicing.scan import file_kinds, scan_file
from contextkernel.store import ignore, index_file, tree
from contextkernel.store import index as indexes

SYMPTOM = b"ValueError: the ledger key vanished"
ENDS_S = 60  # a slice of so small a repository that takes longer hangs


@pytest.fixture
def repo(tmp_path):
    root = tmp_path / "repo"
    root.mkdir()
    (root / "ok.py").write_text("def load(key):\n    raise ValueError('the ledger key vanished')\n")
    return str(root)


@pytest.fixture
def asked(repo, state, plugin_root):
    def run(*more, root=repo):
        command = [
            sys.executable,
            "-I",
            "-S",
            os.path.join(plugin_root, "hooks", "ck.py"),
            "slice",
            "--repo",
            root,
            "--symptom",
            "-",
            "--wait",
            *more,
        ]
        done = subprocess.run(
            command,
            input=SYMPTOM,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=ENDS_S,
            env=plugin.environment(plugin_root),
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"ok.py" in done.stdout
        return done.stdout.decode("utf-8")

    return run


def put(root, name, text="def other():\n    raise ValueError('the ledger key vanished')\n"):
    path = os.path.join(os.fsencode(root), name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as handle:
        handle.write(text)


ODD = [
    b"caf\xe9.py",
    b"caf\xe9/mod.py",
    b"\xff\xfe.py",
    b"a\nb.py",
    b"\x1b[31mred.py",
    b"tab\t.py",
    b"q'uote\xe9.py",
    b"back\\slash\x01.py",
    "r\u202etl.py".encode(),
    "zero\u200bwidth.py".encode(),
    b"\xed\xa0\x80.py",
    b"-n\x07.py",
]


@pytest.mark.parametrize("in_git", [True, False])
@pytest.mark.parametrize("name", ODD)
@pytest.mark.loop(2)
def test_an_odd_name_is_shown_so_that_a_shell_reads_the_file(name, in_git, repo, asked):
    put(repo, name)
    if in_git:
        subprocess.run(["git", "-C", repo, "init", "-q"], check=True)
        subprocess.run(["git", "-C", repo, "add", "-A"], check=True)
    for _ in range(2):  # the second time from the index and the kept answer
        text = asked()
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e\ud800-\udfff]", text)
        command = next(
            line for line in text.split("\n") if line.startswith("   sed") and "$'" in line
        )
        read = subprocess.run(["bash", "-c", command], cwd=repo, stdout=subprocess.PIPE)
        assert read.returncode == 0
        assert b"def other" in read.stdout
    paths = [one["path"] for one in json.loads(asked("--json"))["files"]]
    assert name in [os.fsencode(path) for path in paths]


def test_ordinary_names_are_shown_as_they_are(repo, asked):
    for name in ("é.py", "a b.py", "日本.py", "it's.py"):
        put(repo, name.encode())
    text = asked()
    assert "$'" not in text
    assert all(f". {name}:" in text for name in ("é.py", "a b.py", "日本.py", "it's.py"))


def a_fifo(path):
    os.mkfifo(path)


def a_socket(path):
    with socket.socket(socket.AF_UNIX) as made:
        here = os.getcwd()
        os.chdir(os.path.dirname(path))
        try:
            made.bind(os.path.basename(path))
        finally:
            os.chdir(here)


def a_link_to_zero(path):
    os.symlink("/dev/zero", path)


def a_link_to_a_fifo(path):
    os.mkfifo(path + ".real")
    os.symlink(path + ".real", path)


@pytest.mark.parametrize("in_git", [True, False])
@pytest.mark.parametrize("make", [a_fifo, a_socket, a_link_to_zero, a_link_to_a_fifo])
@pytest.mark.parametrize("name", ["odd.py", ".gitignore", "sub/.gitignore", "sub/odd.py"])
@pytest.mark.loop(4)
def test_what_is_no_file_is_named_and_not_opened(name, make, in_git, repo, asked):
    os.mkdir(os.path.join(repo, "sub"))
    put(repo, b"sub/in.py")
    make(os.path.join(repo, name))
    if in_git:
        subprocess.run(["git", "-C", repo, "init", "-q"], check=True)
    text = asked()
    assert "sub/in.py" in text
    assert name in text.partition("not read: ")[2].split("\n")[0]


def test_a_huge_ignore_file_is_named_and_not_read(repo, asked):
    with open(os.path.join(repo, ".gitignore"), "wb") as handle:
        handle.truncate(1 << 40)
    assert "not read: .gitignore (too large)" in asked()


@pytest.mark.parametrize("link", ["etc.py", "folder"])
def test_a_link_out_of_the_repository_is_not_followed(link, repo, asked, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.py").write_text("the_ledger_key = 'vanished'\n")
    os.symlink(
        str(tmp_path / "outside") + ("/secret.py" if link == "etc.py" else ""),
        os.path.join(repo, link),
    )
    text = asked("--text", "lines")
    assert "the_ledger_key" not in text
    assert "secret" not in text


def test_an_index_of_git_that_names_files_behind_a_link_lists_none(repo, asked, tmp_path):
    os.mkdir(os.path.join(repo, "folder"))
    put(repo, b"folder/secret.py", "x = 1\n")
    subprocess.run(["git", "-C", repo, "init", "-q"], check=True)
    subprocess.run(["git", "-C", repo, "add", "-A"], check=True)
    os.rename(os.path.join(repo, "folder"), str(tmp_path / "outside"))
    os.symlink(str(tmp_path / "outside"), os.path.join(repo, "folder"))
    assert sorted(tree.listing(os.path.realpath(repo)).files) == ["ok.py"]


@pytest.mark.parametrize("swap", [a_fifo, a_link_to_zero, a_socket])
def test_a_file_that_becomes_something_else_after_it_was_listed(swap, repo, tmp_path):
    put(repo, b"late.py")
    found = tree.listing(repo).files
    os.unlink(os.path.join(repo, "late.py"))
    swap(os.path.join(repo, "late.py"))
    kept = indexes.Index(str(tmp_path / "i.db"), "1")
    changed, gone = kept.stale(repo, found)
    unread = kept.bring_up(repo, found, changed, gone, scan_file.scan)
    assert [path for path, _ in unread] == ["late.py"]
    assert [row.path for row in kept.files()] == ["ok.py"]
    os.unlink(os.path.join(repo, "late.py"))
    put(repo, b"late.py")
    assert kept.refresh(repo, tree.listing(repo).files, scan_file.scan) == 1, "it is tried again"


@pytest.mark.parametrize("in_git", [True, False])
@pytest.mark.parametrize("name, depth", [("e", 1200), ("e", 1900), ("long-name-" * 20, 40)])
@pytest.mark.slow
def test_deep_folders(name, depth, in_git, repo, asked):
    if in_git:
        subprocess.run(["git", "-C", repo, "init", "-q"], check=True)
    descriptor = os.open(repo, os.O_RDONLY)
    try:
        for _ in range(depth):
            os.mkdir(name, dir_fd=descriptor)
            below = os.open(name, os.O_RDONLY, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        os.close(os.open("deep.py", os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=descriptor))
    finally:
        os.close(descriptor)
    text = asked()
    assert "not read: " in text if len(name) > 1 else "not read" not in text
    subprocess.run(["rm", "-rf", repo], check=True)


PATTERNS = [
    "*.[a-Z]",
    "[z-a]",
    "[",
    "[]",
    "[!]",
    "[[:nope:]]",
    "[[:alpha:]",
    "\\",
    "*a" * 30 + "b",
    "**/a/" * 30 + "*b",
    "*" * 5000,
    "?" * 5000,
    "[a-z]*" * 40 + "!",
    "a**" * 50,
    "/" * 300,
    "(a+)+$",
    "{a,b}",
    "\udcff".encode("utf-8", "surrogateescape").decode("latin-1"),
    "**/" * 500 + "x",
    "*/" * 400 + "z",
]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.loop(5)
def test_no_pattern_raises_or_grows(pattern):
    before = time.process_time()
    rules = ignore.rules_of(pattern)
    for path in ("a" * 200 + ".py", "a/" * 1500 + "a", "a" * 255, "z", "[z-a]", "x.a"):
        ignore.refused(path, False, [("", rules)])
    assert time.process_time() - before < 5


@pytest.mark.slow
def test_many_patterns_on_many_files_come_to_an_end():
    work = ignore.Work(200_000)
    rules = ignore.rules_of("\n".join(f"*{number:d}*a*b*c*" for number in range(3000)), work)
    for number in range(3000):
        ignore.refused(f"some/folder/file{number:d}.py", False, [("", rules)])
    assert work.left <= 0


def test_a_large_file_is_read_no_further_than_needed():
    assert file_kinds.LARGEST < indexes.MOST_READ < 2 * file_kinds.LARGEST


def test_times_out_of_range_are_kept(repo, asked):
    for name, when in ((b"far.py", 1 << 34), (b"early.py", -(1 << 34))):
        put(repo, name)
        try:
            os.utime(os.path.join(os.fsencode(repo), name), (when, when))
        except OSError:
            pytest.skip("this file system has no such times")
    assert "far.py" in asked()
    assert "early.py" in asked()


# -- the index file itself


def noise(path, draw):
    with open(path, "r+b") as handle:
        size = os.fstat(handle.fileno()).st_size
        for _ in range(draw.randrange(1, 40)):
            handle.seek(draw.randrange(size))
            handle.write(draw.randbytes(draw.randrange(1, 200)))


def cut_short(path, draw):
    os.truncate(path, draw.randrange(os.path.getsize(path)))


def pages_swapped(path, draw):
    with open(path, "r+b") as handle:
        pages = handle.read()
        numbers = list(range(1, len(pages) // 4096))
        draw.shuffle(numbers)
        handle.seek(0)
        handle.write(
            pages[:4096]
            + b"".join(pages[4096 * number : 4096 * (number + 1)] for number in numbers)
        )


def by_sql(*statements):
    def damage(path, draw):
        base = sqlite3.connect(path)
        for statement in statements:
            base.execute(statement)
        base.commit()
        base.close()

    damage.__name__ = statements[-1]
    return damage


def a_folder(path, draw):
    os.unlink(path)
    os.mkdir(path)
    open(os.path.join(path, "kept"), "w").close()


def instead(make):
    def damage(path, draw):
        os.unlink(path)
        make(path)

    damage.__name__ = "instead " + make.__name__
    return damage


def no_database(path, draw):
    with open(path, "wb") as handle:
        handle.write(draw.randbytes(5000))


DAMAGES = (
    [noise] * 12
    + [cut_short] * 4
    + [pages_swapped] * 3
    + [no_database, a_folder, instead(a_fifo), instead(a_link_to_zero), instead(a_socket)]
    + [
        by_sql(*one)
        for one in (
            ("PRAGMA user_version = -2147483648",),
            ("PRAGMA user_version = 2147483647",),
            ("DROP TABLE posting",),
            ("DROP TABLE file",),
            ("DROP TABLE meta",),
            ("UPDATE posting SET value = x'010203'",),
            ("UPDATE recent SET value = 'text'",),
            ("UPDATE fact SET value = 'no json'",),
            ("UPDATE fact SET value = '[1]'",),
            ("UPDATE fact SET value = '[[1],[[1]]]'",),
            ("UPDATE meta SET value = 'x' WHERE key = 'last'",),
            ("UPDATE file SET mtime_ns = 'x'",),
            ("UPDATE file SET number = 9223372036854775807 WHERE number = 1",),
            ("UPDATE answer SET value = x'ff'",),
            ("DROP TABLE fact", "CREATE VIEW fact AS SELECT 1"),
            ("DROP TABLE file", "CREATE TABLE file(number, path)"),
            ("UPDATE meta SET value = NULL WHERE key <> 'version'",),
        )
    ]
)


@pytest.mark.parametrize(
    "seed", range(len(DAMAGES)), ids=lambda seed: f"{seed:d} {DAMAGES[seed].__name__}"
)
@pytest.mark.loop(1)
def test_a_damaged_index_is_begun_anew(seed, repo, asked, state, monkeypatch):
    if os.name == "nt":
        pytest.skip("POSIX files")
    monkeypatch.setenv("CK_SLICE_CACHE", "0")
    for number in range(60):
        put(
            repo,
            b"pkg/f%d.py" % number,
            f"def ledger_{number:d}(key):\n    return key_{number:d}\n",
        )
    before = asked()
    path = next(str(one) for one in (state / "index").iterdir() if one.name.endswith(".db"))
    for tail in ("-wal", "-shm"):
        if os.path.exists(path + tail):
            os.unlink(path + tail)
    DAMAGES[seed](path, random.Random(seed))
    after = asked()
    put(repo, b"pkg/f1.py", "def ledger_1(key):\n    return 5\n")
    asked()
    os.unlink(os.path.join(repo, "pkg", "f1.py"))
    put(repo, b"pkg/f1.py", "def ledger_1(key):\n    return key_1\n")
    # bytes of a posting may change without anybody's noticing
    if DAMAGES[seed] not in (noise, pages_swapped):
        assert after == before
        assert asked() == before


def test_a_locked_index_is_left_alone(repo, tmp_path, monkeypatch):
    monkeypatch.setattr(index_file, "BUSY_SECONDS", 0.1)
    path = str(tmp_path / "i.db")
    indexes.Index(path, "1").close()
    inode = os.stat(path).st_ino
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(OSError, match="locked"):
        indexes.Index(path, "2")
    assert os.stat(path).st_ino == inode
    holder.close()
