"""The index: equal to a clean build after any edits, whatever the files hold; files are listed
as git or .gitignore say.
"""

from __future__ import annotations

import os
import random
import shutil
import stat
import subprocess

import pytest

from contextkernel.slicing.languages import language_of
from contextkernel.slicing.scan import file_kinds, scan_file
from contextkernel.store import index as indexes
from contextkernel.store import tree
from contextkernel.store.ignore import refused, rules_of
from rounds import drawing, for_seeds

WORDS = "store shelf open close number_of_items HttpServer parse token ledger spool".split()


def sources(root):
    return {
        path: facts for path, facts in tree.listing(str(root)).files.items() if language_of(path)
    }


def refreshed(root, base, **options):
    kept = indexes.Index(str(base), "1")
    kept.refresh(str(root), sources(root), scan_file.scan, **options)
    return kept


def some_source(draw):
    lines = []
    for _ in range(draw.randrange(1, 12)):
        lines.append(
            draw.choice(
                [
                    "import %s",
                    "from .%s import x",
                    "def %s():\n    return 1",
                    "class %s:\n    pass",
                    "%s = 2",
                    "# %s",
                    '"""%s\ndef no(): pass\n"""',
                ]
            )
            % draw.choice(WORDS)
        )
    return "\n".join(lines) + "\n"


def test_incremental_equals_clean_rebuild(tmp_path, record_property):
    def check(seed):
        folder = tmp_path / str(seed)
        folder.mkdir()
        check_incremental(seed, folder)
        shutil.rmtree(str(folder))

    for_seeds(record_property, check, 2, 100)


def check_incremental(seed, tmp_path):
    draw = random.Random(seed)
    root = tmp_path / "repo"
    root.mkdir()
    kept = None
    clock = 1_600_000_000
    for step in range(35):
        for _ in range(draw.randrange(1, 4)):
            path = root / draw.choice(
                ["a.py", "b.py", "pkg/c.py", "pkg/d.js", "e.go", "pkg/sub/f.py"]
            )
            if path.exists() and draw.random() < 0.25:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(some_source(draw))
            clock += 1
            os.utime(path, (clock, clock))
        kept = refreshed(root, tmp_path / "kept.db", segment_bytes=draw.choice([1, 200, 1 << 20]))
        if step % 7 == 6:
            clean = refreshed(root, tmp_path / (f"clean{step}.db"))
            assert kept.content() == clean.content(), f"seed {seed:d}, step {step}"
            clean.close()
        kept.close()


def names_in(kept):
    return [one[0] for row in kept.files() for one in kept.facts(row.number)[1]]


@pytest.mark.parametrize("way", ["rewritten", "renamed over"])
def test_other_content_of_the_same_size_and_mtime_is_noticed(tmp_path, way):
    root = tmp_path / "repo"
    root.mkdir()
    path = root / "a.py"
    path.write_text("def alpha(): pass\n")
    os.utime(path, ns=(10**18, 10**18))
    refreshed(root, tmp_path / "i.db").close()
    new = path if way == "rewritten" else root / "new"
    new.write_text("def omega(): pass\n")
    os.utime(new, ns=(10**18, 10**18))
    os.replace(new, path)
    assert names_in(refreshed(root, tmp_path / "i.db")) == ["omega"]


TICK = 10**18  # ns


@pytest.mark.parametrize(
    "seen, noticed",
    [(TICK, True), (TICK + 1_900_000_000, True), (TICK + 2_100_000_000, False)],
    ids=["within a tick", "within the coarsest tick", "later: no clock tells it"],
)
def test_a_change_within_one_tick_of_the_clock_is_found_by_content(
    tmp_path, monkeypatch, seen, noticed
):
    root = tmp_path / "repo"
    root.mkdir()
    listed = {"a.py": (18, TICK, TICK, 7), "b.py": (18, 1, 1, 8)}
    for name in listed:
        (root / name).write_text("def alpha(): pass\n")
    kept = indexes.Index(str(tmp_path / "i.db"), "1")
    monkeypatch.setattr(indexes.time, "time_ns", lambda: seen)
    kept.refresh(str(root), listed, scan_file.scan)
    (root / "a.py").write_text("def omega(): pass\n")
    assert kept.stale(str(root), listed) == ((["a.py"] if noticed else []), [])


