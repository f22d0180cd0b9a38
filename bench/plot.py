#!/usr/bin/env python3
"""Sufficiency against budget as an SVG curve, from the JSON lines that sufficiency.py writes.

    python3 bench/plot.py bench/results/sufficiency-pandas.jsonl > curve.svg

Solid: the graph whole; dashed: with edges deleted.  Bars are Wilson intervals.
"""
from __future__ import annotations

import json
import math
import sys
from typing import Dict, List, Tuple
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 400, 60, 230, 40, 50
COLOURS = ("#1b6ca8", "#c8553d", "#3d8c5c", "#8a5a9e")
DASHES = ("", "7 4", "2 3")


def curves(rows: List[dict]) -> Dict[Tuple[str, int, float], List[dict]]:
    """Rows with a budget, grouped by (row name, hops, share of edges deleted), by rising budget."""
    found: Dict[Tuple[str, int, float], List[dict]] = {}
    for row in rows:
        if row.get("budget") and row.get("n"):
            found.setdefault((row["set"], row["hops"], row["dropped"]), []).append(row)
    return {key: sorted(group, key=lambda row: row["budget"]) for key, group in sorted(found.items())}


def svg(rows: List[dict], title: str, sets: Tuple[str, ...] = ("ranked", "closure")) -> str:
    """The curves as an SVG document: one panel a row name, side by side in one legend of hops and deleted edges."""
    groups = {key: group for key, group in curves(rows).items() if key[0] in sets}
    budgets = sorted({row["budget"] for group in groups.values() for row in group}) or [1]
    low, high = math.log(budgets[0]), math.log(max(budgets[-1], budgets[0] + 1))
    panel = (WIDTH - LEFT) // max(1, len(sets))
    width = LEFT + panel * len(sets) + RIGHT - 60

    def place(index: int, budget: float, share: float) -> Tuple[float, float]:
        x = LEFT + index * panel + (math.log(budget) - low) / (high - low) * (panel - 50) + 10
        return x, TOP + (1 - share) * (HEIGHT - TOP - BOTTOM)

    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">' % (width, HEIGHT),
           '<rect width="100%" height="100%" fill="white"/>', '<text x="%d" y="20" font-size="14">%s</text>' % (LEFT, escape(title))]
    for index, name in enumerate(sets):
        out.append('<text x="%d" y="%d">%s</text>' % (LEFT + index * panel + 10, TOP - 5, escape(name)))
        for share in (0, 0.25, 0.5, 0.75, 1):
            (x, y), (end, _) = place(index, budgets[0], share), place(index, budgets[-1], share)
            out.append('<path d="M%.1f %.1fH%.1f" stroke="#ddd"/>' % (x, y, end))
            if not index:
                out.append('<text x="%d" y="%.1f" text-anchor="end">%d %%</text>' % (LEFT, y + 4, share * 100))
        for budget in budgets:
            x, y = place(index, budget, 0)
            out.append('<text x="%.1f" y="%.1f" text-anchor="middle">%gk</text>' % (x, y + 18, budget / 1000))
    out.append('<text x="%d" y="%d">budget, tokens (bytes/4)</text>' % (LEFT + 10, HEIGHT - 10))
    drops = sorted({key[2] for key in groups})
    hops = sorted({key[1] for key in groups})
    for (name, hop, drop), group in groups.items():
        colour, dash = COLOURS[hops.index(hop) % len(COLOURS)], DASHES[drops.index(drop) % len(DASHES)]
        index = sets.index(name)
        points = [place(index, row["budget"], row["files"] / row["n"]) for row in group]
        out.append('<path d="M%s" fill="none" stroke="%s" stroke-width="2" stroke-dasharray="%s"/>' % (
            "L".join("%.1f %.1f" % point for point in points), colour, dash))
        for row, (x, y) in zip(group, points):
            ends = [place(index, row["budget"], share)[1] for share in row["interval"]]
            out.append('<path d="M%.1f %.1fV%.1f" stroke="%s" opacity=".4"/><circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (x, ends[0], ends[1], colour, x, y, colour))
    for line, (hop, drop) in enumerate((hop, drop) for hop in hops for drop in drops):
        y = TOP + 14 + 18 * line
        x = LEFT + panel * len(sets)
        out.append('<path d="M%d %dH%d" stroke="%s" stroke-width="2" stroke-dasharray="%s"/>' % (
            x, y - 4, x + 30, COLOURS[hops.index(hop) % len(COLOURS)], DASHES[drops.index(drop) % len(DASHES)]))
        out.append('<text x="%d" y="%d">%d hop%s, %d %% deleted</text>' % (x + 36, y, hop, "s" * (hop > 1), drop * 100))
    return "\n".join(out + ["</svg>"]) + "\n"


def main(argv: List[str]) -> int:
    """The exit code of `plot.py FILE.jsonl`; the SVG goes to stdout."""
    if len(argv) != 1:
        sys.stderr.write("usage: plot.py FILE.jsonl > FILE.svg\n")
        return 2
    with open(argv[0], encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream if line.strip()]
    sys.stdout.write(svg(rows, "%s: raise site's file inside the slice" % rows[0].get("repository", argv[0])))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
