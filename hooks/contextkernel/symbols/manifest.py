"""What a symbol slice shows: the lines with their numbers, what was left out, and how to see it."""

from __future__ import annotations

import hashlib
from typing import Any

from contextkernel import tokens
from contextkernel.slicing.languages import language_of
from contextkernel.symbols.fitting import SymbolSlice, head_line, within
from contextkernel.symbols.slice import symbol_slice

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
