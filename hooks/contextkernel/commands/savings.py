"""`ck.py savings`: its options, and what to do about a ledger that cannot be read."""

from __future__ import annotations

import argparse
import sys
import time

from contextkernel.commands import cli
from contextkernel.commands.savings_report import reported

EXAMPLES = ("ck.py savings --since 7", "ck.py savings --session 3fb21c09 --json")


def main(argv: list[str]) -> int:
    """0 after printing the report; 2 after one line on stderr."""
    import sqlite3

    from contextkernel.store import blobs

    options = _arguments(argv)
    try:
        return _whole(options)
    except (ValueError, OSError, blobs.StoreError, sqlite3.Error) as error:
        sys.stderr.write(f"ck.py savings: {error}\n")
        return 2


def _whole(options: argparse.Namespace) -> int:
    """0 after printing; a ledger that turns out to be damaged is set aside, and the new one
    reported. Raises StoreError, sqlite3.Error.
    """
    import sqlite3

    from contextkernel.store import aside, ledger

    try:
        return reported(options, ledger.open_ledger())
    except sqlite3.Error as error:
        if not aside.is_damage(error):
            raise
    return reported(options, ledger.open_ledger(suspect=True))


def _arguments(argv: list[str]) -> argparse.Namespace:
    parser = cli.command_parser("savings", EXAMPLES)
    parser.add_argument("--session", metavar="ID", help="only sessions whose id begins so")
    parser.add_argument(
        "--since",
        metavar="DAYS|DATE",
        type=_since,
        default=0.0,
        help="only so many days, or since a date (YYYY-MM-DD)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--reset-canary",
        action="store_true",
        help="forget that the client rejected replacements, and try again",
    )
    return parser.options(argv)


def _since(value: str) -> float:
    """Seconds since the epoch: so many days ago, or a date at midnight local time."""
    if value.replace(".", "", 1).isdigit():
        return time.time() - float(value) * 86400
    try:
        return time.mktime(time.strptime(value, "%Y-%m-%d"))
    except (ValueError, OverflowError) as error:
        raise argparse.ArgumentTypeError(
            f"{value!r:.40} is neither a number of days nor YYYY-MM-DD"
        ) from error
