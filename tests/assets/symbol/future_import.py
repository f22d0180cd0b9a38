# slice hint: hint.__annotations__, hint(3)
# without hint: Unrelated
"""A module whose annotations are texts."""
from __future__ import annotations


class Unrelated:
    pass


def other(value: Unrelated):
    return value


def hint(value: NotDefinedAnywhere) -> "list[int]":
    return [value]
