"""How test runners write, a row each.  A runner like the others is one row here and a case under
tests/corpus/t1, in a folder with the row's key.
"""

from __future__ import annotations

import re

from contextkernel.records import NamedTuple


class RunnerSyntax(NamedTuple):
    """How a runner is told, and its kinds of lines: each a pattern that is matched at the start
    of a line; "" never matches.
    """

    name: str
    hints: tuple[str, ...]  # one of them must stand in the text
    content: str  # then this must match at some line of it
    block_start: str  # begins the account of one failure
    block_end: str  # ends it; the line itself stands outside
    cause: str  # within it, tells why
    summary: str  # the runner's own count of what passed and failed
    failed_name: str  # only names a failing test
    passing: str = ""  # what a passing test prints
    reach_back: str = ""  # a block begins at the last such line before it
    is_late: bool = False  # its words are common ones: other formats are asked first


class RunnerPatterns(NamedTuple):
    """The kinds of lines of a runner, compiled."""

    block_start: re.Pattern[str]
    block_end: re.Pattern[str]
    cause: re.Pattern[str]
    summary: re.Pattern[str]
    failed_name: re.Pattern[str]
    passing: re.Pattern[str]
    reach_back: re.Pattern[str]


def patterns_of(runner: str) -> RunnerPatterns:
    """The compiled row of a runner."""
    row = RUNNERS[runner]._asdict()
    return RunnerPatterns(*[re.compile(row[kind] or NEVER) for kind in RunnerPatterns._fields])


