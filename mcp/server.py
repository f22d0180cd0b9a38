"""The resident MCP server (stdio): the slicers and recall for the model, and a hidden tool that answers hooks.

Started by the client as `python3 -I -S mcp/server.py [--client claude|codex]`.  One thread answers hooks, one after
another, their operators in a worker process under a CPU limit; every tool of tools.py runs in a child process that a
thread watches; the main thread reads on, so that a ping is answered whatever the others do.  Ends with exit 0 when its
input ends, on SIGTERM and on SIGINT.
"""
from __future__ import annotations

import json  # noqa: F401  the standard library's own caches count no more once ours is named below
import os
import queue  # noqa: F401
import signal
import subprocess  # noqa: F401
import sys
import threading  # noqa: F401
from typing import Any, Callable

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "mcp"), os.path.join(ROOT, "hooks")]  # -I leaves both out


def main(argv: "list[str]") -> int:
    """0 when the client has left.  The order matters: streams first, then the cache, then everything of ours."""
    requests, answers = own_streams()
    keep_bytecode_out_of_plugin()
    from contextkernel.host import cpu_limit, rpc
    from session import Session

    sys.setswitchinterval(0.001)  # seconds that a hook waits, at each turn, for a thread at work after an earlier one
    cpu_limit.worker = cpu_limit.Worker(os.path.join(ROOT, "hooks", "operators.py"))
    reader, session = rpc.Reader(requests), Session(rpc.Writer(answers), client_of(argv), attempt)

    def leave(number: int, frame: Any) -> None:
        session.leaving = True
        if reader.waiting:
            raise SystemExit(0)  # otherwise the answer in work goes out first

    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGINT, leave)
    try:
        while not session.leaving:
            line = reader.line()
            if line is None:
                break
            attempt(session.take, line, passing=(BrokenPipeError,))
    except BrokenPipeError:
        pass  # the client went away without closing our input
    finally:
        session.end()
    return 0


def own_streams() -> "tuple[int, int]":
    """The protocol's descriptors, moved away: from here on a stray print goes to stderr, a stray read gets nothing."""
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


def keep_bytecode_out_of_plugin() -> None:
    """Send compiled modules to the state folder: the plugin's own is read-only, or hashed by its client."""
    sys.dont_write_bytecode = True  # for the import that finds the folder
    from contextkernel.store import settings

    sys.dont_write_bytecode = False
    settings.keep_bytecode()


def client_of(argv: "list[str]") -> str:
    """The client named by `--client NAME` or `--client=NAME`; "" leaves it to what the client says about itself."""
    words = " ".join(argv).replace("=", " ").split()
    named = words[words.index("--client") + 1:][:1] if "--client" in words else []
    return named[0] if named and named[0] in ("claude", "codex") else ""


def attempt(work: Callable, *arguments: Any, otherwise: Any = None, passing: tuple = (), note: Callable = None) -> Any:
    """What `work` returns; `otherwise` after any failure but those in `passing`: one line on stderr, and `note(why)`.

    The one place where every error is caught: whatever goes wrong in a hook, the client gets its answer.
    """
    try:
        return work(*arguments)
    except passing:
        raise
    except (Exception, SystemExit) as error:
        why = "%s: %s" % (type(error).__name__, " ".join(str(error).split())[:300])
        os.write(2, ("context-kernel: %s\n" % why).encode("utf-8", "replace"))
        if note:
            note(why)
        return otherwise


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
