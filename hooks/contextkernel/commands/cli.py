"""The one reader of arguments: help with examples, the version, and one line for a wrong call."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from typing import NoReturn

from contextkernel import VERSION
from contextkernel.commands import COMMANDS
from contextkernel.store import settings

AUTO = 0  # tokens: a budget by what the session's window leaves
LONGEST_COMPLAINT = 300  # characters of the line for a wrong call


class Parser(argparse.ArgumentParser):
    """The arguments of one program. Names are never shortened; a wrong call exits 2 with one line
    on stderr.
    """

    def __init__(
        self, program: str, summary: str, examples: Iterable[str], notes: str = ""
    ) -> None:
        super().__init__(
            prog=program,
            description=summary[:1].upper() + summary[1:] + ".",
            epilog="Examples:\n" + "\n".join("  " + example for example in examples) + notes,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.add_argument(
            "--version",
            action="version",
            version=f"context-kernel {VERSION}",
            help="print the version and exit",
        )

    def options(self, argv: list[str], guarded: bool = True) -> argparse.Namespace:
        """The arguments as values. `guarded`: a state folder of somebody else's is refused too."""
        given = self.parse_args(self._joined(argv))
        try:
            if guarded:
                settings.guard()
        except settings.ForeignStateError as error:
            self.refuse(str(error))
        return given

    def _joined(self, argv: list[str]) -> list[str]:
        """The words with each option's value joined to it, so that a value may begin with a dash:
        `--grep -x` as `--grep=-x`.
        """
        valued = {
            name
            for action in self._actions
            if action.option_strings and action.nargs is None
            for name in action.option_strings
        }
        joined, rest = [], list(argv)
        while rest:
            word = rest.pop(0)
            if word == "--":
                return joined + [word] + rest
            joined.append(f"{word}={rest.pop(0)}" if word in valued and rest else word)
        return joined

    def error(self, message: str) -> NoReturn:
        """Ends a wrong call; the line says where to read on."""
        self.refuse(f"{' '.join(message.split())[:LONGEST_COMPLAINT]} (see {self.prog} --help)")

    def refuse(self, reason: str) -> NoReturn:
        """Ends a call that cannot be answered: exit 2 with one line."""
        self.exit(2, f"{self.prog}: {' '.join(reason.split())}\n")


def command_parser(name: str, examples: Iterable[str]) -> Parser:
    """The parser of a command, described by its row of COMMANDS."""
    return Parser(f"ck.py {name}", COMMANDS[name].summary, examples)


def add_budget(parser: Parser, otherwise: str) -> None:
    """The option of both slicers; `otherwise` says what holds without it."""
    parser.add_argument(
        "--budget",
        metavar="N|auto",
        type=_budget,
        help=f"tokens at most; auto: what the session's window leaves; without it {otherwise}",
    )


def _budget(text: str) -> int:
    """Tokens, or AUTO."""
    if text == "auto":
        return AUTO
    if not (_is_number(text) and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r:.40} is not a number of tokens, nor auto")
    return int(text)


def whole_number(text: str) -> int:
    """A number without a sign, of at most 18 digits."""
    if not _is_number(text):
        raise argparse.ArgumentTypeError(f"{text!r:.40} is not a whole number")
    return int(text)


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) < 19


def folder() -> str:
    """The folder of the call; "" where it is gone."""
    try:
        return os.getcwd()
    except OSError:
        return ""
