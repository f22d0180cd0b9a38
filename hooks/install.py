"""What install.sh starts; see setup/install.py."""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # -I leaves it out
from contextkernel.setup import install

if __name__ == "__main__":
    raise SystemExit(install.main(sys.argv[1:]))
