"""ck.py normalize: a tool output on stdin, what the model would read on stdout. The original is
stored first.
"""

from __future__ import annotations

import argparse
import re
import sys

from contextkernel.clients import cpu_limit
from contextkernel.commands import cli
from contextkernel.store import blobs, handles, recorder

FAILURE_MOST = 9900  # characters: the client cuts failing output above 10,000
SUCCESS_MOST = 30000


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
    from contextkernel.handlers import operators

    command, code = _arguments(argv)
    raw = sys.stdin.buffer.read()
    text = raw.decode("utf-8", "surrogateescape")
    source = (
        "Bash",
        command,
        code,
        blobs.handle_of(raw),
        FAILURE_MOST if code else SUCCESS_MOST,
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
                    "cwd": cli.folder(),
                    "lines": raw.count(b"\n") + 1,
                    "lines_shown": shown.count(b"\n") + 1,
                    "status": "",
                },
            )
    sys.stdout.buffer.write(shown)
    sys.stdout.buffer.flush()
    return 0
