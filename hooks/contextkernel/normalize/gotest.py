"""go test."""
from __future__ import annotations

from contextkernel.normalize import failures

DIALECT = failures.Dialect(
    begin=r"\s*--- FAIL: |panic: |fatal error: |.*\.go:\d+:\d+: |FAIL\t.*\[(?:build|setup) failed\]|WARNING: DATA RACE",
    stop=r"=== (?:RUN|CONT|PAUSE)|\s*--- (?:PASS|SKIP)|(?:PASS|FAIL|ok|\?)(?:\s|$)|# \S+$|exit status",
    core=r"\s+\S+\.go:\d+|\s*Error(?: Trace)?:|\s+(?:expected|actual|got|want)|panic:|\t/.*_test\.go:\d+|goroutine \d+ \[running",
    verdict=r"FAIL\b|ok  \t.*\bFAIL|exit status|coverage:|DONE \d+",
    names=r"\s*--- FAIL: |FAIL\t|# \S+$",
    passing=r"=== (?:RUN|PAUSE|CONT)|\s*--- PASS|ok  \t|PASS$|\?   \t",
    before=r"=== RUN ",
)


def plan(page, ask):
    return failures.plan(page, ask, DIALECT)
