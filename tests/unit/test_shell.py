"""Shell lines: only a slicer call at command position gets a budget; whatever is not fully
understood stays as it is.
"""

import subprocess

import pytest

from contextkernel import shell
from rounds import drawing

CALL = 'python3 "$CK_ROOT/hooks/ck.py" slice --repo . --symptom t.txt'
GIVEN = CALL + " --budget auto"


@pytest.mark.parametrize(
    "before, after",
    [
        (CALL, GIVEN),
        ("cd x && " + CALL, "cd x && " + GIVEN),
        (CALL + " | head -5", GIVEN + " | head -5"),
        ("A=1 B='x y' " + CALL, "A=1 B='x y' " + GIVEN),
        (CALL + " 2>&1 > out.txt", GIVEN + " 2>&1 > out.txt"),
        (CALL + " # why", GIVEN + " # why"),
        (CALL + "; echo 'ck.py slice'", GIVEN + "; echo 'ck.py slice'"),
        (CALL + "\n" + CALL, GIVEN + "\n" + GIVEN),
        ("ck.py symbol a.py f", "ck.py symbol a.py f --budget auto"),
        ("python3 -I -S /x/ck.py slice < in", "python3 -I -S /x/ck.py slice --budget auto < in"),
        (
            "/usr/bin/python3.11 './a b/ck.py' 'slice' --json",
            "/usr/bin/python3.11 './a b/ck.py' 'slice' --json --budget auto",
        ),
        ("python3 ck.py slice \\\n  --repo .", "python3 ck.py slice \\\n  --repo . --budget auto"),
        (CALL + " &", GIVEN + " &"),
        ("> f; A=1; true &&\n\n" + CALL, "> f; A=1; true &&\n\n" + GIVEN),
        ("cat s |\n# why\n" + CALL + "\n", "cat s |\n# why\n" + GIVEN + "\n"),
        ("ck.py 'slic'e", "ck.py 'slic'e --budget auto"),
        ("echo 'it; is' && " + CALL, "echo 'it; is' && " + GIVEN),
    ],
)
def test_gets_a_budget(before, after):
    assert shell.with_budget(before) == after
    assert shell.with_budget(after) is None


@pytest.mark.parametrize(
    "command",
    [
        "echo 'python3 ck.py slice --repo .'",
        'echo "ck.py slice"',
        "x=$(ck.py slice --repo .)",
        "(ck.py slice --repo .)",
        "{ ck.py slice; }",
        "bash -c 'ck.py slice'",
        "cat <<E\nck.py slice\nE",
        "echo `ck.py slice`",
        "# ck.py slice",
        "grep x ck.py slice",
        "ck.py slice --budget 5",
        "ck.py slice --budget=5",
        "ck.py recall 7f3a12bc",
        "xargs ck.py slice",
        "env ck.py slice",
        "ssh h ck.py slice",
        "git commit -m 'fix; ck.py slice broke'",
        "ck.py slice 'unclosed",
        "if true; then ck.py slice; fi",
        "ck.py slice <(cat x)",
        "time ck.py slice",
        "nock.py slice",
        "ck.py slice <<< x",
        "ck.py slice --x ${a:-b}",
        "ck.py slice $'x'",
        "ck.py $sub",
        "ck.py slice >",
        "ck.py slice \\",
        "",
        "ck.py",
        "! ck.py slice",
        "ck.py slice --help",
        "for f in a; do ck.py slice; done",
        "ck.py slice $((1+1))",
        "ck.py slice &&",
        "ck.py slice |",
        "; ck.py slice",
        "ck.py slice ;; true",
        "ck.py slice && && true",
        "true |\n",
        "ck.py slice |\n# end",
        "case x in x) ck.py slice;; esac",
    ],
)
def test_left_alone(command):
    assert shell.with_budget(command) is None


PIECES = [
    CALL,
    "ck.py symbol a.py f",
    "echo 'ck.py slice; x'",
    'grep "a b" f',
    "ls -l",
    "FOO=1 make",
    "cat f 2>/dev/null",
    "git log --format='%h %s'",
    "echo a\\ b",
    "printf '%s\\n' \"$HOME\"",
    "true # ck.py slice",
]


def test_random_lines_change_by_the_budget_alone_and_stay_valid(record_property):
    (draw, count), changed = drawing(record_property, 30, 3000), 0
    for _ in range(count):
        line = draw.choice(PIECES)
        for _ in range(draw.randrange(4)):
            line += (
                "\n"
                if "#" in line.rsplit("\n", 1)[-1]
                else draw.choice([" && ", " || ", "; ", " | ", "\n", " & "])
            ) + draw.choice(PIECES)
        new = shell.with_budget(line)
        if new is None:
            continue
        changed += 1
        assert new.replace(" --budget auto", "") == line
        for text in (line, new):
            assert subprocess.run(["bash", "-n"], input=text.encode()).returncode == 0, text
        old = [[word.text for word in one.words] for one in shell.simple_commands(line)]
        now = [[word.text for word in one.words] for one in shell.simple_commands(new)]
        assert [
            [word for word in words if word not in ("--budget", "auto")] for words in now
        ] == old
    assert changed > count // 6


@pytest.mark.parametrize(
    "command, folder",
    [
        ("pytest", "/w"),
        ("cd a && pytest", "/w/a"),
        ("cd /x; cd y && make", "/x/y"),
        ("git -C sub log", "/w/sub"),
        ("make -C /b all", "/b"),
        ("cd 'a b' && ls", "/w/a b"),
        ("cd $X && ls", "/w"),
        ("cd a | ls", "/w"),
        ("(cd a; ls)", "/w"),
        ("pushd q && ls", "/w/q"),
    ],
)
def test_working_folder(command, folder):
    assert shell.working_folder(command, "/w") == folder
