"""Search results and diagnostics against texts that only look like them: logs behind a filter,
programs that print places.
"""

from __future__ import annotations

import pytest

from contextkernel.normalize import Source, normalize
from contextkernel.normalize.commands import facts
from contextkernel.normalize.formats.search_command import search_of
from contextkernel.normalize.layout import Request

HANDLE = "7f3a12bc90de"
MANY = 1500
WORDS = (
    "alder birch cedar dogwood elm fir ginkgo hazel ironwood juniper katsura larch maple nutmeg "
    "oak pine quince rowan"
).split()


def shown(lines, command, exit_code=0, tool="Bash"):
    return normalize(
        "\n".join(lines) + "\n",
        Source(tool=tool, command=command, exit_code=exit_code, handle=HANDLE),
    ).text


def clock(i):
    return f"{10 + i // 3600:02d}:{i // 60 % 60:02d}:{i % 60:02d}"


def with_at(lines, **at):
    for where, line in at.items():
        lines[int(where[1:])] = line
    return lines


SLASHED = with_at(
    [f"2024/01/01 {clock(i)} INFO processed job {i:d} in {20 + i % 9:d} ms" for i in range(MANY)],
    _700=f"2024/01/01 {clock(700)} ERROR job 1200: connection refused by db-7",
    _900=f"2024/01/01 {clock(900)} INFO processed job 900 in 98123 ms",
)
NGINX = with_at(
    [
        f"2024/01/01 {clock(i)} [notice] 7#7: *{i:d} upstream keepalive /api/v1/items served"
        for i in range(MANY)
    ],
    _800=f"2024/01/01 {clock(800)} [crit] 7#7: *801 connect() to pay.internal:443",
)
APACHE = with_at(
    [
        (
            f'10.0.{i % 4:d}.{i % 250:d} - - [01/Jan/2024:{clock(i)} +0000] "GET /shop/item '
            f'HTTP/1.1" 200 {500 + i % 40:d}'
        )
        for i in range(MANY)
    ],
    _801=f'10.0.1.51 - - [01/Jan/2024:{clock(801)} +0000] "GET /shop/item HTTP/1.1" 500 512',
)
JAVA = with_at(
    [f"[main] INFO com.acme.Job: step {i:d} took {20 + i % 9:d} ms" for i in range(MANY)],
    _802="[main] INFO com.acme.Job: step 802 took 98123 ms",
    _700="[main] ERROR com.acme.Job: step 700 gave up",
)
SPARK = with_at(
    [
        f"24/01/01 {clock(i)} INFO a.b.Scheduler: task {i:d} done in {20 + i % 9:d} ms"
        for i in range(MANY)
    ],
    _700=f"24/01/01 {clock(700)} ERROR a.b.Scheduler: executor 7 is gone",
)
FILTERED = [
    ("slashed", SLASHED, "connection refused by db-7"),
    ("slashed far", SLASHED, "98123 ms"),
    ("nginx", NGINX, "pay.internal"),
    ("apache", APACHE, 'HTTP/1.1" 500 512'),
    ("java", JAVA, "98123 ms"),
    ("java error", JAVA, "gave up"),
    ("spark", SPARK, "executor 7 is gone"),
]
FILTERS = (
    "kubectl logs pod | grep -v healthz",
    "grep -v DEBUG app.log",
    "kubectl logs pod 2>&1 | rg -v healthz",
    "cat app.log | egrep 'a|b' | grep -v c",
    "grep -E 'job|step' app.log",
    "cd x && rg -v bot access.log",
    "grep -r -v DEBUG logs",
    "grep -v bot *.log",
    "",
)


@pytest.mark.parametrize("command", FILTERS)
@pytest.mark.parametrize("name, lines, needle", FILTERED, ids=[case[0] for case in FILTERED])
@pytest.mark.loop(12)
def test_a_log_behind_a_filter_is_a_log(name, lines, needle, command):
    text = shown(lines, command)
    assert needle in text
    assert len(text) < 9000
    assert "grouped by file" not in text


