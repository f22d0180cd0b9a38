#!/usr/bin/env python3
"""T1 on self-made outputs of many tools: share removed, needles kept, beside what the client
alone shows.

    python3 bench/outputs.py [--show NAME]

Writes bench/results/outputs.json and prints its table.  Every output is made here from a seed,
with facts (needles) that an engineer would look for. The baseline is the client's own cut: whole
up to 30,000 characters, else the first 2,000; on failure the first and last 5,000.
"""

from __future__ import annotations

import argparse
import os
import random
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "hooks")]
import machine  # noqa: E402
from contextkernel.normalize import Source, normalize  # noqa: E402
from contextkernel.normalize.edits import accounting_error  # noqa: E402
from contextkernel.tokens import estimate  # noqa: E402

WORDS = (
    "alder birch cedar dogwood elm fir ginkgo hazel ironwood juniper katsura larch maple nutmeg "
    "oak pine quince rowan spruce tamarack"
).split()
CASES = {}


def case(command: str, exit_code: int, *needles: str):
    """Registers a maker: function of a random source -> lines."""

    def register(make):
        CASES[make.__name__] = (command, exit_code, needles, make)
        return make

    return register


@case("npx vitest run", 1, "adds the fee", "expected 11 to be 12", "total.test.ts:7", "1 failed")
def vitest(draw):
    lines = [" RUN  v2.1.0 /app", ""]
    for i in range(60):
        lines += [f" ✓ src/{WORDS[i % 20]}{i}.test.ts ({i % 7 + 1} tests) {draw.randrange(9)}ms"]
    lines += [
        " ❯ src/total.test.ts (3 tests | 1 failed) 12ms",
        "   × total > adds the fee 8ms",
        "     → expected 11 to be 12 // Object.is equality",
        "",
        "⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯",
        "",
        " FAIL  src/total.test.ts > total > adds the fee",
        "AssertionError: expected 11 to be 12 // Object.is equality",
        "",
        "- Expected",
        "+ Received",
        "",
        "- 12",
        "+ 11",
        "",
        " ❯ src/total.test.ts:7:20",
        "      5|   const t = total(10)",
        "      7|   expect(t).toBe(12)",
        "       |             ^",
        "",
        " Test Files  1 failed | 60 passed (61)",
        "      Tests  1 failed | 240 passed (241)",
        "   Duration  1.20s",
        "",
    ]
    return lines


@case("npx mocha", 1, "1 failing", "Gate opens wide", "narrow", "gate.spec.js:9")
def mocha(draw):
    lines = sum(
        (
            [f"  {word}"] + [f"    ✔ case {i} ({draw.randrange(90)}ms)" for i in range(12)]
            for word in WORDS[:12]
        ),
        ["", ""],
    )
    return lines + [
        "  Gate",
        "    1) opens wide",
        "",
        "  144 passing (1s)",
        "  1 failing",
        "",
        "  1) Gate opens wide:",
        "",
        "      AssertionError [ERR_ASSERTION]: 'narrow' == 'wide'",
        "      + expected - actual",
        "",
        "      -narrow",
        "      +wide",
        "",
        "      at Context.<anonymous> (test/gate.spec.js:9:14)",
        "",
    ]


@case(
    "bundle exec rspec",
    1,
    "gate_spec.rb:12",
    'expected: "wide"',
    "121 examples, 1 failure",
    "Gate opens",
)
def rspec(draw):
    lines = [f"  {WORDS[i % 20]} does thing {i}" for i in range(120)]
    return lines + [
        "",
        "Failures:",
        "",
        "  1) Gate opens",
        '     Failure/Error: expect(gate.open).to eq("wide")',
        "",
        '       expected: "wide"',
        '            got: "narrow"',
        "",
        "     # ./spec/gate_spec.rb:12:in `block (2 levels) in <top (required)>'",
        "",
        "Finished in 0.5 seconds (files took 1.2 seconds to load)",
        "121 examples, 1 failure",
        "",
        "Failed examples:",
        "",
        "rspec ./spec/gate_spec.rb:10 # Gate opens",
        "",
    ]


