"""Facts of command lines, terminal rendering, and what normalize leaves alone."""

from __future__ import annotations

import pytest

from contextkernel.normalize import Source, document_of, normalize
from contextkernel.normalize.commands import facts

LOG = "\n".join(
    f"2026-03-01T10:00:{i % 60:02}Z INFO worker-{i % 4} handled job {i} in {i % 30} ms"
    for i in range(120)
)
HANDLE = "7f3a12bc90de"


@pytest.mark.parametrize(
    "command, names",
    [
        ("pytest -q", ["pytest"]),
        ("cd 'a b' && FOO=1 uv run pytest tests", ["cd a b", "pytest tests"]),
        ("python3.12 -m pytest tests", ["pytest tests"]),
        ("time npx --yes jest src", ["jest src"]),
        ("timeout 30 go test ./...", ["go test"]),
        ("git -C /x diff --stat", ["git diff"]),
        ("env A=b make all 2>&1 | tail -5", ["make all", "tail"]),
        ("bash -c 'cargo test && cargo clippy'", ["cargo test", "cargo clippy"]),
        ("sudo -u root apt-get install x", ["apt-get install"]),
        ("grep 'a;b|c' file", ["grep a;b|c"]),
        ("cat > out.txt <<'E'\nrm -rf /\nE", ["cat"]),
        ("/usr/bin/git status", ["git status"]),
        ("", []),
        ("poetry run mypy --strict src", ["mypy src"]),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else "",
)
def test_names(command, names):
    assert [name for name in facts(command).names] == names


@pytest.mark.parametrize(
    "command",
    [
        "sed -n 1,90p x.log",
        "head -50 x.log",
        "cd a && tail -n 20 x.log",
        "cat x.log | awk 'NR>=3 && NR<=9'",
        "make 2>&1 | tail -60",
        "sed -n '1,9p' a; sed -n '1,9p' b",
        "cat x.log # ck:raw",
        "python3 hooks/ck.py recall 7f3a12bc90de",
        "ck.py recall 7f3a12bc90de",
        'python3 -I -S "$CK_ROOT/hooks/ck.py" slice --repo .',
        "cat /x/tool-results/ck-7f3a12bc90de.txt",
        "grep -n x '/a b/ck-7f3a12bc90de.txt'",
        "awk 'FNR==3' x.log",
        "sed --quiet 3p x.log",
    ],
)
def test_explicit_extraction_passes(command):
    assert facts(command).explicit
    assert normalize(LOG, Source(command=command)) == (LOG, (), 0)


@pytest.mark.parametrize(
    "command",
    [
        "cat x.log",
        "sed s/a/b/ x.log",
        "awk '{print $1}' x.log",
        "tail -f x.log",
        "head -5 a && make all",
        "echo head -5",
        "python3 check.py",
        "pytest tests/test_stack.py",
        "python3 -m unittest mock.py",
        "cat x/check.py.log",
        "cat logs/ck-notes.txt",
        "cat /x/stack-7f3a12bc90de.txt",
        "awk '{print $1}' NRG.log SNR",
    ],
)
def test_other_commands_do_not(command):
    assert not facts(command).explicit
    assert normalize(LOG, Source(command=command, handle=HANDLE)).text != LOG


@pytest.mark.parametrize(
    "command",
    [
        "# Show the parser\nsed -n '1,700p' x.log",
        "# don't look away\nsed -n 5p x.log # it's short",
        "wc -l x.log && sed -n 1,300p x.log",
        "sed -n 1,9p x.log; ls -la",
        "git diff --stat; sed -n 1,5p x.log",
        "for f in a b; do head -120 $f; done",
        "while read f; do sed -n 1,20p $f; done < list",
        "if [ -f x ]; then sed -n 1,9p x; fi",
        "{ sed -n 1,2p a; sed -n 1,2p b; }",
        "npm run build > b.log 2>&1; tail -240 b.log",
        "npm run build &> b.log; tail -240 b.log",
        "sed '100,340!d' x.log",
        "sed 200q x.log",
        "find . -name x | xargs head -60",
        "find . -exec sed -n 1,5p {} +",
        "sed -n 1,5p x.log | cat -A",
        "bash -euo pipefail -c 'sed -n 1,5p x.log'",
        "ssh h 'tail -240 x.log'",
        "kubectl exec pod -- sed -n 1,5p x.log",
        "docker exec -it web tail -50 x.log",
        "git blame -L 10,20 x.py",
        "make # ck:raw",
        "python3 - <<'E' # ck:raw\nprint(1)\nE",
        "awk 'NR>=40' x.log",
    ],
)
def test_exact_lines_are_asked_for_in_many_ways(command):
    assert facts(command).explicit
    assert normalize(LOG, Source(command=command)) == (LOG, (), 0)


@pytest.mark.parametrize(
    "command",
    [
        "tail -3 x\n# now tests\npytest -v",
        "ls -R; sed -n 1,9p x.log",
        "pytest 2>&1 | tee log",
        "bash -o pipefail -c 'pytest | tee x'",
        "awk -F, 'NR>1' x.log",
        "awk 'NR%2' x.log",
        "cut -d, -f1-4 x.log",
        "tail -F x.log",
        "tail --follow=name x.log",
        "echo '# ck:raw'; make",
        "make # ck:rawfoo",
        "time -p make",
        "env -i make",
        "head -5 x && pytest",
        "make 2>/dev/null",
    ],
)
def test_what_only_looks_like_it_does_not(command):
    assert not facts(command).explicit
    assert normalize(LOG, Source(command=command, handle=HANDLE)).text != LOG


@pytest.mark.parametrize(
    "command, files",
    [
        ("cat a.py 2>/dev/null", ("a.py",)),
        ("# look\ncat a.py", ("a.py",)),
        ("cat a.py | nl", ("a.py",)),
        ("cat a.py; cat b.py", ("a.py", "b.py")),
        ("cat a.py && ls", ("a.py",)),
        ("docker exec -it web cat f.py", ("f.py",)),
        ("cat pyproject.toml && pytest -v", ()),
        ("cat Dockerfile && docker build .", ()),
        ("cat a.py | grep x", ()),
    ],
)
def test_the_files_that_a_command_prints_whole(command, files):
    assert facts(command).files == files


def test_wrappers_are_stripped_with_their_own_options():
    assert [
        facts(command).names[0]
        for command in (
            "time -p make all",
            "env -i PATH=/bin pytest -v",
            "sudo -u me make all",
            "docker compose exec web pytest -x",
            "kubectl exec -n a pod -- pytest -x",
            "bash -o pipefail -c 'pytest -x'",
        )
    ] == ["make all", "pytest", "make all", "pytest", "pytest", "pytest"]


CODE = "import os\n\n\n" + "".join(
    f"def part_{n}(value):\n    # what {n} does\n    return value + {n}\n\n\n" for n in range(300)
)


@pytest.mark.parametrize(
    "source",
    [
        Source(command="sed -n 'p' x; cat y"),
        Source(command="cat f | xargs cat"),
        Source(tool="mcp__filesystem__read_text_file", command="cat 'a.py'"),
        Source(command="cat templates/index.html"),
        Source(command="# see\ncat a.py"),
    ],
)
def test_source_that_is_printed_is_never_cut(source):
    assert normalize(CODE, source) == (CODE, (), 0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "short",
        LOG[:700],
        "\0" + LOG,
        LOG + "\n[ck: lines 3-9 hidden; recall 7f3a12bc90de]",
        "\ufffd" * 900,
    ],
    ids=["empty", "short", "under-least", "NUL", "marked", "undecodable"],
)
def test_left_alone(text):
    assert normalize(text, Source(command="cat x.log")) == (text, (), 0)


