"""bench/results/README.md: each results file as a table in plain words, its machine, the plots."""

from __future__ import annotations

import glob
import json
import os
from typing import Callable, NamedTuple

import machine
from headlines import tree_of

FACTS = ("commit", "python", "client", "system", "cpu", "cpus", "load")
OFFERED = ["What", "Measured", "Beside it", "n", "Spread or target"]
OFFERED_KEYS = ("number", "value", "baseline", "n", "worst")
HEAD = """# Measured results

Every table below is written by `python3 bench/table.py` from the JSON file beside it; no figure is
typed. Tokens are bytes divided by 4. "load" is the machine's load average when measuring began.
"""
BUDGET = 20000  # tokens: the slice size that the table of sufficiency quotes

Column = tuple[str, Callable[[dict], object]]


class Section(NamedTuple):
    """A results file in words; {budget} and the like in `says` are its own fields.

    `part` names its list of rows.  A file without a section is shown by what it offers for a table.
    """

    source: str
    title: str
    says: str
    part: str
    columns: tuple[Column, ...]


def key(name: str, form: str = "{}") -> Callable[[dict], str]:
    """A cell from one field; "" where the field is missing or empty."""
    return lambda row: "" if row.get(name) in (None, "") else form.format(row[name])


def plain_test(row: dict) -> str:
    """A test's name in words: "normalize: laws", or "normalize: far numbers are shown (csv)"."""
    words = row["test"].replace("test_", "").replace("_", " ")
    return words.replace("[", " (").replace("]", ")").replace("|", "/")


def per_bug(row: dict) -> str:
    """Share of bugs whose files are all in the slice, with its 95 % interval."""
    return f"{row['all_files']:.0f} ± {row['all_files_95']:.0f} %"


LOCALIZE: tuple[Column, ...] = (
    ("How the lines were chosen", key("selector")),
    ("Lines of the fix inside", key("lines", "{:.1f} %")),
    ("All files of the fix inside", per_bug),
    ("First place is right", key("acc_1", "{:.0f} %")),
    ("Among the first five", key("acc_5", "{:.0f} %")),
    ("Cases", key("n")),
    ("CPU median, s", key("cpu_median")),
    ("worst", key("cpu_worst")),
)

SECTIONS = (
    Section(
        "outputs",
        "Tool outputs",
        "Outputs made from a seed, one of each kind, each with facts that an engineer would "
        "look for. Tokens raw, as the client alone shows them (its cut of a failing command, "
        "its preview of a long one), and with the plugin.",
        "rows",
        (
            ("Output", lambda row: row["output"].replace("_", " ")),
            ("Exit code", key("exit")),
            ("Raw", key("raw", "{:,}")),
            ("Client alone", key("client", "{:,}")),
            ("With the plugin", key("shown", "{:,}")),
            ("Facts kept", lambda row: f"{row['kept']} of {row['needles']}"),
            ("Client alone keeps", key("client_keeps")),
        ),
    ),
    Section(
        "latency",
        "Time of a turn",
        "Milliseconds between two requests of the real client, a tool call between them, "
        "against a fake API on loopback. Small outputs pass; long ones are shortened.",
        "rows",
        (
            ("Output", key("output")),
            ("Hooks", key("lane")),
            ("Median, ms", key("median_ms")),
            ("Over a hook that does nothing", key("over_noop_ms", "{:+}")),
            ("10 % are below", key("p10_ms")),
            ("95 % are below", key("p95_ms")),
            ("Worst", key("worst_ms")),
            ("Turns", key("n")),
        ),
    ),
    Section(
        "startup",
        "CPU of one hook process",
        "A hook as a process of its own, for places where no server may run. Over: the same "
        "interpreter doing only what the baseline does. A gated event is too small to be "
        "looked at; a folding one is rewritten and stored.",
        "rows",
        (
            ("Python", key("python")),
            ("Case", key("case")),
            ("Median CPU, ms", key("median_ms")),
            ("Baseline", key("baseline")),
            ("Over it, median", key("median_over_ms", "{:+}")),
            ("Target", key("target_over_ms", "{:+}")),
            ("Worst", key("worst_ms")),
            ("Runs", key("n")),
        ),
    ),
    Section(
        "failure_lane",
        "The failure lane (off unless you switch it on)",
        "Milliseconds that the shell wrapper adds to a command, in pairs with and without it.",
        "rows",
        (
            ("Case", key("case")),
            ("Median, ms", key("median_ms")),
            ("95 % are below", key("p95_ms")),
            ("Worst", key("worst_ms")),
            ("The command without it", key("without_ms")),
            ("Runs", key("n")),
        ),
    ),
    Section(
        "throughput",
        "Very long outputs",
        "CPU to shorten one text, beside reading it as JSON and splitting it into lines.",
        "rows",
        (
            ("MB", key("megabytes")),
            ("Lines", key("lines", "{:,}")),
            ("CPU, ms", key("cpu_ms")),
            ("Reading it alone, ms", key("base_ms")),
            ("Times that", key("times_base")),
            ("Peak memory, times the text", key("peak_times_input")),
            ("Target", key("target")),
            ("Runs", key("n")),
        ),
    ),
    Section(
        "localize_python",
        "Slices of reported bugs",
        "Bug reports of Python projects as their users wrote them; the slice has {budget:,} "
        "tokens. Beside it: files ranked by the report's words, shown whole while they fit.",
        "rows",
        LOCALIZE,
    ),
    Section(
        "localize_history",
        "Slices of fixes in a history",
        "The same for fixes in a repository's own history. The symptom is the commit message, "
        "which is easier than a report: compare figures of one kind only.",
        "rows",
        LOCALIZE,
    ),
    Section(
        "slice_timing",
        "Time of a slice",
        'CPU seconds of a slice of {tree} as a process of its own; "start" is an empty start '
        "of Python.",
        "timing",
        (
            ("Run", key("run")),
            ("Median, s", key("median_s")),
            ("95 % are below", key("p95_s")),
            ("Worst", key("worst_s")),
            ("Runs", key("n")),
        ),
    ),
    Section(
        "own_cost",
        "What the plugin itself costs",
        "Tokens that stand in every request of a session, counted from what the plugin hands "
        "to the client.",
        "rows",
        (
            ("What", key("what")),
            ("How many", key("count")),
            ("Tokens", key("tokens", "{:,}")),
            ("When", key("when")),
        ),
    ),
    Section(
        "long_proofs",
        "Long proofs",
        "Tests over drawn inputs, as `bash tests/run --long` ran them; the everyday run draws "
        "fewer with the same seed.",
        "rows",
        (
            ("Test", plain_test),
            ("Rounds", key("rounds", "{:,}")),
            ("Seed", key("seed")),
            ("Seconds", key("seconds")),
            ("Outcome", key("outcome")),
        ),
    ),
)


