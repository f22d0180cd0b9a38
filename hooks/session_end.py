"""SessionEnd: judge the last replacements, let the rest expire, sweep the store. A script: the
server is gone by now.
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # -I leaves it out
from contextkernel.clients import hook_io


def handle(event: dict) -> dict:
    """The reply to one event; {} says nothing."""
    from contextkernel.handlers import session  # late: what fails here is told at the edge

    return session.end(event)


if __name__ == "__main__":
    raise SystemExit(hook_io.run(handle))
