"""An output as a screen shows it: each shown line with the source lines it came from."""

from __future__ import annotations

from contextkernel.records import NamedTuple


class Document(NamedTuple):
    """Lines as rendered (no escapes, no overwritten states, no carriage return at the end).

    `raw`: the source lines.  `first`, `last`: per rendered line the 0-based source range it stands
    for, or None
    when line i is line i of the source.  Neighbouring lines of one repainted block
    share a range.
    """

    lines: list[str]
    raw: list[str]
    first: list[int] | None = None
    last: list[int] | None = None

    def span(self, first: int, last: int) -> tuple[int, int]:
        """The 1-based source lines behind document lines `first` to `last`."""
        if self.first is None or self.last is None:
            return first + 1, last + 1
        return self.first[first] + 1, self.last[last] + 1

    def verbatim(self, index: int) -> bool:
        """Whether document line `index` is its source line, a carriage return at the end aside."""
        if self.first is None or self.last is None:
            return True
        first = self.first[index]
        line = self.lines[index]
        return (
            first == self.last[index]
            and self.raw[first].startswith(line)
            and self.raw[first].rstrip("\r") == line
        )

    def shown(self, index: int) -> str:
        """Document line `index` as it may be shown: the source line itself when it is one."""
        if self.first is None:
            return self.raw[index]
        return self.raw[self.first[index]] if self.verbatim(index) else self.lines[index]
