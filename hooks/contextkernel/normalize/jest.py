"""jest, vitest, mocha and jasmine."""
from __future__ import annotations

from contextkernel.normalize import failures

DIALECT = failures.Dialect(
    begin=r"\s{1,4}● (?!Console\b)\S|\s*(?:FAIL|❯ FAIL)\s+\S.* > |  +\d+\) \S",
    stop=r"(?:PASS|FAIL)\s+\S+\.\w+|Test Suites?:|\s+Tests?  |\s{1,4}● Console|⎯{5,}$|Snapshot Summary|Summary of all failing|\s*Test Files ",
    core=r"\s*(?:expect\b|Expected|Received|Assertion|\w*Error\b|[-+] |>\s*\d+ \||at .*(?:test|spec)|❯ \S+:\d+|Difference|Cannot|Timeout|thrown)",
    verdict=r"\s*(?:Test Suites|Tests|Snapshots|Time|Test Files|Duration|Start at)\b:? +\S|Ran all test|\s+\d+ (?:passing|failing|pending)\b|Executed \d+|\d+ specs?,",
    names=r"FAIL\s+\S|\s*(?:✕|✗|×|❯) |\s{1,4}● .* › ",
    passing=r"PASS\s+\S|\s*(?:✓|✔|√) |\s+console\.\w+$|\s{1,4}● Console",
)


def plan(page, ask):
    return failures.plan(page, ask, DIALECT)
