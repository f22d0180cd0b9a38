"""unittest and Django's runner."""
from __future__ import annotations

from contextkernel.normalize import failures

DIALECT = failures.Dialect(
    begin=r"(?:FAIL|ERROR|UNEXPECTED SUCCESS): \S",
    stop=r"={60,}$|Ran \d+ tests? in",
    core=r"\w[\w.]*(?:Error|Exception|Failure|Warning)\b|  File .*(?:test|spec)|[-+?] |AssertionError",
    verdict=r"Ran \d+ tests? in|FAILED \(|OK\b|NO TESTS RAN",
    names=r".* \.\.\. (?:FAIL|ERROR|unexpected success)$",
    passing=r".* \.\.\. (?:ok|skipped .*|expected failure)$",
)


def plan(page, ask):
    return failures.plan(page, ask, DIALECT)
