"""Lines chosen from files, and what they cost where they are printed."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from contextkernel.lines import spans
from contextkernel.slicing.repository import Repository

DEFINITIONS_SHOWN, DEFINITION_CHARS = 8, 100  # of one file in a list of commands
_COMMAND = len("   sed -n '' \n")
_RANGE = len("1234-1234,")


class Form(NamedTuple):
    """How chosen lines reach their reader, in bytes.  `number`: in front of each line.  `gap`: of
    each run of lines, for what stands between two runs and its numbers in the head of the file.
    `file`: of each file besides its path, which is printed `paths` times.  `outlines`: are
    definitions listed by their heads as well?
    """

    number: int = 0
    gap: int = 0
    file: int = 0
    paths: int = 0
    outlines: bool = False


_HEAD = len("12.   words of the symptom; defines a_name\n")
BARE = Form()  # a program reads the lines itself
NUMBERED = Form(number=len("     1\t"), gap=len("   ...\n") + _RANGE, file=_HEAD, paths=1)
COMMANDS = Form(gap=2 * _RANGE, file=_HEAD + _COMMAND, paths=2, outlines=True)


class LineSelection:
    """Chosen lines by file.  `size` and `sizes` in bytes, as printed in a form."""

    def __init__(self, repository: Repository, form: Form = BARE) -> None:
        self._repository, self._form = repository, form
        self._split: dict[str, list[str]] = {}
        self._outlines: dict[str, dict[int, int]] = {}
        self.lines: dict[str, set[int]] = {}
        self.sizes: dict[str, int] = {}
        self.size = 0

    def in_form(self, form: Form) -> LineSelection:
        """An empty selection of the same repository in a form; texts are not read again."""
        other = LineSelection(self._repository, form)
        other._split, other._outlines = self._split, self._outlines
        return other

    def split(self, path: str) -> list[str]:
        """The lines of a file."""
        if path not in self._split:
            self._split[path] = self._repository.text(path).split("\n")
        return self._split[path]

    def cost(self, path: str, numbers: Iterable[int]) -> int:
        """Bytes that these lines would add; those already chosen are free."""
        lines, chosen = self.split(path), self.lines.get(path, set())
        new = [number for number in numbers if number not in chosen and 0 < number <= len(lines)]
        text = "\n".join([lines[number - 1] for number in new] + [""])
        size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
        if self._form == BARE or not new:
            return size
        return size + len(new) * self._form.number + self._around(path, set(new), chosen)

    def _around(self, path: str, new: set[int], chosen: Collection[int]) -> int:
        """Bytes around new lines of a file: its head, gaps, heads of definitions."""
        form = self._form
        joined = sum(
            [(number - 1 in new or number - 1 in chosen) + (number + 1 in chosen) for number in new]
        )
        size = (len(new) - joined) * form.gap
        if not chosen:
            size += form.file + form.paths * len(path)
        if form.outlines:
            heads = self._heads(path)
            shown = sum(1 for number in chosen if number in heads)
            added = sorted(number for number in new if number in heads)
            size += sum(heads[number] for number in added[: max(0, DEFINITIONS_SHOWN - shown)])
        return size

    def _heads(self, path: str) -> dict[int, int]:
        """Lines with the head of a definition -> bytes of that head in a list."""
        if path not in self._outlines:
            lines = self.split(path)
            self._outlines[path] = {
                one.line: len(lines[one.line - 1].strip()[:DEFINITION_CHARS]) + len("   1234: \n")
                for one in self._repository.facts(path).definitions
                if one.kind != "name" and one.line <= len(lines)
            }
        return self._outlines[path]

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
