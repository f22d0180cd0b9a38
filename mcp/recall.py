"""What the tool `recall` starts; see contextkernel/server/recall.py."""

from __future__ import annotations

import os
import sys

# -I leaves it out
sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "hooks")
)
from contextkernel.server import recall

if __name__ == "__main__":
    raise SystemExit(recall.main(sys.argv[1:]))
