"""What the reader of symptoms finds: frames of many runtimes, nearest to the raise site first,
and no false ones.
"""

from __future__ import annotations

import pytest

from contextkernel.slicing.path_matching import found_path
from contextkernel.slicing.repository import Repository
from contextkernel.slicing.symptom import diff
from contextkernel.slicing.symptom import text as symptom
from contextkernel.slicing.symptom.frames import Place, frames_of


def places(text):
    return [(frame.path, frame.line, frame.function) for frame in frames_of(text)]


@pytest.mark.parametrize(
    "text, found",
    [
        pytest.param(
            (
                'Traceback (most recent call last):\n  File "/a/run.py", line 3, in <module>\n'
                '    go()\n  File "/a/shop/core.py", line 9, in go\n    raise X\nX: no'
            ),
            [("/a/shop/core.py", 9, "go"), ("/a/run.py", 3, "<module>")],
            id="CPython",
        ),
        pytest.param(
            '  File "x.py", line 2\n    if:\n      ^\nSyntaxError: invalid syntax',
            [("x.py", 2, "")],
            id="SyntaxError",
        ),
        pytest.param(
            "shop/core.py:12: in go\n    run()\nshop/base.py:7: KeyError",
            [("shop/base.py", 7, ""), ("shop/core.py", 12, "go")],
            id="pytest short",
        ),
        pytest.param(
            "File ~/shop/core.py:12, in go(self, x)\n",
            [("~/shop/core.py", 12, "go")],
            id="IPython 8",
        ),
        pytest.param(
            (
                "TypeError: x is not a function\n    at run (/srv/app/src/run.js:10:5)\n"
                "    at async /srv/app/src/main.js:3:1\n    at node:internal/process/task:5:1"
            ),
            [("/srv/app/src/run.js", 10, "run"), ("/srv/app/src/main.js", 3, "")],
            id="Node",
        ),
        pytest.param(
            "go@http://localhost:8080/src/go.js:4:2",
            [("http://localhost:8080/src/go.js", 4, "go")],
            id="Firefox",
        ),
        pytest.param(
            (
                "panic: boom\n\ngoroutine 1 [running]:\nmain.run()\n\t/src/app/run.go:12 +0x1d\n"
                "main.main()\n\t/src/app/main.go:5 +0x20"
            ),
            [("/src/app/run.go", 12, ""), ("/src/app/main.go", 5, "")],
            id="Go panic",
        ),
        pytest.param(
            (
                "java.lang.RuntimeException: outer\n\tat org.shop.Main.go(Main.java:5)\n"
                "\tat org.shop.Main.main(Main.java:2)\nCaused by: java.io.IOException: inner\n"
                "\tat org.shop.store.Store$Disk.open(Store.java:44)\n\t... 2 more"
            ),
            [
                ("org/shop/store/Store.java", 44, "open"),
                ("org/shop/Main.java", 5, "go"),
                ("org/shop/Main.java", 2, "main"),
            ],
            id="Java, the cause first",
        ),
        pytest.param(
            (
                "thread 'main' panicked at 'boom', src/store.rs:8:9\nstack backtrace:\n"
                "   3: app::main\n             at ./src/main.rs:4:5"
            ),
            [("src/store.rs", 8, ""), ("./src/main.rs", 4, "")],
            id="Rust",
        ),
        pytest.param(
            (
                "==1==ERROR: AddressSanitizer\n    #0 0x4f in parse /src/lib/parse.c:71:3\n"
                "    #1 0x5f in main /src/main.c:9:1\n"
            ),
            [("/src/lib/parse.c", 71, "parse"), ("/src/main.c", 9, "main")],
            id="ASAN",
        ),
        pytest.param(
            "#3  0x0000555 in parse (text=0x0) at lib/parse.c:71\n",
            [("lib/parse.c", 71, "parse")],
            id="gdb",
        ),
        pytest.param(
            "src/a.ts(12,5): error TS2304: Cannot find name", [("src/a.ts", 12, "")], id="tsc"
        ),
        pytest.param("src/a.cc:12:5: error: expected ';'", [("src/a.cc", 12, "")], id="gcc"),
        pytest.param(
            "#0 /app/src/Main.php(9): Shop\\Main->go()",
            [("/app/src/Main.php", 9, "Shop\\Main->go")],
            id="PHP",
        ),
        pytest.param("at noon we met at the place (not a file: 12:30)", [], id="prose has none"),
    ],
)
def test_frames(text, found):
    assert [one for one in places(text) if not one[0].startswith("node:")] == found


