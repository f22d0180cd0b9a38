"""PHP: definitions, uses and requires and where they lead."""

from __future__ import annotations

import json
import posixpath
import re

from contextkernel.slicing.repository import Repository
from contextkernel.slicing.scan.blanking import C_COMMENT, STRING, blanked
from contextkernel.slicing.scan.definitions import Definition, matched

_BLANKED = re.compile(C_COMMENT + r"|#(?!\[)[^\n]*|" + STRING, re.S)
_DEFINITIONS = (
    re.compile(
        (
            r"\n(?P<indent>[ \t]*)(?:(?:abstract|final|public|private|protected|static"
            r"|readonly)[ \t]+)*(?P<kind>function|class|interface|trait|enum|const)[ "
            r"\t]+&?(?P<name>[A-Za-z_]\w*)"
        ),
        re.M,
    ),
)
_USE = re.compile(
    r"^[ \t]*use[ \t]+(?:function[ \t]+|const[ \t]+)?(?P<body>[\\\w][^;]{0,1000});", re.M
)
_REQUIRE = re.compile(
    r"""\b(?:require|include)(?:_once)?\b[^;'"\n]{0,60}(?P<quote>["'])(?P<spec>[ ]*)(?P=quote)"""
)


def blank(text: str) -> str:
    """The text with comments and strings blanked."""
    return blanked(text, _BLANKED)


def definitions(text: str, masked: str) -> list[Definition]:
    """Functions, classes, interfaces, traits, enums and constants."""
    return matched(_DEFINITIONS, masked)


def imports(text: str, masked: str) -> list[str]:
    """Used names with backslashes, required files as "file name"."""
    found = []
    for match in _USE.finditer(masked):
        head, brace, group = match.group("body").partition("{")
        names = (
            [head.strip() + part.strip() for part in group.rstrip("} \n").split(",")]
            if brace
            else head.split(",")
        )
        found += [name.split(" as ")[0].strip().lstrip("\\") for name in names if name.strip()]
    found += [
        "file " + text[match.start("spec") : match.end("spec")].lstrip("/")
        for match in _REQUIRE.finditer(masked)
    ]
    return list(dict.fromkeys(found))


def unresolved(text: str) -> str:
    """A word on imports that regexes cannot follow, or ""."""
    return (
        "dynamic require" if re.search(r"\b(?:require|include)(?:_once)?\s*\(?\s*\$", text) else ""
    )


def _prefixes(repository: Repository) -> dict[str, list[str]]:
    """Namespace prefixes -> folders, from every composer.json (psr-4)."""
    found: dict[str, list[str]] = {}
    for config in repository.named("composer.json"):
        try:
            value = json.loads(repository.text(config))
        except ValueError:
            continue
        for section in ("autoload", "autoload-dev"):
            table = value.get(section, {}) if isinstance(value, dict) else {}
            table = table.get("psr-4", {}) if isinstance(table, dict) else {}
            for prefix, folders in sorted(table.items()) if isinstance(table, dict) else ():
                for folder in folders if isinstance(folders, list) else [folders]:
                    found.setdefault(prefix, []).append(
                        posixpath.normpath(posixpath.join(posixpath.dirname(config), str(folder)))
                    )
    return found


def targets(spec: str, path: str, repository: Repository) -> list[str]:
    """The repository file a use or require reaches."""
    if spec.startswith("file "):
        name = spec[5:]
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
        if beside in repository.paths:
            return [beside]
        found = [
            one
            for one in repository.named(posixpath.basename(name))
            if one.endswith("/" + name.lstrip("./")) or one == name
        ]
        return found if len(found) == 1 else []
    prefixes = repository.memo("psr-4", lambda: _prefixes(repository))
    for prefix in sorted(
        (one for one in prefixes if spec.startswith(one)), key=lambda one: (-len(one), one)
    ):
        for folder in prefixes[prefix]:
            file = posixpath.normpath(
                posixpath.join(folder, spec[len(prefix) :].replace("\\", "/") + ".php")
            )
            if file in repository.paths:
                return [file]
    return []
