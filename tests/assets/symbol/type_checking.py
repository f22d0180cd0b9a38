# slice label: label("x")
# without label: other
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from no_such_module import Thing

PREFIX = "> "


def other(thing: Thing) -> str:
    return str(thing)


def label(thing: "Thing") -> str:
    return PREFIX + thing
