"""A symbol's slice in words, as a person or a model reads it."""

from __future__ import annotations

from typing import Any

from contextkernel import paths, tokens
from contextkernel.symbols.fitting import OUTLINE_SHARE
from contextkernel.symbols.manifest import FEWEST_OUTLINED


def in_text(facts: dict[str, Any], source: str) -> str:
    """An answer as text: header, notes, numbered lines, gaps, outline, a command that prints the
    same lines.
    """
    text = source.split("\n")
    count = len(text) - (not text[-1])
    sizes = facts["tokens"]
    shown = sum(last - first + 1 for first, last in facts["ranges"])
    out = [f"T2b@{facts['stamp']} {paths.shown(facts['file'])} {paths.plain(facts['symbol'])}"]
    out.append(
        f"{shown} of {count} lines, ~{sizes['shown']} tokens (the file ~{sizes['file']})"
        + ("" if sizes["budget"] is None else f", budget {int(sizes['budget'])}")
    )
    out += ["note: " + note for note in facts["notes"]]
    at = 1
    for first, last in facts["ranges"]:
        out += _gap(at, first - 1)
        out += [
            "{}\t{}".format(number, text[number - 1].rstrip("\r"))
            for number in range(first, last + 1)
        ]
        at = last + 1
    out += _gap(at, count)
    out += _outline(facts)
    if facts["ranges"]:
        out.append(
            "same lines: " + command([tuple(pair) for pair in facts["ranges"]], facts["file"])
        )
    return "\n".join(out) + "\n"


def _outline(facts: dict[str, Any]) -> list[str]:
    """A line for each part that did not fit, as far as the outline's share of the budget goes,
    then their number.
    """
    out: list[str] = []
    left = (facts["tokens"]["budget"] or 0) // OUTLINE_SHARE
    for index, part in enumerate(facts["outline"]):
        line = (
            f"did not fit: lines {int(part['first'])}-{int(part['last'])} ({part['why']}): "
            f"{part['text']}"
        )
        left -= tokens.estimate(line + "\n")
        if left < 0 and index >= FEWEST_OUTLINED:
            return out + [
                (
                    f"did not fit: {len(facts['outline']) - index} parts more; a larger budget "
                    "shows them"
                )
            ]
        out.append(line)
    return out


def _gap(first: int, last: int) -> list[str]:
    return [f"… lines {first}-{last} left out"] if first <= last else []


def command(ranges: list[tuple[int, ...]], path: str) -> str:
    """A `sed` command that prints the ranges of a file."""
    script = ";".join(f"{pair[0]},{pair[1]}p" for pair in ranges)
    return f"sed -n {paths.quoted(script)} {paths.quoted(path)}"
