#!/usr/bin/env python3
"""Look-alikes of failing test runs, written by nobody's tool: `failing_runs.py KIND LINES [EXIT_CODE]` prints one and exits so.

What matters stands where the client's own cut loses it: behind the first 5,000 characters, before the last 5,000.
`needles(kind, lines)` names the facts that the model must be shown.
"""
from __future__ import annotations

import sys

WORDS = ("ledger", "router", "parser", "cache", "worker", "schema", "linker", "bundle", "vector", "resolver")
FAILURES = 3


def _places(lines: int) -> "list[int]":
    """Numbers of the tests that fail, spread over the run but never at its ends."""
    return [lines * part // 10 for part in (4, 5, 6)]


def _name(number: int) -> str:
    return "%s_%d" % (WORDS[number % 10], number)


def pytest(lines: int) -> "list[str]":
    failing = _places(lines)
    out = ["============================= test session starts ==============================",
           "platform linux -- Python 3.11.7, pytest-8.3.4, pluggy-1.5.0", "rootdir: /srv/shop", "collected %d items" % lines, ""]
    for number in range(lines):
        out.append("tests/test_%s.py::test_%s %s [%3d%%]" % (WORDS[number % 10], _name(number), "FAILED" if number in failing else "PASSED", number * 100 // lines))
    out += ["", "=================================== FAILURES ==================================="]
    for number in failing:
        out += ["%s test_%s %s" % ("_" * 30, _name(number), "_" * 30), "", "    def test_%s():" % _name(number), "        total = price(%d)" % number,
                ">       assert total == %d" % (number * 7 + 1), "E       assert %d == %d" % (number * 7, number * 7 + 1), "E        +  where %d = price(%d)" % (number * 7, number), "",
                "tests/test_%s.py:%d: AssertionError" % (WORDS[number % 10], number + 3),
                "----------------------------- Captured stdout call -----------------------------"]
        out += ["connect attempt %d to shard %d took %d ms" % (step, step % 4, step * 13 % 97) for step in range(60)]
    out += ["=========================== short test summary info ============================"]
    out += ["FAILED tests/test_%s.py::test_%s - assert %d == %d" % (WORDS[n % 10], _name(n), n * 7, n * 7 + 1) for n in failing]
    out += ["================== %d failed, %d passed in 12.34s ==================" % (FAILURES, lines - FAILURES)]
    return out


def jest(lines: int) -> "list[str]":
    failing, out = _places(lines // 8), []
    for number in range(lines // 8):
        if number in failing:
            out += ["FAIL src/%s.test.ts" % _name(number), "  \u25cf %s \u203a totals \u203a adds %d" % (WORDS[number % 10], number), "",
                    "    expect(received).toBe(expected) // Object.is equality", "", "    Expected: %d" % (number * 7 + 1), "    Received: %d" % (number * 7), "",
                    "      12 |   it('adds %d', () => {" % number, "    > 13 |     expect(total(%d)).toBe(%d);" % (number, number * 7 + 1), "         |                       ^", "      14 |   });", "",
                    "      at Object.<anonymous> (src/%s.test.ts:13:23)" % _name(number), ""]
        else:
            out += ["PASS src/%s.test.ts" % _name(number), "  \u25cf Console", "", "    console.log", "      loaded %d rows from fixture" % number, "",
                    "      at load (src/%s.ts:7:11)" % _name(number), ""]
    total = lines // 8
    return out + ["Test Suites: %d failed, %d passed, %d total" % (FAILURES, total - FAILURES, total),
                  "Tests:       %d failed, %d passed, %d total" % (FAILURES, total - FAILURES, total), "Snapshots:   0 total", "Time:        9.182 s", "Ran all test suites."]


def cargo(lines: int) -> "list[str]":
    failing = _places(lines)
    out = ["   Compiling shop v0.1.0 (/srv/shop)", "    Finished `test` profile [unoptimized + debuginfo] target(s) in 2.31s",
           "     Running unittests src/lib.rs (target/debug/deps/shop-1f2e3d4c5b6a7988)", "", "running %d tests" % lines]
    out += ["test %s::tests::adds_%d ... %s" % (WORDS[n % 10], n, "FAILED" if n in failing else "ok") for n in range(lines)]
    out += ["", "failures:", ""]
    for number in failing:
        out += ["---- %s::tests::adds_%d stdout ----" % (WORDS[number % 10], number)]
        out += ["step %d of shard %d" % (step, step % 4) for step in range(120)]
        out += ["thread '%s::tests::adds_%d' panicked at src/%s.rs:%d:9:" % (WORDS[number % 10], number, WORDS[number % 10], number + 3),
                "assertion `left == right` failed: totals", "  left: %d" % (number * 7), " right: %d" % (number * 7 + 1),
                "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace", ""]
    out += ["", "failures:"] + ["    %s::tests::adds_%d" % (WORDS[n % 10], n) for n in failing]
    return out + ["", "test result: FAILED. %d passed; %d failed; 0 ignored; 0 measured; 0 filtered out; finished in 3.21s" % (lines - FAILURES, FAILURES), "",
                  "error: test failed, to rerun pass `--lib`"]


def go(lines: int) -> "list[str]":
    failing, out = _places(lines // 3), []
    for number in range(lines // 3):
        name = "Test%s%d" % (WORDS[number % 10].title(), number)
        if number in failing:
            out += ["=== RUN   " + name, "    %s_test.go:%d: total(%d) = %d, want %d" % (WORDS[number % 10], number + 3, number, number * 7, number * 7 + 1), "--- FAIL: %s (0.01s)" % name]
        else:
            out += ["=== RUN   " + name, "    %s_test.go:%d: shard %d ready" % (WORDS[number % 10], number + 2, number % 4), "--- PASS: %s (0.00s)" % name]
    return out + ["FAIL", "FAIL\texample.com/shop\t4.512s", "ok  \texample.com/shop/api\t0.210s"] * 1 + ["FAIL"]


def log(lines: int) -> "list[str]":
    """A service's log with one line that matters, far from both ends."""
    out = ["2026-03-01T10:%02d:%02d worker %d handled job %d in %d ms" % (n // 60 % 60, n % 60, n % 4, n, n * 7919 % 401) for n in range(lines)]
    out[lines * 55 // 100] = "2026-03-01T10:59:59 ERROR worker 2: checksum of segment 88213 does not match"
    return out


def big(lines: int) -> "list[str]":
    """About `lines` kilobytes in lines of 100 bytes."""
    return log(lines * 1000 // 58)


KINDS = {"pytest": pytest, "jest": jest, "cargo": cargo, "go": go, "log": log, "big": big}


def needles(kind: str, lines: int) -> "list[str]":
    """Texts that the model must read: every failing name, what was expected and what came, the tool's own summary."""
    if kind in ("log", "big"):
        return ["checksum of segment 88213 does not match"]
    if kind == "pytest":
        return [text for n in _places(lines) for text in ("test_" + _name(n), "assert %d == %d" % (n * 7, n * 7 + 1))] + ["3 failed, %d passed in 12.34s" % (lines - 3)]
    if kind == "jest":
        return [text for n in _places(lines // 8) for text in ("adds %d" % n, "Received: %d" % (n * 7))] + ["Tests:       3 failed"]
    if kind == "cargo":
        return [text for n in _places(lines) for text in ("tests::adds_%d" % n, "right: %d" % (n * 7 + 1))] + ["test result: FAILED. %d passed; 3 failed" % (lines - 3)]
    return [text for n in _places(lines // 3) for text in ("FAIL: Test%s%d" % (WORDS[n % 10].title(), n), "want %d" % (n * 7 + 1))] + ["FAIL\texample.com/shop\t4.512s"]


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write("\n".join(KINDS[sys.argv[1]](int(sys.argv[2]))) + "\n")
    sys.exit(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
