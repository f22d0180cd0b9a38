"""The README's picture: tokens of each output raw, shown by the client alone, with the plugin."""

from __future__ import annotations

from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 900, 130, 230, 78, 46  # px
ROW, BAR = 20, 6  # px of one output, of one bar
COLOURS = (
    ("raw", "raw output", 100),
    ("alone", "shown by the client alone", 190),
    ("ours", "with the plugin", 0),
)
TICKS = 7  # at most so many steps of the axis
STYLE = """
text { font: 12px -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #24292f; }
.title { font-size: 15px; font-weight: 600; }
.quiet { fill: #57606a; }
.lost { fill: #b35900; }
.grid { stroke: #d0d7de; }
.raw { fill: #d0d7de; }
.alone { fill: #8c959f; }
.ours { fill: #1b6ca8; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .quiet { fill: #9198a1; }
  .lost { fill: #f0a04b; }
  .grid { stroke: #3d444d; }
  .raw { fill: #343b44; }
  .alone { fill: #7d8590; }
  .ours { fill: #58a6ff; }
}
"""


def step_of(most: int) -> int:
    """A round distance of the axis' ticks: 1, 2 or 5 times a power of ten."""
    power = 1
    while True:
        for factor in (1, 2, 5):
            if most <= factor * power * TICKS:
                return factor * power
        power *= 10


def lost(row: dict, key: str) -> str:
    """What a text lost of an output's facts, in words; "" for nothing."""
    gone = row["needles"] - row[key]
    return f"loses {gone} of {row['needles']} facts" if gone else ""


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """A line of text."""
    place = f'x="{x:.0f}" y="{y:.0f}" class="{kind}" text-anchor="{anchor}"'
    return f"<text {place}>{escape(words)}</text>"


def bar(y: float, width: float, kind: str) -> str:
    """A bar that begins at the axis."""
    return (
        f'<rect x="{LEFT}" y="{y:.0f}" width="{max(1, width):.1f}" height="{BAR}" class="{kind}"/>'
    )


def legend() -> list[str]:
    """What the three colours are."""
    out, x = [], LEFT
    for kind, words, room in COLOURS:
        out.append(f'<rect x="{x}" y="38" width="14" height="{BAR + 4}" class="{kind}"/>')
        out.append(text(x + 20, 47, words))
        x += room
    return out


def svg(rows: list[dict]) -> str:
    """The bars of bench/results/outputs.json as an SVG document, longest output first.

    Readable on light and on dark ground.
    """
    rows = sorted(rows, key=lambda row: -row["raw"])
    most = max([row["raw"] for row in rows] or [1])
    step = step_of(most)
    end = -(-most // step) * step  # tokens at the right end of the axis
    scale = (WIDTH - LEFT - RIGHT) / end  # px a token
    height = TOP + ROW * len(rows) + BOTTOM
    base = height - BOTTOM
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"'
        f' width="{WIDTH}" height="{height}" role="img">',
        f"<title>Tokens of {len(rows)} tool outputs: raw, client alone, with the plugin</title>",
        f"<style>{STYLE}</style>",
        text(LEFT, 22, f"What the model reads of {len(rows)} tool outputs", "title"),
        *legend(),
        text(LEFT - 8, TOP - 8, "output of", "quiet", "end"),
        text(LEFT, TOP - 8, "each pair: client alone above, plugin below", "quiet"),
    ]
    for tick in range(0, end + 1, step):
        x = LEFT + tick * scale
        out.append(f'<path d="M{x:.1f} {TOP}V{base}" class="grid"/>')
        out.append(text(x, base + 17, f"{tick:,}", "quiet", "middle"))
    out.append(text(LEFT + end * scale / 2, base + 36, "tokens (bytes / 4)", "quiet", "middle"))
    for number, row in enumerate(rows):
        y = TOP + ROW * number + 3
        out.append(text(LEFT - 8, y + 11, row["output"].replace("_", " "), "", "end"))
        out += [
            bar(y, row["raw"] * scale, "raw"),
            bar(y, row["client"] * scale, "alone"),
            bar(y + BAR + 1, row["shown"] * scale, "ours"),
        ]
        told = [
            f"{who} {words}"
            for who, words in (
                ("client alone", lost(row, "client_keeps")),
                ("plugin", lost(row, "kept")),
            )
            if words
        ]
        if told:
            out.append(text(LEFT + end * scale + 10, y + 11, "; ".join(told), "lost"))
    return "\n".join([*out, "</svg>"]) + "\n"