@case(
    "vendor/bin/phpunit",
    1,
    "GateTest::testOpens",
    "Failed asserting",
    "GateTest.php:14",
    "Failures: 1",
)
def phpunit(draw):
    lines = ["PHPUnit 10.5.0 by Sebastian Bergmann and contributors.", ""] + [
        f"{'.' * 61} {61 * i:4} / 2440 ({i * 100 // 40:3}%)" for i in range(1, 41)
    ]
    return lines + [
        "",
        "Time: 00:02.100, Memory: 40.00 MB",
        "",
        "There was 1 failure:",
        "",
        "1) GateTest::testOpens",
        "Failed asserting that 'narrow' matches expected 'wide'.",
        "",
        "/app/tests/GateTest.php:14",
        "",
        "FAILURES!",
        "Tests: 2440, Assertions: 5120, Failures: 1.",
        "",
    ]


@case(
    "go test -v ./...",
    1,
    "TestGate/wide",
    "gate_test.go:31",
    "got narrow, want wide",
    "FAIL\texample.org/gate",
)
def go_verbose(draw):
    lines = []
    for i in range(150):
        lines += [
            f"=== RUN   TestStock{i}",
            f"    stock_test.go:{draw.randrange(90)}: counted {draw.randrange(900)}",
            f"--- PASS: TestStock{i} (0.0{draw.randrange(9)}s)",
        ]
    return lines + [
        "=== RUN   TestGate",
        "=== RUN   TestGate/wide",
        "    gate_test.go:31: got narrow, want wide",
        "--- FAIL: TestGate (0.00s)",
        "    --- FAIL: TestGate/wide (0.00s)",
        "FAIL",
        "FAIL\texample.org/gate\t0.031s",
        "ok  \texample.org/stock\t0.020s",
        "FAIL",
        "",
    ]


@case("gradle test", 1, "GateTest > opens() FAILED", "GateTest.java:21", "1 failed", "BUILD FAILED")
def gradle(draw):
    lines = [f"> Task :module{i}:compileJava UP-TO-DATE" for i in range(90)] + [
        "> Task :gate:test FAILED",
        "",
        "GateTest > opens() FAILED",
        "    org.opentest4j.AssertionFailedError at GateTest.java:21",
        "",
        "340 tests completed, 1 failed",
        "",
        "FAILURE: Build failed with an exception.",
        "",
        "* What went wrong:",
        "Execution failed for task ':gate:test'.",
        "> There were failing tests.",
        "",
        "BUILD FAILED in 12s",
    ]
    return lines + [""]


@case(
    "npx eslint .",
    1,
    "gate.js",
    "31:5",
    "no-undef",
    "'opne' is not defined",
    "✖ 91 problems (1 error, 90 warnings)",
)
def eslint(draw):
    lines = []
    for n in range(15):
        lines += ["", f"/app/src/{WORDS[n]}.js"] + [
            (
                f"  {draw.randrange(300):3}:{draw.randrange(30):<3} warning  Unexpected console "
                "statement  no-console"
            )
            for _ in range(6)
        ]
    return lines + [
        "",
        "/app/src/gate.js",
        "  31:5  error  'opne' is not defined  no-undef",
        "",
        "✖ 91 problems (1 error, 90 warnings)",
        "",
    ]


@case("ruff check .", 1, "src/gate.py:3:1: F821", "Undefined name `opne`", "Found 121 errors")
def ruff(draw):
    lines = [
        f"src/{WORDS[i % 20]}.py:{i + 3}:89: E501 Line too long ({draw.randrange(89, 140)} > 88)"
        for i in range(120)
    ]
    lines.insert(60, "src/gate.py:3:1: F821 Undefined name `opne`")
    return lines + ["Found 121 errors.", ""]


@case(
    "cmake --build build",
    2,
    "gate.cpp:9:3: error: use of undeclared identifier 'opne'",
    "1 error generated",
    "ninja: build stopped",
)
def clang(draw):
    lines = [
        f"[{i}/220] Building CXX object src/CMakeFiles/app.dir/{WORDS[i % 20]}_{i}.cpp.o"
        for i in range(1, 200)
    ]
    return lines + [
        "FAILED: src/CMakeFiles/app.dir/gate.cpp.o",
        "clang++ -O2 -std=c++20 -c ../src/gate.cpp",
        "../src/gate.cpp:9:3: error: use of undeclared identifier 'opne'",
        "    9 |   opne(3);",
        "      |   ^",
        "1 error generated.",
        "ninja: build stopped: subcommand failed.",
        "",
    ]


