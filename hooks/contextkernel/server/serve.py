"""The server at work: one line after another, until its input ends or a signal says so."""

from __future__ import annotations

import os
import select
import signal
import sys
from typing import Any, Callable

from contextkernel.clients import cpu_limit
from contextkernel.paths import PLUGIN_ROOT
from contextkernel.server import streams
from contextkernel.server.connection import Session


def serve(requests: int, answers: int, argv: list[str]) -> int:
    """0 when the client has left. `requests`, `answers`: the protocol's descriptors."""
    # seconds that a hook waits, at each turn, for a thread at work after an earlier one
    sys.setswitchinterval(0.001)
    cpu_limit.worker = cpu_limit.Worker(os.path.join(PLUGIN_ROOT, "hooks", "operators.py"))
    reader = streams.Reader(requests, wake=_woken_by_signals())
    session = Session(streams.Writer(answers), client_of(argv), attempt)

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


def _woken_by_signals() -> int | None:
    """A descriptor that has a byte once a signal came: one that comes just before a read does not
    interrupt it. None where pipes cannot be polled (Windows).
    """
    if not hasattr(select, "poll"):
        return None
    woken, waking = os.pipe()
    os.set_blocking(waking, False)
    signal.set_wakeup_fd(waking, warn_on_full_buffer=False)
    return woken


def client_of(argv: list[str]) -> str:
    """The client named by `--client NAME` or `--client=NAME`; "" leaves it to what the client
    says about itself.
    """
    words = " ".join(argv).replace("=", " ").split()
    named = words[words.index("--client") + 1 :][:1] if "--client" in words else []
    return named[0] if named and named[0] in ("claude", "codex") else ""


def attempt(
    work: Callable[..., Any],
    *arguments: Any,
    otherwise: Any = None,
    passing: tuple[Any, ...] = (),
    note: Callable[[str], None] | None = None,
) -> Any:
    """What `work` returns; `otherwise` after any failure but those in `passing`: one line on
    stderr, and `note(why)`.

    The one place where every error is caught: whatever goes wrong in a hook, the client gets its
    answer.
    """
    try:
        return work(*arguments)
    except passing:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001
        why = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        os.write(2, (f"context-kernel: {why}\n").encode("utf-8", "replace"))
        if note:
            note(why)
        return otherwise
