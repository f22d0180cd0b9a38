"""ck.py symbol FILE NAME [--budget N|auto] [--json]: the lines of a file that one symbol needs.

NAME is `function`, `Class`, `Class.method` or a variable.  Without --budget all that is needed is shown; with it
the nearest parts that fit N tokens (bytes/4), the rest as an outline.  Exit 2 with one line on stderr when the
file cannot be read or has no such symbol.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import tokenize
from typing import NoReturn

from contextkernel.clients.claude import context_budget
from contextkernel.store import files, settings
from contextkernel.symbols.manifest import UnknownSymbolError, answer, in_text

MOST_BYTES = 64 << 20  # of the file


def main(argv: list[str]) -> int:
    """The exit code: 0 with the slice on stdout, 2 with one line on stderr."""
    options = _options().parse_args(argv)
    try:
        source = decoded(options.file)
        facts = answer(options.file, source, options.name, options.budget)
    except (OSError, UnknownSymbolError) as fault:
        sys.stderr.write("ck.py symbol: %s\n" % str(fault).replace("\n", " "))
        return 2
    text = json.dumps(facts) + "\n" if options.json else in_text(facts, source)
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    return 0


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """A wrong call: exit 2 with one line."""
        self.exit(2, f"ck.py symbol: {message}\n")


def _options() -> argparse.ArgumentParser:
    parser = _Parser(prog="ck.py symbol", allow_abbrev=False, description=__doc__.split("\n")[0])
    parser.add_argument("file")
    parser.add_argument("name")
    parser.add_argument("--budget", type=_positive, help="tokens at most")
    parser.add_argument("--json", action="store_true")
    return parser


def _positive(text: str) -> int:
    if text == "auto":
        return context_budget.auto_budget(dict(os.environ), settings.number("CK_BUDGET_MAX")).tokens
    if not (text.isdecimal() and len(text) < 19) or not int(text):
        raise argparse.ArgumentTypeError(f"a number of tokens is wanted, not {text!r:.40}")
    return int(text)


def decoded(path: str) -> str:
    """The text of a file: by its encoding line or byte order mark, else UTF-8 with replacement.
    Raises OSError.
    """
    data = files.content(path, MOST_BYTES)
    try:
        encoding = (
            tokenize.detect_encoding(io.BytesIO(data).readline)[0]
            if path.endswith((".py", ".pyi"))
            else "utf-8"
        )
    except SyntaxError:
        encoding = "utf-8"
    return data.decode(encoding, "replace").lstrip("\ufeff")
