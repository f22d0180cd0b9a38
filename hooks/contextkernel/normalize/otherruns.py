"""rspec, phpunit, ctest, gtest, gradle, maven, dotnet and swift test runs."""
from __future__ import annotations

from contextkernel.normalize import failures

DIALECT = failures.Dialect(
    begin=r"\s{1,4}\d+\) \S|\[  FAILED  \] |\[ RUN .*|.* FAILED$|\[ERROR\] .*(?:FAILURE|ERROR)!|\s+Failed \S|.*: error: -\[|\s*\d+/\d+ Test .*\*\*\*",
    stop=r"$^|\[       OK \]|Finished in|FAILURES!|Tests run:|\[INFO\]|\d+ tests? completed|Tests:|\s*\d+/\d+ Test .*Passed|Failed examples:",
    core=r"\s*(?:Failure/Error|expected|Expected|got|Actual|\w*(?:Error|Exception)\b|Failed asserting|Which is|Value of|# \./|at .*(?:Test|Spec|test|spec))|.*: Failure$|/.*:\d+$",
    verdict=r"\d+ examples?, |Tests: \d|FAILURES!|ERRORS!|OK \(|Tests run:.*|BUILD |\[ERROR\] Tests run|\[==========\]|\[  PASSED  \]|\[  FAILED  \] \d+ tests|\d+% tests passed|Total Test time|\d+ tests? completed|(?:Failed|Passed)!  |Executed \d+ tests|Test Run ",
    names=r"rspec \S+|\[  FAILED  \] \S|\s+\d+ - .* \(|\[ERROR\]   \S|(?=(.*? > ))\1.* FAILED$|\s*\d+/\d+ Test .*\*\*\*",
    passing=r"\[       OK \]|\[ RUN|\[-+\]|\s*\d+/\d+ Test .*Passed|\s+Start +\d+:",
)


def plan(page, ask):
    return failures.plan(page, ask, DIALECT)
