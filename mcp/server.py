"""The resident MCP server (stdio): the slicers and recall for the model, and a hidden tool that
answers hooks.

Started by the client as `python3 -I -S mcp/server.py [--client claude|codex]`.  One thread answers
hooks, one after another, their operators in a worker process under a CPU limit; every tool of
server/tools.py runs in a child process that a thread watches; the main thread reads on, so that a
ping is answered whatever the others do.  Ends with exit 0 when its input ends, on SIGTERM and on
SIGINT.
"""

from __future__ import annotations

import json  # noqa: F401  the standard library's own caches count no more once ours is named below
import os
import queue  # noqa: F401
import subprocess  # noqa: F401
import sys
import threading  # noqa: F401

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "hooks"))  # -I leaves it out


def main(argv: list[str]) -> int:
    """0 when the client has left.  The order matters: streams first, then the cache, then
    everything of ours.
    """
    requests, answers = own_streams()
    keep_bytecode_out_of_plugin()
    from contextkernel.server.serve import serve

    return serve(requests, answers, argv)


def own_streams() -> tuple[int, int]:
    """The protocol's descriptors, moved away: from here on a stray print goes to stderr, a stray
    read gets nothing.
    """
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


def keep_bytecode_out_of_plugin() -> None:
    """Send compiled modules to the state folder: the plugin's own is read-only, or hashed by its
    client.
    """
    sys.dont_write_bytecode = True  # for the import that finds the folder
    from contextkernel.store import settings

    sys.dont_write_bytecode = False
    settings.keep_bytecode()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
