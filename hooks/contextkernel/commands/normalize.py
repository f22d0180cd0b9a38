"""ck.py normalize: a tool output on stdin, what the model would read on stdout. The original is
stored first.
"""

from __future__ import annotations

import os
import re
import sys

from contextkernel.clients import cpu_limit, limits
from contextkernel.handlers import operators, rewrite
from contextkernel.receipt import Receipt
from contextkernel.store import recorder


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
    try:
        command, code = _arguments(argv)
    except ValueError as error:
        sys.stderr.write(f"ck.py normalize: {error}\n")
        return 2
    sys.stdout.buffer.write(_shown(sys.stdin.buffer.read(), command, code))
    sys.stdout.buffer.flush()
    return 0


def _shown(raw: bytes, command: str, code: int) -> bytes:
    """What the model would read of an output; the output itself where nothing is hidden."""
    job = rewrite.Job(
        [raw],
        operators.normal_forms,
        Receipt(tool="Bash", lane="cli", command=command, cwd=_folder()),
        exit_code=code,
        cap=limits.FAILURE_WHOLE_CHARS if code else limits.BASH_MAX_CHARS,
        host=lambda size: size,
        command=command,
    )
    try:
        change = rewrite.rewrite(job, _texts)
    except rewrite.NotRewrittenError as error:
        if error.reason.is_telling:
            _say(str(error), is_noted=not isinstance(error, rewrite.NotStoredError))
        return raw
    except cpu_limit.OperatorError as error:
        _say(str(error), is_noted=True)
        return raw
    return _texts(change)[0]


def _texts(change: rewrite.Change) -> list[bytes]:
    return [text.encode("utf-8", "surrogateescape") for text, _ in change.forms]


def _say(why: str, is_noted: bool) -> None:
    sys.stderr.write(f"ck.py normalize: original passed through: {why}\n")
    if is_noted:  # what the store could not take, it may not take a note of either
        recorder.record_note("ck.py normalize", "", why)
