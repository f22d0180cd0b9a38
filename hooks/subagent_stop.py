"""SubagentStop: the sub-agent's own transcript is whole now; its replacements are judged after the reply."""
from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # -I leaves it out
from contextkernel.host import hook


def handle(event: dict) -> dict:
    """{}: no opinion; `after_reply.run` does the work."""
    return {}


if __name__ == "__main__":
    raise SystemExit(hook.run(handle))
