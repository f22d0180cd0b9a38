"""ck: the command line of context-kernel.

    ck.py normalize --command CMD --exit-code N < raw     the operator as a filter
    ck.py recall HANDLE [--lines A-B | --grep RE] [--any] a stored original, byte for byte
    ck.py slice --repo DIR --symptom FILE --budget N      the places of a repository that a symptom points to
    ck.py symbol FILE NAME                                what one definition needs, by line ranges
    ck.py savings                                         the report
    ck.py failure-lane on|off|status                      the shell prefix that lets failures be read whole

Exit 0; a wrong call exits 2 with one line on stderr.
"""

from __future__ import annotations

import sys

COMMANDS = {  # name: module with main(argv) -> exit code, imported when named
    "normalize": "contextkernel.commands.normalize",
    "recall": "contextkernel.commands.recall",
    "slice": "contextkernel.commands.slice",
    "symbol": "contextkernel.commands.symbol",
    "savings": "contextkernel.commands.savings",
    "failure-lane": "contextkernel.commands.failure_lane",
}


def main(argv: list[str]) -> int:
    """The exit code of the named command."""
    if argv[:1] in (["-h"], ["--help"], ["help"]):
        print(__doc__.strip())
        return 0
    if not argv or argv[0] not in COMMANDS:
        sys.stderr.write(
            "ck.py: %s; commands: %s\n"
            % (f"unknown command {argv[0]!r:.60}" if argv else "no command", ", ".join(COMMANDS))
        )
        return 2
    import importlib

    from contextkernel.store import settings

    try:
        if argv[0] != "normalize":  # the filter says so itself, and passes the original
            settings.guard()
    except settings.ForeignStateError as error:
        sys.stderr.write(f"ck.py {argv[0]}: {error}\n")
        return 2
    return importlib.import_module(COMMANDS[argv[0]]).main(argv[1:])