@case("docker build .", 1, "ERROR: failed to solve", "gate.h: No such file", "[ 7/12] RUN make")
def docker(draw):
    lines = [f"#{i} [ {i}/12] RUN step {WORDS[i]}" for i in range(1, 7)]
    for i in range(200):
        lines.append(
            f"#9 {i // 9}.{draw.randrange(999):03} Unpacking lib{WORDS[i % 20]}{i} "
            f"(1.2.{draw.randrange(9)}) ..."
        )
    return lines + [
        "#12 [ 7/12] RUN make",
        "#12 1.200 gate.c:1:10: fatal error: gate.h: No such file or directory",
        '#12 ERROR: process "/bin/sh -c make" did not complete successfully: exit code: 2',
        "------",
        (
            'ERROR: failed to solve: process "/bin/sh -c make" did not complete successfully: '
            "exit code: 2"
        ),
        "",
    ]


@case("npm install", 0, "added 812 packages", "3 high severity vulnerabilities", "left-pad@1.3.0")
def npm_install(draw):
    lines = [
        (
            f"npm http fetch GET 200 https://registry.example.org/{WORDS[i % 20]}-{i} "
            f"{draw.randrange(20, 400)}ms (cache miss)"
        )
        for i in range(300)
    ]
    lines.insert(120, "npm warn deprecated left-pad@1.3.0: use String.prototype.padStart()")
    return lines + [
        "",
        "added 812 packages, and audited 813 packages in 21s",
        "",
        "3 high severity vulnerabilities",
        "",
        "Some issues need review, and may require choosing",
        "a different dependency.",
        "",
    ]


@case(
    "kubectl describe pod gate",
    0,
    "OOMKilled",
    "Exit Code:    137",
    "Back-off restarting failed container",
)
def kubectl_describe(draw):
    lines = [
        "Name:         gate-7f9c",
        "Namespace:    prod",
        "Containers:",
        "  gate:",
        "    State:          Waiting",
        "      Reason:       CrashLoopBackOff",
        "    Last State:     Terminated",
        "      Reason:       OOMKilled",
        "      Exit Code:    137",
        "    Environment:",
    ]
    lines += [
        f"      SETTING_{WORDS[i % 20].upper()}_{i}:  value-{draw.randrange(99)}" for i in range(80)
    ]
    lines += ["Events:", "  Type     Reason     Age                  From     Message"] + [
        (
            f'  Normal   Pulled     {i}m (x{i + 1} over 2h)  kubelet  Container image "gate:{i}" '
            "already present"
        )
        for i in range(40)
    ]
    return lines + [
        "  Warning  BackOff    2m (x40 over 2h)    kubelet  Back-off restarting failed container",
        "",
    ]


@case("psql -c 'select * from jobs'", 0, "(300 rows)", "dead_letter", "state")
def psql(draw):
    lines = [" id  |   name   | state | tries ", "-----+----------+-------+-------"] + [
        f" {i:3} | {WORDS[i % 20]!s:<8} | done  |     {draw.randrange(1, 4)}" for i in range(300)
    ]
    lines[150] = " 148 | birch    | dead_letter |     9"
    return lines + ["(300 rows)", ""]


@case("cat pipeline.yaml.log", 0, "debug: true", "jobs:")
def yaml_jobs(draw):
    lines = ["jobs:"]
    for i in range(90):
        lines += [
            f"  build_{i}:",
            f"    image: builder:{draw.randrange(9)}",
            "    retries: 2",
            f"    debug: {'true' if i == 41 else 'false'}",
        ]
    return lines + [""]


@case("cat events.jsonl", 0, "refund_rejected", "evt_00213")
def jsonl(draw):
    lines = [
        f'{{"id":"evt_{i:05}","type":"charge","amount":{draw.randrange(100, 900)},"ok":true}}'
        for i in range(400)
    ]
    lines[213] = '{"id":"evt_00213","type":"refund_rejected","amount":412,"ok":false}'
    return lines + [""]


@case("journalctl -n 500", 0, "Out of memory: Killed process 4117 (gate)", "entered failed state")
def syslog(draw):
    lines = [
        (
            f"Mar 03 10:{i // 60:02}:{i % 60:02} host systemd[1]: Started Session {100 + i} of "
            "user ada."
        )
        if i % 3
        else (
            f"Mar 03 10:{i // 60:02}:{i % 60:02} host sshd[{2000 + i}]: Accepted publickey for "
            f"ada from 10.0.0.{i % 250} port {draw.randrange(30000, 60000)}"
        )
        for i in range(500)
    ]
    lines[320] = (
        "Mar 03 10:05:20 host kernel: Out of memory: Killed process 4117 (gate) total-vm:812000kB"
    )
    lines[321] = "Mar 03 10:05:21 host systemd[1]: gate.service: Unit entered failed state."
    return lines + [""]


