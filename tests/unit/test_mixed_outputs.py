"""Outputs of two commands in one text, and texts that only resemble a format: the other
command's facts stay.
"""

import json

import pytest

from contextkernel.normalize import Source, normalize
from contextkernel.normalize.edits import accounting_error

STATUS = [
    "On branch main",
    "Your branch is up to date with 'origin/main'.",
    "",
    "Changes not staged for commit:",
    '  (use "git add <file>..." to update what will be committed)',
    "\tmodified:   src/a.py",
    "\tmodified:   src/b.py",
    "",
    "Untracked files:",
    '  (use "git add <file>..." to include in what will be committed)',
    "\tnotes.txt",
    "",
    'no changes added to commit (use "git add" and/or "git commit -a")',
]
UNITTEST = [
    f"test_case_{i} (test_x.Sums.test_case_{i}) ... {'FAIL' if i == 150 else 'ok'}"
    for i in range(300)
] + [
    "",
    "=" * 70,
    "FAIL: test_case_150 (test_x.Sums.test_case_150)",
    "-" * 70,
    "Traceback (most recent call last):",
    '  File "/srv/app/test_x.py", line 12, in test_case_150',
    "    self.assertEqual(total(150), 151)",
    "AssertionError: 150 != 151",
    "",
    "-" * 70,
    "Ran 300 tests in 0.041s",
    "",
    "FAILED (failures=1)",
]
CARGO = (
    [f"   Compiling crate-{chr(97 + i % 26) * 3} v1.{i}.0" for i in range(90)]
    + [
        "    Finished test [unoptimized] target(s) in 41.2s",
        "     Running unittests src/lib.rs",
        "",
        "running 240 tests",
    ]
    + [f"test sums::case_{i} ... {'FAILED' if i == 77 else 'ok'}" for i in range(240)]
    + [
        "",
        "failures:",
        "",
        "---- sums::case_77 stdout ----",
        "thread 'sums::case_77' panicked at src/lib.rs:40:9:",
        "assertion `left == right` failed",
        "  left: 7",
        " right: 8",
        "",
        "failures:",
        "    sums::case_77",
        "",
        (
            "test result: FAILED. 239 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; "
            "finished in 0.03s"
        ),
        "",
        "error: test failed, to rerun pass `--lib`",
    ]
)
MAVEN = (
    [
        f"[INFO] Downloading from central: https://repo.example.org/org/x/a-{i}/1.{i}/a-{i}.pom"
        for i in range(120)
    ]
    + [f"[INFO] Running com.x.Suite{i}Test" for i in range(60)]
    + [
        "[ERROR] Tests run: 4, Failures: 1, Errors: 0, Skipped: 0 <<< FAILURE! - in com.x.SumTest",
        "java.lang.AssertionError: expected:<4> but was:<5>",
        "\tat org.junit.Assert.fail(Assert.java:89)",
    ]
    + [f"\tat com.x.Runner.step{i}(Runner.java:{i})" for i in range(40)]
    + ["", "[ERROR] Tests run: 640, Failures: 1, Errors: 0, Skipped: 0", "[INFO] BUILD FAILURE"]
)
DOTNET = (
    [f"  Restored /srv/app/src/P{i}/P{i}.csproj (in 2{i} ms)." for i in range(140)]
    + [f"  P{i} -> /srv/app/src/P{i}/bin/Debug/net8.0/P{i}.dll" for i in range(140)]
    + [
        (
            "/srv/app/src/P7/Sum.cs(12,9): error CS0103: The name 'totl' does not exist in the "
            "current context [/srv/app/src/P7/P7.csproj]"
        ),
        "",
        "Build FAILED.",
        "    0 Warning(s)",
        "    1 Error(s)",
    ]
)
NPM = (
    ["", "> app@1.0.0 build", "> vite build", ""]
    + [
        (
            f"dist/assets/chunk-{i * 7919 % 65536:04x}.js   {i % 90 + 1}.{i % 97:02} kB │ gzip: "
            f"{i % 30 + 1}.{i % 89:02} kB"
        )
        for i in range(330)
    ]
    + ["(!) Some chunks are larger than 500 kB after minification.", "✓ built in 12.31s"]
)
PYTEST = (
    ["=" * 27 + " test session starts " + "=" * 27, "collected 240 items", ""]
    + [
        (
            f"tests/test_mean.py::test_case_{i} {'FAILED' if i == 120 else 'PASSED'} "
            f"[{i * 100 // 240:3}%]"
        )
        for i in range(240)
    ]
    + [
        "",
        "=" * 35 + " FAILURES " + "=" * 35,
        "_" * 32 + " test_case_120 " + "_" * 32,
        "",
        "    def test_case_120():",
        ">       assert mean([7.0]) == 6.3",
        "E       assert 7.0 == 6.3",
        "",
        "tests/test_mean.py:41: AssertionError",
        "=" * 27 + " short test summary info " + "=" * 27,
        "FAILED tests/test_mean.py::test_case_120 - assert 7.0 == 6.3",
        "1 failed, 239 passed in 1.24s",
    ]
)
CHAIN = [
    f"2024-05-01 10:00:{i % 60:02} INFO worker batch {i} of 240 written to store"
    for i in range(240)
] + [
    "Traceback (most recent call last):",
    '  File "/srv/app/job2.py", line 10, in load',
    "    raise KeyError('shard')",
    "KeyError: 'shard'",
    "",
    "The above exception was the direct cause of the following exception:",
    "",
    "Traceback (most recent call last):",
    '  File "/srv/app/job2.py", line 20, in step',
    "    raise ValueError('step 2') from error",
    "ValueError: step 2",
    "",
    "During handling of the above exception, another exception occurred:",
    "",
    "Traceback (most recent call last):",
    '  File "/srv/app/job2.py", line 31, in main',
    "    raise RuntimeError('job 7 gave up') from error",
    "RuntimeError: job 7 gave up",
]
LS = ["Cargo.toml", "README.md", "src", "target"]


