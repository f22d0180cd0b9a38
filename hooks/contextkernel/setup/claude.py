"""Claude Code: the plugin from this folder, or script hooks in settings.json; the allow rule for
recall; the failure lane.
"""

from __future__ import annotations

import json
import os
import subprocess

from contextkernel import VERSION
from contextkernel.clients import events
from contextkernel.clients.claude import settings_file
from contextkernel.setup.codex_bundle import Failed
from contextkernel.setup.context import MARKET, NAMED, Setup, program, run

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

RECALL_RULE = "mcp__plugin_context-kernel_kernel__recall"
# keys that we, or the client for us, write into
OURS = ("hooks", "permissions", "enabledPlugins", "extraKnownMarketplaces", "env")
PASTE = "/plugin marketplace add %s\n/plugin install " + NAMED


def settings_path() -> str:
    """The user's settings.json."""
    return os.path.join(
        os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude"),
        "settings.json",
    )


def add(setup: Setup) -> None:
    """Sets Claude Code up. The settings file is read first: one that is not plain JSON stops
    everything before anything is written.
    """
    claude, path = program("CLAUDE_BIN", "claude"), settings_path()
    journal = settings_file.opened(setup.journals, path)
    if journal.before and MARKET.encode() in journal.before:
        # set up by hand before: putting that back would be no removal
        journal = journal._replace(exact=False)
    if not setup.dry:
        settings_file.save_journal(setup.journals, journal)
    try:
        if "scripts" in setup.flags:
            journal = add_scripts(setup, journal)
        elif claude:
            add_plugin(setup, claude)
        else:
            setup.note(
                (
                    "No `claude` on PATH (CLAUDE_BIN names one). In Claude Code, type these two "
                    "lines:\n"
                )
                + PASTE % setup.root
            )
        if "scripts" not in setup.flags:
            journal = offer_rule(setup, journal)
        if "failure-lane" in setup.flags:
            journal = journal._replace(lane=True)
            lane(setup, "on")
    finally:
        if not setup.dry:
            settings_file.save_journal(
                setup.journals,
                journal._replace(after=settings_file.digest(settings_file.read(path))),
            )


def add_plugin(setup: Setup, claude: str) -> None:
    """Marketplace and plugin, through the client itself, unless they are there already. Another
    folder's marketplace is pointed here.
    """
    markets, plugins = (
        ([], []) if setup.dry else (listed(claude, "marketplace", "list"), listed(claude, "list"))
    )
    steps = (
        []
        if any(row.get("name") == MARKET and row.get("path") == setup.root for row in markets)
        else [["marketplace", "add", setup.root]]
    )
    steps += [] if any(works(row) for row in plugins) else [["install", NAMED]]
    for words in steps:
        setup.say(f"{claude} plugin {' '.join(words)}")
        if not setup.dry:
            run([claude, "plugin"] + words)
    if setup.dry:
        return
    rows = [row for row in listed(claude, "list") if row.get("id") == NAMED]
    if not any(works(row) for row in rows):
        raise Failed(f"Claude Code lists no working {NAMED}: {json.dumps(rows)[:300]}")
    if any(row.get("version") != VERSION for row in rows):
        run([claude, "plugin", "update", NAMED])
    setup.note("Claude Code has the plugin; it is on from the next session.")
    warn_of_old_python(setup)


def listed(claude: str, *words: str) -> list[dict[str, Any]]:
    """The rows of a `claude plugin … --json` list."""
    rows: list[dict[str, Any]] = json.loads(run([claude, "plugin", *words, "--json"]))
    return rows


def works(row: dict[str, Any]) -> bool:
    """Whether a row of the plugin list is ours, for this user, switched on and loaded."""
    return (
        row.get("id") == NAMED
        and row.get("scope") == "user"
        and bool(row.get("enabled"))
        and not row.get("errors")
    )


def warn_of_old_python(setup: Setup) -> None:
    """Says so when the `python3` that sessions will find is none or too old, although this one
    is not.
    """
    check = ["python3", "-I", "-c", "import sys; sys.exit(sys.version_info < (3, 9))"]
    try:
        fits = (
            subprocess.run(
                check,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=30,
            ).returncode
            == 0
        )
    except OSError:
        fits = False
    if not fits:
        setup.note(
            "But the plugin starts `python3`, which is missing or older than 3.9 here. "
            "Put a newer one first on PATH, or run install.sh --scripts, which writes "
            f"{setup.python}."
        )


