"""How a row of each kind goes into the ledger: one statement and its values, by kind."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, Callable, NamedTuple

from contextkernel.masking import of_row
from contextkernel.receipt import Receipt

NUMBERS = frozenset(("raw", "host", "shown", "lines", "lines_shown", "bytes", "at"))
LARGEST = 1 << 62  # SQLite's integers end at 2**63; NaN and infinity are no sizes either
NOTE_CHARS = 500

Row = dict[str, Any]


class Facts(NamedTuple):
    """What the ledger knows beside the row. `generation(session, agent)`: epochs seen so far."""

    kind: str
    uid: str
    at: float
    generation: Callable[[str, str], int]


class Insert(NamedTuple):
    """A statement, and what gives its values for a row."""

    statement: str
    values: Callable[[Row, Facts], Iterable[object]]


def insert_of(
    kind: str, row: Row, uid: str, generation: Callable[[str, str], int]
) -> tuple[str, list[object]]:
    """(statement, values) of one row, its texts masked. Raises TypeError, ValueError, KeyError or
    OverflowError for what the tables cannot hold.
    """
    row = of_row({name: sound(name, value) for name, value in row.items()})
    insert = INSERTS.get(kind, NOTE)
    facts = Facts(kind, uid, row.get("at") or time.time(), generation)
    return insert.statement, list(insert.values(row, facts))


def sound(name: str, value: object) -> object:
    """A value as the database takes it: text without lone surrogates (a cut emoji in a command),
    numbers where numbers belong.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8") if name not in NUMBERS else None
    if isinstance(value, int) and abs(value) >= LARGEST:
        return None
    return (
        None
        if name in NUMBERS and not (isinstance(value, (int, float)) and abs(value) < LARGEST)
        else value
    )


def _receipt(row: Row, facts: Facts) -> Iterable[object]:
    given = Receipt.of_row(row)
    return given._replace(
        at=facts.at,
        tool_use_id=given.tool_use_id or facts.uid,  # without an id each result is one still
        generation=facts.generation(given.session, given.agent)
        if given.generation is None
        else given.generation,
    )


def _fault(row: Row, facts: Facts) -> Iterable[object]:
    return (
        facts.uid,
        row.get("handle"),
        row.get("session", ""),
        row.get("route"),
        row.get("bytes", 0),
        facts.at,
    )


def _generation(row: Row, facts: Facts) -> Iterable[object]:
    session, agent = row.get("session", ""), row.get("agent", "")
    return session, agent, facts.generation(session, agent) + 1, row.get("cause"), facts.at


def _link(row: Row, facts: Facts) -> Iterable[object]:
    """A receipt of the failure lane learns its tool use."""
    key = (row["handle"], row.get("session", ""))
    learnt = (
        row["tool_use_id"],
        row.get("agent", ""),
        row.get("status", "pending"),
        row.get("agent_type", ""),
    )
    return learnt + key + key


def _note(row: Row, facts: Facts) -> Iterable[object]:
    text = str(row.get("text") or row.get("why") or "")[:NOTE_CHARS]
    return facts.uid, row.get("session", ""), row.get("event", facts.kind), text, facts.at


def _into(table: str, columns: int, values: Callable[[Row, Facts], Iterable[object]]) -> Insert:
    marks = ", ".join("?" * columns)
    return Insert(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", values)


NOTE = _into("notes", 5, _note)  # of every other kind
INSERTS = {
    "receipt": _into(f"receipts ({', '.join(Receipt._fields)})", len(Receipt._fields), _receipt),
    "fault": _into("faults", 6, _fault),
    "generation": _into("generations", 5, _generation),
    "link": Insert(
        "UPDATE OR IGNORE receipts SET tool_use_id = ?, agent = ?, status = ?, agent_type = ?"
        " WHERE handle = ? AND session = ? AND lane = 'failure' AND at = (SELECT MAX(at)"
        " FROM receipts WHERE handle = ? AND session = ? AND lane = 'failure'"
        " AND status IN ('', 'pending'))",
        _link,
    ),
}
