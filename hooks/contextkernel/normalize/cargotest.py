"""cargo test and nextest."""
from __future__ import annotations

from contextkernel.normalize import failures

DIALECT = failures.Dialect(
    begin=r"---- .* ----$|error(?:\[E\d+\])?: (?!test failed|could not compile|aborting)|\s*(?:STDOUT|STDERR|stdout|stderr) ─+|--- (?:STDOUT|STDERR)",
    stop=r"---- .* ----$|failures:$|test result:|warning: |error: (?:test failed|could not compile|aborting)|\s+(?:Running|Doc-tests|Compiling|Summary|PASS) ",
    core=r".*panicked at|\s*(?:left|right|expected|actual|found): |assertion |Error: |error|\s*--> |\S.*: expected",
    verdict=r"test result:|error: test failed|error: could not compile|error: aborting|\s+Summary \[|For more information",
    names=r"test .* \.\.\. FAILED|    [\w:<>]+$|\s+(?:FAIL|TIMEOUT|SIGABRT) \[",
    passing=r"test .* \.\.\. (?:ok|ignored)|\s+PASS \[",
)


def plan(page, ask):
    return failures.plan(page, ask, DIALECT)
