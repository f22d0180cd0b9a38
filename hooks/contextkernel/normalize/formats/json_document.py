"""JSON: the largest list of like objects as a table, constant fields once, unusual rows shown;
the rest as it was.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from contextkernel import marks
from contextkernel.normalize.document import Document
from contextkernel.normalize.layout import Block, Layout, Rank, Request
from contextkernel.normalize.outliers import far_or_rare
from contextkernel.normalize.severity import FAULT, severity

LEAST = 2000  # bytes; smaller documents pass as they are
MOST = 40_000_000  # characters; larger ones are not parsed
FEWEST = 6  # objects in a list worth a table
FIRST, LAST_ROWS = 3, 1  # rows that are shown whatever they hold
PROSE_MAX_CHARS = 24000  # characters; up to here a document that is mostly prose passes
CELL = 60  # characters
DEEP = 3  # levels of objects flattened into columns
AROUND_MAX_CHARS = 2600  # characters for what is around the table
TABLE_TARGET_CHARS = 4200
LONG_NUMBER = 400  # characters of a number that is not worked out
# cells of a table; above, at most so many for each value there is: rows that share no keys are no
# table
GRID, SPARSE = (
    200_000,
    40,
)
FAULTY = 16  # rows shown of many that hold a word of failure
STATES = (
    "status",
    "state",
    "phase",
    "result",
    "outcome",
    "conclusion",
)  # columns of which one value on every row may say that all failed
STATE = 24  # characters; a column of shorter values tells a state, and most rows may have failed


class Raw(str):
    """A number as it was written."""


class Refused(ValueError):
    """A document that cannot be shown as a table without changing it: duplicate keys, or not
    JSON.
    """


def layout(document: Document, request: Request) -> Layout | None:
    """The document as outline and table in place of the whole text; None when it is no JSON or
    holds no such list.
    """
    text = "\n".join(document.lines)
    lead = len(text) - len(text.lstrip())
    if len(text) < LEAST or len(text) > MOST or text[lead : lead + 1] not in "[{":
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
    return Layout(
        [Block(0, len(document.lines) - 1, Rank.MUST, tuple(lines), "json")],
        "JSON as outline and table",
        None,
        10**9,
    )


def _prose(value: Any) -> int:
    """Characters in long texts with blanks."""
    if isinstance(value, dict):
        return sum(map(_prose, value.values()))
    if isinstance(value, list):
        return sum(map(_prose, value))
    return (
        len(value)
        if isinstance(value, str) and len(value) > 120 and value.count(" ") > len(value) // 15
        else 0
    )


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Refused("duplicate keys")
    return found


def _lines(value: Any, request: Request) -> list[str]:
    path, rows = _largest(value)
    if len(rows) < FEWEST:
        return []
    table = _table(rows, path or "$", request)
    if not table:
        return []
    holder = "@table@"
    outline = (
        json.dumps(
            _with_placeholder(value, rows, holder), ensure_ascii=False, indent=1, default=str
        )
        if value is not rows
        else ""
    )
    around = (
        [
            line
            for line in outline.split("\n")
            if line.strip() not in ("{", "}", "{}", "[", "]", "},", "],")
        ]
        if outline
        else []
    )
    if sum(map(len, around)) > AROUND_MAX_CHARS:
        around = _cut(around, request)
    place = next((i for i, line in enumerate(around) if holder in line), None)
    if place is None:
        return [line for line in around] + table
    around[place] = around[place].replace(f'"{holder}"', "a list, as a table:")
    return around[: place + 1] + table + around[place + 1 :]


def _cut(lines: list[str], request: Request) -> list[str]:
    kept, size = [], 0
    for line in lines:
        if (
            size + len(line) > AROUND_MAX_CHARS
            and "@table@" not in line
            and severity(line) != FAULT
        ):
            continue
        kept.append(line if len(line) < 400 else line[:400] + "…")
        size += len(line)
    return kept + [
        marks.note(
            f"{len(lines) - len(kept)} lines of the document around the table hidden",
            request.handle,
        )
    ]


def _largest(value: Any, path: str = "", depth: int = 0) -> tuple[str, list[dict[str, Any]]]:
    """The list of objects with the most cells, and its path."""
    best: tuple[str, list[Any]] = (path, [])
    if isinstance(value, list):
        objects = [item for item in value if isinstance(item, dict)]
        if len(objects) == len(value) >= FEWEST:
            best = (path, value)
        children = [(path + "[]", item) for item in value[:50]] if not best[1] and depth < 6 else []
    elif isinstance(value, dict):
        children = (
            [((path + "." if path else "") + key, inner) for key, inner in value.items()]
            if depth < 6
            else []
        )
    else:
        children = []
    for name, child in children:
        if isinstance(child, (dict, list)):
            found = _largest(child, name, depth + 1)
            if len(found[1]) > len(best[1]):
                best = found
    return best


def _with_placeholder(value: Any, rows: Any, holder: str) -> Any:
    if value is rows:
        return holder
    if isinstance(value, dict):
        return {key: _with_placeholder(inner, rows, holder) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_placeholder(item, rows, holder) for item in value]
    return value if not isinstance(value, Raw) else _number(value)


def _number(raw: Raw) -> Any:
    if len(raw) > LONG_NUMBER:
        return str(raw)
    value = float(raw) if any(c in raw for c in ".eE") else int(raw)
    return value if str(value) == raw else str(raw)


def _flat(value: dict[str, Any], prefix: str = "", depth: int = 1) -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, inner in value.items():
        if isinstance(inner, dict) and inner and depth < DEEP:
            flat.update(_flat(inner, prefix + key + ".", depth + 1))
        elif isinstance(inner, str):
            flat[prefix + key] = str(inner) if isinstance(inner, Raw) or inner else '""'
        else:
            flat[prefix + key] = (
                json.dumps(inner, ensure_ascii=False, separators=(",", ":"), default=str).replace(
                    '"', "'"
                )
                if isinstance(inner, (dict, list))
                else json.dumps(inner)
            )
    return flat


class Column(NamedTuple):
    name: str
    cells: list[str]
    width: float  # mean characters


def _table(rows: list[dict[str, Any]], path: str, request: Request) -> list[str]:
    flat = [_flat(row) for row in rows]
    names = list(dict.fromkeys(name for row in flat for name in row))
    if len(names) * len(rows) > max(GRID, SPARSE * sum(map(len, flat))):
        return []
    columns = [Column(name, [row.get(name, "") for row in flat], 0.0) for name in names]
    columns = [column._replace(width=sum(map(len, column.cells)) / len(rows)) for column in columns]
    constant = [column for column in columns if len(set(column.cells)) == 1]
    varying = [column for column in columns if len(set(column.cells)) > 1]
    target_chars = TABLE_TARGET_CHARS if request.exit_code else int(TABLE_TARGET_CHARS * 1.3)
    shown, hidden, cell = _columns(varying, len(rows), target_chars)
    faults = {
        column.name: [i for i, cell in enumerate(column.cells) if severity(cell[:300]) == FAULT]
        for column in varying
    }
    unusual = _unusual(varying, faults)
    all_failed = any(
        c.name.rsplit(".", 1)[-1].lower() in STATES and severity(c.cells[0][:300]) == FAULT
        for c in constant
    )
    faulty = set(range(len(rows))) if all_failed else _faulty(varying, faults)
    wanted = _rows(shown, len(rows), unusual, faulty, target_chars, cell)
    lines = []
    if constant:
        lines.append(
            "same on every row: " + "; ".join(f"{c.name}={_cell(c.cells[0], 80)}" for c in constant)
        )
    if hidden:
        lines.append(
            marks.note(
                "columns not shown: " + marks.clip(", ".join(c.name for c in hidden), 160),
                request.handle,
            )
        )
    lines.append("row\t" + "\t".join(column.name for column in shown))
    before = -1
    for index in wanted:
        if index > before + 1:
            lines.append(_hidden(before + 1, index - 1, faulty, request.handle))
        extra = [
            (c.name, c.cells[index])
            for c in hidden
            if index in unusual and c.name in unusual[index]
        ]
        lines.append(
            "%d\t%s%s"
            % (
                index,
                "\t".join(
                    _cell(column.cells[index], CELL * 4 if index in unusual else cell)
                    for column in shown
                ),
                "".join(f"\t{name}={_cell(value, CELL * 3)}" for name, value in extra),
            )
        )
        before = index
    if before < len(rows) - 1:
        lines.append(_hidden(before + 1, len(rows) - 1, faulty, request.handle))
    return lines


def _hidden(first: int, last: int, faulty: set[int], handle: str) -> str:
    """The mark for hidden rows: how many of them hold a word of failure."""
    count = sum(first <= index <= last for index in faulty)
    return marks.note(
        "rows %d-%d hidden, %s"
        % (first, last, f"{count} of them with a word of failure" if count else "ordinary"),
        handle,
    )


def _columns(
    columns: list[Column], rows: int, target_chars: int
) -> tuple[list[Column], list[Column], int]:
    """Columns that are shown, those that are not, and the characters of a cell: names and short
    values first.
    """
    shown, hidden, used = [], [], 0.0
    most = target_chars / max(1, min(rows, 60))
    for column in sorted(
        columns, key=lambda c: (min(c.width, CELL) > 36, not _naming(c.name), c.width)
    ):
        width = min(column.width, CELL) + 1
        if not shown or used + width <= max(most, 40):
            shown.append(column)
            used += width
        else:
            hidden.append(column)
    order = {column.name: i for i, column in enumerate(columns)}
    return sorted(shown, key=lambda c: order[c.name]), hidden, CELL


def _naming(name: str) -> bool:
    return name.rsplit(".", 1)[-1].lower() in (
        "id",
        "name",
        "status",
        "state",
        "title",
        "key",
        "path",
        "type",
        "version",
        "code",
        "error",
        "message",
        "number",
        "level",
        "conclusion",
        "login",
        "url",
    )


def _unusual(columns: list[Column], faults: dict[str, list[int]]) -> dict[int, list[str]]:
    """Rows whose value in some column is rare, far from the others, or a fault; with those
    columns.
    """
    found: dict[int, list[str]] = {}
    for column in columns:
        indexes = set(far_or_rare(column.cells)) if len(column.cells) >= 8 else set()
        if len(faults[column.name]) <= max(3, len(column.cells) // 10):
            indexes |= set(faults[column.name])
        empty = [i for i, cell in enumerate(column.cells) if cell in ("", "null")]
        if len(empty) <= max(2, len(column.cells) // 50):
            indexes |= set(empty)
        elif len(column.cells) - len(empty) <= max(2, len(column.cells) // 50):
            indexes |= set(range(len(column.cells))) - set(empty)
        for index in indexes:
            found.setdefault(index, []).append(column.name)
    return found


def _faulty(columns: list[Column], faults: dict[str, list[int]]) -> set[int]:
    """Rows that hold a word of failure in a column that tells rows apart by it."""
    found: set[int] = set()
    for column in columns:
        if len(faults[column.name]) < len(column.cells) * (1.0 if column.width <= STATE else 0.5):
            found.update(faults[column.name])
    return found


def _rows(
    shown: list[Column],
    rows: int,
    unusual: dict[int, list[str]],
    faulty: set[int],
    target_chars: int,
    cell: int,
) -> list[int]:
    """Row indexes, ascending: all when they fit, else the first, the last and the unusual ones."""
    widths = [sum(min(len(column.cells[i]), cell) + 1 for column in shown) + 5 for i in range(rows)]
    if sum(widths) <= target_chars and (
        sum(widths) <= target_chars // 2
        or len(unusual) > rows // 3
        or rows < 40
        or _listing(shown, rows)
    ):
        return list(range(rows))
    wanted = set(range(min(FIRST, rows))) | set(range(max(0, rows - LAST_ROWS), rows))
    used = sum(widths[i] + 60 for i in wanted)
    for index in sorted(unusual, key=lambda i: (-len(unusual[i]), i)):
        used += widths[index] + 60
        if used > target_chars * 1.5:
            break
        wanted.add(index)
    for index in [i for i in sorted(faulty) if i not in wanted][
        : max(0, FAULTY - len(faulty & wanted))
    ]:
        used += widths[index] + 60
        if used > target_chars * 1.2:
            break
        wanted.add(index)
    if used < target_chars and _listing(shown, rows):
        for index in range(rows):
            if index not in wanted:
                used += widths[index]
                if used > target_chars:
                    break
                wanted.add(index)
    return sorted(wanted)


def _listing(shown: list[Column], rows: int) -> bool:
    """Whether rows differ in words (names): then each is worth seeing; ids that only count are
    not.
    """
    from contextkernel.normalize.templates import NO_DIGITS

    return any(
        len({cell.translate(NO_DIGITS) for cell in column.cells}) > 0.6 * rows for column in shown
    )


def _cell(text: str, most: int) -> str:
    text = " ".join(text.split()) if "\n" in text or "\t" in text else text
    return text if len(text) <= most else f"{text[:most]}…[+{len(text) - most}]"