def commits(count, stat=False, body=("Text of the body.",)):
    lines = []
    for i in range(count):
        lines += [
            f"commit {i * 7919 + 1:040x}",
            "Author: A B <a@b.org>",
            f"Date:   Mon May {i % 27 + 1} 10:00:00 2024 +0200",
            "",
            f"    Subject {i}",
            "",
        ] + ["    " + line for line in body]
        lines += (
            ["", f" src/f{i}.py | 3 ++-", " 1 file changed, 2 insertions(+), 1 deletion(-)"]
            if stat
            else []
        )
        lines += [""]
    return lines


def shown(command, lines, exit_code=0):
    text = "\n".join(lines) + "\n"
    normal = normalize(text, Source(command=command, exit_code=exit_code, handle="7f3a12bc90de"))
    assert accounting_error(text, normal) == ""
    return normal.text


@pytest.mark.parametrize(
    "command, lines, exit_code, needles",
    [
        (
            "git status; python3 -m unittest -v test_x",
            STATUS + UNITTEST,
            1,
            ["AssertionError: 150 != 151", "Ran 300 tests", "FAILED (failures=1)"],
        ),
        (
            "git status; cargo test",
            STATUS + CARGO,
            101,
            [
                "panicked at src/lib.rs:40:9",
                "assertion `left == right` failed",
                "test result: FAILED",
            ],
        ),
        (
            "git status; mvn test",
            STATUS + MAVEN,
            1,
            ["expected:<4> but was:<5>", "Tests run: 640, Failures: 1", "BUILD FAILURE"],
        ),
        (
            "git status -s; dotnet build",
            [" M src/P7/Sum.cs", "?? notes.txt"] + DOTNET,
            1,
            ["error CS0103", "Build FAILED."],
        ),
        ("git status && npm run build", STATUS + NPM, 0, ["larger than 500 kB", "built in 12.31s"]),
        (
            "git status && cargo test",
            STATUS + CARGO,
            101,
            ["panicked at src/lib.rs:40:9", "test result: FAILED"],
        ),
        (
            "ls && cargo test --no-fail-fast",
            LS + CARGO + CARGO[90:],
            101,
            [
                "panicked at src/lib.rs:40:9",
                "assertion `left == right` failed",
                "test result: FAILED",
            ],
        ),
        (
            "ls && python3 job2.py",
            LS + CHAIN,
            1,
            ["RuntimeError: job 7 gave up", "KeyError: 'shard'"],
        ),
        (
            "ls -R && python3 job2.py",
            ["src:", "a.py", "", "src/x:", "b.py", "", "src/y:", "c.py"] + CHAIN,
            1,
            ["RuntimeError: job 7 gave up"],
        ),
        (
            "git log -3 && pytest -v",
            commits(3) + PYTEST,
            1,
            ["E       assert 7.0 == 6.3", "1 failed, 239 passed", "Subject 0"],
        ),
        (
            "git log -5 --stat; pytest -v",
            commits(5, True) + PYTEST,
            1,
            ["E       assert 7.0 == 6.3", "1 failed, 239 passed"],
        ),
        ("git log -5; python3 job2.py", commits(5) + CHAIN, 1, ["RuntimeError: job 7 gave up"]),
        (
            "git log -3; ls; pytest -v",
            commits(3) + LS + PYTEST,
            1,
            ["E       assert 7.0 == 6.3", "1 failed, 239 passed"],
        ),
    ],
)
def test_what_another_command_said_stays(command, lines, exit_code, needles):
    text = shown(command, lines, exit_code)
    assert [needle for needle in needles if needle not in text] == []
    assert len(text) < 0.75 * sum(len(line) + 1 for line in lines)
    assert "paths grouped by folder" not in text
    assert "a folder is one line" not in text