@case("cat access.log", 0, "/admin/.env", "502", "sqlmap")
def nginx(draw):
    lines = [
        (
            f'10.0.0.{i % 20} - - [03/Mar/2026:10:{i // 60 % 60:02}:{i % 60:02} +0000] "GET '
            f'/items/{draw.randrange(900)} HTTP/1.1" 200 {draw.randrange(300, 400)} "-" '
            '"Mozilla/5.0"'
        )
        for i in range(600)
    ]
    lines[77] = (
        '203.0.113.9 - - [03/Mar/2026:10:01:17 +0000] "GET /admin/.env HTTP/1.1" 404 12 "-" '
        '"sqlmap/1.8"'
    )
    lines[400] = lines[400].replace(" 200 ", " 502 ")
    return lines + [""]


@case(
    "terraform plan",
    0,
    "Plan: 2 to add, 30 to change, 1 to destroy.",
    "must be replaced",
    "aws_db_instance.main",
    "forces replacement",
)
def terraform(draw):
    lines = [
        f"aws_instance.web[{i}]: Refreshing state... [id=i-{draw.getrandbits(32):08x}]"
        for i in range(90)
    ] + ["", "Terraform will perform the following actions:", ""]
    for i in range(30):
        lines += [
            f"  # aws_instance.web[{i}] will be updated in-place",
            '  ~ resource "aws_instance" "web" {',
            "      ~ tags = {",
            '          ~ "owner" = "a" -> "b"',
            "        }",
            "    }",
            "",
        ]
    return lines + [
        "  # aws_db_instance.main must be replaced",
        '-/+ resource "aws_db_instance" "main" {',
        '      ~ engine_version = "13" -> "15" # forces replacement',
        "    }",
        "",
        "Plan: 2 to add, 30 to change, 1 to destroy.",
        "",
    ]


@case("python3 train.py", 0, "epoch 3/3", "loss nan at step 412", "saved ckpt-3")
def training(draw):
    bars = [
        "\r".join(
            f"epoch {int(e)}/3 {i * 5:3}%|{'#' * (i // 2)}| loss={2 / (i + 1):.3f}"
            for i in range(21)
        )
        for e in (1, 2, 3)
    ]
    bars[1] += (
        "\rWARNING loss nan at step 412, batch skipped\repoch 2/3 100%|##########| loss=0.101"
    )
    return bars + ["saved ckpt-3", ""]


@case("grep -rn limit src", 0, "src/services/cedar.py", "limit = compute_elm")
def search(draw):
    return [
        (
            f"src/services/{WORDS[i // 12]}.py:{i % 12 * 7 + 1}:    limit = "
            f"compute_{WORDS[i % 20]}(limit)"
        )
        for i in range(120)
    ] + [""]


@case("find . -name '*.go'", 0, "billing", "cedar_82.go")
def find(draw):
    return [
        (
            f"./services/{('billing', 'gateway', 'ledger')[i // 70 % 3]}/internal/handlers/"
            f"{WORDS[i % 20]}_{i}.go"
        )
        for i in range(210)
    ] + [""]


@case("curl -s http://localhost/v1/orders", 0, "E_STOCK", "ord_0141", "next_cursor")
def json_list(draw):
    import json

    rows = [
        {
            "id": f"ord_{i:04}",
            "state": "paid",
            "amount": {"value": draw.randrange(100, 900), "currency": "EUR"},
            "error": None,
        }
        for i in range(250)
    ]
    rows[141].update(state="held", error="E_STOCK")
    return json.dumps({"next_cursor": "c_1", "data": rows}, indent=2).split("\n")


@case("git diff", 0, "diff --git a/src/alder.py", "diff --git a/package-lock.json", "+    fee = 12")
def large_diff(draw):
    lines = []
    for name in ["package-lock.json"] + [f"src/{word}.py" for word in WORDS[:6]]:
        lines += (
            [
                f"diff --git a/{name} b/{name}",
                "index 1111111..2222222 100644",
                f"--- a/{name}",
                f"+++ b/{name}",
                "@@ -1,91 +1,91 @@",
                " top",
            ]
            + [f"-    value_{i} = {i}" for i in range(90)]
            + [f"+    value_{i} = {i + 1}" for i in range(90)]
        )
        if name.endswith("cedar.py"):
            lines += ["@@ -200,2 +200,3 @@", " here", "+    fee = 12", " there"]
    return lines + [""]


