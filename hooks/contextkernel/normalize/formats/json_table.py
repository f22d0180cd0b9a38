"""A list of like objects as a table: constant fields once, unusual rows shown."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from contextkernel import marks
from contextkernel.normalize.layout import Request
from contextkernel.normalize.outliers import far_or_rare
from contextkernel.normalize.severity import FAULT, severity
from contextkernel.normalize.templates import NO_DIGITS

FEWEST = 6  # objects in a list worth a table
FIRST_ROWS, LAST_ROWS = 3, 1  # that are shown whatever they hold
FEW_ROWS = 40  # a table that fits and has no more of them stays whole
FAULTY_ROWS = 16  # shown of many that hold a word of failure
ROW_MARK = 60  # characters that a row costs beside its own, for the mark of a gap
TABLE_TARGET_CHARS = 4200  # on success three tenths more
CELL = 60  # characters
LOOKED_AT = 300  # characters of a cell that are looked at for a word of failure
DEEP = 3  # levels of objects flattened into columns
# cells of a table; above, at most so many for each value there is: rows that share no keys are no
# table
GRID, SPARSE = 200_000, 40
# columns of which one value on every row may say that all failed
STATES = ("status", "state", "phase", "result", "outcome", "conclusion")
STATE = 24  # characters; a column of shorter values tells a state, and most rows may have failed
NAMING = frozenset(
    "id name status state title key path type version code error message number level conclusion "
    "login url".split()
)


class Raw(str):
    """A number as it was written."""


class Column(NamedTuple):
    name: str
    cells: list[str]
    width: float  # mean characters


def table(rows: list[dict[str, Any]], request: Request) -> list[str]:
    """The lines of a table of objects; [] when they share too few keys to be one."""
    cells = [_flat(row) for row in rows]
    names = list(dict.fromkeys(name for row in cells for name in row))
    if len(names) * len(rows) > max(GRID, SPARSE * sum(map(len, cells))):
        return []
    columns = [_column(name, [row.get(name, "") for row in cells]) for name in names]
    constant = [column for column in columns if len(set(column.cells)) == 1]
    varying = [column for column in columns if len(set(column.cells)) > 1]
    target_chars = TABLE_TARGET_CHARS if request.exit_code else int(TABLE_TARGET_CHARS * 1.3)
    shown, hidden = _columns(varying, len(rows), target_chars)
    faults = {column.name: _faults(column) for column in varying}
    unusual = _unusual(varying, faults)
    all_failed = any(_tells_failure(column) for column in constant)
    faulty = set(range(len(rows))) if all_failed else _faulty(varying, faults)
    choice = _Choice(shown, len(rows), target_chars)
    lines = _heading(constant, hidden, request.handle)
    lines.append("row\t" + "\t".join(column.name for column in shown))
    before = -1
    for index in choice.rows(unusual, faulty):
        if index > before + 1:
            lines.append(_gap(before + 1, index - 1, faulty, request.handle))
        lines.append(_line(index, shown, hidden, unusual.get(index)))
        before = index
    if before < len(rows) - 1:
        lines.append(_gap(before + 1, len(rows) - 1, faulty, request.handle))
    return lines


def _column(name: str, cells: list[str]) -> Column:
    return Column(name, cells, sum(map(len, cells)) / len(cells))


def _faults(column: Column) -> list[int]:
    """Rows whose cell holds a word of failure."""
    return [i for i, cell in enumerate(column.cells) if severity(cell[:LOOKED_AT]) == FAULT]


def _tells_failure(column: Column) -> bool:
    """Whether a value that is the same on every row says that all of them failed."""
    is_state = column.name.rsplit(".", 1)[-1].lower() in STATES
    return is_state and severity(column.cells[0][:LOOKED_AT]) == FAULT


def _heading(constant: list[Column], hidden: list[Column], handle: str) -> list[str]:
    """What stands over the table: fields that never change, columns that are not shown."""
    lines: list[str] = []
    if constant:
        fields = [f"{column.name}={_clipped(column.cells[0], 80)}" for column in constant]
        lines.append("same on every row: " + "; ".join(fields))
    if hidden:
        names = marks.clip(", ".join(column.name for column in hidden), 160)
        lines.append(marks.note("columns not shown: " + names, handle))
    return lines


def _line(index: int, shown: list[Column], hidden: list[Column], unusual: list[str] | None) -> str:
    """A row; of an unusual one the cells are longer, and hidden ones that make it so are named."""
    longest = CELL * 4 if unusual else CELL
    cells = "\t".join(_clipped(column.cells[index], longest) for column in shown)
    extra = "".join(
        f"\t{column.name}={_clipped(column.cells[index], CELL * 3)}"
        for column in hidden
        if unusual and column.name in unusual
    )
    return f"{index}\t{cells}{extra}"


def _gap(first: int, last: int, faulty: set[int], handle: str) -> str:
    """The mark for hidden rows: how many of them hold a word of failure."""
    count = sum(first <= index <= last for index in faulty)
    words = f"{count} of them with a word of failure" if count else "ordinary"
    return marks.note(f"rows {first}-{last} hidden, {words}", handle)


def _columns(
    columns: list[Column], rows: int, target_chars: int
) -> tuple[list[Column], list[Column]]:
    """Columns that are shown, and those that are not: names and short values first."""
    shown: list[Column] = []
    hidden: list[Column] = []
    used = 0.0
    most = max(target_chars / max(1, min(rows, 60)), 40)
    for column in sorted(columns, key=_preference):
        width = min(column.width, CELL) + 1
        if not shown or used + width <= most:
            shown.append(column)
            used += width
        else:
            hidden.append(column)
    order = {column.name: i for i, column in enumerate(columns)}
    return sorted(shown, key=lambda column: order[column.name]), hidden


def _preference(column: Column) -> tuple[bool, bool, float]:
    is_name = column.name.rsplit(".", 1)[-1].lower() in NAMING
    return min(column.width, CELL) > 36, not is_name, column.width


def _unusual(columns: list[Column], faults: dict[str, list[int]]) -> dict[int, list[str]]:
    """Rows whose value in some column is rare, far from the others, or a fault; with those
    columns.
    """
    reasons: dict[int, list[str]] = {}
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
            reasons.setdefault(index, []).append(column.name)
    return reasons


def _faulty(columns: list[Column], faults: dict[str, list[int]]) -> set[int]:
    """Rows that hold a word of failure in a column that tells rows apart by it."""
    indexes: set[int] = set()
    for column in columns:
        if len(faults[column.name]) < len(column.cells) * (1.0 if column.width <= STATE else 0.5):
            indexes.update(faults[column.name])
    return indexes


class _Choice:
    """Which rows of a table are shown, in so many characters."""

    def __init__(self, shown: list[Column], rows: int, target_chars: int) -> None:
        self.shown = shown
        self.target_chars = target_chars
        self.widths = [
            sum(min(len(column.cells[i]), CELL) + 1 for column in shown) + 5 for i in range(rows)
        ]
        self.used = 0
        self.chosen: set[int] = set()

    def rows(self, unusual: dict[int, list[str]], faulty: set[int]) -> list[int]:
        """Row indexes, ascending: all when they fit, else the first, the last and the unusual
        ones.
        """
        every = range(len(self.widths))
        if self._is_whole(len(unusual)):
            return list(every)
        self.chosen.update(every[:FIRST_ROWS], every[-LAST_ROWS:])
        self.used = sum(self.widths[i] + ROW_MARK for i in self.chosen)
        by_columns = sorted(unusual, key=lambda i: (-len(unusual[i]), i))
        self._take(by_columns, self.target_chars * 1.5, ROW_MARK)
        others = [i for i in sorted(faulty) if i not in self.chosen]
        left = max(0, FAULTY_ROWS - len(faulty & self.chosen))
        self._take(others[:left], self.target_chars * 1.2, ROW_MARK)
        if self.used < self.target_chars and self._tells_names():
            self._take([i for i in every if i not in self.chosen], self.target_chars, 0)
        return sorted(self.chosen)

    def _is_whole(self, unusual: int) -> bool:
        rows, size = len(self.widths), sum(self.widths)
        if size > self.target_chars:
            return False
        return (
            size <= self.target_chars // 2
            or unusual > rows // 3
            or rows < FEW_ROWS
            or self._tells_names()
        )

    def _take(self, indexes: list[int], max_chars: float, extra: int) -> None:
        """Choose rows in order up to the one that goes beyond so many characters."""
        for index in indexes:
            self.used += self.widths[index] + extra
            if self.used > max_chars:
                break
            self.chosen.add(index)

    def _tells_names(self) -> bool:
        """Whether rows differ in words (names): then each is worth seeing; ids that only count
        are not.
        """
        most = 0.6 * len(self.widths)
        return any(
            len({cell.translate(NO_DIGITS) for cell in column.cells}) > most
            for column in self.shown
        )


def _flat(value: dict[str, Any], prefix: str = "", depth: int = 1) -> dict[str, str]:
    """The cells of an object; objects within it as columns with dotted names."""
    flat: dict[str, str] = {}
    for key, inner in value.items():
        if isinstance(inner, dict) and inner and depth < DEEP:
            flat.update(_flat(inner, f"{prefix}{key}.", depth + 1))
        else:
            flat[prefix + key] = _cell(inner)
    return flat


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return str(value) if isinstance(value, Raw) or value else '""'
    if not isinstance(value, (dict, list)):
        return json.dumps(value)
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.replace('"', "'")


def _clipped(text: str, most: int) -> str:
    text = " ".join(text.split()) if "\n" in text or "\t" in text else text
    return text if len(text) <= most else f"{text[:most]}…[+{len(text) - most}]"
