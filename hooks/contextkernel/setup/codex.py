"""Codex: a small bundle as a marketplace of its own, the plugin from it, trust in its hooks when
the person agrees.
"""

from __future__ import annotations

import os

from contextkernel.clients import events
from contextkernel.clients.claude import settings_file
from contextkernel.setup import codex_bundle
from contextkernel.setup.codex_bundle import AppServer, Failed
from contextkernel.setup.context import MARKET, NAMED, Setup, program, run

PREFIX = NAMED + ":"


def home() -> str:
    """Codex's folder."""
    return os.environ.get("CODEX_HOME") or os.path.join(os.path.expanduser("~"), ".codex")


def bundle(setup: Setup) -> str:
    """Where the bundle is built."""
    return os.path.join(setup.state, "codex-bundle")


def found(setup: Setup) -> str:
    """The path of a Codex that can hold the plugin; "" when there is none."""
    codex = program("CODEX_BIN", "codex")
    if not codex:
        return ""
    said = run([codex, "--version"])
    number = codex_bundle.version(said)
    if number < codex_bundle.OLDEST:
        setup.note(
            f"Codex {said.strip()} is left alone: plugins work from "
            f"{'.'.join(map(str, codex_bundle.OLDEST))} on."
        )
        return ""
    return codex


def add(setup: Setup) -> None:
    """Sets Codex up; nothing where it is not installed. Running it again renews the bundle and
    the trust.
    """
    codex = found(setup)
    if not codex:
        return
    target, config = bundle(setup), os.path.join(home(), "config.toml")
    setup.say(f"build Codex's bundle in {target}")
    setup.say(f"{codex} plugin marketplace add {target}; plugin add {NAMED}")
    hooks = events.codex_hooks(setup.python)
    if setup.dry:
        show(
            setup,
            [
                hook["command"]
                for groups in hooks["hooks"].values()
                for group in groups
                for hook in group["hooks"]
            ],
        )
        return
    os.makedirs(home(), exist_ok=True)
    journal = settings_file.load_journal(setup.journals, config) or settings_file.Journal(
        config, settings_file.read(config), True
    )
    settings_file.save_journal(setup.journals, journal)
    try:
        codex_bundle.build(setup.root, target, setup.python, hooks)
        run([codex, "plugin", "marketplace", "add", target])
        run([codex, "plugin", "add", NAMED])
        trust(setup, codex)
    finally:
        settings_file.restore_line_ends(config, journal.before)


def show(setup: Setup, commands: list[str]) -> None:
    """The hook commands, one a line, as they will run."""
    setup.note(
        "Codex will run these hooks (short form of long outputs; nothing leaves this machine):"
    )
    for command in commands:
        setup.note("  " + command)


def trust(setup: Setup, codex: str) -> None:
    """Codex runs no hook that was not reviewed, and says nothing: shown here, and trusted only
    with consent.
    """
    with AppServer(codex, home()) as server:
        hooks = server.hooks(PREFIX)
        if not hooks:
            raise Failed(f"Codex lists no hooks of {NAMED}")
        if all(hook.status == "trusted" for hook in hooks):
            setup.note("Codex has the plugin, and its hooks are trusted.")
            return
        show(setup, [hook.command for hook in hooks])
        if not setup.agreed("Trust these hooks in Codex?"):
            setup.note(
                "Codex has the plugin, but skips its hooks until they are trusted: run "
                "install.sh --yes, or start codex and type /hooks."
            )
            return
        server.trust(hooks)
        if any(hook.status != "trusted" for hook in server.hooks(PREFIX)):
            raise Failed("Codex did not take the trust; start codex and type /hooks")
        setup.note("Codex has the plugin, and its hooks are trusted.")


def remove(setup: Setup) -> None:
    """Takes the plugin out of Codex. Trust first: it would stay behind in config.toml otherwise."""
    config = os.path.join(home(), "config.toml")
    journal = settings_file.load_journal(setup.journals, config)
    now = settings_file.read(config) or b""
    codex = found(setup)
    if codex and (MARKET.encode() in now or PREFIX.encode() in now):
        setup.say(
            f"{codex}: forget the hooks, plugin remove {NAMED}, plugin marketplace remove {MARKET}"
        )
        if not setup.dry:
            with AppServer(codex, home()) as server:
                server.forget(PREFIX)
            run([codex, "plugin", "remove", NAMED])
            run([codex, "plugin", "marketplace", "remove", MARKET])
    elif MARKET.encode() in now:
        setup.note(
            f"No `codex` on PATH, but {config} names the plugin: run --uninstall again with "
            "CODEX_BIN set."
        )
        return
    if setup.dry:
        return
    if journal:
        settings_file.restore_line_ends(config, journal.before)
    if (
        journal
        and journal.before is None
        and (settings_file.read(config) or b"").strip() == b""
        and os.path.exists(config)
    ):
        os.unlink(config)  # Codex made it for us
    for folder in (
        os.path.join(home(), "plugins", "cache", MARKET),
        os.path.join(home(), "plugins", "data", "context-kernel-" + MARKET),
    ):
        if os.path.isdir(folder) and not os.listdir(folder):
            os.rmdir(folder)
    codex_bundle.discard(bundle(setup))
    settings_file.drop_journal(setup.journals, config)