@pytest.mark.parametrize("exit_code", [0, 2])
@pytest.mark.parametrize(
    "calm, odd, needle",
    [
        (
            "worker.go:45: processed batch {}",
            "worker.go:91: ERROR could not commit offset 77",
            "commit offset 77",
        ),
        ("trainer.py:88: epoch {} loss 0.3{}", "trainer.py:88: epoch 5 loss nan", "loss nan"),
        (
            "kafka-0.svc.local:9092: fetched {} records",
            "kafka-1.svc.local:9092: broker not available",
            "broker not available",
        ),
        (
            "src/worker.go:45: batch {} took 2{} ms",
            "src/worker.go:45: batch 9 took 98123 ms",
            "98123 ms",
        ),
        (
            "src/worker.go:45: INFO batch {}",
            "src/worker.go:46: WARNING batch is late",
            "WARNING batch is late",
        ),
    ],
    ids=["worker", "trainer", "kafka", "far", "warning"],
)
def test_a_program_that_prints_places_is_no_search(calm, odd, needle, exit_code):
    lines = [calm.format(i, i % 10) for i in range(3000)]
    lines[1700] = odd
    text = shown(lines, "./run-it", exit_code)
    assert needle in text
    assert len(text) < 9500


@pytest.mark.parametrize(
    "command",
    [
        "grep -rn request logs",
        "rg -n request logs",
        "git grep -n request",
        "find logs -name '*.log' | xargs grep -n request",
        "grep -n request logs/a.log logs/b.log",
    ],
)
def test_a_hit_unlike_the_others_stays(command):
    lines = [
        (
            f"logs/app.log:{i + 1:d}:2024-01-01 {clock(i)} INFO request {i:d} served in "
            f"{20 + i % 9:d} ms"
        )
        for i in range(MANY)
    ]
    lines[900] = f"logs/app.log:901:2024-01-01 {clock(900)} ERROR request 900 was dropped"
    lines[1100] = f"logs/app.log:1101:2024-01-01 {clock(1100)} INFO request 1100 served in 98123 ms"
    text = shown(lines, command)
    assert "901:2024-01-01 10:15:00 ERROR request 900 was dropped" in text
    assert "98123 ms" in text
    assert "grouped by file" in text


def test_the_one_fault_among_many_files_stays():
    lines = [
        (
            f"logs/host-{i // 3:d}/service.log:{i + 1:d}:request {WORDS[i % 18]} {WORDS[i % 17]} "
            "handled"
        )
        for i in range(3000)
    ]
    lines[2345] = "logs/host-781/service.log:2346:request oak FATAL shard lost"
    text = shown(lines, "grep -rn request logs")
    assert "logs/host-781/service.log:2346:request oak FATAL shard lost" in text


def test_faults_count_on_their_own():
    lines = [
        (
            f"src/deep/folder/module.py:{2 * i + 1:d}:    client.request({WORDS[i % 18]}_"
            f"{WORDS[i % 17]}_{WORDS[i * 7 % 13]})"
        )
        for i in range(600)
    ]
    for i in range(20):
        lines[300 + 10 * i] = (
            f"src/deep/folder/module.py:{600 + 20 * i + 1:d}:    raise "
            f"RequestError({WORDS[i % 18]})"
        )
    text = shown(lines, "grep -rn -i request src")
    assert text.count("raise RequestError") >= 12


def test_a_search_over_many_files_is_grouped():
    lines = [
        (
            f"src/deep/folder/{WORDS[i // 6]}.py:{i * 3 + 1:d}:    total += "
            f"it.{WORDS[i * 7 % 18]}({i:d})"
        )
        for i in range(100)
    ]
    for command in (
        "grep -rn total src",
        "cd app && rg -n total",
        "git grep -n total -- src/deep",
        "grep -rn total src | grep -v test",
        "./find-it total",
        "find . -name '*.py' -exec grep -n total {} +",
    ):
        text = shown(lines, command)
        assert "grouped by file" in text
        assert all(line.partition(":")[2] in text for line in lines)
        assert text.count("src/deep/folder/oak.py") == 1


