"""JSON: the largest list of like objects as a table, constant fields once, unusual rows shown;
the rest as it was.
"""

from __future__ import annotations

import json
from typing import Any

from contextkernel import marks
from contextkernel.normalize.document import Document
from contextkernel.normalize.formats.json_table import FEWEST, Raw, table
from contextkernel.normalize.layout import Block, Layout, Rank, Request
from contextkernel.normalize.severity import FAULT, severity

MIN_BYTES = 2000  # smaller documents pass as they are
MAX_CHARS = 40_000_000  # larger ones are not parsed
PROSE_MAX_CHARS = 24000  # up to here a document that is mostly prose passes
PROSE_TEXT = 120  # characters; a longer text with blanks is prose
AROUND_MAX_CHARS = 2600  # for what is around the table
AROUND_LINE = 400  # characters of a line there
LONG_NUMBER = 400  # characters of a number that is not worked out
LOOKED_DEPTH, LOOKED_ITEMS = 6, 50  # levels and items of lists that are looked through for the list
NO_LIMIT = 10**9  # characters: the table keeps its own
PLACEHOLDER = "@table@"
BRACKETS = frozenset(("{", "}", "{}", "[", "]", "},", "],"))  # lines that say nothing by themselves


class DuplicateKeysError(ValueError):
    """An object that names a key twice: a table would show one of its values only."""


def layout(document: Document, request: Request) -> Layout | None:
    """The document as outline and table in place of the whole text; None when it is no JSON or
    holds no such list.
    """
    text = "\n".join(document.lines)
    lead = len(text) - len(text.lstrip())
    if len(text) < MIN_BYTES or len(text) > MAX_CHARS or text[lead : lead + 1] not in "[{":
        return None
    try:
        value = json.loads(text, parse_float=Raw, parse_int=Raw, object_pairs_hook=_unique)
        if len(text) < PROSE_MAX_CHARS and _prose(value) > len(text) // 2:
            return Layout([])  # comments, issue bodies: words that nothing stands for
        lines = _lines(value, request)
    except (ValueError, RecursionError):
        return None
    if not lines:
        return None
    block = Block(0, len(document.lines) - 1, Rank.MUST, tuple(lines), "json")
    return Layout([block], "JSON as outline and table", None, NO_LIMIT)


def _prose(value: Any) -> int:
    """Characters in long texts with blanks."""
    if isinstance(value, dict):
        return sum(map(_prose, value.values()))
    if isinstance(value, list):
        return sum(map(_prose, value))
    if not isinstance(value, str) or len(value) <= PROSE_TEXT:
        return 0
    return len(value) if value.count(" ") > len(value) // 15 else 0


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object that has each key once."""
    value = dict(pairs)
    if len(value) != len(pairs):
        raise DuplicateKeysError("duplicate keys")
    return value


def _lines(value: Any, request: Request) -> list[str]:
    """The table, amid what is around its list; [] when there is none."""
    rows = _largest(value)
    if len(rows) < FEWEST:
        return []
    lines = table(rows, request)
    if not lines or value is rows:
        return lines
    outline = json.dumps(_with_placeholder(value, rows), ensure_ascii=False, indent=1, default=str)
    around = [line for line in outline.split("\n") if line.strip() not in BRACKETS]
    if sum(map(len, around)) > AROUND_MAX_CHARS:
        around = _cut(around, request)
    place = next((i for i, line in enumerate(around) if PLACEHOLDER in line), None)
    if place is None:
        return around + lines
    heading = around[place].replace(f'"{PLACEHOLDER}"', "a list, as a table:")
    return around[:place] + [heading] + lines + around[place + 1 :]


def _cut(lines: list[str], request: Request) -> list[str]:
    """The first lines around the table, and those that name a fault."""
    kept: list[str] = []
    size = 0
    for line in lines:
        is_full = size + len(line) > AROUND_MAX_CHARS
        if is_full and PLACEHOLDER not in line and severity(line) != FAULT:
            continue
        kept.append(line if len(line) < AROUND_LINE else line[:AROUND_LINE] + "…")
        size += len(line)
    hidden = len(lines) - len(kept)
    words = f"{hidden} lines of the document around the table hidden"
    return kept + [marks.note(words, request.handle)]


def _largest(value: Any, depth: int = 0) -> list[dict[str, Any]]:
    """The longest list of objects; [] for none."""
    best: list[dict[str, Any]] = []
    if isinstance(value, list):
        if len(value) >= FEWEST and all(isinstance(item, dict) for item in value):
            return value
        children = value[:LOOKED_ITEMS]
    elif isinstance(value, dict):
        children = list(value.values())
    else:
        return best
    for child in children if depth < LOOKED_DEPTH else ():
        rows = _largest(child, depth + 1)
        if len(rows) > len(best):
            best = rows
    return best


def _with_placeholder(value: Any, rows: Any) -> Any:
    """The value with a word in the place of the list, and with numbers as they were written."""
    if value is rows:
        return PLACEHOLDER
    if isinstance(value, dict):
        return {key: _with_placeholder(inner, rows) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_placeholder(item, rows) for item in value]
    return _number(value) if isinstance(value, Raw) else value


def _number(raw: Raw) -> Any:
    """A number, as text where it would not be written like this again."""
    if len(raw) > LONG_NUMBER:
        return str(raw)
    value = float(raw) if any(c in raw for c in ".eE") else int(raw)
    return value if str(value) == raw else str(raw)
