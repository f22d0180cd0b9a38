"""The resident server's worker: its operators under a CPU limit; see handlers/operators.py."""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # -I leaves it out
import contextkernel.normalize.formats.plain  # noqa: F401  before the first call
from contextkernel.clients import cpu_limit

if __name__ == "__main__":
    raise SystemExit(cpu_limit.serve())
