"""Laws of T1 over drawn outputs.  Every failure prints its seed; CK_SEED replays one, CK_ROUNDS
draws more.
"""

from __future__ import annotations

import random
import re

import pytest

from contextkernel import marks
from contextkernel.normalize import Source, normalize
from contextkernel.normalize.edits import accounting_error, rebuild
from rounds import for_seeds, rounds

WORDS = (
    "alder birch cedar dogwood elm fir ginkgo hazel ironwood juniper katsura larch maple nutmeg "
    "oak pine quince rowan"
).split()
RARE = (
    "violet harbour lantern quietly measured saffron meadow copper willow thicket glacier".split()
)
LOUD = (
    "ERROR: {} pool is gone",
    "fatal: {} pipe closed",
    "Exception while handling {}",
    "CRITICAL {} disk",
    "{} failed unexpectedly",
    "panic: {} nil",
)


def log(draw, n):
    return [
        (
            f"2026-03-{i // 3600 % 28 + 1:02}T10:{i // 60 % 60:02}:{i % 60:02}Z "
            f"{draw.choice(('INFO', 'INFO', 'INFO', 'DEBUG'))!s:<5} [{WORDS[i % 4]}] request {i} "
            f"served in {draw.randrange(5, 40)} ms req={draw.getrandbits(32):08x}"
        )
        for i in range(n)
    ]


def runner(draw, n):
    bad = draw.randrange(n)
    lines = ["============================= test session starts ============================="]
    lines += [
        (
            f"tests/test_{WORDS[i * 5 // n]}.py::test_case_{i} "
            f"{'FAILED' if i == bad else 'PASSED'}   [{100 * i // n:3d}%]"
        )
        for i in range(n)
    ]
    lines += [
        "=================================== FAILURES ===================================",
        f"________________ test_case_{bad} ________________",
        "",
        "    def test_case():",
        ">       assert width(3) == 4",
        "E       assert 3 == 4",
        "",
        "tests/test_x.py:9: AssertionError",
        "=========================== short test summary info ============================",
        f"FAILED tests/test_{WORDS[bad * 5 // n]}.py::test_case_{bad} - assert 3 == 4",
        f"================== 1 failed, {n - 1:d} passed in 1.00s ==================",
    ]
    return lines


def table(draw, n):
    return ["NAME            STATUS     RESTARTS   AGE"] + [
        f"{WORDS[i % 18] + f'-{draw.getrandbits(16):04x}':15} {'Running':10} "
        f"{draw.randrange(3):<10} {draw.randrange(30)}d"
        for i in range(n)
    ]


def csv(draw, n):
    return ["id,region,amount,state"] + [
        f"{1000 + i},{('eu', 'us', 'apac')[i % 3]},{draw.randrange(20, 90)}.{i % 100:02},shipped"
        for i in range(n)
    ]


def search(draw, n):
    return [
        f"src/deep/folder/{WORDS[i * 6 // n]}.py:{i * 3 + 1}:    total += it.{draw.choice(WORDS)}"
        for i in range(n)
    ]


