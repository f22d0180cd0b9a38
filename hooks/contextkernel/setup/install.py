"""install.sh's work: what to set up or take out, in which order, with whose consent."""

from __future__ import annotations

import sys
from typing import NamedTuple

from contextkernel import VERSION
from contextkernel.clients.claude.settings_file import Refused
from contextkernel.commands import cli
from contextkernel.paths import PLUGIN_ROOT
from contextkernel.setup.codex_bundle import Failed
from contextkernel.setup.context import Setup
from contextkernel.store import settings

FLAGS = {  # option: what it does
    "scripts": "script hooks in Claude Code's settings.json instead of the plugin, for places "
    "without plugins or MCP",
    "uninstall": "take all of it out again; files that nobody touched since are byte for byte "
    "what they were",
    "purge": "with --uninstall: remove the state folder too (stored outputs, ledger, indexes)",
    "dry-run": "only say what would be done",
    "yes": "answer yes: the allow rule for recall, Codex's trust in the hooks, --purge",
    "failure-lane": "also let failing commands be read whole (sets CLAUDE_CODE_SHELL_PREFIX in "
    "your settings)",
    "no-claude": "leave Claude Code out",
    "no-codex": "leave Codex out",
    "no-demo": "leave the demonstration out",
}
SHORT = {"yes": "-y", "dry-run": "-n"}
SUMMARY = (
    "put the plugin into Claude Code and a bundle into Codex, then show on real output what it does"
)
EXAMPLES = (
    "bash install.sh",
    "bash install.sh --yes --no-codex",
    "bash install.sh --uninstall --dry-run",
)
NOTES = """

Environment: CLAUDE_BIN, CODEX_BIN, PYTHON name programs; CLAUDE_CONFIG_DIR, CODEX_HOME, CK_DATA
name folders.
Exit: 0 done, 1 a step failed (said on stderr), 2 wrong call."""


def wanted(argv: list[str]) -> set[str]:
    """The flags given, without dashes."""
    parser = cli.Parser("install.sh", SUMMARY, EXAMPLES, NOTES)
    for name, meaning in FLAGS.items():
        short = [SHORT[name]] if name in SHORT else []
        parser.add_argument(
            f"--{name}", *short, action="append_const", dest="flags", const=name, help=meaning
        )
    flags = set(parser.options(argv).flags or ())
    if "purge" in flags and "uninstall" not in flags:
        parser.error("--purge goes with --uninstall")
    return flags


class Part(NamedTuple):
    """One thing to set up: the flag that leaves it out, its module, imported when wanted."""

    name: str
    module: str


PARTS = (Part("claude", "contextkernel.setup.claude"), Part("codex", "contextkernel.setup.codex"))


def attempt(step, *arguments) -> bool:
    """Whether a step went through; what stopped it is said on stderr."""
    try:
        step(*arguments)
        return True
    except (Refused, Failed, OSError) as error:
        sys.stdout.flush()
        sys.stderr.write(f"install.sh: {error}\n")
        return False


def main(argv: list[str]) -> int:
    """The exit code. Parts do not depend on each other: one that fails does not keep the others
    from running.
    """
    from importlib import import_module

    flags = wanted(argv)
    setup = Setup(PLUGIN_ROOT, settings.data_root(), frozenset(flags))
    print(
        f"context-kernel {VERSION}, {setup.root}, Python {sys.version_info[0]}."
        f"{sys.version_info[1]} ({setup.python})"
    )
    step = "remove" if "uninstall" in flags else "add"
    done = [
        attempt(getattr(import_module(part.module), step), setup)
        for part in PARTS
        if "no-" + part.name not in flags
    ]
    if step == "add" and "no-demo" not in flags:
        done.append(attempt(import_module("contextkernel.setup.demo").show, setup))
    if "purge" in flags:
        done.append(attempt(import_module("contextkernel.setup.purge").purge, setup))
    elif step == "remove":
        setup.say(f"stored outputs stay in {setup.state}; --purge removes them")
    return 0 if all(done) else 1
