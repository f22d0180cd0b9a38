"""The contract of a hook script: one JSON event on stdin, one JSON object or nothing on stdout,
exit 0 whatever happens.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable


LARGEST = 64 << 20  # bytes of an event, as in the resident lane (rpc.LONGEST_LINE)


def client_of(argv: list[str]) -> str:
    """The client that a hook's command line names: `--client codex`, else Claude Code."""
    return "codex" if "--client" in argv[1:] and "codex" in argv[1:] else "claude"


def run(
    handle: Callable[[dict[str, Any]], dict[str, Any]],
    passes: Callable[[bytes], bool] | None = None,
) -> int:
    """0. Reads the event, answers with what `handle` returns ({}: nothing is printed).

    `passes(raw)` may say from the bytes alone that there is nothing to do: such an event costs no
    JSON.  Whatever goes
    wrong, the original passes: nothing on stdout, one line on stderr, one row in the ledger.
    """
    event: dict[str, Any] = {}
    if sys.stderr is None:  # started with descriptor 2 closed
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    try:
        raw = sys.stdin.buffer.read(LARGEST + 1)
        from contextkernel.store import settings  # late: inside of what may fail

        settings.guard()
        if len(raw) > LARGEST:
            raise ValueError(f"the event is larger than {LARGEST} bytes")
        if passes is not None and passes(raw):
            return 0
        import json  # late: half the cost of a small event

        event = json.loads(raw.decode("utf-8"))
        if not isinstance(event, dict):
            raise ValueError(f"the event is a {type(event).__name__}, not an object")
        event.update(ck_client=client_of(sys.argv), ck_lane="script", ck_since=None)
        reply = handle(event)
        answer = json.dumps(reply).encode("ascii") if reply else b""
    except Exception as error:  # noqa: BLE001  the edge of the product: a hook never breaks the session
        answer = b""
        _note(event, error)
    try:
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
    except (
        OSError,
        AttributeError,
    ):  # the client went away, or descriptor 1 was closed from the start
        _silence(1)
    try:
        sys.stderr.flush()
    except OSError:  # what it holds goes nowhere: a full disk, a closed pipe
        _silence(2)
    return 0


def _silence(descriptor: int) -> None:
    """Point an unusable descriptor at nothing: otherwise the flush at exit fails again, and the
    exit code is 120.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


def _note(event: object, error: Exception) -> None:
    """Say on stderr and in the ledger why an event passed through."""
    from contextkernel.store import recorder  # late: only when something went wrong

    facts = event if isinstance(event, dict) else {}
    script = os.path.basename(sys.argv[0])
    why = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    try:
        sys.stderr.write(f"context-kernel: {script} passed through ({why})\n")
    except OSError:
        pass  # nobody reads it; the row below says the same
    recorder.record(
        "note",
        {
            "event": str(facts.get("hook_event_name") or script)[:60],
            "session": str(facts.get("session_id") or "")[:80],
            "why": why,
        },
    )
