"""Savings: what the model was spared, against what the client alone would have shown it.

Headline: receipts that the canary verified, minus every page fault booked against any of them.
Sizes are bytes in the
ledger and estimated tokens (bytes/4) here.  Results may be negative and are shown as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from contextkernel import lines as line_ranges
from contextkernel.receipt import Receipt
from contextkernel.tokens import of_bytes

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

JUDGED = ("verified", "refused", "missing", "pending", "expired")
LARGEST = 1 << 62  # a size beyond is damage
MOST_ROWS = 12  # of a table
COLUMNS = ("results", "rewritten", "raw", "host", "shown", "saved")


def _tokens(size: int | None) -> int:
    return of_bytes(size) if isinstance(size, (int, float)) and 0 < size < LARGEST else 0


def _row() -> dict[str, int]:
    return dict.fromkeys(COLUMNS, 0)


def _add(row: dict[str, int], receipt: Receipt) -> None:
    row["results"] += 1
    for name in ("raw", "host", "shown"):
        row[name] += _tokens(getattr(receipt, name))
    if receipt.status in JUDGED:
        row["rewritten"] += 1
    if receipt.status == "verified":
        row["saved"] += _tokens(receipt.host) - _tokens(receipt.shown)


def summary(receipts: Iterable[Receipt], faults: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The report as data: totals, by tool, session and rule; judged counts; page faults. Tokens
    throughout.

    `faults` are rows of the ledger.  A fault counts the bytes it gave back, each line once
    in a session; one whose size is not known counts the whole raw text of its receipt.  Regret is
    the share of verified receipts with a fault.  A receipt that was not verified may have shown the
    original: it saves 0.
    Receipts of the command line (`ck.py normalize`) reached no model and are left out.
    """
    receipts = [r for r in receipts if r.lane != "cli"]
    by: dict[str, dict[str, dict[str, int]]] = {"tool": {}, "session": {}, "rule": {}}
    total, judged = _row(), dict.fromkeys(JUDGED, 0)
    for receipt in receipts:
        _add(total, receipt)
        for name, table in by.items():
            if name != "rule" or receipt.status in JUDGED:
                _add(table.setdefault(getattr(receipt, name) or "-", _row()), receipt)
        if receipt.status in judged:
            judged[receipt.status] += 1
    returned = _Returned(receipts, faults)
    hidden = {n for n, r in enumerate(receipts) if r.status == "verified" and r.handle}
    return {
        "unit": "estimated tokens (bytes/4)",
        "total": total,
        "judged": judged,
        "by_tool": by["tool"],
        "by_session": by["session"],
        "by_rule": by["rule"],
        "page_faults": {"count": returned.count, "tokens": returned.tokens},
        "regret": round(len(hidden & returned.receipts) / len(hidden), 4) if hidden else None,
        "net": total["saved"] - returned.tokens,
        "gross_if_all_applied": sum(
            _tokens(r.host) - _tokens(r.shown) for r in receipts if r.status in JUDGED
        ),
    }


class _Returned:
    """What recalls gave back of each receipt: each of its lines counts once in a session, and all
    of them no more than what was hidden.
    """

    def __init__(self, receipts: list[Receipt], faults: Iterable[dict[str, Any]]):
        self.count = 0  # faults
        self.receipts: set[int] = set()  # indexes of receipts that had one
        self._lines: dict[tuple[int, str], list[tuple[int, int]]] = {}
        self._tokens: dict[tuple[int, str], float] = {}
        self._hidden = [max(0, _tokens(r.raw) - _tokens(r.shown)) for r in receipts]
        for fault in faults:
            self._add(receipts, fault)

    @property
    def tokens(self) -> int:
        return sum(min(round(t), self._hidden[key[0]]) for key, t in self._tokens.items())

    def _add(self, receipts: list[Receipt], fault: dict[str, Any]) -> None:
        digits, session = (fault["handle"] or "")[:8], fault.get("session") or ""
        if not digits or (not session and fault.get("route") == "cli"):
            return  # a person's terminal: no model read it
        issued = [
            n
            for n, r in enumerate(receipts)
            if any(handle.startswith(digits) for handle in (r.handle or "").split())
        ]
        mine = [n for n in issued if receipts[n].session == session] or issued
        if not mine:
            return
        self.count += 1
        self.receipts.add(mine[-1])
        key = mine[-1], session
        size: float = _tokens(fault["bytes"]) or _tokens(receipts[mine[-1]].raw)
        before, lines = self._lines.get(key, []), line_ranges.of_text(fault.get("spans") or "")
        if lines:
            after = line_ranges.merged(before + lines)
            share = (line_ranges.count(after) - line_ranges.count(before)) / line_ranges.count(
                lines
            )
            self._lines[key], size = after, size * share
        self._tokens[key] = self._tokens.get(key, 0.0) + size


