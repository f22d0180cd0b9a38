"""Write hooks/hooks.json and codex/hooks.json from the one event table; a test compares them
with it.
"""

import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "hooks"))
from contextkernel.clients import events  # noqa: E402

FILES = {"hooks/hooks.json": events.plugin_hooks, "codex/hooks.json": events.codex_hooks}

if __name__ == "__main__":
    for name, content in FILES.items():
        with open(os.path.join(ROOT, name), "w", encoding="utf-8", newline="\n") as handle:
            handle.write(events.as_text(content()))