def test_what_is_as_it_was_is_read_once_more_and_then_sure(tmp_path, monkeypatch):
    root = tmp_path / "repo"
    root.mkdir()
    (root / "a.py").write_text("def alpha(): pass\n")
    listed = {"a.py": (18, TICK, TICK, 7)}
    kept = indexes.Index(str(tmp_path / "i.db"), "1")
    monkeypatch.setattr(indexes.time, "time_ns", lambda: TICK)
    kept.refresh(str(root), listed, scan_file.scan)
    monkeypatch.setattr(indexes.time, "time_ns", lambda: TICK + 10**10)
    read = []
    real = indexes._bytes_of
    monkeypatch.setattr(indexes, "_bytes_of", lambda path: read.append(path) or real(path))
    assert kept.stale(str(root), listed) == ([], [])
    assert kept.stale(str(root), listed) == ([], [])
    assert len(read) == 1


def test_a_build_past_its_time_keeps_what_is_done(tmp_path, monkeypatch):
    root = tmp_path / "repo"
    root.mkdir()
    for number in range(9):
        (root / f"f{number}.py").write_text(f"def f{number}(): pass\n")
    clock = iter(range(1000))
    monkeypatch.setattr(indexes.time, "monotonic", lambda: next(clock))
    kept = indexes.Index(str(tmp_path / "i.db"), "1")
    kept.refresh(str(root), sources(root), scan_file.scan, deadline=4)
    done = len(kept.files())
    assert 0 < done < 9
    kept.refresh(str(root), sources(root), scan_file.scan)
    assert len(kept.files()) == 9


def segments_of(kept, table):
    return kept.base.execute("SELECT COUNT(DISTINCT segment) FROM " + table).fetchone()[0]


def test_a_merge_keeps_the_content(tmp_path):
    root = tmp_path / "repo"
    root.mkdir()
    for number in range(30):
        (root / (f"f{number}.py")).write_text(some_source(random.Random(number)))
    many = refreshed(root, tmp_path / "many.db", segment_bytes=1)
    assert segments_of(many, "recent") == 1, "30 segments are merged"
    assert segments_of(many, "posting") == 0
    assert many.content() == refreshed(root, tmp_path / "one.db").content()


def test_merges_of_small_segments_leave_the_large_one_until_much_is_dead(tmp_path, monkeypatch):
    root = tmp_path / "repo"
    root.mkdir()
    for number in range(120):
        (root / (f"f{number}.py")).write_text(some_source(random.Random(number)))
    monkeypatch.setattr(
        indexes, "LARGE_BYTES", sum(os.path.getsize(str(path)) for path in root.iterdir()) // 2
    )
    kept = refreshed(root, tmp_path / "i.db")
    assert (segments_of(kept, "posting"), segments_of(kept, "recent")) == (1, 0)

    def large():
        return kept.base.execute("SELECT term, value FROM posting ORDER BY term").fetchall()

    before, recent, changed = large(), [], []
    for step in range(60):
        (root / (f"f{step % 4}.py")).write_text(some_source(random.Random(100 + step)))
        kept.refresh(str(root), sources(root), scan_file.scan)
        recent.append(segments_of(kept, "recent"))
        changed.append(large() != before)
        before = large()
    assert max(recent) == 12
    assert recent[12] == 1
    assert not any(changed[:13]), "the first merge leaves the large segment"
    assert sum(changed) == 1, "a fifth is dead"
    assert recent[changed.index(True)] == 0
    assert kept.content() == refreshed(root, tmp_path / "one.db").content()