def load(folder: str) -> dict[str, dict]:
    """The results files of a folder by name; JSON that is no object is left out."""
    found = {}
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*.json"))):
        with open(path, encoding="utf-8") as handle:
            result = json.load(handle)
        if isinstance(result, dict):
            found[os.path.basename(path)[:-5]] = result
    return found


def measured_on(name: str, facts: dict) -> str:
    """The line about the machine."""
    told = ", ".join(f"{fact} {facts[fact]}" for fact in FACTS if facts.get(fact) not in (None, ""))
    return f"`{name}`" + (f": {told}" if told else "") + "."


def known_table(name: str, rows: list[dict]) -> str:
    """The rows of a file that has a section, as a Markdown table."""
    columns = next(one.columns for one in SECTIONS if one.source == name)
    return machine.markdown(
        [heading for heading, _ in columns], [[cell(row) for _, cell in columns] for row in rows]
    )


def section(name: str, result: dict) -> str:
    """One results file: heading, table, machine. "" where it has nothing to show."""
    known = {one.source: one for one in SECTIONS}.get(name)
    if known and result.get(known.part):
        title, says = known.title, known.says.format_map({**result, "tree": tree_of(result)})
        table = known_table(name, result[known.part])
    elif result.get("readme"):
        title, says = name.replace("_", " ").capitalize(), ""
        table = machine.markdown(
            OFFERED, [[row.get(field, "") for field in OFFERED_KEYS] for row in result["readme"]]
        )
    else:
        return ""
    parts = [f"## {title}", says, table, measured_on(name + ".json", result.get("machine") or {})]
    return "\n\n".join(part for part in parts if part)


# -- sufficiency: one file of JSON lines a repository


def sufficiency_row(path: str) -> list[object]:
    """A repository's row: how often a slice holds the raise site's file, also without imports."""
    with open(path, encoding="utf-8") as stream:
        head, *rows = [json.loads(line) for line in stream if line.strip()]

    def share(kind: str, hops: int, dropped: float) -> str:
        for row in rows:
            if (row["set"], row["budget"], row["hops"], row["dropped"]) == (
                kind,
                BUDGET,
                hops,
                dropped,
            ) and row["n"]:
                return f"{100 * row['files'] / row['n']:.0f} % of {row['n']}"
        return "-"

    far = [share("ranked", hops, 0.0) for hops in (1, 2, 3)]
    return [
        head["repository"],
        f"{head['source_files']:,}",
        *far,
        share("closure", 1, 0.0),
        share("closure", 1, 0.8),
    ]


def sufficiency(folder: str, result: dict) -> str:
    """The table and the curves of the sufficiency files; "" where there are none."""
    paths = sorted(glob.glob(os.path.join(glob.escape(folder), "sufficiency-*.jsonl")))
    if not paths:
        return ""
    columns = [
        "Repository",
        "Source files",
        "1 call away",
        "2 calls",
        "3 calls",
        "imports alone, 1 call",
        "the same, 80 % of imports deleted",
    ]
    parts = [
        "## Sufficiency of a slice",
        "An error is raised in one function and reported from one, two or three callers away. "
        f"How often does a slice of at most {BUDGET:,} tokens hold the file of the raise site, "
        "given the message and the caller's frame? The last column is the negative control: "
        "with most import edges deleted, a slice that follows imports alone has to fail.",
        machine.markdown(columns, [sufficiency_row(path) for path in paths]),
        measured_on("sufficiency-*.jsonl", result.get("machine") or {}),
    ]
    for path in paths:
        plot = os.path.basename(path)[:-6] + ".svg"
        if os.path.exists(os.path.join(folder, plot)):
            parts.append(
                f"![{plot[12:-4]}: how often a slice of each size holds the raise site]({plot})"
            )
    return "\n\n".join(parts)


def page(folder: str, results: dict[str, dict]) -> str:
    """The whole file: known sections in their order, then others by name."""
    order = [one.source for one in SECTIONS] + sorted(
        set(results) - {one.source for one in SECTIONS}
    )
    parts = [
        HEAD.strip(),
        "![tokens of each tool output: raw, client alone, with the plugin](headline.svg)",
    ]
    for name in order:
        if name == "sufficiency":
            parts.append(sufficiency(folder, results[name]))
        elif name in results:
            parts.append(section(name, results[name]))
    return "\n\n".join(part for part in parts if part) + "\n"
