"""Lines chosen from files, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable

from contextkernel.lines import spans
from contextkernel.slicing.repository import Repository


class Sheet:
    """Chosen lines by file.  `size` and `sizes` in bytes, line breaks counted."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._split: dict[str, list[str]] = {}
        self.lines: dict[str, set[int]] = {}
        self.sizes: dict[str, int] = {}
        self.size = 0

    def split(self, path: str) -> list[str]:
        """The lines of a file."""
        if path not in self._split:
            self._split[path] = self._repository.text(path).split("\n")
        return self._split[path]

    def cost(self, path: str, numbers: Iterable[int]) -> int:
        """Bytes that these lines would add; those already chosen are free."""
        lines, chosen = self.split(path), self.lines.get(path, ())
        text = "\n".join(
            [
                lines[number - 1]
                for number in numbers
                if number not in chosen and 0 < number <= len(lines)
            ]
            + [""]
        )
        return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))

    def take(self, path: str, numbers: Iterable[int]) -> None:
        """Choose lines of a file; numbers outside of it are left out."""
        numbers = set(numbers)
        size = self.cost(path, numbers)
        self.size += size
        self.sizes[path] = self.sizes.get(path, 0) + size
        last = len(self.split(path))
        self.lines.setdefault(path, set()).update(
            number for number in numbers if 0 < number <= last
        )

    def ranges(self, path: str) -> list[tuple[int, int]]:
        """The chosen lines of a file as runs."""
        return spans(sorted(self.lines.get(path, ())))
