"""Permission rules: whether one that may speak of a command would fall silent when words are put
behind it.
"""

from __future__ import annotations

import json
import os
import re

from contextkernel.store.files import content

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

MOST = 16 * 1024 * 1024  # bytes of a settings file
MANAGED = (
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
)
RULE = re.compile(r"Bash\((.*)\)\s*", re.S)


def places(environ: dict[str, Any], cwd: str) -> list[str]:
    """The settings files whose rules may apply in a folder: the user's, those of the folder and
    its parents, the managed ones.
    """
    config = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")
    found = [os.path.join(config, "settings.json")] + list(MANAGED)
    folder = os.path.abspath(cwd) if cwd else ""
    while folder:
        found += [
            os.path.join(folder, ".claude", name)
            for name in ("settings.json", "settings.local.json")
        ]
        folder = os.path.dirname(folder) if os.path.dirname(folder) != folder else ""
    return found


def would_fall_silent(command: str, files: list[str]) -> bool:
    """Whether a rule of these files that ends in no wildcard occurs in the command: behind more
    words it may not match any more.

    In doubt yes: a file that cannot be read or is no settings file counts as holding such a rule.
    Rules given on the client's own command line are not seen here.
    """
    return any(_binds(rule, command) for path in files for rule in _rules(path))


def _rules(path: str) -> list[str]:
    """The Bash rules of a settings file; the empty rule, which occurs in every command, where it
    cannot be understood.
    """
    try:
        settings = json.loads(content(path, MOST).decode("utf-8-sig"))
        permissions = settings.get("permissions") or {}
        rules = [rule for name in ("allow", "deny", "ask") for rule in permissions.get(name) or ()]
        matches = [RULE.fullmatch(rule) for rule in rules]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError, AttributeError, TypeError):
        return [""]
    return [match.group(1) for match in matches if match]


def _binds(rule: str, command: str) -> bool:
    if rule.rstrip().endswith("*"):
        return False
    at = 0
    # each as early as it can stand: no choice of an earlier piece is ever taken back
    for piece in rule.split("*"):
        found = command.find(piece.strip(), at)
        if found < 0:
            return False
        at = found + len(piece.strip())
    return True
