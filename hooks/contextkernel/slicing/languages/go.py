"""Go: definitions, imports and where they lead.  A package is a folder."""

from __future__ import annotations

import posixpath
import re

from contextkernel.slicing.repository import Repository
from contextkernel.slicing.scan.blanking import C_COMMENT, STRING, blanked
from contextkernel.slicing.scan.definitions import Definition, matched

_BLANKED = re.compile(C_COMMENT + r"|`[^`]*(?:`|\Z)|" + STRING, re.S)
_DEFINITIONS = (
    re.compile(
        r"\n(?P<indent>)(?P<kind>func)[ \t]*(?:\([^)\n]*\)[ \t]*)?(?P<name>[A-Za-z_]\w*)", re.M
    ),
    re.compile(r"\n(?P<indent>)(?P<kind>type|var|const)[ \t]+(?P<name>[A-Za-z_]\w*)", re.M),
    re.compile(
        r"\n(?P<indent>\t)(?P<name>[A-Za-z_]\w*)[ \t]+(?P<kind>struct|interface)[ \t]*\{", re.M
    ),
)
_ONE = re.compile(r'^import[ \t]+(?:[\w.]+[ \t]+)?"(?P<spec>[^"\n]*)"', re.M)
_MANY = re.compile(r"^import[ \t]*\((?P<body>[^)]*)\)", re.M)
_QUOTED = re.compile(r'"([^"\n]*)"')
_MODULE = re.compile(r"^module[ \t]+(\S+)", re.M)
_REPLACE = re.compile(
    r"^(?:replace[ \t]+|[ \t]+)(\S+)(?:[ \t]+v\S+)?[ \t]+=>[ \t]+(\.{1,2}/\S*)", re.M
)


def blank(text: str) -> str:
    """The text with comments and strings blanked."""
    return blanked(text, _BLANKED)


def definitions(text: str, masked: str) -> list[Definition]:
    """Functions, methods, types, package-level variables and constants."""
    return matched(_DEFINITIONS, masked)


def imports(text: str, masked: str) -> list[str]:
    """Import paths; commented ones are none."""
    spans = [match.span("spec") for match in _ONE.finditer(masked)]
    for match in _MANY.finditer(masked):
        start = match.start("body")
        spans += [
            (start + one.start(1), start + one.end(1))
            for one in _QUOTED.finditer(match.group("body"))
        ]
    return list(dict.fromkeys(text[first:last] for first, last in spans if last > first))


def _modules(repository: Repository) -> dict[str, str]:
    """Import path prefixes -> folders, from every go.mod with its local replacements."""
    found: dict[str, str] = {}
    for config in repository.named("go.mod"):
        text, folder = repository.text(config), posixpath.dirname(config)
        match = _MODULE.search(text)
        if match:
            found.setdefault(match.group(1).strip('"'), folder)
        for name, place in _REPLACE.findall(text):
            target = posixpath.normpath(posixpath.join(folder, place))
            if not target.startswith(".."):
                found[name] = "" if target == "." else target
    return found


def targets(spec: str, path: str, repository: Repository) -> list[str]:
    """The files of the package that an import path names; tests are left out; [] when it lies
    outside.
    """
    modules = repository.memo("go.mod", lambda: _modules(repository))
    owner = max(
        (name for name in modules if spec == name or spec.startswith(name + "/")),
        key=len,
        default=None,
    )
    if owner is None:
        return []
    folder = posixpath.join(modules[owner], spec[len(owner) :].strip("/")).rstrip("/")
    return _package(folder, repository)


def _package(folder: str, repository: Repository) -> list[str]:
    return [
        path
        for path in repository.folder(folder)
        if path.endswith(".go") and not path.endswith("_test.go")
    ]


def implicit_imports(path: str, repository: Repository) -> list[str]:
    """The other files of the same package."""
    return [other for other in _package(posixpath.dirname(path), repository) if other != path]