def test_the_first_traceback_of_a_chain_is_the_root():
    text = (
        'Traceback (most recent call last):\n  File "a.py", line 1, in inner\nKeyError: 1\n\n'
        "During handling of the above exception, another exception occurred:\n\n"
        'Traceback (most recent call last):\n  File "b.py", line 2, in outer\nValueError'
    )
    assert [frame.path for frame in frames_of(text)] == ["a.py", "b.py"]


def test_names_literals_tests_and_messages():
    read = symptom.read(
        "`open_store` fails\n\nshop.store.Store gives 'no such shelf'\n"
        "FAILED tests/test_core.py::TestStore::test_open\n"
        "ValueError: the number of shelves must not be below 3 for 'disk'\n"
        "https://forge.example/o/r/blob/abc/src/shop/core.py#L10-L14"
    )
    assert "open_store" in read.ticked
    assert "shop.store.Store" in read.dotted
    assert "no such shelf" in read.literals
    assert read.tests == ("test_open",)
    assert "ValueError" in read.raised
    assert ("the", "number", "of") in read.shingles
    assert not any("disk" in run for run in read.shingles)
    assert Place("src/shop/core.py", 10, 14) in read.places


def test_a_diff_gives_places_of_the_new_file_and_its_words():
    found, words = diff.read(
        "--- a/x.py\n+++ b/x.py\n@@ -3,2 +3,3 @@ def go():\n a\n-old_name()\n+new_name()\n"
        "+--- not a header\n"
    )
    assert found == (Place("x.py", 3, 5),)
    assert "new_name()" in words
    assert "old_name()" in words
    assert "def go():" in words


def repository(*paths, root="/srv/proj", texts=None):
    texts = texts or {}
    return Repository(
        root,
        paths,
        [],
        lambda path: texts.get(path, "").encode(),
        lambda number: ([], []),
        lambda terms: {},
    )


@pytest.mark.parametrize(
    "given, paths, found",
    [
        ("/srv/proj/shop/core.py", ["shop/core.py"], "shop/core.py"),
        ("/srv/proj/other/core.py", ["shop/core.py"], ""),
        ("/usr/lib/python3.11/json/decoder.py", ["utils/json/decoder.py"], ""),
        ("/opt/python/3.11/lib/python3.11/json/decoder.py", ["json/decoder.py"], ""),
        ("<frozen importlib._bootstrap>", ["importlib/_bootstrap.py"], ""),
        ("/venv/lib/python3.9/site-packages/shop/core.py", ["shop/core.py"], "shop/core.py"),
        (
            "/venv/lib/python3.9/site-packages/shop/core.py",
            ["src/shop/core.py"],
            "src/shop/core.py",
        ),
        ("/venv/lib/python3.9/site-packages/requests/api.py", ["vendor/requests/api.py"], ""),
        ("C:\\Users\\u\\proj\\shop\\core.py", ["shop/core.py"], "shop/core.py"),
        ("/elsewhere/shop/core.py", ["a/shop/core.py", "b/shop/core.py"], ""),
        ("shop/core.py", ["a/shop/core.py"], "a/shop/core.py"),
        ("core.py", ["a/core.py", "b/core.py"], ""),
        ("core.py", ["a/core.py"], "a/core.py"),
        ("/ci/build/other/core.py", ["a/core.py"], ""),
        (".github/x.py", ["github/x.py"], ""),
        ("file:///srv/app/src/run.js", ["src/run.js"], "src/run.js"),
        ("webpack:///./src/run.js", ["src/run.js"], "src/run.js"),
        ("/srv/node_modules/left/index.js", ["left/index.js"], ""),
        ("/usr/local/go/src/runtime/panic.go", ["src/runtime/panic.go"], ""),
        (
            "/rustc/90c541806f23a127002de5b4038be731ba1458ca/library/core/src/panicking.rs",
            ["core/src/panicking.rs"],
            "",
        ),
    ],
)
def test_exact_or_none(given, paths, found):
    assert found_path(given, repository(*paths)) == found


def test_an_installed_copy_counts_when_the_repository_is_that_package():
    own = repository("package.json", "lib/index.js", texts={"package.json": '{"name": "left"}'})
    assert found_path("/srv/node_modules/left/lib/index.js", own) == "lib/index.js"
    assert found_path("/srv/node_modules/right/lib/index.js", own) == ""
