"""ck.py normalize: a tool output on stdin, what the model would read on stdout. The original is
stored first.
"""

from __future__ import annotations

import argparse
import re
import sys

from contextkernel.clients import cpu_limit, limits
from contextkernel.commands import cli
from contextkernel.handlers import operators, rewrite
from contextkernel.receipt import Receipt
from contextkernel.store import recorder

EXAMPLES = (
    "journalctl -n 5000 | ck.py normalize --command journalctl",
    "pytest > out.txt 2>&1; ck.py normalize --command pytest --exit-code $? < out.txt",
)


def _arguments(argv: list[str]) -> tuple[str, int]:
    """(command, exit code)."""
    parser = cli.command_parser("normalize", EXAMPLES)
    parser.add_argument(
        "--command", metavar="CMD", default="", help="the command line that made the output"
    )
    parser.add_argument(
        "--exit-code", metavar="N", type=_exit_code, default=0, help="its exit code (default 0)"
    )
    given = parser.options(argv, guarded=False)  # the original passes, and says so itself
    return given.command, given.exit_code


def _exit_code(text: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,10}", text):
        raise argparse.ArgumentTypeError(f"{text!r:.20} is not a number")
    return int(text)


def main(argv: list[str]) -> int:
    """0, or 2 after one line on stderr. The raw bytes pass unchanged where the store cannot hold
    them.
    """
    command, code = _arguments(argv)
    sys.stdout.buffer.write(_shown(sys.stdin.buffer.read(), command, code))
    sys.stdout.buffer.flush()
    return 0


def _shown(raw: bytes, command: str, code: int) -> bytes:
    """What the model would read of an output; the output itself where nothing is hidden."""
    job = rewrite.Job(
        [raw],
        operators.normal_forms,
        Receipt(tool="Bash", lane="cli", command=command, cwd=cli.folder()),
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
