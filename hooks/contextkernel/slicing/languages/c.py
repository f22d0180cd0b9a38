"""C and C++: definitions, quoted includes and where they lead."""

from __future__ import annotations

import posixpath
import re

from contextkernel.slicing.repository import Repository
from contextkernel.slicing.scan.blanking import C_COMMENT, STRING, blanked
from contextkernel.slicing.scan.definitions import Definition, matched

_BLANKED = re.compile(C_COMMENT + "|" + STRING, re.S)
_DEFINITIONS = (
    re.compile(r"\n(?P<indent>[ \t]*)#[ \t]*(?P<kind>define)[ \t]+(?P<name>[A-Za-z_]\w*)", re.M),
    re.compile(
        (
            r"\n(?P<indent>[ \t]*)(?:template[ \t]*<[^\n]{0,200}>[ \t]*)?(?:typedef[ \t]+"
            r"|static[ \t]+|export[ \t]+)*(?P<kind>class|struct|union|enum(?:[ \t]+class)?"
            r"|namespace)[ \t]+(?:[A-Z_]{2,40}(?:\([^)\n]*\))?[ "
            r"\t]+)?(?P<name>[A-Za-z_]\w*)[^;\n]*$"
        ),
        re.M,
    ),
    re.compile(
        (
            r"\n(?P<indent>[ \t]{0,8})(?=[A-Za-z_~])[\w:&*<>,\[\] "
            r"\t~]{0,160}?(?P<name>~?[A-Za-z_]\w*)[ \t]*\((?P<kind>)[^;\n]{0,240}$"
        ),
        re.M,
    ),
)
_KEYWORDS = frozenset(
    (
        "if for while switch return sizeof else do catch defined case assert throw static_assert "
        "decltype alignas"
    ).split()
)
_LEADING = re.compile(
    r"^[ \t]*(?:return|else|case|throw|using|delete|new|goto|#)\b"
    r"|^[^(\n]*(?<![=!<>])=(?!=)[^(\n]*\("
)
_INCLUDE = re.compile(
    r'^[ \t]*#[ \t]*(?:include|import)[ \t]*(?:"(?P<quoted>[^"\n]*)"|<(?P<angle>[^>\n]+)>)', re.M
)
SUFFIXES = (
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
    ".m",
    ".mm",
)
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".m", ".mm", ".cu")
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".cuh")


def blank(text: str) -> str:
    """The text with comments and strings blanked."""
    return blanked(text, _BLANKED)


def definitions(text: str, masked: str) -> list[Definition]:
    """Functions, types, namespaces and macros."""
    lines = masked.split("\n")
    return [
        one
        for one in matched(_DEFINITIONS, masked, _KEYWORDS)
        if one.kind == "define" or not _LEADING.match(lines[one.line - 1])
    ]


def imports(text: str, masked: str) -> list[str]:
    """Included names; "<name>" for those in angle brackets."""
    found = []
    for match in _INCLUDE.finditer(masked):
        first, last = match.span("quoted")
        found.append(text[first:last] if first >= 0 else "<" + match.group("angle") + ">")
    return list(dict.fromkeys(name for name in found if name))


def targets(spec: str, path: str, repository: Repository) -> list[str]:
    """The repository file an include reaches: beside the file, else the nearest whose path ends
    with the name.
    """
    angle = spec.startswith("<")
    name = spec.strip("<>")
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
    if not angle and beside in repository.paths:
        return [beside]
    if angle and "/" not in name:
        return []  # a system header as a rule
    found = [
        one
        for one in repository.named(posixpath.basename(name))
        if one == name or one.endswith("/" + name.lstrip("./"))
    ]
    if not found:
        return []
    return [min(found, key=lambda one: (-len(posixpath.commonprefix([one, path])), len(one), one))]


def implicit_imports(path: str, repository: Repository) -> list[str]:
    """The header of a source file and the source of a header (same stem; beside it, or the only
    one).
    """
    stem, dot = posixpath.splitext(path)
    others = _HEADERS if dot in _SOURCES else _SOURCES if dot in _HEADERS else ()
    found = []
    for suffix in others:
        if stem + suffix in repository.paths:
            found.append(stem + suffix)
            continue
        named = repository.named(posixpath.basename(stem) + suffix)
        if len(named) == 1:
            found += named
    return found