def test_a_path_with_a_blank_or_a_date_is_a_path():
    lines = [
        (
            f"My Files/deep folder/{WORDS[i // 20]}.py:{i * 3 + 1:d}:    total += "
            f"it.{WORDS[i * 7 % 18]}({i:d})"
        )
        for i in range(100)
    ]
    assert "grouped by file" in shown(lines, "grep -rn total .")
    lines = [
        f"logs/2024-01-0{i // 20 + 1:d}.log:{i * 3 + 1:d}:total {WORDS[i * 7 % 18]} {i:d}"
        for i in range(100)
    ]
    assert "grouped by file" in shown(lines, "grep -rn total logs")
    assert "grouped by file" in shown(lines, "grep -n total logs/*.log")


CALLS = [
    f"{14 * i + 3:d}:        self.client.request(self.{WORDS[i % 4]}, timeout={i % 5:d})"
    for i in range(90)
]


@pytest.mark.parametrize(
    "command, tool",
    [
        ("grep -n request client.py", "Bash"),
        ("rg -n request src/client.py", "Bash"),
        ("grep -rhn request src", "Bash"),
        ("cat client.py | grep -n request", "Bash"),
        ("ag request client.py", "Bash"),
        ("", "Grep"),
    ],
)
def test_line_numbers_of_one_file_stay(command, tool):
    assert shown(CALLS, command, tool=tool) == "\n".join(CALLS) + "\n"
    around = [
        piece
        for line in CALLS
        for piece in (
            line,
            line.replace(":", "-", 1).replace(
                line.split(":")[0], str(int(line.split(":")[0]) + 1), 1
            ),
            "--",
        )
    ]
    assert shown(around, command.replace("-n", "-n -A1"), tool=tool) == "\n".join(around) + "\n"


def test_many_hits_of_one_file_fill_the_room():
    lines = [
        f"{14 * i + 3:d}:        self.client.request(self.{WORDS[i % 4]}, timeout={i % 5:d})"
        for i in range(900)
    ]
    lines[700] = "9803:        raise RequestError(self.oak)"
    text = shown(lines, "grep -n -i request client.py")
    assert 9000 < len(text) < 18000
    assert lines[700] in text
    assert all(line in text for line in lines[:90])


def test_a_numbered_log_is_still_a_log():
    lines = [f"{i + 1:d}:{line}" for i, line in enumerate(SLASHED)]
    for command in ("grep -n job app.log", "kubectl logs pod | grep -n job"):
        text = shown(lines, command)
        assert len(text) < 9000
        assert "db-7" in text
        assert "98123 ms" in text
    times = [f"{clock(i)} job {i:d} done" for i in range(400)]
    assert len(shown(times, "kubectl logs pod | grep job")) < 6000


@pytest.mark.parametrize(
    "form",
    [
        "2024/01/01 {} job: processed {} rows in {} ms",
        "2024-01-01 {} error budget: {} left, {} ms",
        "01/Jan/2024:{} job: processed {} rows in {} ms",
        "[2024.01.01 {} warning: {} rows in {} ms",
        "24/01/01 {} WARNING: {} rows in {} ms",
        "2024/01/01T{} job: processed {} rows in {} ms",
        "10.0.0.7:{} error: {} rows in {} ms",
    ],
)
def test_a_time_of_day_is_no_place(form):
    lines = [form.format(clock(i), i, 20 + i % 9) for i in range(MANY)]
    lines[777] = form.format(clock(777), 777, 99123)
    for exit_code in (0, 1):
        text = shown(lines, "./job", exit_code)
        assert "99123 ms" in text
        assert len(text) < 9500


