"""NamedTuple at a third of its price, for modules that a hook imports.

typing.NamedTuple compiles each annotation of a class, and typing itself takes 3 ms to import: with
21 classes a rewritten tool result paid 10 ms of CPU. Fields, defaults and methods are the same
here; annotations stay the strings they are.
"""

from __future__ import annotations

import collections

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any, NamedTuple
else:
    _OF_THE_CLASS_STATEMENT = ("__annotations__", "__module__", "__qualname__", "__classcell__")

    class _Maker(type):
        """Makes a collections.namedtuple of each class whose base is NamedTuple."""

        def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, namespace)
            fields = tuple(namespace["__annotations__"])
            defaults = [namespace[field] for field in fields if field in namespace]
            if list(fields[len(fields) - len(defaults) :]) != [f for f in fields if f in namespace]:
                raise TypeError(f"{name}: a field without a default follows one that has it")
            made = collections.namedtuple(
                name, fields, defaults=defaults, module=namespace["__module__"]
            )
            made.__annotations__ = namespace["__annotations__"]
            for key, value in namespace.items():
                if key not in fields and key not in _OF_THE_CLASS_STATEMENT:
                    setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_Maker):
        """Base of a class with typed fields, as typing.NamedTuple."""


__all__ = ("NamedTuple",)
