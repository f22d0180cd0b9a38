"""Search results and diagnostics against texts that only look like them: logs behind a filter, programs that print places."""
from __future__ import annotations

import pytest

from contextkernel.normalize import Source, normalize
from contextkernel.normalize.commands import facts
from contextkernel.normalize.formats.grep import _search
from contextkernel.normalize.layout import Ask

HANDLE = "7f3a12bc90de"
MANY = 1500
WORDS = "alder birch cedar dogwood elm fir ginkgo hazel ironwood juniper katsura larch maple nutmeg oak pine quince rowan".split()


def shown(lines, command, exit_code=0, tool="Bash"):
    return normalize("\n".join(lines) + "\n", Source(tool=tool, command=command, exit_code=exit_code, handle=HANDLE)).text


def clock(i):
    return "%02d:%02d:%02d" % (10 + i // 3600, i // 60 % 60, i % 60)


def with_at(lines, **at):
    for where, line in at.items():
        lines[int(where[1:])] = line
    return lines


SLASHED = with_at(["2024/01/01 %s INFO processed job %d in %d ms" % (clock(i), i, 20 + i % 9) for i in range(MANY)],
                  _700="2024/01/01 %s ERROR job 1200: connection refused by db-7" % clock(700), _900="2024/01/01 %s INFO processed job 900 in 98123 ms" % clock(900))
NGINX = with_at(["2024/01/01 %s [notice] 7#7: *%d upstream keepalive /api/v1/items served" % (clock(i), i) for i in range(MANY)],
                _800="2024/01/01 %s [crit] 7#7: *801 connect() to pay.internal:443" % clock(800))
APACHE = with_at(['10.0.%d.%d - - [01/Jan/2024:%s +0000] "GET /shop/item HTTP/1.1" 200 %d' % (i % 4, i % 250, clock(i), 500 + i % 40) for i in range(MANY)],
                 _801='10.0.1.51 - - [01/Jan/2024:%s +0000] "GET /shop/item HTTP/1.1" 500 512' % clock(801))
JAVA = with_at(["[main] INFO com.acme.Job: step %d took %d ms" % (i, 20 + i % 9) for i in range(MANY)],
               _802="[main] INFO com.acme.Job: step 802 took 98123 ms", _700="[main] ERROR com.acme.Job: step 700 gave up")
SPARK = with_at(["24/01/01 %s INFO a.b.Scheduler: task %d done in %d ms" % (clock(i), i, 20 + i % 9) for i in range(MANY)], _700="24/01/01 %s ERROR a.b.Scheduler: executor 7 is gone" % clock(700))
FILTERED = [("slashed", SLASHED, "connection refused by db-7"), ("slashed far", SLASHED, "98123 ms"), ("nginx", NGINX, "pay.internal"), ("apache", APACHE, 'HTTP/1.1" 500 512'),
            ("java", JAVA, "98123 ms"), ("java error", JAVA, "gave up"), ("spark", SPARK, "executor 7 is gone")]
FILTERS = ("kubectl logs pod | grep -v healthz", "grep -v DEBUG app.log", "kubectl logs pod 2>&1 | rg -v healthz", "cat app.log | egrep 'a|b' | grep -v c", "grep -E 'job|step' app.log", "cd x && rg -v bot access.log",
           "grep -r -v DEBUG logs", "grep -v bot *.log", "")


@pytest.mark.parametrize("command", FILTERS)
@pytest.mark.parametrize("name, lines, needle", FILTERED, ids=[case[0] for case in FILTERED])
def test_a_log_behind_a_filter_is_a_log(name, lines, needle, command):
    text = shown(lines, command)
    assert needle in text and len(text) < 9000 and "grouped by file" not in text


@pytest.mark.parametrize("exit_code", [0, 2])
@pytest.mark.parametrize("calm, odd, needle", [
    ("worker.go:45: processed batch {}", "worker.go:91: ERROR could not commit offset 77", "commit offset 77"),
    ("trainer.py:88: epoch {} loss 0.3{}", "trainer.py:88: epoch 5 loss nan", "loss nan"),
    ("kafka-0.svc.local:9092: fetched {} records", "kafka-1.svc.local:9092: broker not available", "broker not available"),
    ("src/worker.go:45: batch {} took 2{} ms", "src/worker.go:45: batch 9 took 98123 ms", "98123 ms"),
    ("src/worker.go:45: INFO batch {}", "src/worker.go:46: WARNING batch is late", "WARNING batch is late"),
], ids=["worker", "trainer", "kafka", "far", "warning"])
def test_a_program_that_prints_places_is_no_search(calm, odd, needle, exit_code):
    lines = [calm.format(i, i % 10) for i in range(3000)]
    lines[1700] = odd
    text = shown(lines, "./run-it", exit_code)
    assert needle in text and len(text) < 9500


@pytest.mark.parametrize("command", ["grep -rn request logs", "rg -n request logs", "git grep -n request", "find logs -name '*.log' | xargs grep -n request", "grep -n request logs/a.log logs/b.log"])
def test_a_hit_unlike_the_others_stays(command):
    lines = ["logs/app.log:%d:2024-01-01 %s INFO request %d served in %d ms" % (i + 1, clock(i), i, 20 + i % 9) for i in range(MANY)]
    lines[900] = "logs/app.log:901:2024-01-01 %s ERROR request 900 was dropped" % clock(900)
    lines[1100] = "logs/app.log:1101:2024-01-01 %s INFO request 1100 served in 98123 ms" % clock(1100)
    text = shown(lines, command)
    assert "901:2024-01-01 10:15:00 ERROR request 900 was dropped" in text and "98123 ms" in text and "grouped by file" in text


def test_the_one_fault_among_many_files_stays():
    lines = ["logs/host-%d/service.log:%d:request %s %s handled" % (i // 3, i + 1, WORDS[i % 18], WORDS[i % 17]) for i in range(3000)]
    lines[2345] = "logs/host-781/service.log:2346:request oak FATAL shard lost"
    text = shown(lines, "grep -rn request logs")
    assert "logs/host-781/service.log:2346:request oak FATAL shard lost" in text


def test_faults_count_on_their_own():
    lines = ["src/deep/folder/module.py:%d:    client.request(%s_%s_%s)" % (2 * i + 1, WORDS[i % 18], WORDS[i % 17], WORDS[i * 7 % 13]) for i in range(600)]
    for i in range(20):
        lines[300 + 10 * i] = "src/deep/folder/module.py:%d:    raise RequestError(%s)" % (600 + 20 * i + 1, WORDS[i % 18])
    text = shown(lines, "grep -rn -i request src")
    assert text.count("raise RequestError") >= 12


def test_a_search_over_many_files_is_grouped():
    lines = ["src/deep/folder/%s.py:%d:    total += it.%s(%d)" % (WORDS[i // 6], i * 3 + 1, WORDS[i * 7 % 18], i) for i in range(100)]
    for command in ("grep -rn total src", "cd app && rg -n total", "git grep -n total -- src/deep", "grep -rn total src | grep -v test", "./find-it total", "find . -name '*.py' -exec grep -n total {} +"):
        text = shown(lines, command)
        assert "grouped by file" in text and all(line.partition(":")[2] in text for line in lines) and text.count("src/deep/folder/oak.py") == 1


def test_a_path_with_a_blank_or_a_date_is_a_path():
    lines = ["My Files/deep folder/%s.py:%d:    total += it.%s(%d)" % (WORDS[i // 20], i * 3 + 1, WORDS[i * 7 % 18], i) for i in range(100)]
    assert "grouped by file" in shown(lines, "grep -rn total .")
    lines = ["logs/2024-01-0%d.log:%d:total %s %d" % (i // 20 + 1, i * 3 + 1, WORDS[i * 7 % 18], i) for i in range(100)]
    assert "grouped by file" in shown(lines, "grep -rn total logs") and "grouped by file" in shown(lines, "grep -n total logs/*.log")


CALLS = ["%d:        self.client.request(self.%s, timeout=%d)" % (14 * i + 3, WORDS[i % 4], i % 5) for i in range(90)]


@pytest.mark.parametrize("command, tool", [("grep -n request client.py", "Bash"), ("rg -n request src/client.py", "Bash"), ("grep -rhn request src", "Bash"), ("cat client.py | grep -n request", "Bash"), ("ag request client.py", "Bash"), ("", "Grep")])
def test_line_numbers_of_one_file_stay(command, tool):
    assert shown(CALLS, command, tool=tool) == "\n".join(CALLS) + "\n"
    around = [piece for line in CALLS for piece in (line, line.replace(":", "-", 1).replace(line.split(":")[0], str(int(line.split(":")[0]) + 1), 1), "--")]
    assert shown(around, command.replace("-n", "-n -A1"), tool=tool) == "\n".join(around) + "\n"


def test_many_hits_of_one_file_fill_the_room():
    lines = ["%d:        self.client.request(self.%s, timeout=%d)" % (14 * i + 3, WORDS[i % 4], i % 5) for i in range(900)]
    lines[700] = "9803:        raise RequestError(self.oak)"
    text = shown(lines, "grep -n -i request client.py")
    assert 9000 < len(text) < 18000 and lines[700] in text and all(line in text for line in lines[:90])


def test_a_numbered_log_is_still_a_log():
    lines = ["%d:%s" % (i + 1, line) for i, line in enumerate(SLASHED)]
    for command in ("grep -n job app.log", "kubectl logs pod | grep -n job"):
        text = shown(lines, command)
        assert len(text) < 9000 and "db-7" in text and "98123 ms" in text
    times = ["%s job %d done" % (clock(i), i) for i in range(400)]
    assert len(shown(times, "kubectl logs pod | grep job")) < 6000


@pytest.mark.parametrize("form", ["2024/01/01 {} job: processed {} rows in {} ms", "2024-01-01 {} error budget: {} left, {} ms", "01/Jan/2024:{} job: processed {} rows in {} ms", "[2024.01.01 {} warning: {} rows in {} ms",
                                  "24/01/01 {} WARNING: {} rows in {} ms", "2024/01/01T{} job: processed {} rows in {} ms", "10.0.0.7:{} error: {} rows in {} ms"])
def test_a_time_of_day_is_no_place(form):
    lines = [form.format(clock(i), i, 20 + i % 9) for i in range(MANY)]
    lines[777] = form.format(clock(777), 777, 99123)
    for exit_code in (0, 1):
        text = shown(lines, "./job", exit_code)
        assert "99123 ms" in text and len(text) < 9500


def test_the_same_place_again_and_again_is_a_program():
    lines = ["src/worker.go:%d:%d: warning: batch %d took %d ms" % (40 + i % 3, 5, i, 20 + i % 9) for i in range(MANY)]
    lines[777] = "src/worker.go:40:5: warning: batch 777 took 99123 ms"
    assert "99123 ms" in shown(lines, "./worker")


@pytest.mark.parametrize("line", ["src/%s.c:%d:5: warning: unused variable ‘v%d’ [-Wunused-variable]", "src/%s.ts(%d,7): error TS2304: Cannot find name 'v%d'.", "src/2024-01-01/%s_10.py:%d:1: E501 line too long (%d > 88 characters)"])
def test_compilers_still_fold(line):
    lines = [line % (WORDS[i * 9 // 200], 3 * i + 2, 100 + i) for i in range(200)]
    text = shown(lines, "make", 1)
    assert "199 more like this below, by place" in text and all(str(3 * i + 2) in text for i in range(200)) and len(text) < 0.5 * len("\n".join(lines))


def test_compiler_lines_behind_grep_fold_too():
    lines = ["src/%s.c:%d:5: warning: unused variable ‘v%d’ [-Wunused-variable]" % (WORDS[i * 9 // 200], 3 * i + 2, 100 + i) for i in range(200)]
    assert "199 more like this below, by place" in shown(lines, "make 2>&1 | grep warning")


@pytest.mark.parametrize("command, paths, numbers", [
    ("grep -n x f.py", False, True), ("grep -e x f.py g.py", True, False), ("grep -rne x .", True, True), ("grep -rn --include='*.py' x", True, True), ("grep -A 3 x f.py", False, False), ("rg -g '*.py' x", True, False),
    ("rg x src", True, False), ("rg x a.py", False, False), ("ls | xargs grep x", True, False), ("find . -exec grep -n x {} +", True, True), ("git -C /r grep -n x", True, True), ("git grep -hn x", False, True),
    ("kubectl logs p | rg -n x", False, True), ("kubectl logs p | grep -rn x .", True, True), ("make; grep -rnE x src", True, True), ("git grep x | grep -v y", True, False), ("grep -m 5 -f pats a.log", False, False),
    ("grep x *.log", True, False), ("grep -H x a.log", True, False), ("for f in *; do grep x $f; done", True, False), ("cd a && rg x", True, False), ("rg -I x src", False, False), ("/usr/bin/grep -v x", False, False),
])
def test_what_a_command_says_of_its_search(command, paths, numbers):
    assert _search(Ask(HANDLE, command=facts(command))) == (True, paths, numbers)


@pytest.mark.parametrize("command", ["", "make", "kubectl logs grep", "echo grep x", "find . -name rg -exec wc {} +", "find . -name grep", "git log --grep x"])
def test_no_search(command):
    assert not _search(Ask(HANDLE, command=facts(command))).any


def test_hits_below_headings_keep_their_numbers():
    lines = [line for word in WORDS for line in ["src/deep/%s.py" % word] + ["%d:    total(%s)" % (7 * i + 3, word) for i in range(12)] + [""]]
    assert shown(lines, "rg --heading -n total") == "\n".join(lines) + "\n"


def test_a_shown_hit_has_its_path():
    lines = ["src/deep/%s.py:%d:    total(%s_%d)" % (WORDS[i % 2], i + 1, WORDS[i % 18], i) for i in range(1200)]
    lines[700:704] = ["src/deep/%s.py:%d:    total(FATAL %d)" % (WORDS[i // 702], i + 1, i) for i in range(700, 704)]
    text = shown(lines, "grep -rn total src")
    assert all(line in text or line.replace(".py:", ".py\n", 1) in text for line in lines[700:704])
