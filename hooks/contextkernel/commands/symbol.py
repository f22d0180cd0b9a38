"""ck.py symbol: the lines of a file that one symbol needs, or the nearest of them that fit a budget
(bytes/4), the rest as an outline.
"""

from __future__ import annotations

import io
import json
import os
import sys
import tokenize

from contextkernel.clients.claude import context_budget
from contextkernel.commands import cli
from contextkernel.store import files, settings
from contextkernel.symbols.manifest import UnknownSymbolError, answer
from contextkernel.symbols.manifest_text import in_text

EXAMPLES = (
    "ck.py symbol src/app/loader.py Loader.open",
    "ck.py symbol src/app/loader.py Loader --budget 2000",
)
MOST_BYTES = 64 << 20  # of the file


def main(argv: list[str]) -> int:
    """0 with the slice on stdout; leaves with 2 where there is no such file or symbol."""
    parser = _parser()
    options = parser.options(argv)
    try:
        source = decoded(options.file)
        facts = answer(options.file, source, options.name, _limit(options.budget))
    except (OSError, UnknownSymbolError) as fault:
        parser.refuse(str(fault))
    text = json.dumps(facts) + "\n" if options.json else in_text(facts, source)
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    return 0


def _parser() -> cli.Parser:
    parser = cli.command_parser("symbol", EXAMPLES)
    parser.add_argument("file", metavar="FILE")
    parser.add_argument(
        "name", metavar="NAME", help="`function`, `Class`, `Class.method` or a variable"
    )
    cli.add_budget(parser, "everything that is needed")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _limit(budget: int | None) -> int | None:
    """Tokens at most; None for all that is needed."""
    if budget != cli.AUTO:
        return budget
    return context_budget.auto_budget(dict(os.environ), settings.number("CK_BUDGET_MAX")).tokens


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
