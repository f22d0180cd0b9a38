"""TAP: node --test, tape, prove."""
from __future__ import annotations

from contextkernel.normalize import failures

DIALECT = failures.Dialect(
    begin=r"\s*not ok \d+(?!\d)(?!.*# (?:TODO|SKIP))",
    stop=r"\s*(?:ok \d|\d+\.\.\d|# )|TAP version",
    core=r"\s+(?:error|message|expected|actual|operator|at|location|failureType|code|name|found|wanted|stack):|\s*#\s+(?:Failed|at |got|expected)|\s+at .*(?:test|spec)",
    verdict=r"# (?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms|ok|failed)\b|\d+\.\.\d+|Result: |Files=\d",
    names=r"\s*not ok ",
    passing=r"\s*ok \d|# Subtest: |\s+(?:---|\.\.\.|duration_ms: .*|type: .*)$",
    before=r"# Subtest: ",
)


def plan(page, ask):
    return failures.plan(page, ask, DIALECT)
