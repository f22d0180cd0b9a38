"""SessionEnd: judge the last replacements, let the rest expire, sweep the store. A script: the server is gone by now."""
from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # -I leaves it out
from contextkernel.host import hook


def handle(event: dict) -> dict:
    """{}; the work is in the ledger."""
    import after_reply  # late: sqlite3

    after_reply.end_session(event)
    return {}


if __name__ == "__main__":
    raise SystemExit(hook.run(handle))
