"""The table of formats.  A newcomer is one module, one row here, one golden case under tests/corpus/t1."""
from __future__ import annotations

import re
from typing import Iterator, NamedTuple, Tuple

from contextkernel.normalize.commands import Command


class Format(NamedTuple):
    """A row: `command` is searched in "program subcommand" of each command ("" any); one of `hints` must stand in
    the sample, then `content` (multi-line) must match it.  The module's `plan(page, ask)` returns a Plan, or None
    when the text is not of its kind after all."""

    name: str
    command: str
    hints: Tuple[str, ...]
    content: str
    module: str


FORMATS: Tuple[Format, ...] = ()


def candidates(sample: str, command: Command) -> Iterator[Format]:
    """Rows that may fit, in the order of the table."""
    names = "\n".join(command.names)
    for row in FORMATS:
        if row.command and not re.search(row.command, names, re.M):
            continue
        if row.hints and not any(hint in sample for hint in row.hints):
            continue
        if not row.content or re.search(row.content, sample, re.M):
            yield row
