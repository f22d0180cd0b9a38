#!/usr/bin/env python3
"""Sufficiency against budget as an SVG curve, from the JSON lines that sufficiency.py writes.

    python3 bench/plot.py bench/results/sufficiency-pandas.jsonl > curve.svg

Solid: the graph whole; dashed: with edges deleted.  Bars are Wilson intervals.
"""

from __future__ import annotations

import json
import math
import sys
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 400, 60, 230, 40, 50
COLOURS = ("#1b6ca8", "#c8553d", "#3d8c5c", "#8a5a9e")
DASHES = ("", "7 4", "2 3")


def curves(rows: list[dict]) -> dict[tuple[str, int, float], list[dict]]:
    """Rows with a budget, grouped by (row name, hops, share of edges deleted), by rising budget."""
    found: dict[tuple[str, int, float], list[dict]] = {}
    for row in rows:
        if row.get("budget") and row.get("n"):
            found.setdefault((row["set"], row["hops"], row["dropped"]), []).append(row)
    return {
        key: sorted(group, key=lambda row: row["budget"]) for key, group in sorted(found.items())
    }


def svg(rows: list[dict], title: str, sets: tuple[str, ...] = ("ranked", "closure")) -> str:
    """The curves as an SVG document: one panel a row name, side by side in one legend of hops
    and deleted edges.
    """
    groups = {key: group for key, group in curves(rows).items() if key[0] in sets}
    budgets = sorted({row["budget"] for group in groups.values() for row in group}) or [1]
    low, high = math.log(budgets[0]), math.log(max(budgets[-1], budgets[0] + 1))
    panel = (WIDTH - LEFT) // max(1, len(sets))
    width = LEFT + panel * len(sets) + RIGHT - 60

    def place(index: int, budget: float, share: float) -> tuple[float, float]:
        x = LEFT + index * panel + (math.log(budget) - low) / (high - low) * (panel - 50) + 10
        return x, TOP + (1 - share) * (HEIGHT - TOP - BOTTOM)

    out = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{HEIGHT}" '
            'font-family="sans-serif" font-size="12">'
        ),
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="14">{escape(title)}</text>',
    ]
    for index, name in enumerate(sets):
        out.append(f'<text x="{LEFT + index * panel + 10}" y="{TOP - 5}">{escape(name)}</text>')
        for share in (0, 0.25, 0.5, 0.75, 1):
            (x, y), (end, _) = place(index, budgets[0], share), place(index, budgets[-1], share)
            out.append(f'<path d="M{x:.1f} {y:.1f}H{end:.1f}" stroke="#ddd"/>')
            if not index:
                out.append(
                    f'<text x="{LEFT}" y="{y + 4:.1f}" text-anchor="end">{int(share * 100)} '
                    "%</text>"
                )
        for budget in budgets:
            x, y = place(index, budget, 0)
            out.append(
                f'<text x="{x:.1f}" y="{y + 18:.1f}" text-anchor="middle">{budget / 1000:g}k</text>'
            )
    out.append(f'<text x="{LEFT + 10}" y="{HEIGHT - 10}">budget, tokens (bytes/4)</text>')
    drops = sorted({key[2] for key in groups})
    hops = sorted({key[1] for key in groups})
    for (name, hop, drop), group in groups.items():
        colour, dash = (
            COLOURS[hops.index(hop) % len(COLOURS)],
            DASHES[drops.index(drop) % len(DASHES)],
        )
        index = sets.index(name)
        points = [place(index, row["budget"], row["files"] / row["n"]) for row in group]
        track = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        out.append(
            f'<path d="M{track}" fill="none" '
            f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
        )
        for row, (x, y) in zip(group, points):
            ends = [place(index, row["budget"], share)[1] for share in row["interval"]]
            out.append(
                f'<path d="M{x:.1f} {ends[0]:.1f}V{ends[1]:.1f}" stroke="{colour}" '
                f'opacity=".4"/><circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'
            )
    for line, (hop, drop) in enumerate((hop, drop) for hop in hops for drop in drops):
        y = TOP + 14 + 18 * line
        x = LEFT + panel * len(sets)
        out.append(
            f'<path d="M{x} {y - 4}H{x + 30}" '
            f'stroke="{COLOURS[hops.index(hop) % len(COLOURS)]}" stroke-width="2" '
            f'stroke-dasharray="{DASHES[drops.index(drop) % len(DASHES)]}"/>'
        )
        out.append(
            f'<text x="{x + 36}" y="{y}">{hop} hop{"s" * (hop > 1)}, {int(drop * 100)} % '
            "deleted</text>"
        )
    return "\n".join(out + ["</svg>"]) + "\n"


def main(argv: list[str]) -> int:
    """The exit code of `plot.py FILE.jsonl`; the SVG goes to stdout."""
    if len(argv) != 1:
        sys.stderr.write("usage: plot.py FILE.jsonl > FILE.svg\n")
        return 2
    with open(argv[0], encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream if line.strip()]
    sys.stdout.write(
        svg(rows, f"{rows[0].get('repository', argv[0])}: raise site's file inside the slice")
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
