"""PreToolUse: give slicer calls their budget. Nothing else is ever rewritten, and no permission is
ever given.

A call that a permission rule names exactly stays as it is: `ck.py slice` takes the same budget by
itself.
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # -I leaves it out
from contextkernel.clients import hook_io


def handle(event: dict) -> dict:
    """The reply to one event; {} says nothing."""
    from contextkernel.handlers import tool_call  # late: what fails here is told at the edge

    return tool_call.handle(event)


if __name__ == "__main__":
    raise SystemExit(hook_io.run(handle))