def test_a_few_lines_of_another_command_leave_the_format_in_place():
    rows = [f" M src/part{i // 40}/file_{i}.py" for i in range(400)]
    text = shown("git status -s; make", rows + ["make: *** [all] Error 2"], 2)
    assert "make: *** [all] Error 2" in text
    assert "paths grouped by folder" in text
    text = shown(
        "git status -s; git log --oneline -40",
        rows + [f"{i * 99991 + 7:07x} fix of part {i}" for i in range(40)],
    )
    assert "file_399.py" in text
    assert "fix of part 39" in text
    assert "paths grouped by folder" in text
    text = shown(
        "git status -s; false",
        rows + [f" M other/part/with_a_longer_name_{i}.py" for i in range(400)],
        1,
    )
    assert "none left out" not in text
    assert len(text) < 9900
    listing = ["total 900"] + [
        f"-rw-r--r-- 1 root root {i * 31} May  1 10:00 file_{i}.py" for i in range(600)
    ]
    assert "make: *** [all] Error 2" in shown(
        "ls -l; make", listing + ["make: *** [all] Error 2"], 2
    )
    text = shown(
        "git log -90; make",
        commits(90, body=[f"word {i} of the body" for i in range(6)]) + ["make: *** [all] Error 2"],
        2,
    )
    assert "make: *** [all] Error 2" in text
    assert "header is one line" in text


def test_plain_status_lists_and_logs_fold_as_before():
    text = shown(
        "git status",
        STATUS[:10] + [f"\tsrc/part{i // 40}/file_{i}.py" for i in range(300)] + STATUS[11:],
    )
    assert "paths grouped by folder" in text
    assert "file_299.py" in text
    assert "modified:   src/a.py" in text
    text = shown(
        "cd x && ls -R",
        [line for i in range(1300) for line in (f"./folder_{i}:", f"alpha_{i}.py", "")],
    )
    assert "a folder is one line" in text
    assert "./folder_9: alpha_9.py" in text
    for options, extra in (
        ("", []),
        ("--name-only", ["", "src/a.py", "Makefile"]),
        ("--name-status", ["", "M\tsrc/a.py", "R100\tb.py\tc.py"]),
        ("--stat", ["", " src/a.py | 3 ++-", " 1 file changed, 2 insertions(+)"]),
        ("--numstat", ["", "3\t1\tsrc/a.py"]),
        ("--notes", ["", "Notes:", "    a note"]),
    ):
        lines = [line for i in range(40) for line in commits(1)[:-1] + extra + [""]]
        text = shown("git log " + options, lines)
        assert "header is one line" in text
        assert all(line in text for line in extra)


def test_a_script_that_says_downloading_is_no_package_manager():
    lines = (
        ["Collecting data..."]
        + [
            f"Downloading shard-{i}.bin ... {'HTTP 404, using empty shard' if i == 199 else 'ok'}"
            for i in range(300)
        ]
        + ["done"]
    )
    text = shown("python3 fetch.py", lines)
    assert "HTTP 404, using empty shard" in text
    assert "Downloading shard-0.bin ... ok" in text
    assert "hidden" in text
    lines = ["Collecting pages from the API"] + [
        f"Fetching page {i} ... got {'3 rows (truncated by server)' if i == 97 else '100 rows'}"
        for i in range(200)
    ]
    text = shown("python3 fetch.py", lines)
    assert "3 rows (truncated by server)" in text
    assert "Fetching page 0 ..." in text


