"""--purge: the state folder and the recall files in the clients' own session folders, gone for
good.
"""

from __future__ import annotations

import glob
import os
import re
import shutil

from contextkernel.setup.context import Setup
from contextkernel.store import modes, settings

MARKETPLACE = "context-kernel-marketplace"
BACKUPS = (".bak*", ".backup*", "~")  # behind the name of a settings file
RECALLED = re.compile(r"ck-[0-9a-f]{12,64}\.txt")


def recall_files() -> list[str]:
    """Copies of originals that hooks laid into Claude Code's session folders."""
    config = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")
    found = glob.glob(
        os.path.join(glob.escape(config), "projects", "*", "*", "tool-results", "ck-*.txt")
    )
    return [path for path in found if RECALLED.fullmatch(os.path.basename(path))]


def purge(setup: Setup) -> None:
    """Removes what was stored, when the person agrees. Raises OSError."""
    names = os.listdir(setup.state) if os.path.isdir(setup.state) else []
    # $CK_DATA may name a folder that holds other things
    ours = [name for name in names if modes.is_ours(name) and name != "bin"]
    copies = recall_files()
    if not ours and not copies:
        setup.note(f"nothing is stored in {setup.state}")
        _name_others(setup)
        return
    if not setup.dry and not setup.agreed(
        f"Remove {setup.state} and {len(copies)} recall files of past sessions? They cannot "
        "be had back."
    ):
        setup.note(f"kept: {setup.state} (--purge --yes removes it without asking)")
        return
    setup.say(
        f"remove {', '.join(sorted(ours)) or 'nothing'} in {setup.state}, and {len(copies)} "
        "recall files"
    )
    if setup.dry:
        return
    for path in [os.path.join(setup.state, name) for name in ours] + copies:
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    left = sorted(set(names) - set(ours))
    if "bin" in left:
        setup.note(
            f"left: {os.path.join(setup.state, 'bin')}, which sessions that still run start "
            "their commands through. Delete it when they have ended."
        )
        left.remove("bin")
    if left:
        setup.note(f"left in {setup.state}, since it is not ours: {', '.join(left)}")
    elif os.path.isdir(setup.state) and not os.listdir(setup.state):
        os.rmdir(setup.state)
    _name_others(setup)


def _name_others(setup: Setup) -> None:
    """Names what is not ours to delete and is still there: copies of the plugin that the clients
    made, backups, a tap file.
    """
    for path, words in _others():
        setup.note(f"left: {path}, {words}")


def _others() -> list[tuple[str, str]]:
    home = os.path.expanduser("~")
    claude = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude")
    codex = os.environ.get("CODEX_HOME") or os.path.join(home, ".codex")
    tap = os.path.expanduser(settings.text("CK_TAP_FLAG"))
    own = [(tap, "which you made to have key names logged")]
    for folder, client in ((claude, "Claude Code"), (codex, "Codex")):
        plugins = os.path.join(folder, "plugins")
        cache = os.path.join(plugins, "cache", MARKETPLACE)
        own.append((cache, f"{client}'s own copy of the plugin: it may be deleted"))
        for path in glob.glob(os.path.join(glob.escape(plugins), "data", "context-kernel*")):
            own.append((path, f"{client}'s folder for the plugin's data: it may be deleted"))
    for path in (os.path.join(claude, "settings.json"), os.path.join(codex, "config.toml")):
        for form in BACKUPS:
            found = sorted(glob.glob(glob.escape(path) + form))
            own += [(backup, "a backup of your settings that is not ours") for backup in found]
    return [(path, words) for path, words in own if os.path.lexists(path)]
