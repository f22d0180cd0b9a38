"""install.sh's work: what to set up or take out, in which order, with whose consent.

    bash install.sh                  plugin into Claude Code, bundle into Codex, then a demonstration
    bash install.sh --scripts        for places without plugins or MCP: script hooks in Claude Code's settings.json instead
    bash install.sh --uninstall      all of it out again; files nobody touched since are byte for byte what they were

    --yes            answer yes: the allow rule for recall, Codex's trust in the hooks, --purge
    --failure-lane   also let failing commands be read whole (sets CLAUDE_CODE_SHELL_PREFIX in your settings)
    --purge          with --uninstall: remove the state folder too (stored outputs, ledger, indexes)
    --dry-run        only say what would be done
    --no-claude  --no-codex  --no-demo   leave that part out

Environment: CLAUDE_BIN, CODEX_BIN, PYTHON name programs; CLAUDE_CONFIG_DIR, CODEX_HOME, CK_DATA name folders.
Exit: 0 done, 1 a step failed (said on stderr), 2 wrong call.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

from contextkernel import VERSION
from contextkernel.clients.claude.settings_file import Refused
from contextkernel.paths import PLUGIN_ROOT
from contextkernel.setup.codex_bundle import Failed
from contextkernel.setup.context import Setup
from contextkernel.store import settings

FLAGS = (
    "scripts",
    "uninstall",
    "purge",
    "dry-run",
    "yes",
    "failure-lane",
    "no-claude",
    "no-codex",
    "no-demo",
)


def wanted(argv: list[str]) -> set[str]:
    """The flags given, without dashes. Raises ValueError with one line."""
    flags = set()
    for word in argv:
        name = word[2:] if word.startswith("--") else {"-y": "yes", "-n": "dry-run"}.get(word, "")
        if name not in FLAGS:
            raise ValueError(
                f"unknown option {word!r:.40} (options: {' '.join('--' + flag for flag in FLAGS)})"
            )
        flags.add(name)
    if "purge" in flags and "uninstall" not in flags:
        raise ValueError("--purge goes with --uninstall")
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

    if set(argv) & {"-h", "--help"}:
        print(__doc__.strip())
        return 0
    try:
        flags = wanted(argv)
        settings.guard()
    except (ValueError, settings.ForeignStateError) as error:
        sys.stderr.write(f"install.sh: {error}\n")
        return 2
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
