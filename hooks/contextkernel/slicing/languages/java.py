"""Java and Kotlin: definitions, imports and where they lead."""

from __future__ import annotations

import posixpath
import re

from contextkernel.slicing.repository import Repository
from contextkernel.slicing.scan.blanking import C_COMMENT, STRING, blanked
from contextkernel.slicing.scan.definitions import Definition, matched

_BLANKED = re.compile(C_COMMENT + "|" + STRING, re.S)
_MODIFIERS = (
    r"(?:(?:public|private|protected|internal|static|final|abstract|synchronized|native|default"
    r"|sealed|non-sealed|strictfp|open|override|inline|suspend|data|inner|companion)[ \t]+)*"
)
_DEFINITIONS = (
    re.compile(
        r"\n(?P<indent>[ \t]*)"
        + _MODIFIERS
        + (
            r"(?P<kind>class|interface|enum|record|@interface|object|fun)[ "
            r"\t]+(?:<[^>\n]{0,60}>[ \t]*)?(?:\w+\.)?(?P<name>[A-Za-z_$][\w$]*)"
        ),
        re.M,
    ),
    re.compile(
        r"\n(?P<indent>[ \t]+)"
        + _MODIFIERS
        + (
            r"(?:<[^>\n]{1,80}>[ \t]+)?[A-Za-z_][\w.$]*(?:<[^;(\n]{0,80}>)?(?:\[\])*[ "
            r"\t]+(?P<name>[A-Za-z_$][\w$]*)[ \t]*\((?P<kind>)[^;\n]*$"
        ),
        re.M,
    ),
    re.compile(
        (
            r"\n(?P<indent>[ \t]+)(?:public|private|protected)[ \t]+(?P<name>[A-Z][\w$]*)[ "
            r"\t]*\((?P<kind>)[^;\n]*$"
        ),
        re.M,
    ),
)
_KEYWORDS = frozenset(
    "if for while switch catch return new else do try throw super this synchronized assert".split()
)
_LEADING = re.compile(r"^[ \t]*(?:return|new|throw|else|assert|case|package|import)\b")
_IMPORT = re.compile(
    r"^[ \t]*import[ \t]+(?P<static>static[ \t]+)?(?P<name>\w+(?:\.\w+)*(?:\.\*)?)", re.M
)
SUFFIXES = (".java", ".kt")


def blank(text: str) -> str:
    """The text with comments and strings blanked."""
    return blanked(text, _BLANKED)


def definitions(text: str, masked: str) -> list[Definition]:
    """Types and methods."""
    lines = masked.split("\n")
    return [
        one
        for one in matched(_DEFINITIONS, masked, _KEYWORDS)
        if not _LEADING.match(lines[one.line - 1])
    ]


def imports(text: str, masked: str) -> list[str]:
    """Imported names; a static import is "static " and its name."""
    return list(
        dict.fromkeys(
            ("static " if one.group("static") else "") + one.group("name")
            for one in _IMPORT.finditer(masked)
        )
    )


def unresolved(text: str) -> str:
    """A word on imports that regexes cannot follow, or ""."""
    return "reflection" if "Class.forName(" in text or "ServiceLoader.load(" in text else ""


def targets(spec: str, path: str, repository: Repository) -> list[str]:
    """The files that an import names: of the class itself, of the class around a nested one, of
    a package for "*".
    """
    static, name = spec.startswith("static "), spec[7:] if spec.startswith("static ") else spec
    parts = name.split(".")
    if parts[-1] == "*" and not static:
        return _package("/".join(parts[:-1]), path, repository)
    while len(parts) > 1:
        found = _of_class(parts, path, repository)
        if found:
            return [found]
        if not static and parts[-1][:1].islower():
            return []
        parts.pop()
    return []


def _of_class(parts: list[str], path: str, repository: Repository) -> str:
    for suffix in SUFFIXES:
        tail = "/".join(parts) + suffix
        found = [
            one
            for one in repository.named(parts[-1] + suffix)
            if one == tail or one.endswith("/" + tail)
        ]
        if found:
            return _nearest(found, path)
    return ""


def _nearest(found: list[str], path: str) -> str:
    """The file with the longest beginning in common with `path`; the first by name among equals."""
    return min(found, key=lambda one: (-len(posixpath.commonprefix([one, path])), one))


def _package(tail: str, path: str, repository: Repository) -> list[str]:
    folders = [one for one in repository.folders_ending(tail)]
    return [
        one for folder in folders for one in repository.folder(folder) if one.endswith(SUFFIXES)
    ]


def implicit_imports(path: str, repository: Repository) -> list[str]:
    """Files of the same package whose class the text names."""
    words = None
    found = []
    for other in repository.folder(posixpath.dirname(path)):
        if other != path and other.endswith(SUFFIXES):
            words = (
                set(re.findall(r"[A-Za-z_$][\w$]*", blank(repository.text(path))))
                if words is None
                else words
            )
            if posixpath.basename(other).rpartition(".")[0] in words:
                found.append(other)
    return found
