"""Rust: definitions, modules and uses and where they lead."""

from __future__ import annotations

import posixpath
import re

from contextkernel.slicing.repository import Repository
from contextkernel.slicing.scan.blanking import C_COMMENT, blanked
from contextkernel.slicing.scan.definitions import Definition, matched

_BLANKED = re.compile(
    C_COMMENT
    + r'|r#+"(?:[^"]|"(?!#))*(?:"#+|\Z)|"(?:[^"\\]|\\.)*"'
    + r"|'(?:[^'\\\n]|\\[^\n']{1,10})'",
    re.S,
)
_MODIFIERS = (
    r"(?:(?:pub(?:\([^)\n]*\))?|default|async|unsafe|const|extern(?:[ \t]+\"[^\"\n]*\")?)[ \t]+)*"
)
_DEFINITIONS = (
    re.compile(
        r"\n(?P<indent>[ \t]*)"
        + _MODIFIERS
        + (
            r"(?P<kind>fn|struct|enum|trait|union|mod|type|static|const)[ \t]+(?:mut[ "
            r"\t]+)?(?P<name>[A-Za-z_]\w*)"
        ),
        re.M,
    ),
    re.compile(r"\n(?P<indent>[ \t]*)(?P<kind>macro_rules!)[ \t]*(?P<name>[A-Za-z_]\w*)", re.M),
    re.compile(
        (
            r"\n(?P<indent>[ \t]*)(?:unsafe[ \t]+)?(?P<kind>impl)\b(?:[ \t]*<[^{\n]{0,80}?>)?[ "
            r"\t]+(?:[^{\n]{0,120}\bfor[ \t]+)?(?:&|mut |dyn |[a-z_]\w*::)*(?P<name>[A-Z]\w*)"
        ),
        re.M,
    ),
)
_MOD = re.compile(r"^[ \t]*(?:pub(?:\([^)\n]*\))?[ \t]+)?mod[ \t]+(?P<name>\w+)[ \t]*;", re.M)
_USE = re.compile(r"^[ \t]*(?:pub(?:\([^)\n]*\))?[ \t]+)?use[ \t]+(?P<body>[^;]{1,2000});", re.M)
_PATH = re.compile(
    r'#\[path[ \t]*=[ \t]*"(?P<path>[^"\n]+)"\]\s*(?:pub(?:\([^)\n]*\))?[ \t]+)?mod[ '
    r"\t]+(?P<name>\w+)[ \t]*;"
)
_NAME = re.compile(r'^name[ \t]*=[ \t]*"([^"\n]+)"', re.M)


def blank(text: str) -> str:
    """The text with comments and strings blanked."""
    return blanked(text, _BLANKED)


def definitions(text: str, masked: str) -> list[Definition]:
    """Functions, types, modules, macros, constants and impl blocks."""
    return matched(_DEFINITIONS, masked)


def imports(text: str, masked: str) -> list[str]:
    """Modules as "mod name" (or "path file"), uses as "a::b::c", one a name."""
    given = {match.group("name"): match.group("path") for match in _PATH.finditer(text)}
    found = [
        "path " + given[match.group("name")]
        if match.group("name") in given
        else "mod " + match.group("name")
        for match in _MOD.finditer(masked)
    ]
    for match in _USE.finditer(masked):
        found += _spread(re.sub(r"\s+", " ", match.group("body")).strip())
    return list(dict.fromkeys(found))


def _spread(use: str) -> list[str]:
    """The single paths of a use with braces: "a::{b, c::d}" gives a::b and a::c::d."""
    opening = use.find("{")
    if opening < 0:
        return [use.split(" as ", 1)[0].strip().replace(" ", "")]
    head, parts, depth, at = use[:opening].strip(), [], 0, opening + 1
    for position in range(opening, len(use)):
        character = use[position]
        depth += (character == "{") - (character == "}")
        if (character == "," and depth == 1) or depth == 0:
            parts.append(use[at:position].strip())
            at = position + 1
        if depth == 0:
            break
    return [
        head + one if one != "self" else head[:-2]
        for part in parts
        if part
        for one in _spread(part)
    ]


def unresolved(text: str) -> str:
    """A word on imports that regexes cannot follow, or ""."""
    return "include!" if "include!(" in text else ""


def _crate_roots(repository: Repository) -> dict[str, str]:
    """Crate names (with underscores) -> their source folders, from every Cargo.toml."""
    found: dict[str, str] = {}
    for config in repository.named("Cargo.toml"):
        match = _NAME.search(repository.text(config))
        if match:
            found.setdefault(
                match.group(1).replace("-", "_"), posixpath.join(posixpath.dirname(config), "src")
            )
    return found


def _own_root(path: str, repository: Repository) -> str:
    """The source folder of the crate that holds `path`."""
    folder = posixpath.dirname(path)
    while folder and posixpath.join(folder, "Cargo.toml") not in repository.paths:
        folder = posixpath.dirname(folder)
    root = posixpath.join(folder, "src")
    return root if path.startswith(root + "/") or not folder else posixpath.dirname(path)


def _module_folder(path: str) -> str:
    """The folder where the modules declared in `path` lie."""
    folder, name = posixpath.split(path)
    return folder if name in ("mod.rs", "lib.rs", "main.rs") else path[:-3]


def _below(folder: str, parts: list[str], repository: Repository) -> str:
    """The file of the longest beginning of a path of modules below a folder, or ""."""
    for length in range(len(parts), 0, -1):
        base = "/".join([folder] * bool(folder) + parts[:length])
        for candidate in (base + ".rs", base + "/mod.rs"):
            if candidate in repository.paths:
                return candidate
    return ""


def targets(spec: str, path: str, repository: Repository) -> list[str]:
    """The repository files that a `mod` or a `use` of the file `path` reaches."""
    folder = posixpath.dirname(path)
    if spec.startswith("path "):
        found = posixpath.normpath(posixpath.join(folder, spec[5:]))
        return [found] if found in repository.paths else []
    if spec.startswith("mod "):
        found = _below(_module_folder(path), [spec[4:]], repository) or _below(
            folder, [spec[4:]], repository
        )
        return [found] if found else []
    parts = [part for part in spec.split("::") if part]
    start = _module_folder(path)
    roots = repository.memo("crates", lambda: _crate_roots(repository))
    if not parts:
        return []
    if parts[0] == "crate":
        start, parts = _own_root(path, repository), parts[1:]
    elif parts[0] in ("self", "super"):
        while parts and parts[0] in ("self", "super"):
            start = posixpath.dirname(start) if parts[0] == "super" else start
            parts = parts[1:]
    elif parts[0] in roots:
        start, parts = roots[parts[0]], parts[1:]
        return [
            one
            for one in [_below(start, parts, repository) or posixpath.join(start, "lib.rs")]
            if one in repository.paths
        ]
    found = _below(start, parts, repository)
    return [found] if found and found != path else []
