"""What a resident server does once at its start, before the first event, and once at its end."""

from __future__ import annotations

import sys
from importlib import import_module

from contextkernel.clients import cpu_limit
from contextkernel.store import modes, settings

WARM = (
    "contextkernel.handlers.tool_call",
    "contextkernel.handlers.tool_result",
    "contextkernel.handlers.operators",
)  # imported before the first event that needs them


def make_ready() -> None:
    """Start the operators' worker, import the busiest hooks, open the ledger; until then rows go
    to the spool.
    """
    if cpu_limit.worker:
        cpu_limit.worker.start()
    for name in WARM:
        import_module(name)
    if settings.guard():
        modes.narrow(settings.data_root(), everything=True)
    from contextkernel.handlers import verification  # late: sqlite3

    verification.open_book()


def leave() -> None:
    """Take in what was spooled, where the ledger was in use."""
    verification = sys.modules.get("contextkernel.handlers.verification")
    if verification:
        verification.leave()