def add_scripts(setup: Setup, journal: settings_file.Journal) -> settings_file.Journal:
    """Script hooks of all events in settings.json; those of an earlier run, from wherever, give
    way.
    """
    hooks = events.settings_hooks(setup.python, setup.root)
    commands = [
        hook["command"] for groups in hooks.values() for group in groups for hook in group["hooks"]
    ]
    setup.say(f"write {len(commands)} script hooks into {journal.path}")
    if not setup.dry:
        kept = settings_file.containers(settings_file.parse(journal.before, journal.path))

        def edit(settings: dict[str, Any]) -> None:
            settings_file.remove_hooks(
                settings,
                lambda command: command not in commands and is_ours(command, journal, setup.root),
            )
            settings_file.add_hooks(settings, hooks)
            settings_file.prune(settings, kept, ("hooks",))

        settings_file.change(journal.path, edit)
    return journal._replace(commands=tuple(commands))


def is_ours(command: object, journal: settings_file.Journal, root: str) -> bool:
    """Whether a hook's command is one that we wrote: as the journal has it, or for this folder
    by an earlier version.
    """
    return command in journal.commands or events.is_settings_hook(command, root)


def offer_rule(setup: Setup, journal: settings_file.Journal) -> settings_file.Journal:
    """The allow rule for recall, when the person agrees. Without it hidden text still comes
    back, from files of the session.
    """
    present = settings_file.parse(settings_file.read(journal.path), journal.path).get("permissions")
    if isinstance(present, dict) and RECALL_RULE in (present.get("allow") or ()):
        return journal
    if not setup.agreed(
        "Allow the model to call recall, which only reads what was left out, without asking you "
        "each time?\n"
        f"  adds {RECALL_RULE} to permissions.allow in {journal.path}"
    ):
        setup.note(
            "Recall by MCP will ask for permission; `install.sh --yes` would add "
            f"{RECALL_RULE} to permissions.allow."
        )
        return journal
    setup.say(f"add {RECALL_RULE} to permissions.allow in {journal.path}")
    if not setup.dry:
        settings_file.change(
            journal.path, lambda settings: settings_file.add_rule(settings, RECALL_RULE)
        )
    return journal._replace(rules=tuple(dict.fromkeys(journal.rules + (RECALL_RULE,))))


def lane(setup: Setup, verb: str) -> None:
    """Switches the failure lane on or off, through its own command. Raises Failed."""
    words = [
        setup.python,
        "-I",
        "-S",
        os.path.join(setup.root, "hooks", "ck.py"),
        "failure-lane",
        verb,
    ] + (["--yes"] if verb == "on" else [])
    setup.say(f"python3 hooks/ck.py failure-lane {verb}")
    if not setup.dry:
        setup.note(run(words).strip())


def remove(setup: Setup) -> None:
    """Takes out what `add` put in; to the byte where nobody touched the file since."""
    path = settings_path()
    now = settings_file.read(path)
    settings_file.parse(now, path)
    journal = settings_file.load_journal(setup.journals, path)
    exact = journal is not None and journal.exact and settings_file.digest(now) == journal.after
    kept = (
        settings_file.containers(settings_file.parse(journal.before, path))
        if journal
        else settings_file.empty(settings_file.parse(now, path))
    )
    journal = journal or settings_file.Journal(path)
    if journal.lane:
        lane(setup, "off")
    remove_plugin(setup, now)
    setup.say(f"{'put back as it was:' if exact else 'take our entries out of'} {path}")
    if setup.dry:
        return
    if exact:
        if journal.before is not None:
            if settings_file.read(path) != journal.before:
                settings_file.write(path, journal.before)
        elif os.path.exists(path):
            os.unlink(path)
    else:
        settings_file.change(path, lambda settings: take_out(setup, settings, journal, kept))
    settings_file.drop_journal(setup.journals, path)


def remove_plugin(setup: Setup, now: bytes | None) -> None:
    """Through the client where it is there and knows the plugin; its entries in settings.json
    are `take_out`'s otherwise.
    """
    claude = program("CLAUDE_BIN", "claude")
    if not claude:
        if now and NAMED.encode() in now:
            setup.note(
                "No `claude` on PATH: taken out of settings.json; its own lists forget the "
                "plugin at the next start."
            )
        return
    asked = (
        (["uninstall", NAMED], ["list"]),
        (["marketplace", "remove", MARKET], ["marketplace", "list"]),
    )
    for words, look in asked:
        setup.say(f"{claude} plugin {' '.join(words)}")
        if not setup.dry and MARKET in run([claude, "plugin"] + look + ["--json"]):
            run([claude, "plugin"] + words)


def take_out(
    setup: Setup, settings: dict[str, Any], journal: settings_file.Journal, kept: list[str]
) -> None:
    """Our entries out of settings that others changed too: hooks, rule, plugin and marketplace;
    what is empty after that, unless `kept`.
    """
    settings_file.remove_hooks(settings, lambda command: is_ours(command, journal, setup.root))
    for rule in journal.rules:
        settings_file.remove_rule(settings, rule)
    for name, key in (("enabledPlugins", NAMED), ("extraKnownMarketplaces", MARKET)):
        if isinstance(settings.get(name), dict):
            settings[name].pop(key, None)
    settings_file.prune(settings, kept, OURS)