def test_the_same_place_again_and_again_is_a_program():
    lines = [
        f"src/worker.go:{40 + i % 3:d}:{5}: warning: batch {i:d} took {20 + i % 9:d} ms"
        for i in range(MANY)
    ]
    lines[777] = "src/worker.go:40:5: warning: batch 777 took 99123 ms"
    assert "99123 ms" in shown(lines, "./worker")


@pytest.mark.parametrize(
    "line",
    [
        "src/%s.c:%d:5: warning: unused variable ‘v%d’ [-Wunused-variable]",
        "src/%s.ts(%d,7): error TS2304: Cannot find name 'v%d'.",
        "src/2024-01-01/%s_10.py:%d:1: E501 line too long (%d > 88 characters)",
    ],
)
def test_compilers_still_fold(line):
    lines = [line % (WORDS[i * 9 // 200], 3 * i + 2, 100 + i) for i in range(200)]
    text = shown(lines, "make", 1)
    assert "199 more like this below, by place" in text
    assert all(str(3 * i + 2) in text for i in range(200))
    assert len(text) < 0.5 * len("\n".join(lines))


def test_compiler_lines_behind_grep_fold_too():
    lines = [
        (
            f"src/{WORDS[i * 9 // 200]}.c:{3 * i + 2:d}:5: warning: unused variable "
            f"‘v{100 + i:d}’ [-Wunused-variable]"
        )
        for i in range(200)
    ]
    assert "199 more like this below, by place" in shown(lines, "make 2>&1 | grep warning")


@pytest.mark.parametrize(
    "command, paths, numbers",
    [
        ("grep -n x f.py", False, True),
        ("grep -e x f.py g.py", True, False),
        ("grep -rne x .", True, True),
        ("grep -rn --include='*.py' x", True, True),
        ("grep -A 3 x f.py", False, False),
        ("rg -g '*.py' x", True, False),
        ("rg x src", True, False),
        ("rg x a.py", False, False),
        ("ls | xargs grep x", True, False),
        ("find . -exec grep -n x {} +", True, True),
        ("git -C /r grep -n x", True, True),
        ("git grep -hn x", False, True),
        ("kubectl logs p | rg -n x", False, True),
        ("kubectl logs p | grep -rn x .", True, True),
        ("make; grep -rnE x src", True, True),
        ("git grep x | grep -v y", True, False),
        ("grep -m 5 -f pats a.log", False, False),
        ("grep x *.log", True, False),
        ("grep -H x a.log", True, False),
        ("for f in *; do grep x $f; done", True, False),
        ("cd a && rg x", True, False),
        ("rg -I x src", False, False),
        ("/usr/bin/grep -v x", False, False),
    ],
)
def test_what_a_command_says_of_its_search(command, paths, numbers):
    assert search_of(Request(HANDLE, command=facts(command))) == (True, paths, numbers)


@pytest.mark.parametrize(
    "command",
    [
        "",
        "make",
        "kubectl logs grep",
        "echo grep x",
        "find . -name rg -exec wc {} +",
        "find . -name grep",
        "git log --grep x",
    ],
)
def test_no_search(command):
    assert not search_of(Request(HANDLE, command=facts(command))).is_search


def test_hits_below_headings_keep_their_numbers():
    lines = [
        line
        for word in WORDS
        for line in [f"src/deep/{word}.py"]
        + [f"{7 * i + 3:d}:    total({word})" for i in range(12)]
        + [""]
    ]
    assert shown(lines, "rg --heading -n total") == "\n".join(lines) + "\n"


def test_a_shown_hit_has_its_path():
    lines = [
        f"src/deep/{WORDS[i % 2]}.py:{i + 1:d}:    total({WORDS[i % 18]}_{i:d})"
        for i in range(1200)
    ]
    lines[700:704] = [
        f"src/deep/{WORDS[i // 702]}.py:{i + 1:d}:    total(FATAL {i:d})" for i in range(700, 704)
    ]
    text = shown(lines, "grep -rn total src")
    assert all(line in text or line.replace(".py:", ".py\n", 1) in text for line in lines[700:704])