def test_a_build_that_ends_early_goes_on_where_it_was(tmp_path):
    root = tmp_path / "repo"
    root.mkdir()
    for number in range(6):
        (root / (f"f{number}.py")).write_text(f"def f{number}(): pass\n")
    scanned = []

    def dying(path, data):
        if len(scanned) == 4:
            raise KeyboardInterrupt
        scanned.append(path)
        return scan_file.scan(path, data)

    kept = indexes.Index(str(tmp_path / "i.db"), "1")
    with pytest.raises(KeyboardInterrupt):
        kept.refresh(str(root), sources(root), dying, segment_bytes=1)
    kept.close()
    kept = indexes.Index(str(tmp_path / "i.db"), "1")
    assert kept.refresh(str(root), sources(root), scan_file.scan) == 2
    assert kept.content() == refreshed(root, tmp_path / "clean.db").content()


def test_a_damaged_file_and_another_version_begin_anew(tmp_path):
    root, base = tmp_path / "repo", tmp_path / "i.db"
    root.mkdir()
    (root / "a.py").write_text("def go(): pass\n")
    base.write_bytes(b"no database at all" * 100)
    kept = refreshed(root, base)
    assert [row.path for row in kept.files()] == ["a.py"]
    assert stat.S_IMODE(os.stat(base).st_mode) == 0o600
    kept.close()
    assert indexes.Index(str(base), "2").files() == []


def test_a_new_index_is_for_its_user_only(tmp_path):
    indexes.Index(str(tmp_path / "i.db"), "1").close()
    assert stat.S_IMODE(os.stat(tmp_path / "i.db").st_mode) == 0o600


@pytest.mark.parametrize(
    "data, names, line",
    [
        pytest.param(b"\xef\xbb\xbfimport os\ndef go(): pass\n", ["go"], 2, id="byte order mark"),
        pytest.param(b"def go(): pass\n\0\ndef on(): pass\n", ["go", "on"], 1, id="NUL"),
        pytest.param("# caf\xe9\ndef go(): pass\n".encode("latin-1"), ["go"], 2, id="Latin-1"),
        pytest.param("def go(): pass\n".encode("utf-16"), ["go"], 1, id="UTF-16"),
        pytest.param(b"a = 1\r\n\r\ndef go():\r\n    pass\r\n", ["go"], 3, id="CRLF"),
        pytest.param(b"print 'old'\ndef go(x:\n", ["go"], 2, id="no valid Python"),
        pytest.param(b'"""\ndef no(): pass\n"""\ndef go(): pass\n', ["go"], 4, id="in a docstring"),
        pytest.param(
            b'# it\'s """ here\ndef go(): pass\n', ["go"], 2, id="a triple quote in a comment"
        ),
        pytest.param(b'x = \'"""\'\ndef go(): pass\n', ["go"], 2, id="a triple quote in a string"),
    ],
)
def test_odd_python(data, names, line):
    found = scan_file.scan("a.py", data)
    functions = [one for one in found.definitions if one.kind == "def"]
    assert [one.name for one in functions] == names
    assert functions[0].line == line
    assert found.note == ""


@pytest.mark.parametrize(
    "path, data, note",
    [
        ("a.js", b"var a=1;" * 2000, "minified"),
        ("a.py", b"x = 1\n" * 200_000, "big"),
        ("a.c", bytes(range(256)) * 40, "binary"),
        ("a.go", b"// Code generated by protoc-gen-go. DO NOT EDIT.\npackage a\n", "generated"),
        ("node_modules/a/a.js", b"var a = 1\n", "vendored"),
        ("build/a.py", b"a = 1\n", ""),
        ("dist/a.py", b"a = 1\n", ""),
        ("env/a.py", b"a = 1\n", ""),
        ("target/a.rs", b"fn a() {}\n", ""),
        ("coverage/a.py", b"a = 1\n", ""),
    ],
)
def test_what_is_not_scanned_says_why_and_names_of_folders_do_not_count(path, data, note):
    assert scan_file.scan(path, data).note == note


