"""Severity of a line, by the words tools use when something is wrong.

Word sets, not one large pattern: compiling that costs 2 ms in every hook process.
"""

from __future__ import annotations

import re

FAULT, WARNING, CALM = 0, 1, 2
FAULTS = frozenset(
    "error errors err fail failed failure failures failing fails fatal panic panicked exception "
    "exceptions traceback critical crit emerg alert severe denied refused timeout "
    "timeouts killed abort aborted aborting unable cannot can't couldn't mismatch mismatched "
    "conflict conflicts undefined undeclared unresolved invalid illegal corrupt corrupted "
    "corruption rejected unreachable unhealthy unauthorized forbidden segmentation segfault oom "
    "oomkilled overflow deadlock expired violated violation violates crash crashed "
    "crashloopbackoff missing broken bad lost stacktrace assert assertion leak leaked refusing "
    "failedmount evicted notready".split()
)
WARNINGS = frozenset(
    (
        "warn warning warnings warned deprecated deprecation obsolete retry retrying slow "
        "vulnerability vulnerabilities skipped ignored unused deleted removed stale caution"
    ).split()
)
PHRASES = (
    "not ok",
    "not found",
    "no such",
    "timed out",
    "must be replaced",
    "forces replacement",
    "caused by",
    "core dumped",
    "out of memory",
    "could not",
    "stack trace",
    "错误",
    "失败",
    "エラー",
    "오류",
    "실패",
    "ошибк",
    "✗",
    "✘",
    "❌",
    "✖",
    "💥",
)
WORDS = re.compile(r"[a-z']+")
NAMES = re.compile(r"[A-Za-z](?:Error|Exception|Failure|BackOff)(?![a-z])|\bE\d{3,4}\b")
WARNING_NAMES = re.compile(r"[A-Za-z]Warning(?![a-z])|⚠")
NONE = re.compile(
    r"(?i)\b(?:0|no) (?:errors?|failures?|failed|warnings?|failing|vulnerabilities|conflicts?)\b"
    r"|\b(?:fail(?:ed|ures?)?|errors?)[\"':= ]{1,4}(?:0|null|none|false)\b"
    r"|(?<![\w./-])[\w./-]*(?:error|fail|exception|warn)[\w-]{0,100}\.(?:py|rs|go|tsx?|js|java|c|h"
    r"|cpp|rb|md|txt|log|css)\b"
)  # none of it; a file that is named so


def severity(line: str) -> int:
    """FAULT, WARNING or CALM; only the first 600 and last 200 characters are looked at."""
    if len(line) > 900:
        line = line[:600] + " " + line[-200:]
    lowered = line.lower()
    words = set(WORDS.findall(lowered))
    if words & FAULTS or any(phrase in lowered for phrase in PHRASES) or NAMES.search(line):
        calm = NONE.sub(" ", line)
        if calm == line:
            return FAULT
        lowered = calm.lower()
        words = set(WORDS.findall(lowered))
        if words & FAULTS or any(phrase in lowered for phrase in PHRASES) or NAMES.search(calm):
            return FAULT
    return WARNING if words & WARNINGS or WARNING_NAMES.search(line) else CALM


def first_fault(line: str, start: int, end: int) -> int:
    """Where the first word of fault stands between two offsets, or -1."""
    for match in WORDS.finditer(line.lower(), start, end):
        if match.group(0) in FAULTS:
            return match.start()
    return -1