@case("mvn test", 1, "GateTest.opens:21", "Tests run: 300, Failures: 1", "BUILD FAILURE")
def maven(draw):
    lines = [
        (
            f"[INFO] Downloading from central: https://repo.example.org/{WORDS[i % 20]}/{i}/"
            f"{WORDS[i % 20]}.jar"
        )
        for i in range(120)
    ]
    lines += [
        (
            f"[INFO] Tests run: {draw.randrange(9)}, Failures: 0, Errors: 0, Skipped: 0, Time "
            f"elapsed: 0.{i} s -- in org.example.{WORDS[i].title()}Test"
        )
        for i in range(20)
    ]
    return lines + [
        (
            "[ERROR] Tests run: 4, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s <<< "
            "FAILURE! -- in org.example.GateTest"
        ),
        "[ERROR] org.example.GateTest.opens -- Time elapsed: 0.01 s <<< FAILURE!",
        "org.opentest4j.AssertionFailedError: expected: <wide> but was: <narrow>",
        "\tat org.example.GateTest.opens(GateTest.java:21)",
        "",
        "[ERROR] Failures: ",
        "[ERROR]   GateTest.opens:21 expected: <wide> but was: <narrow>",
        "[ERROR] Tests run: 300, Failures: 1, Errors: 0, Skipped: 0",
        "[INFO] BUILD FAILURE",
        "",
    ]


def client_alone(text: str, exit_code: int) -> str:
    """What the client shows without us."""
    if exit_code:
        return text if len(text) <= 10000 else text[:5000] + text[-5000:]
    return text if len(text) <= 30000 else text[:2000]


def measured(name: str) -> dict:
    command, exit_code, needles, make = CASES[name]
    text = "\n".join(make(random.Random(name)))
    normal = normalize(text, Source(command=command, exit_code=exit_code))
    host = client_alone(text, exit_code)
    return {
        "output": name,
        "exit": exit_code,
        "raw": estimate(text),
        "client": estimate(host),
        "shown": estimate(normal.text),
        "needles": len(needles),
        "kept": sum(needle in normal.text for needle in needles),
        "client_keeps": sum(needle in host for needle in needles),
        "missing": [needle for needle in needles if needle not in normal.text],
        "account": accounting_error(text, normal),
        "text": normal.text,
    }


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--show")
    args = parser.parse_args(argv)
    facts = machine.facts()
    rows = [measured(name) for name in CASES]
    for row in rows:
        text = row.pop("text")
        if row["output"] == args.show:
            print(text)
    saved = [1 - row["shown"] / row["raw"] for row in rows]
    needles, kept, alone = (
        sum(row[key] for row in rows) for key in ("needles", "kept", "client_keeps")
    )
    readme = [
        {
            "number": f"tokens removed per output, mean of {len(rows)} self-made outputs",
            "value": f"{100 * sum(saved) / len(saved):.0f} %",
            "baseline": "",
            "n": len(rows),
            "worst": f"{100 * min(saved):.0f} %",
        },
        {
            "number": "facts still in the text",
            "value": f"{int(kept)} of {int(needles)}",
            "baseline": f"client alone: {int(alone)}",
            "n": needles,
            "worst": "",
        },
    ]
    path = machine.write("outputs", {"machine": facts, "rows": rows, "readme": readme})
    print(
        machine.markdown(
            [
                "output",
                "exit",
                "raw tokens",
                "client alone",
                "shown",
                "needles",
                "client keeps",
                "missing",
            ],
            [
                [
                    row["output"],
                    row["exit"],
                    row["raw"],
                    row["client"],
                    row["shown"],
                    f"{int(row['kept'])}/{int(row['needles'])}",
                    row["client_keeps"],
                    "; ".join(row["missing"]),
                ]
                for row in rows
            ],
        )
    )
    print(
        f"\nmean removed {100 * sum(saved) / len(saved):.1f} %, needles {int(kept)} of "
        f"{int(needles)} (client alone {int(alone)})\n{path}"
    )
    return 1 if any(row["account"] for row in rows) else 0


if __name__ == "__main__":
    raise SystemExit(main())
