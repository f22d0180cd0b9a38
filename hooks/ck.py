"""ck.py: the command line of context-kernel. `ck.py help` names the commands."""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # -I leaves it out
from contextkernel import commands
from contextkernel.clients import cli_io

if __name__ == "__main__":
    # all is written; taking the interpreter down would cost 5 ms, 100 after a build
    os._exit(cli_io.run(commands.main, sys.argv[1:], "ck.py"))
