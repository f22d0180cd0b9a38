"""The command line, `ck.py COMMAND …`: a row of COMMANDS and the module that it names."""

from __future__ import annotations

import sys
from typing import NamedTuple

from contextkernel import VERSION


class Command(NamedTuple):
    """A row: the module with `main(argv) -> exit code`, imported when asked for, and what it does
    in a line.
    """

    module: str
    summary: str


COMMANDS = {
    "normalize": Command(
        "contextkernel.commands.normalize",
        "shorten a tool output: the original on stdin, what a model would read on stdout",
    ),
    "recall": Command(
        "contextkernel.commands.recall", "print a stored original, byte for byte, or lines of it"
    ),
    "slice": Command(
        "contextkernel.commands.slice",
        "print the places of a repository that a traceback, failing test or issue points to",
    ),
    "symbol": Command(
        "contextkernel.commands.symbol", "print what one definition needs, by line ranges"
    ),
    "savings": Command("contextkernel.commands.savings", "print the report of what was saved"),
    "failure-lane": Command(
        "contextkernel.commands.failure_lane",
        "switch the shell prefix for failing commands on or off, or say which it is",
    ),
}


def overview() -> str:
    """What `ck.py help` prints: the commands, a line each."""
    width = max(map(len, COMMANDS))
    rows = [f"  {name.ljust(width)}  {row.summary}\n" for name, row in COMMANDS.items()]
    return (
        "usage: ck.py COMMAND [arguments]\n\nCommands:\n" + "".join(rows) + "\n"
        "`ck.py COMMAND --help` shows its arguments with examples, `ck.py --version` the version.\n"
        "Exit 0; a wrong call exits 2 with one line on stderr.\n"
    )


def main(argv: list[str]) -> int:
    """The exit code of the named command."""
    name, rest = (argv[0] if argv else "help"), argv[1:]
    if name == "help" and rest:  # `ck.py help slice`
        name, rest = rest[0], ["--help"]
    if name in ("help", "-h", "--help"):
        sys.stdout.write(overview())
        return 0
    if name == "--version":
        print(f"context-kernel {VERSION}")
        return 0
    if name not in COMMANDS:
        sys.stderr.write(f"ck.py: unknown command {name!r:.60}; commands: {', '.join(COMMANDS)}\n")
        return 2
    import importlib

    return int(importlib.import_module(COMMANDS[name].module).main(rest))
