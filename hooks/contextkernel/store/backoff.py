"""Rests and alarms: the few facts of a session that even a script hook must know before it
rewrites.

`rest/<session>.json` holds {"refused": {tool: n}, "seen": {tool: n}, "alarm": text, "told": bool}.
It exists only after the
canary found something wrong, so the ordinary cost is one failed open.
"""

from __future__ import annotations

import json
import os

from contextkernel import paths
from contextkernel.store import files, settings

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

REFUSALS_TO_REST = 3  # for one tool in one session
MOST_BYTES = 1 << 20  # of the facts of a session
PROBE_EVERY = 10  # of the events that rest


def _path(session: str) -> str:
    return os.path.join(settings.data_root(), "rest", paths.file_name_of(session) + ".json")


def load(session: str) -> dict[str, Any]:
    """The session's facts; {} where there are none or the file is damaged."""
    try:
        facts = json.loads(files.content(_path(session), MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return facts if isinstance(facts, dict) else {}


def _save(session: str, facts: dict[str, Any]) -> None:
    settings.folder("rest")
    files.replace(_path(session), json.dumps(facts).encode("ascii"))


def _table(facts: dict[str, Any], name: str) -> dict[str, Any]:
    table = facts.get(name)
    return table if isinstance(table, dict) else {}


def _count(facts: dict[str, Any], name: str, tool: str) -> int:
    value = _table(facts, name).get(tool, 0)
    return value if isinstance(value, int) else 0


def alarm(session: str, tool: str, reason: str) -> None:
    """Book a replacement that the client did not apply. Raises OSError."""
    from contextkernel.masking import masked  # late: rare

    facts = load(session)
    facts.update(
        refused=dict(_table(facts, "refused"), **{tool: _count(facts, "refused", tool) + 1}),
        alarm=facts.get("alarm") or masked(reason),
    )
    _save(session, facts)


def heal(session: str, tool: str) -> None:
    """A replacement for this tool was applied again: its refusals are forgotten. Raises OSError."""
    facts = load(session)
    if _count(facts, "refused", tool):
        facts["refused"].pop(tool)
        _save(session, facts)


def resting(session: str, tool: str) -> bool:
    """Whether T1 rests for this tool now. Counts the events that rest: every tenth is let
    through as a probe. Raises OSError.
    """
    facts = load(session)
    if _count(facts, "refused", tool) < REFUSALS_TO_REST:
        return False
    seen = _count(facts, "seen", tool) + 1
    facts["seen"] = dict(_table(facts, "seen"), **{tool: seen})
    _save(session, facts)
    return seen % PROBE_EVERY != 0


def untold(session: str) -> str:
    """The alarm that the model has not been told yet, once; "" afterwards. Raises OSError."""
    facts = load(session)
    if not facts.get("alarm") or facts.get("told"):
        return ""
    _save(session, dict(facts, told=True))
    return str(facts["alarm"])


def end_all() -> int:
    """End every session's rests; gives back how many sessions had one. Raises OSError."""
    folder = os.path.join(settings.data_root(), "rest")
    names = [
        name
        for name in (os.listdir(folder) if os.path.isdir(folder) else ())
        if name.endswith(".json")
    ]
    for name in names:
        os.unlink(os.path.join(folder, name))
    return len(names)
