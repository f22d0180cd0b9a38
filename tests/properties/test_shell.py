"""Shell lines run twice by bash, as written and with their budgets: the same calls with the same
words, but for the budget.
"""

import shutil
import subprocess

import pytest

from contextkernel import shell
from rounds import drawing

# one write a call
STUB = (
    '#!/bin/bash\ncall="${0##*/}"; for word in "$@"; do call+=$\'\\t\'"$word"; done; printf '
    '"%s\\n" "$call" >> "$CALLS"\n'
)
NAMES = ("ck.py", "python3", "make", "grep", "git", "xargs", "env")
WHOLE = [
    "ck.py slice",
    "ck.py slice --repo . --symptom 'a b'",
    'python3 -I -S "$ROOT/ck.py" slice --json',
    "ck.py symbol a.py f",
    "python3 ck.py 'slice'",
    "ck.py slice --budget 9",
    "ck.py slice --budget=9",
    "FOO=1 ck.py slice",
    "make x",
    "git commit -m 'fix; ck.py slice'",
    'grep "ck.py slice" f',
    "env ck.py slice",
    "xargs ck.py slice",
    "echo ck.py slice",
    "$(ck.py slice)",
    "`ck.py slice`",
    "(ck.py slice)",
    "{ ck.py slice; }",
    "if true; then ck.py slice; fi",
    "cat <<E\nck.py slice\nE\n",
    "cat <<< 'ck.py slice'",
    "! ck.py slice",
    "A=(ck.py slice)",
    "f() { ck.py slice; }",
    "case x in x) ck.py slice;; esac",
    "A=$((1+2)) ck.py slice",
]
PIECES = [
    "ck.py",
    "slice",
    "symbol",
    "--repo",
    ".",
    "--budget",
    "'",
    '"',
    "\\",
    "\\\n",
    " ",
    "  ",
    "\t",
    "\n",
    ";",
    "&&",
    "||",
    "|",
    "&",
    "|&",
    "#",
    " # ",
    ">f",
    "2>&1",
    "2>/dev/null",
    "&>f",
    "<f",
    "<<E",
    "E",
    "$X",
    "${X}",
    "$(",
    ")",
    "(",
    "{",
    "}",
    "`",
    "$'",
    "a=b",
    "a=",
    "~",
    "*",
    "?",
    "!",
    "[",
    "]",
    "=",
    "\u00e9",
    "\u2028",
    "\r",
    "python3",
    "-I",
    "1",
    "x",
    "if",
    "then",
    "fi",
    "do",
    "time",
    "--",
]
JOINS = [
    " && ",
    " || ",
    "; ",
    " | ",
    "\n",
    " & wait\n",
    " |& ",
    " 2>/dev/null && ",
    " # note\n",
    " \\\n && ",
    " > out.txt; ",
    "\n\n",
    " ;",
]


@pytest.fixture(scope="module")
def calls_of(tmp_path_factory):
    home = tmp_path_factory.mktemp("stubs")
    for name in NAMES:
        (home / name).write_text(STUB)
        (home / name).chmod(0o755)
    log, work = home / "calls", home / "work"

    def run(line):
        """(whether bash can parse the line, the calls of the stubs in sorted order)."""
        log.write_text("")
        env = {
            "PATH": f"{home}:/usr/bin:/bin",
            "CALLS": str(log),
            "ROOT": "/a b",
            "HOME": str(work),
            "LC_ALL": "C.UTF-8",
        }
        parsed = (
            subprocess.run(
                ["bash", "-n", "-c", line], env=env, stderr=subprocess.DEVNULL
            ).returncode
            == 0
        )
        shutil.rmtree(str(work), ignore_errors=True)
        work.mkdir()
        if parsed:
            subprocess.run(
                ["bash", "-c", line + "\nwait\n"],
                env=env,
                cwd=str(work),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=20,
            )
        return parsed, sorted(log.read_bytes().split(b"\n"))  # parts of a pipe run side by side

    return run


def without_budget(calls):
    return [call.replace(b"\t--budget\tauto", b"", 1) for call in calls]


def check(line, calls_of):
    new = shell.with_budget(line)
    if new is None:
        return False
    before, after = calls_of(line), calls_of(new)
    assert before[0] == after[0], line
    assert sorted(without_budget(after[1])) == before[1], line
    assert shell.with_budget(new) is None, line
    assert new.replace(" --budget auto", "") == line, line
    return True


def test_lines_of_whole_commands(calls_of, record_property):
    (draw, count), changed = drawing(record_property, 30, 3000), 0
    for _ in range(count):
        line = draw.choice(WHOLE[:10] if draw.random() < 0.7 else WHOLE)
        for _ in range(draw.randrange(3)):
            line += draw.choice(JOINS) + draw.choice(WHOLE[:10] if draw.random() < 0.7 else WHOLE)
        changed += check(line, calls_of)
    assert changed > count // 8


def test_lines_of_loose_pieces(calls_of, record_property):
    (draw, count), changed = drawing(record_property, 25, 2500), 0
    for _ in range(count * 60):
        line = draw.choice(["", "ck.py slice "]) + "".join(
            draw.choice(PIECES) + draw.choice(["", " "]) for _ in range(draw.randrange(1, 9))
        )
        changed += check(line, calls_of) if changed < count else 0
    assert changed == count


@pytest.mark.parametrize("line", WHOLE)
@pytest.mark.loop(6)
def test_each_whole_command(line, calls_of):
    new = shell.with_budget(line)
    called = [
        call for call in calls_of(new or line)[1] if call.startswith((b"ck.py\ts", b"python3\t"))
    ]
    if new:
        assert any(b"\t--budget\tauto" in call for call in called)
        assert check(line, calls_of)
    else:
        assert not any(b"auto" in call for call in called)
