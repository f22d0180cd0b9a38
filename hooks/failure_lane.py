"""The failure lane after a failure, started by the wrapper `failure_lane`; see
handlers/failed_command.py.
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # -I leaves it out
from contextkernel.handlers import failed_command

if __name__ == "__main__":
    raise SystemExit(failed_command.main(sys.argv[1:]))