def test_a_marked_text_over_the_failure_cap_is_cut_all_the_same():
    text = "[ck: lines 3-9 hidden; recall 7f3a12bc90de]\n" + LOG * 3
    assert len(text) > 9900 > len(normalize(text, Source(command="make", exit_code=2)).text)


def test_verdict_is_the_exit_code():
    assert normalize(LOG, Source(command="make", exit_code=137, handle=HANDLE)).text.startswith(
        "[ck: exit 137, 120 lines, "
    )


def test_handle_is_of_the_content():
    import hashlib

    text = LOG + "\udcff"
    shown = normalize(text, Source(command="cat x.log")).text
    assert (
        "recall " + hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:12]
        in shown
    )


@pytest.mark.parametrize(
    "raw, lines",
    [
        ("a\r\nb\r\n", ["a", "b", ""]),
        ("10%\r20%\rdone", ["20%", "done"]),
        ("\x1b[31mred\x1b[0m", ["red"]),
        ("x\by", ["y"]),
        ("one\ntwo\x1b[1A\x1b[2Kuno\nend", ["one", "two", "uno", "end"]),
        ("\x1b]0;title\x07text", ["text"]),
        ("ERROR: bad sum\rretrying", ["ERROR: bad sum", "retrying"]),
        ("load 1%\rload 2%\rload 3%", ["load 3%"]),
        ("\r\r", [""]),
    ],
    ids=[
        "crlf",
        "states",
        "colour",
        "backspace",
        "cursor-up",
        "osc",
        "overwritten-error",
        "last-state",
        "only-returns",
    ],
)
def test_page(raw, lines):
    assert document_of(raw).lines == lines


def test_carriage_returns_of_a_file_stay():
    text = LOG.replace("\n", "\r\n")
    shown = normalize(text, Source(command="cat x.log", handle=HANDLE)).text
    assert text.split("\n")[0] in shown.split("\n")


@pytest.mark.parametrize("tool", ["Agent", "Task"])
def test_prose_of_agents_is_never_dropped(tool):
    text = "\n".join(f"Finding {i}: the gate of module {i} opens {i} times." for i in range(80))
    assert normalize(text, Source(tool=tool)).text == text


def test_a_whole_function_of_code_is_a_read_whatever_its_name():
    code = "import os\n\n" + "\n".join(
        f"def width_{i}(gate):\n    return gate.width + {i}\n" for i in range(60)
    )
    assert normalize(code, Source(command="cat script")).text == code
    assert normalize(code, Source(command="git show HEAD:src/gate.py")).text == code