@pytest.mark.parametrize("suffix", ["py", "js", "go", "java", "rs", "c", "php", "rb"])
def test_any_bytes_are_scanned(suffix, record_property):
    draw, count = drawing(record_property, 40, 4000)
    for _ in range(count):
        pieces = [
            b'"',
            b"'",
            b"`",
            b"/*",
            b"*/",
            b"//",
            b"#",
            b"\\",
            b"\n",
            b'"""',
            b"def a(",
            b"class B {",
            b"fn x",
            b"\xff",
            b"import (",
            b"(",
            b'r#"',
            b"/",
            b"a.b",
        ]
        scan_file.scan("x." + suffix, b"".join(draw.choice(pieces) for _ in range(400)))


def test_a_walk_honours_gitignore_and_skips_tools_and_links(tmp_path):
    files = {
        ".gitignore": "*.log\n/out/\nkeep/*\n!keep/this.py\n",
        "a.py": "",
        "x.log": "",
        "out/b.py": "",
        "sub/out/c.py": "",
        "keep/that.py": "",
        "keep/this.py": "",
        "sub/.gitignore": "local.py\n",
        "sub/local.py": "",
        "build/d.py": "",
        "node_modules/m/e.py": "",
        "env/pyvenv.cfg": "",
        "env/lib/f.py": "",
        "target/CACHEDIR.TAG": "",
        "target/g.rs": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    os.symlink(tmp_path, tmp_path / "loop")
    os.symlink(tmp_path / "a.py", tmp_path / "alias.py")
    found = tree.listing(str(tmp_path))
    assert found.how == "walk"
    assert [path for path in found.files if path.endswith((".py", ".rs"))] == [
        "a.py",
        "build/d.py",
        "keep/this.py",
        "sub/out/c.py",
    ]
    assert any("env" in note for note in found.skipped)


def test_git_says_what_is_source(tmp_path):
    for name in ("build/a.py", "ignored/b.py", "new.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / ".gitignore").write_text("ignored/\nbuild/\n")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run(["git", "-C", str(tmp_path), "add", "-f", "build/a.py"], check=True)
    found = tree.listing(str(tmp_path))
    assert found.how == "git"
    assert sorted(found.files) == [".gitignore", "build/a.py", "new.py"]
    assert "a.py" in tree.listing(str(tmp_path / "build")).files, (
        "a folder below the root is listed relative to itself"
    )


@pytest.mark.parametrize(
    "rules, path, is_folder, ignored",
    [
        ("*.pyc", "a/b.pyc", False, True),
        ("/top", "a/top", False, False),
        ("doc/*.txt", "doc/a/b.txt", False, False),
        ("doc/**/b.txt", "doc/a/b.txt", False, True),
        ("x/", "x", False, False),
        ("x/", "x", True, True),
        ("[ab].c", "a.c", False, True),
        ("a\n!a", "a", False, False),
        ("#a", "#a", False, False),
        ("\\#a", "#a", False, True),
    ],
)
def test_ignore_rules(rules, path, is_folder, ignored):
    assert refused(path, is_folder, [("", rules_of(rules))]) is ignored


def test_roles():
    assert [
        file_kinds.role_of(path)
        for path in (
            "tests/a.py",
            "src/a_test.go",
            "a.spec.ts",
            "src/FooTest.java",
            "latest.py",
            "django/test/client.py",
            "app/migrations/0001_x.py",
            "db/migrations/loader.py",
        )
    ] == ["test", "test", "test", "test", "impl", "impl", "migration", "impl"]
    assert file_kinds.test_folders(["test/test_a.py", "test/b.py", "django/test/client.py"]) == {
        "test"
    }
