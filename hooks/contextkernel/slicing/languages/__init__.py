"""The table of languages: a row names its suffixes and the module that knows its definitions and
imports.

A new language is a module here, a row in the table and a tree in tests/repos/.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple


class Language(NamedTuple):
    """A row.  `module`: in contextkernel.slicing.languages.  `resolves`: its imports can be
    followed.
    """

    name: str
    module: str
    suffixes: tuple[str, ...]
    resolves: bool = True


TABLE = (
    Language("Python", "python", (".py", ".pyx", ".pyi", ".pxd")),
    Language(
        "JavaScript",
        "javascript",
        (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte"),
    ),
    Language("Go", "go", (".go",)),
    Language("Java", "java", (".java", ".kt")),
    Language("Rust", "rust", (".rs",)),
    Language(
        "C",
        "c",
        (
            ".c",
            ".h",
            ".cc",
            ".cpp",
            ".cxx",
            ".hpp",
            ".hh",
            ".hxx",
            ".inc",
            ".ipp",
            ".inl",
            ".cu",
            ".cuh",
            ".mm",
        ),
    ),
    Language("PHP", "php", (".php",)),
    Language(
        "other",
        "other",
        (
            ".rb",
            ".cs",
            ".scala",
            ".swift",
            ".lua",
            ".pl",
            ".pm",
            ".dart",
            ".ex",
            ".exs",
            ".jl",
            ".groovy",
            ".zig",
            ".nim",
            ".sh",
            ".gd",
        ),
        False,
    ),
)
_BY_SUFFIX: dict[str, Language] = {suffix: row for row in TABLE for suffix in row.suffixes}
_BY_NAME: dict[str, Language] = {row.name: row for row in TABLE}


def language_of(path: str) -> Language | None:
    """The row of a path by its suffix, or None: not source code that is known here."""
    return _BY_SUFFIX.get(path[path.rfind(".") :].lower()) if "." in path else None


def tongue(name: str) -> Any:
    """The module of a language by the name in its row, imported now."""
    return import_module("contextkernel.slicing.languages." + _BY_NAME[name].module)