def compiler(draw, n):
    return sum(
        (
            [
                (
                    f"src/{WORDS[i % 6]}.c:{i + 2}:{5}: warning: unused variable ‘v{i}’ "
                    "[-Wunused-variable]"
                ),
                f"  {i + 2:3} |   int v{i};",
                "      |       ^~",
            ]
            for i in range(n // 3 + 1)
        ),
        [],
    )


def paths(draw, n):
    return [
        f"./services/{WORDS[i * 4 // n]}/internal/{draw.choice(WORDS)}_{i}.go" for i in range(n)
    ]


def diff(draw, n):
    lines = []
    for name in WORDS[:4]:
        lines += [
            f"diff --git a/src/{name}.py b/src/{name}.py",
            "index 1111111..2222222 100644",
            f"--- a/src/{name}.py",
            f"+++ b/src/{name}.py",
        ]
        lines += (
            [f"@@ -1,{n // 4:d} +1,{n // 4:d} @@"]
            + [f"-    value_{name} = {i}" for i in range(n // 4)]
            + [f"+    value_{name} = {i + 1}" for i in range(n // 4)]
        )
    return lines


KINDS = {
    "log": (log, "cat service.log"),
    "tests": (runner, "pytest -v"),
    "table": (table, "kubectl get pods"),
    "csv": (csv, "cat orders.csv"),
    "search": (search, "grep -rn total src"),
    "compiler": (compiler, "make"),
    "paths": (paths, "find . -type f"),
    "diff": (diff, "git diff"),
}


def coloured(draw, lines):
    return [
        f"\x1b[3{draw.randrange(8)}m{line}\x1b[0m" if draw.random() < 0.4 else line
        for line in lines
    ]


def repainted(draw, lines):
    return [
        f" {draw.randrange(100)}% {'#' * draw.randrange(9)}\r{line}"
        if draw.random() < 0.2
        else line
        for line in lines
    ]


def climbing(draw, lines):
    return [
        f"\x1b[{draw.randrange(1, 5)}A\x1b[2K{line}" if draw.random() < 0.1 else line
        for line in lines
    ]


def shuffled(draw, lines):
    draw.shuffle(lines)
    return lines


def lengthened(draw, lines):
    return [line * draw.randrange(1, 30) if draw.random() < 0.03 else line for line in lines]


CHANGES = [
    coloured,
    repainted,
    climbing,
    shuffled,
    lengthened,
    lambda draw, lines: [line + "\r" for line in lines],
    lambda draw, lines: lines[: draw.randrange(1, len(lines) + 1)],
    lambda draw, lines: lines + log(draw, 200),
    lambda draw, lines: ["\ud83d 目录 " + line if draw.random() < 0.05 else line for line in lines],
]


def drawn(seed):
    draw = random.Random(seed)
    make, command = KINDS[draw.choice(sorted(KINDS))]
    lines = make(draw, draw.choice((20, 80, 300, 900)))
    for _ in range(draw.randrange(3)):
        lines = draw.choice(CHANGES)(draw, lines)
    return "\n".join(lines), Source(command=command, exit_code=draw.choice((0, 0, 1, 2, 137)))


def test_laws(record_property):
    for_seeds(record_property, check_laws, 40, 3000)


def check_laws(seed):
    text, source = drawn(seed)
    normal = normalize(text, source)
    lines = text.split("\n")
    assert accounting_error(text, normal) == ""
    assert rebuild(normal, lambda number: lines[number - 1]) == text
    assert normalize(text, source) == normal
    assert normalize(normal.text, source).text == normal.text
    assert len(normal.text.encode("utf-8", "surrogatepass")) <= len(
        text.encode("utf-8", "surrogatepass")
    )
    if normal.text != text:
        assert len(marks.handles_in(normal.text)) == 1
        assert len(marks.handles_in(normal.text)[0]) == 12
        assert not source.exit_code or normal.text.startswith(f"[ck: exit {source.exit_code:d}, ")
    if len(text) >= (9900 if source.exit_code else 30000):
        assert len(normal.text) < (9900 if source.exit_code else 30000)


def mark_spans(text):
    return [
        tuple(map(int, match.groups()))
        for match in re.finditer(r"\[ck: lines (\d+)-(\d+) hidden", text)
    ]


def test_line_numbers_in_marks_are_true(record_property):
    for_seeds(record_property, check_line_numbers, 20, 1500)


def check_line_numbers(seed):
    text, source = drawn(seed)
    normal = normalize(text, source)
    hidden = [(edit.first, edit.last) for edit in normal.edits]
    for first, last in mark_spans(normal.text):
        assert any(a <= first and last <= b for a, b in hidden), (first, last)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_planted_lines_are_shown(kind, record_property):
    for_seeds(record_property, lambda seed: check_planted(kind, seed), 15, 500)


def check_planted(kind, seed):
    draw = random.Random(f"{kind}-{seed:d}")
    make, command = KINDS[kind]
    lines = make(draw, 400)
    words = " ".join(draw.sample(RARE, 4))
    line = draw.choice(LOUD).format(words) if seed % 2 else f"The {words} was seen"
    lines.insert(draw.randrange(len(lines)), line)
    shown = normalize(
        "\n".join(lines),
        Source(command=command, exit_code=1 if kind in ("tests", "compiler") else 0),
    ).text
    assert words in shown


@pytest.mark.parametrize(
    "kind, old, new",
    [
        ("log", r"in \d+ ms", "in 98765 ms"),
        ("csv", r",\d\d\.\d\d,", ",98765.00,"),
        ("table", r"Running    \d ", "Running    98765 "),
    ],
    ids=["log", "csv", "table"],
)
def test_far_numbers_are_shown(kind, old, new, record_property):
    missed = []

    def look(seed):
        draw = random.Random(f"{kind}-{seed:d}")
        lines = KINDS[kind][0](draw, 400)
        where = draw.randrange(1, len(lines))
        lines[where] = re.sub(old, new, lines[where])
        shown = normalize("\n".join(lines), Source(command=KINDS[kind][1])).text
        if lines[where] not in shown and "98765" not in shown:
            missed.append(seed)

    for_seeds(record_property, look, 20, 500)
    assert len(missed) <= rounds(20, 500) // 20, missed


def test_success_words_never_stand_over_a_failure(record_property):
    """Our own lines (marks) of a failing run hold no verdict."""

    def check(seed):
        text, source = drawn(seed)
        for mark in re.finditer(
            r"\[ck: [^\n]*?\brecall [0-9a-f]{8,64}\]",
            normalize(text, source._replace(exit_code=1)).text,
        ):
            assert not re.search(
                r"(?i)\b(?:pass|passed|ok|success|succeeded|clean|no errors)\b", mark.group(0)
            ), (seed, mark.group(0))

    for_seeds(record_property, check, 20, 1500)
