"""ck.py normalize: a tool output on stdin, what the model would read on stdout. The original is
stored first.
"""

from __future__ import annotations

import os
import re
import sys

from contextkernel.clients import cpu_limit, limits
from contextkernel.store import blobs, handles, recorder


def _arguments(argv: list[str]) -> tuple[str, int]:
    command, code, at = "", 0, 0
    while at < len(argv):
        name, _, value = argv[at].partition("=")
        if name not in ("--command", "--exit-code"):
            raise ValueError(
                f"unknown argument {argv[at]!r:.60} (usage: ck.py normalize --command CMD "
                "--exit-code N < raw)"
            )
        if "=" not in argv[at]:
            at += 1
            if at == len(argv):
                raise ValueError(f"{name} needs a value")
            value = argv[at]
        if name == "--command":
            command = value
        elif re.fullmatch(r"-?[0-9]{1,10}", value):
            code = int(value)
        else:
            raise ValueError(f"--exit-code {value!r:.20} is not a number")
        at += 1
    return command, code


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def main(argv: list[str]) -> int:
    """0, or 2 after one line on stderr. The raw bytes pass unchanged where the store cannot hold
    them.
    """
    from contextkernel.handlers import operators

    try:
        command, code = _arguments(argv)
    except ValueError as error:
        sys.stderr.write(f"ck.py normalize: {error}\n")
        return 2
    raw = sys.stdin.buffer.read()
    text = raw.decode("utf-8", "surrogateescape")
    source = (
        "Bash",
        command,
        code,
        blobs.handle_of(raw),
        limits.FAILURE_WHOLE_CHARS if code else limits.BASH_MAX_CHARS,
        handles.known_in(text),
    )
    try:
        text, rules = cpu_limit.call(operators.normal_forms, ([text], [source]), len(raw))[0]
    except (cpu_limit.LimitError, cpu_limit.OperatorError) as error:
        sys.stderr.write(f"ck.py normalize: original passed through: {error}\n")
        recorder.record("note", {"event": "ck.py normalize", "session": "", "why": str(error)})
        text, rules = "", ()
    shown = text.encode("utf-8", "surrogateescape") if rules else raw
    if rules:
        try:
            handle = blobs.put(raw)
        except blobs.StoreError as error:
            sys.stderr.write(f"ck.py normalize: original passed through: {error}\n")
            shown = raw
        else:
            recorder.record(
                "receipt",
                {
                    "tool": "Bash",
                    "lane": "cli",
                    "rule": "+".join(rules),
                    "command": command,
                    "handle": handle,
                    "raw": len(raw),
                    "host": len(raw),
                    "shown": len(shown),
                    "cwd": _folder(),
                    "lines": raw.count(b"\n") + 1,
                    "lines_shown": shown.count(b"\n") + 1,
                    "status": "",
                },
            )
    sys.stdout.buffer.write(shown)
    sys.stdout.buffer.flush()
    return 0
