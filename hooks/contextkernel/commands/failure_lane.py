"""ck.py failure-lane: switches on, off or shows the shell prefix that lets Claude Code show
failures whole.
"""

from __future__ import annotations

import os
import sys

from contextkernel.clients.claude import shell_prefix
from contextkernel.clients.claude.settings_file import Refused
from contextkernel.commands import cli
from contextkernel.paths import PLUGIN_ROOT
from contextkernel.store import settings

EXAMPLES = ("ck.py failure-lane status", "ck.py failure-lane on --yes")


def _options(argv: list[str]) -> tuple[str, bool]:
    """(what to do, whether it was agreed to)."""
    parser = cli.command_parser("failure-lane", EXAMPLES)
    parser.add_argument("verb", choices=("on", "off", "status"), metavar="on|off|status")
    parser.add_argument("--yes", action="store_true", help="with `on`: switch on without asking")
    given = parser.options(argv)
    if given.yes and given.verb != "on":
        parser.error("--yes goes with `on`")
    return given.verb, given.yes


def main(argv: list[str]) -> int:
    """0; 1 when nothing was changed (refused, or not agreed to); 2 after a wrong call."""
    verb, agreed = _options(argv)
    state, path = settings.data_root(), shell_prefix.settings_path()
    try:
        if verb == "status":
            return _status(shell_prefix.status(state, path))
        return _on(state, path, agreed) if verb == "on" else _off(state, path)
    except Refused as error:
        sys.stderr.write(f"ck.py failure-lane: {error}\n")
        return 1


def _on(state: str, path: str, agreed: bool) -> int:
    plan = f"sets env.{shell_prefix.PREFIX} in {path} to {shell_prefix.status(state, path).wrapper}"
    if not agreed and not _agrees(plan):
        print(f"Not switched on. It {plan}; `ck.py failure-lane on --yes` does it.")
        return 1
    chained = shell_prefix.switch_on(
        state,
        PLUGIN_ROOT,
        shell_prefix.interpreter(),
        path,
        os.environ.get(shell_prefix.PREFIX, ""),
    )
    also = f" Your own prefix stays in force behind it: {chained}." if chained else ""
    print(
        f"The failure lane is on: it {plan}.{also} Takes effect in sessions started from now on; "
        "`ck.py failure-lane off` undoes it."
    )
    return 0


def _agrees(plan: str) -> bool:
    """Whether a person at a terminal says yes."""
    if not sys.stdin or not sys.stdin.isatty():
        return False
    sys.stdout.write(
        f"The failure lane {plan}. Every shell command of Claude Code is then started "
        "through that file. Switch it on? [y/N] "
    )
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _off(state: str, path: str) -> int:
    wrapper, named = shell_prefix.status(state, path).wrapper, shell_prefix.switch_off(state, path)
    which = f": {path} is as it was" if named else f"; {path} did not name it"
    print(
        f"The failure lane is off{which}. {wrapper} stays for sessions that still run; it passes "
        "everything through."
    )
    return 0


def _status(now: shell_prefix.Status) -> int:
    if now.named == now.wrapper and now.root:
        then = f" and then {now.chained}" if now.chained else ""
        print(f"on: {now.settings} names {now.wrapper}, which starts {now.root}{then}")
    elif now.named == now.wrapper:
        print(
            f"half on: {now.settings} names {now.wrapper}, which passes everything through; "
            "`failure-lane on` or `off` mends it"
        )
    else:
        print(f"off: {now.settings} names {now.named or 'no shell prefix'}")
    return 0