def test_package_managers_fold_as_before():
    lines = [
        line
        for i in range(30)
        for line in (
            f"Collecting pkg-{chr(97 + i % 26)}",
            f"  Downloading pkg_{chr(97 + i % 26)}-1.{i}-py3-none-any.whl.metadata (3.1 kB)",
        )
    ]
    lines += [
        f"Downloading pkg_{chr(97 + i % 26)}-1.{i}-py3-none-any.whl (120 kB)" for i in range(30)
    ] + ["ERROR: no matching distribution found for zeta", "Installing collected packages: a"]
    text = shown("pip install -r r.txt", lines, 1)
    assert "folded" in text
    assert "Downloading" not in text
    assert "no matching distribution" in text
    assert "Collecting pkg-c" in text
    lines = [
        line
        for i in range(30)
        for line in (
            f"Selecting previously unselected package lib{i}:amd64.",
            f"Preparing to unpack .../lib{i}_1.2-{i}_amd64.deb ...",
            f"Unpacking lib{i}:amd64 (1.2-{i}) ...",
        )
    ]
    lines += [f"Setting up lib{i}:amd64 (1.2-{i}) ..." for i in range(30)]
    text = shown("apt-get install x", lines)
    assert "folded" in text
    assert "Unpacking" not in text
    assert "Selecting" not in text


def test_many_faulty_rows_of_a_table_are_not_called_ordinary():
    rows = [
        {
            "ancestorTitles": ["cart"],
            "fullName": f"cart sums {name}",
            "status": "failed" if i % 3 == 1 else "passed",
            "title": "sums " + name,
            "duration": i % 7,
            "failureMessages": [],
        }
        for i in range(200)
        for name in [f"case {i}"]
    ]
    document = {
        "numFailedTests": 67,
        "numTotalTests": 200,
        "success": False,
        "testResults": [
            {"assertionResults": rows, "name": "/srv/app/cart.test.js", "status": "failed"}
        ],
    }
    text = shown("npx jest --json", [json.dumps(document)], 1)
    failing = [row["title"] for row in rows if row["status"] == "failed"]
    assert (
        sum(
            any(cell == name for cell in line.split("\t"))
            for name in failing
            for line in text.split("\n")
        )
        >= 12
    )
    assert "with a word of failure" in text
    assert "ordinary" not in text.split("with a word of failure")[-1]


def test_pods_of_which_a_third_failed():
    pods = [
        {
            "kind": "Pod",
            "metadata": {"name": f"web-{i}", "namespace": "prod", "uid": f"u-{i}"},
            "status": {"phase": "Failed" if i % 3 == 2 else "Running", "podIP": f"10.0.0.{i}"},
        }
        for i in range(150)
    ]
    text = shown(
        "kubectl get pods -o json",
        [json.dumps({"apiVersion": "v1", "items": pods, "kind": "List"}, indent=2)],
    )
    assert text.count("\tFailed") >= 12
    assert "with a word of failure" in text


def test_rows_that_all_failed_are_not_called_ordinary():
    suites = [
        {
            "name": f"/w/c{i}.test.js",
            "status": "failed",
            "message": "x" * (i % 5),
            "assertionResults": [{"title": f"case {i}", "status": "failed"}],
        }
        for i in range(200)
    ]
    text = shown("npx jest --json", [json.dumps({"numFailedTests": 200, "testResults": suites})], 1)
    assert "/w/c12.test.js" in text
    assert "with a word of failure" in text
    assert "ordinary" not in text


@pytest.mark.parametrize("width", [10, 100, 1000])
def test_a_table_of_failures_stays_below_the_cap_of_the_client(width):
    rows = [
        {
            "name": f"case {i}",
            "status": "failed" if i % 3 else "passed",
            "message": (f"error {i} ") * (width // 8) if i % 3 else "",
            **{f"c{j}": f"v{i * j % 11}" for j in range(8)},
        }
        for i in range(300)
    ]
    text = shown(
        "npx jest --json",
        [json.dumps({"meta": {f"k{i}": "w" * 40 for i in range(90)}, "rows": rows})],
        1,
    )
    assert len(text) < 9900
    assert "with a word of failure" in text
    assert text.count("\tfailed") >= 10


def test_tables_without_faults_fold_as_before():
    rows = [
        {
            "id": i,
            "name": "item",
            "state": "ok",
            "size": 5 + i % 2,
            "path": f"/srv/store/items/part-{i % 9}",
        }
        for i in range(400)
    ]
    text = shown("curl -s http://localhost/items", [json.dumps(rows)])
    assert "hidden, ordinary" in text
    assert "word of failure" not in text
    assert len(text) < 3000
