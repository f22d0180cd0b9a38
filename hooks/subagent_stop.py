"""SubagentStop: the failure lane may shorten again; the sub-agent's replacements are judged after the reply."""
from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # -I leaves it out
from contextkernel.host import hook


def handle(event: dict) -> dict:
    """{}: no opinion."""
    import subagent_start  # late: the note is written there

    subagent_start.watch(event, False)
    return {}


if __name__ == "__main__":
    raise SystemExit(hook.run(handle))
