"""pytest."""
from __future__ import annotations

from contextkernel.normalize import failures

DIALECT = failures.Dialect(
    begin=r"_{3,} .+ _{3,}$",
    stop=r"={3,} .*===$|!{3,}|[\w./-]+\.py(?::| ).*\[ *\d+%\]$",
    core=r"E  |>  |\S+:\d+: \w|E$",
    verdict=r"={3,} (?=(.*?\b(?:passed|failed|errors?|skipped|deselected|no tests ran)\b))\1.* in |\d+ (?:passed|failed|errors?|skipped|deselected|xfailed)\b.* in [\d.]+|!{3,} .* !{3,}$",
    names=r"(?:FAILED|ERROR) \S|(?=(\S+?::))\1\S.* (?:FAILED|ERROR)\b|(?:XPASS) \S",
    passing=r"(?=(\S+?::))\1.* (?:PASSED|SKIPPED|XFAIL)|(?:tests?/|\S+\.py )\S*(?:(?<=[.sxX])| +[.sxX]+) ",
)


def plan(page, ask):
    return failures.plan(page, ask, DIALECT)
