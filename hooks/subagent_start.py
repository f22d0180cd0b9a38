"""SubagentStart: tell the sub-agent where hidden text is found (SessionStart's context does not
reach it), and the failure lane of our judges.
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # -I leaves it out
from contextkernel.clients import hook_io


def handle(event: dict) -> dict:
    """The reply to one event; {} says nothing."""
    from contextkernel.handlers import subagent  # late: what fails here is told at the edge

    return subagent.start(event)


if __name__ == "__main__":
    raise SystemExit(hook_io.run(handle))
