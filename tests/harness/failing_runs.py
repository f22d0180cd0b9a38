#!/usr/bin/env python3
"""Look-alikes of failing test runs, written by nobody's tool: `failing_runs.py KIND LINES
[EXIT_CODE]` prints one and exits so.

What matters stands where the client's own cut loses it: behind the first 5,000 characters, before
the last 5,000.
`needles(kind, lines)` names the facts that the model must be shown.
"""

from __future__ import annotations

import sys

WORDS = (
    "ledger",
    "router",
    "parser",
    "cache",
    "worker",
    "schema",
    "linker",
    "bundle",
    "vector",
    "resolver",
)
FAILURES = 3


def _places(lines: int) -> list[int]:
    """Numbers of the tests that fail, spread over the run but never at its ends."""
    return [lines * part // 10 for part in (4, 5, 6)]


def _name(number: int) -> str:
    return f"{WORDS[number % 10]}_{number:d}"


def pytest(lines: int) -> list[str]:
    failing = _places(lines)
    out = [
        "============================= test session starts ==============================",
        "platform linux -- Python 3.11.7, pytest-8.3.4, pluggy-1.5.0",
        "rootdir: /srv/shop",
        f"collected {lines} items",
        "",
    ]
    for number in range(lines):
        out.append(
            f"tests/test_{WORDS[number % 10]}.py::test_{_name(number)} "
            f"{'FAILED' if number in failing else 'PASSED'} [{number * 100 // lines:3d}%]"
        )
    out += ["", "=================================== FAILURES ==================================="]
    for number in failing:
        out += [
            f"{'_' * 30} test_{_name(number)} {'_' * 30}",
            "",
            f"    def test_{_name(number)}():",
            f"        total = price({number:d})",
            f">       assert total == {number * 7 + 1:d}",
            f"E       assert {number * 7:d} == {number * 7 + 1:d}",
            f"E        +  where {number * 7:d} = price({number:d})",
            "",
            f"tests/test_{WORDS[number % 10]}.py:{number + 3:d}: AssertionError",
            "----------------------------- Captured stdout call -----------------------------",
        ]
        out += [
            f"connect attempt {step} to shard {step % 4} took {step * 13 % 97} ms"
            for step in range(60)
        ]
    out += ["=========================== short test summary info ============================"]
    out += [
        f"FAILED tests/test_{WORDS[n % 10]}.py::test_{_name(n)} - assert {n * 7:d} == {n * 7 + 1:d}"
        for n in failing
    ]
    out += [
        (
            f"================== {FAILURES} failed, {lines - FAILURES} passed in 12.34s "
            "=================="
        )
    ]
    return out


def jest(lines: int) -> list[str]:
    failing, out = _places(lines // 8), []
    for number in range(lines // 8):
        if number in failing:
            out += [
                f"FAIL src/{_name(number)}.test.ts",
                f"  \u25cf {WORDS[number % 10]} \u203a totals \u203a adds {number:d}",
                "",
                "    expect(received).toBe(expected) // Object.is equality",
                "",
                f"    Expected: {number * 7 + 1:d}",
                f"    Received: {number * 7:d}",
                "",
                f"      12 |   it('adds {number:d}', () => {{",
                f"    > 13 |     expect(total({number:d})).toBe({number * 7 + 1:d});",
                "         |                       ^",
                "      14 |   });",
                "",
                f"      at Object.<anonymous> (src/{_name(number)}.test.ts:13:23)",
                "",
            ]
        else:
            out += [
                f"PASS src/{_name(number)}.test.ts",
                "  \u25cf Console",
                "",
                "    console.log",
                f"      loaded {number:d} rows from fixture",
                "",
                f"      at load (src/{_name(number)}.ts:7:11)",
                "",
            ]
    total = lines // 8
    return out + [
        f"Test Suites: {FAILURES} failed, {total - FAILURES:d} passed, {total:d} total",
        f"Tests:       {FAILURES} failed, {total - FAILURES:d} passed, {total:d} total",
        "Snapshots:   0 total",
        "Time:        9.182 s",
        "Ran all test suites.",
    ]


def cargo(lines: int) -> list[str]:
    failing = _places(lines)
    out = [
        "   Compiling shop v0.1.0 (/srv/shop)",
        "    Finished `test` profile [unoptimized + debuginfo] target(s) in 2.31s",
        "     Running unittests src/lib.rs (target/debug/deps/shop-1f2e3d4c5b6a7988)",
        "",
        f"running {lines} tests",
    ]
    out += [
        f"test {WORDS[n % 10]}::tests::adds_{n:d} ... {'FAILED' if n in failing else 'ok'}"
        for n in range(lines)
    ]
    out += ["", "failures:", ""]
    for number in failing:
        out += [f"---- {WORDS[number % 10]}::tests::adds_{number:d} stdout ----"]
        out += [f"step {step} of shard {step % 4}" for step in range(120)]
        out += [
            (
                f"thread '{WORDS[number % 10]}::tests::adds_{number:d}' panicked at "
                f"src/{WORDS[number % 10]}.rs:{number + 3:d}:9:"
            ),
            "assertion `left == right` failed: totals",
            f"  left: {number * 7:d}",
            f" right: {number * 7 + 1:d}",
            "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
            "",
        ]
    out += ["", "failures:"] + [f"    {WORDS[n % 10]}::tests::adds_{n:d}" for n in failing]
    return out + [
        "",
        (
            f"test result: FAILED. {lines - FAILURES} passed; {FAILURES} failed; 0 ignored; 0 "
            "measured; 0 filtered out; finished in 3.21s"
        ),
        "",
        "error: test failed, to rerun pass `--lib`",
    ]


def go(lines: int) -> list[str]:
    failing, out = _places(lines // 3), []
    for number in range(lines // 3):
        name = f"Test{WORDS[number % 10].title()}{number:d}"
        if number in failing:
            out += [
                "=== RUN   " + name,
                (
                    f"    {WORDS[number % 10]}_test.go:{number + 3:d}: total({number:d}) = "
                    f"{number * 7:d}, want {number * 7 + 1:d}"
                ),
                f"--- FAIL: {name} (0.01s)",
            ]
        else:
            out += [
                "=== RUN   " + name,
                f"    {WORDS[number % 10]}_test.go:{number + 2:d}: shard {number % 4:d} ready",
                f"--- PASS: {name} (0.00s)",
            ]
    return (
        out
        + ["FAIL", "FAIL\texample.com/shop\t4.512s", "ok  \texample.com/shop/api\t0.210s"] * 1
        + ["FAIL"]
    )


def log(lines: int) -> list[str]:
    """A service's log with one line that matters, far from both ends."""
    out = [
        (
            f"2026-03-01T10:{n // 60 % 60:02d}:{n % 60:02d} worker {n % 4:d} handled job {n:d} "
            f"in {n * 7919 % 401:d} ms"
        )
        for n in range(lines)
    ]
    out[lines * 55 // 100] = (
        "2026-03-01T10:59:59 ERROR worker 2: checksum of segment 88213 does not match"
    )
    return out


def big(lines: int) -> list[str]:
    """About `lines` kilobytes in lines of 100 bytes."""
    return log(lines * 1000 // 58)


KINDS = {"pytest": pytest, "jest": jest, "cargo": cargo, "go": go, "log": log, "big": big}


def needles(kind: str, lines: int) -> list[str]:
    """Texts that the model must read: every failing name, what was expected and what came, the
    tool's own summary.
    """
    if kind in ("log", "big"):
        return ["checksum of segment 88213 does not match"]
    if kind == "pytest":
        return [
            text
            for n in _places(lines)
            for text in ("test_" + _name(n), f"assert {n * 7:d} == {n * 7 + 1:d}")
        ] + [f"3 failed, {lines - 3} passed in 12.34s"]
    if kind == "jest":
        return [
            text for n in _places(lines // 8) for text in (f"adds {n:d}", f"Received: {n * 7:d}")
        ] + ["Tests:       3 failed"]
    if kind == "cargo":
        return [
            text for n in _places(lines) for text in (f"tests::adds_{n:d}", f"right: {n * 7 + 1:d}")
        ] + [f"test result: FAILED. {lines - 3} passed; 3 failed"]
    return [
        text
        for n in _places(lines // 3)
        for text in (f"FAIL: Test{WORDS[n % 10].title()}{n:d}", f"want {n * 7 + 1:d}")
    ] + ["FAIL\texample.com/shop\t4.512s"]


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write("\n".join(KINDS[sys.argv[1]](int(sys.argv[2]))) + "\n")
    sys.exit(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
