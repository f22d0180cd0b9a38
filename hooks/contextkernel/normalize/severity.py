"""Severity of a line, by the words tools use when something is wrong."""
from __future__ import annotations

import re

FAULT, WARNING, CALM = 0, 1, 2
_FAULT = re.compile(
    r"(?i)\b(?:errors?|err|fail(?:ed|ure|ures|ing|s)?|fatal|panic(?:ked)?|exceptions?|traceback|critical|crit|emerg|alert|severe|denied|refused|"
    r"timed?[ -]?out|timeouts?|killed|abort(?:ed|ing)?|not ok|unable|cannot|can't|could ?n[o']t|mismatch(?:ed)?|conflicts?|must be replaced|"
    r"forces replacement|caused by|not found|no such|undefined|undeclared|unresolved|invalid|illegal|corrupt(?:ed|ion)?|rejected|unreachable|"
    r"unhealthy|unauthorized|forbidden|segmentation|segfault|core dumped|out of memory|oom(?:killed)?|overflow|deadlock|expired|violat(?:ed|ion|es)|"
    r"crash(?:ed|loopbackoff)?|missing|broken|bad|lost|stack ?trace|assert(?:ion)?|leak(?:ed)?)\b"
    r"|[A-Za-z](?:Error|Exception|Failure|BackOff)\b|错误|失败|エラー|오류|실패|ошибк|\bE\d{3,4}\b|[✗✘❌✖×💥]"
)
_WARNING = re.compile(r"(?i)\b(?:warn(?:ing|ings|ed)?|deprecated|deprecation|obsolete|retry(?:ing)?|slow|vulnerabilit(?:y|ies)|skipped|ignored|unused|deleted|removed|stale|caution)\b|[A-Za-z]Warning\b|⚠")
_NO_FAULT = re.compile(r"(?i)\b(?:0|no) (?:errors?|failures?|failed|warnings?|failing|vulnerabilities|conflicts?)\b(?:, (?:0|no) \w+)*|\bfail(?:ed|ures?)?[:=] ?0\b|\berrors?[:=] ?(?:0|null|none|false)\b|\"error\": null|\b[\w./-]*(?:error|fail|exception|warn)[\w-]*\.(?:py|rs|go|ts|tsx|js|java|c|h|cpp|rb|md|txt|log|css)\b")


def severity(line: str) -> int:
    """FAULT, WARNING or CALM; only the first 600 and last 200 characters are looked at."""
    if len(line) > 900:
        line = line[:600] + " " + line[-200:]
    if _FAULT.search(line):
        calm = _NO_FAULT.sub(" ", line)
        if calm == line or _FAULT.search(calm):
            return FAULT
        line = calm
    return WARNING if _WARNING.search(line) else CALM