NEVER = r"(?!)"
RUNNERS: dict[str, RunnerSyntax] = {
    "pytest": RunnerSyntax(
        name="pytest",
        hints=(
            "test session starts",
            "short test summary info",
            "= FAILURES =",
            "= ERRORS =",
            ".py::",
            " passed",
            " failed",
            "FAILED ",
        ),
        content=(
            r"^=+ (?:test session starts|FAILURES|ERRORS|short test summary info) =+$|^(?:FAILED"
            r"|ERROR) \S+\.py|^(?=(\S+?\.py::))\1.* (?:PASSED|FAILED)|^\d+ (?:passed|failed)[, "
            r"].* in [\d.]+s"
        ),
        block_start=r"_{3,} .+ _{3,}$",
        block_end=r"={3,} .*===$|!{3,}|[\w./-]+\.py(?::| ).*\[ *\d+%\]$",
        cause=r"E  |>  |\S+:\d+: \w|E$",
        summary=(
            r"={3,} (?=(.*?\b(?:passed|failed|errors?|skipped|deselected|no tests ran)\b))\1.* "
            r"in |\d+ (?:passed|failed|errors?|skipped|deselected|xfailed)\b.* in [\d.]+|!{3,} "
            r".* !{3,}$"
        ),
        failed_name=r"(?:FAILED|ERROR) \S|(?=(\S+?::))\1\S.* (?:FAILED|ERROR)\b|(?:XPASS) \S",
        passing=(
            r"(?=(\S+?::))\1.* (?:PASSED|SKIPPED|XFAIL)|(?:tests?/|\S+\.py )\S*(?:(?<=[.sxX])| "
            r"+[.sxX]+) "
        ),
    ),
    # TAP: node --test, tape, prove
    "tap": RunnerSyntax(
        name="TAP",
        hints=("ok 1", "TAP version", "not ok"),
        content=r"^TAP version \d+|^1\.\.\d+$|^(?:not )?ok \d+ ",
        block_start=r"\s*not ok \d+(?!\d)(?!.*# (?:TODO|SKIP))",
        block_end=r"\s*(?:ok \d|\d+\.\.\d|# )|TAP version",
        cause=(
            r"\s+(?:error|message|expected|actual|operator|at|location|failureType|code|name"
            r"|found|wanted|stack):|\s*#\s+(?:Failed|at |got|expected)|\s+at .*(?:test|spec)"
        ),
        summary=(
            r"# (?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms|ok|failed)\b"
            r"|\d+\.\.\d+|Result: |Files=\d"
        ),
        failed_name=r"\s*not ok ",
        passing=r"\s*ok \d|# Subtest: |\s+(?:---|\.\.\.|duration_ms: .*|type: .*)$",
        reach_back=r"# Subtest: ",
    ),
    # jest, vitest, mocha and jasmine
    "jest": RunnerSyntax(
        name="jest",
        hints=("Test Suites:", "PASS ", "FAIL ", " passing", " failing", "Test Files", "●"),
        content=(
            r"^Test Suites: |^(?:PASS|FAIL)\s+\S+\.[cm]?[jt]sx?|^[^\S\n]*\s\d+ (?:passing"
            r"|failing)\b|^[^\S\n]*Test Files  |^ *(?:✓|✔|❯|×) .*\.(?:test|spec)\."
        ),
        block_start=r"\s{1,4}● (?!Console\b)\S|\s*(?:FAIL|❯ FAIL)\s+\S.* > |  +\d+\) \S",
        block_end=(
            r"(?:PASS|FAIL)\s+\S+\.\w+|Test Suites?:|\s+Tests?  |\s{1,4}● Console|⎯{5,}$"
            r"|Snapshot Summary|Summary of all failing|\s*Test Files "
        ),
        cause=(
            r"\s*(?:expect\b|Expected|Received|Assertion|\w*Error\b|[-+] |>\s*\d+ \||at .*(?:test"
            r"|spec)|❯ \S+:\d+|Difference|Cannot|Timeout|thrown)"
        ),
        summary=(
            r"\s*(?:Test Suites|Tests|Snapshots|Time|Test Files|Duration|Start at)\b:? +\S|Ran "
            r"all test|\s+\d+ (?:passing|failing|pending)\b|Executed \d+|\d+ specs?,"
        ),
        failed_name=r"FAIL\s+\S|\s*(?:✕|✗|×|❯) |\s{1,4}● .* › ",
        passing=r"PASS\s+\S|\s*(?:✓|✔|√) |\s+console\.\w+$|\s{1,4}● Console",
    ),
    # go test
    "gotest": RunnerSyntax(
        name="go test",
        hints=("--- FAIL", "--- PASS", "FAIL\t", "ok  \t", "=== RUN"),
        content=r"^[^\S\n]*--- (?:FAIL|PASS|SKIP): |^(?:FAIL|ok  )\t|^=== RUN ",
        block_start=(
            r"\s*--- FAIL: |panic: |fatal error: |.*\.go:\d+:\d+: |FAIL\t.*\[(?:build|setup) "
            r"failed\]|WARNING: DATA RACE"
        ),
        block_end=(
            r"=== (?:RUN|CONT|PAUSE)|\s*--- (?:PASS|SKIP)|(?:PASS|FAIL|ok|\?)(?:\s|$)|# \S+$"
            r"|exit status"
        ),
        cause=(
            r"\s+\S+\.go:\d+|\s*Error(?: Trace)?:|\s+(?:expected|actual|got|want)|panic:"
            r"|\t/.*_test\.go:\d+|goroutine \d+ \[running"
        ),
        summary=r"FAIL\b|ok  \t.*\bFAIL|exit status|coverage:|DONE \d+",
        failed_name=r"\s*--- FAIL: |FAIL\t|# \S+$",
        passing=r"=== (?:RUN|PAUSE|CONT)|\s*--- PASS|ok  \t|PASS$|\?   \t",
        reach_back=r"=== RUN ",
    ),
    # cargo test and nextest
    "cargotest": RunnerSyntax(
        name="cargo test",
        hints=("test result:", "running ", "nextest"),
        content=r"^test result: |^running \d+ tests?$|^ +Summary \[",
        block_start=(
            r"---- .* ----$|error(?:\[E\d+\])?: (?!test failed|could not compile|aborting)"
            r"|\s*(?:STDOUT|STDERR|stdout|stderr) ─+|--- (?:STDOUT|STDERR)"
        ),
        block_end=(
            r"---- .* ----$|failures:$|test result:|warning: |error: (?:test failed|could not "
            r"compile|aborting)|\s+(?:Running|Doc-tests|Compiling|Summary|PASS) "
        ),
        cause=(
            r".*panicked at|\s*(?:left|right|expected|actual|found): |assertion |Error: |error"
            r"|\s*--> |\S.*: expected"
        ),
        summary=(
            r"test result:|error: test failed|error: could not compile|error: aborting"
            r"|\s+Summary \[|For more information"
        ),
        failed_name=r"test .* \.\.\. FAILED|    [\w:<>]+$|\s+(?:FAIL|TIMEOUT|SIGABRT) \[",
        passing=r"test .* \.\.\. (?:ok|ignored)|\s+PASS \[",
    ),
    # unittest and Django's runner
    "unittest": RunnerSyntax(
        name="unittest",
        hints=("Ran ", "... ok", "... FAIL", "... ERROR"),
        content=r"^Ran \d+ tests? in |^(?:FAIL|ERROR): \w+ \(|^\S+ \(.*\) \.\.\. ",
        is_late=True,
        block_start=r"(?:FAIL|ERROR|UNEXPECTED SUCCESS): \S",
        block_end=r"={60,}$|Ran \d+ tests? in",
        cause=(
            r"\w[\w.]*(?:Error|Exception|Failure|Warning)\b|  File .*(?:test|spec)|[-+?] "
            r"|AssertionError"
        ),
        summary=r"Ran \d+ tests? in|FAILED \(|OK\b|NO TESTS RAN",
        failed_name=r".* \.\.\. (?:FAIL|ERROR|unexpected success)$",
        passing=r".* \.\.\. (?:ok|skipped .*|expected failure)$",
    ),
    # rspec, phpunit, ctest, gtest, gradle, maven, dotnet and swift test runs
    "other": RunnerSyntax(
        name="other test runs",
        hints=(
            " examples, ",
            "Tests:",
            "Tests run:",
            "[  FAILED",
            "[==",
            "tests completed",
            "Test project ",
            "Failed!",
            "Passed!",
        ),
        content=(
            r"^\d+ examples?, |^Tests: \d+, |Tests run: \d+|^\[=+\]|tests completed|^Test "
            r"project |^(?:Failed|Passed)!  - |^Executed \d+ tests"
        ),
        is_late=True,
        block_start=(
            r"\s{1,4}\d+\) \S|\[  FAILED  \] |\[ RUN .*|.* FAILED$|\[ERROR\] .*(?:FAILURE|ERROR)!"
            r"|\s+Failed \S|.*: error: -\[|\s*\d+/\d+ Test .*\*\*\*"
        ),
        block_end=(
            r"$^|\[       OK \]|Finished in|FAILURES!|Tests run:|\[INFO\]|\d+ tests? completed"
            r"|Tests:|\s*\d+/\d+ Test .*Passed|Failed examples:"
        ),
        cause=(
            r"\s*(?:Failure/Error|expected|Expected|got|Actual|\w*(?:Error|Exception)\b|Failed "
            r"asserting|Which is|Value of|# \./|at .*(?:Test|Spec|test|spec))|.*: Failure$"
            r"|/.*:\d+$"
        ),
        summary=(
            r"\d+ examples?, |Tests: \d|FAILURES!|ERRORS!|OK \(|Tests run:.*|BUILD |\[ERROR\] "
            r"Tests run|\[==========\]|\[  PASSED  \]|\[  FAILED  \] \d+ tests|\d+% tests passed"
            r"|Total Test time|\d+ tests? completed|(?:Failed|Passed)!  |Executed \d+ tests|Test "
            r"Run "
        ),
        failed_name=(
            r"rspec \S+|\[  FAILED  \] \S|\s+\d+ - .* \(|\[ERROR\]   \S|(?=(.*? > ))\1.* FAILED$"
            r"|\s*\d+/\d+ Test .*\*\*\*"
        ),
        passing=r"\[       OK \]|\[ RUN|\[-+\]|\s*\d+/\d+ Test .*Passed|\s+Start +\d+:",
    ),
}
