"""context-kernel: what enters a coding agent's context window, and the way back to what was left
out.
"""

import os
import sys

VERSION = "0.3.0"

if sys.pycache_prefix is None and not os.access(os.path.dirname(__file__), os.W_OK):
    # a read-only plugin folder: bytecode goes to the state folder
    from contextkernel.store import settings

    settings.keep_bytecode()
