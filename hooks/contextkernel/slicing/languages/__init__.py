"""The table of languages: a row names its suffixes and the module that knows its definitions and
imports.

A new language is a module here, a row in the table and a tree in tests/repos/: the module has the
functions of `LanguageModule` that its language needs, the tree small files and their import edges.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from contextkernel.slicing.repository import Repository
    from contextkernel.slicing.scan.definitions import Definition


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


class LanguageModule(Protocol):
    """What the module of a language may define; a function that it leaves out does as here."""

    def blank(self, text: str) -> str:
        """The text with comments and the inside of strings as blanks, offsets and lines kept
        (scan.blanking.blanked, with a pattern of the module).
        """
        return text

    def definitions(self, text: str, masked: str) -> list[Definition]:
        """What a text defines, by line; `masked` is the text as `blank` gives it."""
        return []

    def imports(self, text: str, masked: str) -> list[str]:
        """What a text imports, as `targets` understands it; commented imports are none."""
        return []

    def unresolved(self, text: str) -> str:
        """A word on imports of a text that cannot be followed, or ""."""
        return ""

    def targets(self, spec: str, path: str, repository: Repository) -> list[str]:
        """The repository files that one import of the file `path` reaches; [] when it leaves the
        repository.
        """
        return []

    def implicit_imports(self, path: str, repository: Repository) -> list[str]:
        """Files that count as imported by the file `path` without a statement."""
        return []


FUNCTIONS = ("blank", "definitions", "imports", "unresolved", "targets", "implicit_imports")


class _Loaded(LanguageModule):
    """A language's module, with the defaults for what it leaves out."""


@cache
def language_module(name: str) -> LanguageModule:
    """The module of a language by the name in its row, imported now."""
    module = import_module("contextkernel.slicing.languages." + _BY_NAME[name].module)
    loaded = _Loaded()
    for function in FUNCTIONS:
        if hasattr(module, function):
            setattr(loaded, function, getattr(module, function))
    return loaded
