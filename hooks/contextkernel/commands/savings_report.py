"""The savings report of a ledger, printed. It counts only replacements that were seen in the
transcript; page faults are booked against them.
"""

from __future__ import annotations

import argparse
import json
import sys

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

    from contextkernel.store.ledger import Ledger


def reported(options: argparse.Namespace, books: Ledger) -> int:
    """0 after printing. Raises sqlite3.Error."""
    from contextkernel import savings
    from contextkernel.store import recorder
    from contextkernel.store.database import SET_ASIDE

    if options.reset_canary:
        from contextkernel.store import backoff

        print(
            f"canary reset: {int(books.reset_canary())} receipts forgotten, rests ended in "
            f"{backoff.end_all()} sessions"
        )
        return 0
    from contextkernel.handlers import verification

    recorder.ledger = books
    verification.judge_pending(books, None, whole=True)
    where, values = "at >= ?", [options.since]
    if options.session:
        where, values = where + " AND session LIKE ?", values + [options.session + "%"]
    report = savings.summary(
        books.receipts(where, values),
        books.rows("SELECT * FROM faults WHERE at >= ?", values[:1]),
    )
    report["estimates"] = savings.estimates(report, _models(books, where, values))
    lost = books.rows(
        "SELECT text, COUNT(*) AS n FROM notes WHERE at >= ? AND event = ? GROUP BY text "
        "ORDER BY MAX(at)",
        (values[0], SET_ASIDE),
    )
    report["own_cost"] = _own_cost()
    report["set_aside"] = [note["text"] for note in lost]
    if options.json:
        print(json.dumps(report, indent=1))
        return 0
    notes = books.rows(
        "SELECT text, COUNT(*) AS n FROM notes WHERE at >= ? AND event IS NOT ? GROUP BY "
        "text ORDER BY n DESC LIMIT 5",
        (values[0], SET_ASIDE),
    )
    reasons = books.rows(
        "SELECT tool || ': ' || reason AS text, COUNT(*) AS n FROM receipts WHERE status IN "
        f"('refused', 'missing') AND {where} GROUP BY 1 LIMIT 5",
        values,
    )
    print(savings.as_text(report, lost + reasons + notes))
    return 0


def _own_cost() -> dict[str, Any]:
    """What the plugin itself adds to each session: {"tokens", "parts": {what: tokens}}; {} where
    it cannot be counted.
    """
    import subprocess

    from contextkernel.commands import own_cost
    from contextkernel.paths import PLUGIN_ROOT

    try:
        rows = own_cost.rows(PLUGIN_ROOT)
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
        sys.stderr.write(f"savings.py: own cost not counted: {error}\n")
        return {}
    parts = {row["what"]: row["tokens"] for row in rows[:-1]}
    return {"tokens": rows[-1]["tokens"], "parts": parts}


def _models(books: Ledger, where: str, values: list[Any]) -> dict[str, Any]:
    """session -> (model, bytes a token, price), for sessions whose transcript is still there and
    names a model.
    """
    from contextkernel.clients.claude import models, transcript

    found = {}
    for row in books.rows(
        "SELECT session, MAX(transcript) AS path FROM receipts WHERE status = 'verified' AND "
        + where
        + " GROUP BY session",
        values,
    ):
        model = transcript.advance({}, row["path"] or "", from_start=False)[1].model
        if model:
            found[row["session"]] = (model,) + models.facts(model)[2:]
    return found
