"""What a symbol slice shows: the lines with their numbers, what was left out, and how to see it."""

from __future__ import annotations

import hashlib
from typing import Any

from contextkernel import paths, tokens
from contextkernel.slicing.languages import language_of
from contextkernel.symbols.slice import OUTLINE_SHARE, SymbolSlice, head_line, symbol_slice, within

VERSION = "1"  # of the operator: rises when the same file and name may give other lines
FEWEST_OUTLINED = 3  # lines, however small the budget


class UnknownSymbolError(LookupError):
    """The file has no such symbol; the message names near matches."""


def answer(path: str, source: str, name: str, budget: int | None = None) -> dict[str, Any]:
    """The slice of one symbol as JSON-ready facts: file, symbol, ranges, notes, tokens, outline,
    stamp.

    `path` serves to know the language and to be shown.  Tokens are bytes/4 of the lines as shown,
    numbers included.
    Raises UnknownSymbolError.
    """
    row = language_of(path)
    found = symbol_slice(source, name, row.name if row else "other")
    if not found.found:
        raise UnknownSymbolError(
            f"{path}: {found.notes[0] if found.notes else 'no symbol ' + name}"
        )
    fitted = within(source, found, budget)
    text = source.split("\n")
    notes = list(found.notes)
    if fitted.outline:
        notes.insert(0, _shortfall(text, found, budget))
    return {
        "file": path,
        "symbol": name,
        "ranges": [list(pair) for pair in fitted.ranges],
        "notes": notes,
        "outline": [
            {"first": part.first, "last": part.last, "why": part.why, "text": head_line(text, part)}
            for part in fitted.outline
        ],
        "tokens": {
            "shown": fitted.cost,
            "needed": within(source, found, None).cost,
            "file": tokens.estimate(source),
            "budget": budget,
        },
        "stamp": hashlib.sha256(
            "\0".join((VERSION, name, source)).encode("utf-8", "surrogatepass")
        ).hexdigest()[:12],
    }


def _shortfall(text: list[str], found: SymbolSlice, budget: int | None) -> str:
    whole = within("\n".join(text), found, None).cost
    own = [part for part in found.parts if part.distance == 0]
    least = sum(
        tokens.estimate(f"{number}\t{text[number - 1]}\n")
        for part in own
        for number in range(part.first, part.last + 1)
    )
    smallest = f"the symbol alone takes {least}; " if budget is not None and least > budget else ""
    return f"does not fit into {budget} tokens: {smallest}with all it needs {whole}"


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
