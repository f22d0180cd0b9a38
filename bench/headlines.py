"""The five rows of the README, each from the results file that it names."""

from __future__ import annotations

from typing import Callable, NamedTuple

COLUMNS = ["Question", "Measured", "Beside it", "n", "Spread", "Source"]


class Headline(NamedTuple):
    """One row: `cells(result)` gives question, value, baseline, n and spread of SOURCE.json."""

    source: str
    cells: Callable[[dict], list[str]]


def percent(share: float) -> str:
    """A share of 1 as whole percent."""
    return f"{100 * share:.0f} %"


def named(rows: list[dict], **wanted) -> dict:
    """The one row that has these values. Raises KeyError."""
    for row in rows:
        if all(row.get(key) == value for key, value in wanted.items()):
            return row
    raise KeyError(f"no row with {wanted}")


def tree_of(result: dict) -> str:
    """The source tree that slice_timing.json was measured on, as "pandas (1,481 files)"."""
    offered = result.get("readme") or [{"number": ""}]
    return offered[0]["number"].partition(", CPU")[0].replace("Slice of ", "")


def removed(result: dict) -> list[str]:
    """Tokens removed, a mean over outputs, beside what the client cuts away by itself."""
    rows = result["rows"]
    ours = [1 - row["shown"] / row["raw"] for row in rows]
    alone = [1 - row["client"] / row["raw"] for row in rows]
    return [
        "How much of a long output goes?",
        f"{percent(sum(ours) / len(ours))} of an output's tokens",
        f"client alone: {percent(sum(alone) / len(alone))}",
        f"{len(rows)} outputs",
        f"{percent(min(ours))} to {percent(max(ours))}; "
        f"client alone {percent(min(alone))} to {percent(max(alone))}",
    ]


def facts_kept(result: dict) -> list[str]:
    """Facts that an engineer would look for and that are still in the text."""
    rows = result["rows"]
    total, kept, alone = (
        sum(row[key] for row in rows) for key in ("needles", "kept", "client_keeps")
    )
    lost, lost_alone = (
        sum(row[key] < row["needles"] for row in rows) for key in ("kept", "client_keeps")
    )
    return [
        "Is what matters still there?",
        f"{kept} of {total}",
        f"client alone: {alone} of {total}",
        f"{total} facts",
        f"outputs that lost one: {lost}; client alone: {lost_alone}",
    ]


def turn_time(result: dict) -> list[str]:
    """Milliseconds added to a turn with a small output, over a client without hooks."""
    rows = [row for row in result["rows"] if row["output"] == "small"]
    ours, bare, noop = (
        named(rows, lane=lane) for lane in ("resident lane", "no hook", "no-op mcp_tool hook")
    )
    added, added_noop = (row["median_ms"] - bare["median_ms"] for row in (ours, noop))
    return [
        "Does a short output wait for it?",
        f"{added:+.0f} ms",
        f"a hook that does nothing: {added_noop:+.0f} ms",
        f"{ours['n']} turns",
        f"p95 of a turn {ours['p95_ms']:.0f} ms, without hooks {bare['p95_ms']:.0f} ms",
    ]


def slice_hits(result: dict) -> list[str]:
    """Lines of real fixes that the slice of a bug report holds."""
    ours, words = (
        named(result["rows"], selector=name) for name in ("slice", "words alone, whole files")
    )
    return [
        f"Does a slice of {result['budget']:,} tokens hold the fix of a reported bug?",
        f"{ours['lines']:.0f} % of the fix's lines",
        f"words alone: {words['lines']:.0f} %",
        f"{ours['n']} bugs",
        f"all files of the fix: {ours['all_files']:.0f} ± {ours['all_files_95']:.0f} %; "
        f"words alone {words['all_files']:.0f} ± {words['all_files_95']:.0f} %",
    ]


def slice_time(result: dict) -> list[str]:
    """CPU seconds of a slice of a large repository."""
    cold, new, start = (
        named(result["timing"], run=run) for run in ("cold", "new symptom", "start")
    )
    return [
        f"How long does a slice of {tree_of(result)} take?",
        f"{cold['median_s']:.1f} s the first time, {new['median_s']:.2f} s for a new symptom (CPU)",
        f"starting Python: {start['median_s']:.2f} s",
        f"{cold['n']} and {new['n']} runs",
        f"worst {cold['worst_s']:.1f} s and {new['worst_s']:.2f} s",
    ]


HEADLINES = (
    Headline("outputs", removed),
    Headline("outputs", facts_kept),
    Headline("latency", turn_time),
    Headline("localize_python", slice_hits),
    Headline("slice_timing", slice_time),
)


def rows_of(results: dict[str, dict]) -> list[list[str]]:
    """The rows whose results files are there, as table cells."""
    return [
        [*line.cells(results[line.source]), f"`{line.source}.json`"]
        for line in HEADLINES
        if line.source in results
    ]
