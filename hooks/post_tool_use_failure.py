"""PostToolUseFailure: link a failure that the failure lane rewrote to its tool use; else say
once what the client cut out.
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # -I leaves it out
from contextkernel.clients import hook_io


def handle(event: dict) -> dict:
    """The reply to one event; {} says nothing."""
    from contextkernel.handlers import failed_tool  # late: what fails here is told at the edge

    return failed_tool.handle(event)


if __name__ == "__main__":
    raise SystemExit(hook_io.run(handle))