def estimates(
    report: dict[str, Any], models: dict[str, tuple[str, float, float]]
) -> dict[str, Any]:
    """Net savings in the models' own tokens and in money: estimates, and labelled so.

    `models`: session -> (model, bytes a token, US dollars for a million input tokens).  Each saved
    token is counted once, at the
    input price; that it would have been sent again with every later call is not counted.  Sessions
    of unknown model are left out;
    page faults are spread over the sessions by their share of what was saved.
    """
    own, dollars, left_out = 0.0, 0.0, 0
    saved = report["total"]["saved"]
    factor = report["net"] / saved if saved else 0.0
    for session, row in report["by_session"].items():
        if session not in models:
            left_out += 1
            continue
        _, ratio, price = models[session]
        tokens = row["saved"] * factor * 4 / ratio
        own, dollars = own + tokens, dollars + tokens * price / 1e6
    return {
        "model_tokens": round(own),
        "us_dollars": round(dollars, 4),
        "sessions_left_out": left_out,
        "label": "estimates: bytes per token by model, each token once at the input price",
    }


def as_text(report: dict[str, Any], notes: Iterable[dict[str, Any]] = ()) -> str:
    """The report for a terminal."""
    lines = [
        *_headline(report),
        *_own_cost(report.get("own_cost")),
        *_tables(report),
        *_alarm(report["judged"]),
        *(f"  - {note['text']} ({int(note['n'])} x)" for note in notes),
    ]
    return "\n".join(lines)


def _headline(report: dict[str, Any]) -> list[str]:
    total, judged, faults = report["total"], report["judged"], report["page_faults"]
    regret = "" if report["regret"] is None else f" (regret {100 * report['regret']:.1f} %)"
    return [
        "context-kernel: tokens kept out of the context window (estimates: bytes/4; only "
        "replacements seen in the transcript count)",
        "",
        f"  net saved            {_n(report['net']):>12}   = saved by verified replacements - "
        "page faults",
        *_estimate(report.get("estimates")),
        f"  saved, verified      {_n(total['saved']):>12}   against what the client alone would "
        "have shown",
        f"  page faults          {_n(-faults['tokens']):>12}   in {faults['count']} "
        f"recalls{regret}",
        "",
        f"  tool results {total['results']}, rewritten {total['rewritten']}: "
        + ", ".join(f"{name} {judged[name]}" for name in JUDGED),
        f"  raw {_n(total['raw'])}, client alone {_n(total['host'])}, shown {_n(total['shown'])}",
    ]


def _estimate(guess: dict[str, Any] | None) -> list[str]:
    if not guess:
        return []
    out = guess["sessions_left_out"]
    return [
        f"  net, estimated       {_n(guess['model_tokens']):>12}   of the models' own tokens, "
        f"~${guess['us_dollars']:.4f} once at the input price"
        + (f", {out} sessions left out" if out else "")
    ]


def _own_cost(own: dict[str, Any] | None) -> list[str]:
    if not own:
        return []
    return [
        "",
        f"  always on, at most {_n(own['tokens'])} in a session's requests, not subtracted:",
        *(f"    {_n(tokens):>6}   {what}" for what, tokens in own["parts"].items()),
    ]


def _tables(report: dict[str, Any]) -> Iterator[str]:
    for title, name in (("tool", "by_tool"), ("rule", "by_rule"), ("session", "by_session")):
        if not report[name]:
            continue
        yield ""
        yield _columns(title, *COLUMNS)
        for key, row in sorted(report[name].items(), key=lambda item: -item[1]["saved"])[
            :MOST_ROWS
        ]:
            sizes = (_n(row[column]) for column in COLUMNS[2:])
            yield _columns(key[:34], row["results"], row["rewritten"], *sizes)


def _columns(title: str, results: object, rewritten: object, *sizes: str) -> str:
    return f"  {title:<34} {results:>8} {rewritten:>10} " + " ".join(
        f"{size:>12}" for size in sizes
    )


def _alarm(judged: dict[str, int]) -> list[str]:
    count = judged["refused"] + judged["missing"]
    if not count:
        return []
    return [
        "",
        f"  ALARM: {count} replacement(s) were not applied by the client; their savings are not "
        "counted.",
    ]


def _n(value: int) -> str:
    return f"{value:,}"
