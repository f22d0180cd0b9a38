"""savings.py: the savings report, as `ck.py savings` gives it."""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # -I leaves it out
from contextkernel import commands
from contextkernel.clients import cli_io

if __name__ == "__main__":
    raise SystemExit(cli_io.run(commands.main, ["savings", *sys.argv[1:]], "savings.py"))
