"""What the tool `recall` starts; see contextkernel/server/recall.py."""

from __future__ import annotations

import os
import sys

sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "hooks")
)  # -I leaves it out
from contextkernel.server import recall

if __name__ == "__main__":
    raise SystemExit(recall.main(sys.argv[1:]))
