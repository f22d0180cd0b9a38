"""JavaScript and TypeScript: definitions, imports and where they lead."""

from __future__ import annotations

import json
import posixpath
import re
from typing import Any

from contextkernel.slicing.repository import Repository
from contextkernel.slicing.scan.blanking import C_COMMENT, STRING, blanked
from contextkernel.slicing.scan.definitions import Definition, matched

_BLANKED = re.compile(
    C_COMMENT
    + r"|/(?![*/\s])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/|`(?:[^`\\]|\\.)*(?:`|\Z)|"
    + STRING,
    re.S,
)
_MODIFIERS = (
    r"(?:(?:export|default|declare|async|abstract|public|private|protected|static|readonly"
    r"|override|get|set)[ \t]+)*"
)
_DEFINITIONS = (
    re.compile(
        r"\n(?P<indent>[ \t]*)"
        + _MODIFIERS
        + (
            r"(?P<kind>function\*?|class|interface|enum|type|namespace|const|let|var)[ "
            r"\t]+(?P<name>[A-Za-z_$][\w$]*)"
        ),
        re.M,
    ),
    re.compile(
        (
            r"\n(?P<indent>[ \t]*)(?:[\w$]+\.){1,4}(?P<name>[A-Za-z_$][\w$]*)[ \t]*=[ "
            r"\t]*(?:async[ \t]*)?(?P<kind>function|class|\()"
        ),
        re.M,
    ),
    re.compile(
        (
            r"\n(?P<indent>[ \t]*)(?P<name>[A-Za-z_$][\w$]*)[ \t]*[:=][ \t]*(?:async[ "
            r"\t]*)?(?P<kind>function\b|\([^()\n]{0,120}\)[ \t]*=>)"
        ),
        re.M,
    ),
    re.compile(
        r"\n(?P<indent>[ \t]+)"
        + _MODIFIERS
        + (
            r"\*?#?(?P<name>[A-Za-z_$][\w$]*)(?P<kind>)[ "
            r"\t]*(?:<[^>\n]{0,60}>)?\([^;\n]{0,200}\{[ \t\r]*$"
        ),
        re.M,
    ),
)
_KEYWORDS = frozenset(
    "if for while switch catch function return with else do try super constructor".split()
) - {"constructor"}
_IMPORT = re.compile(
    r"""(?:\bfrom\s*|\brequire\(\s*|\bimport\(\s*|\bimport\s*)(?P<quote>["'`])(?P<spec>\s*)(?P=quote)"""
)
_COMMENTS = re.compile(r"/\*.*?\*/|(?<![:\"'])//[^\n]*", re.S)
_TRAILING = re.compile(r",(\s*[}\]])")
SUFFIXES = (
    ".ts",
    ".tsx",
    ".d.ts",
    ".mts",
    ".cts",
    ".js",
    ".jsx",
    ".mjs",
    ".cjs",
    ".vue",
    ".svelte",
    ".json",
)
_WRITTEN_AS = {
    ".js": (".ts", ".tsx", ".d.ts"),
    ".jsx": (".tsx",),
    ".mjs": (".mts",),
    ".cjs": (".cts",),
}


def blank(text: str) -> str:
    """The text with comments, strings, templates and regexes blanked."""
    return blanked(text, _BLANKED)


def definitions(text: str, masked: str) -> list[Definition]:
    """Functions, classes, types, methods and top-level names."""
    found = matched(_DEFINITIONS, masked, _KEYWORDS)
    return [one for one in found if one.kind not in ("const", "let", "var") or one.indent == 0]


def imports(text: str, masked: str) -> list[str]:
    """The quoted module names of import, export-from, require and import()."""
    found = [text[match.start("spec") : match.end("spec")] for match in _IMPORT.finditer(masked)]
    return list(dict.fromkeys(spec for spec in found if spec.strip() and len(spec) < 200))


def unresolved(text: str) -> str:
    """A word on imports that regexes cannot follow, or ""."""
    return "dynamic import" if re.search(r"\b(?:require|import)\(\s*[^\s\"'`)]", text) else ""


def targets(spec: str, path: str, repository: Repository) -> list[str]:
    """The repository files that one import of the file `path` reaches; [] when it leaves the
    repository.
    """
    spec = spec.partition("?")[0]
    if spec.startswith("."):
        found = _as_file(
            posixpath.normpath(posixpath.join(posixpath.dirname(path), spec)), repository
        )
        return [found] if found else []
    for base in _aliased(spec, path, repository) + _workspace(spec, repository):
        found = _as_file(base, repository)
        if found:
            return [found]
    return []


def _as_file(base: str, repository: Repository) -> str:
    """The file that a resolved module path stands for, or "": itself, its source form, with a
    suffix, or its index.
    """
    base = "" if base == "." else base
    if base.startswith(".."):
        return ""
    stem, dot = posixpath.splitext(base)
    candidates = [base] if dot in SUFFIXES else []
    candidates += [stem + other for other in _WRITTEN_AS.get(dot, ())]
    candidates += [base + suffix for suffix in SUFFIXES]
    candidates += [posixpath.join(base, "index" + suffix) for suffix in SUFFIXES]
    return next((one for one in candidates if one in repository.paths), "")


def _settings(path: str, repository: Repository) -> dict[str, Any]:
    """A JSON file with comments as a dict; {} when it is none."""
    try:
        text = _COMMENTS.sub("", repository.text(path))
        value = json.loads(_TRAILING.sub(r"\1", text))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _aliased(spec: str, path: str, repository: Repository) -> list[str]:
    """Paths that the nearest tsconfig.json or jsconfig.json (with its `extends`) gives a module
    name.
    """
    folder = posixpath.dirname(path)
    while True:
        for name in ("tsconfig.json", "jsconfig.json"):
            config = posixpath.join(folder, name)
            if config in repository.paths:
                return _by_paths(spec, *_kept_paths_of(config, repository))
        if not folder:
            return []
        folder = posixpath.dirname(folder)


def _kept_paths_of(config: str, repository: Repository) -> tuple[str, dict[str, Any]]:
    return repository.memo("tsconfig:" + config, lambda: _paths_of(config, repository, 4))


def _paths_of(config: str, repository: Repository, steps: int) -> tuple[str, dict[str, Any]]:
    """(folder, `paths`) of a configuration; an extended one gives what this one leaves out."""
    value = _settings(config, repository)
    options = value.get("compilerOptions")
    options = options if isinstance(options, dict) else {}
    folder = posixpath.dirname(config)
    base, paths = options.get("baseUrl"), options.get("paths")
    if isinstance(paths, dict) or isinstance(base, str):
        start = posixpath.normpath(posixpath.join(folder, base if isinstance(base, str) else "."))
        return start, paths if isinstance(paths, dict) else {"*": ["*"]}
    parent = value.get("extends")
    if steps and isinstance(parent, str) and parent.startswith("."):
        other = posixpath.normpath(posixpath.join(folder, parent))
        other = other if other.endswith(".json") else other + ".json"
        if other in repository.paths:
            return _paths_of(other, repository, steps - 1)
    return folder, {}


def _by_paths(spec: str, folder: str, paths: dict[str, Any]) -> list[str]:
    found = []
    for pattern in sorted(paths, key=lambda one: (-len(one.partition("*")[0]), one)):
        before, star, after = pattern.partition("*")
        if spec == pattern or (
            star
            and spec.startswith(before)
            and spec.endswith(after)
            and len(spec) >= len(before) + len(after)
        ):
            middle = spec[len(before) : len(spec) - len(after)] if star else ""
            targets_of = paths[pattern] if isinstance(paths[pattern], list) else []
            found += [
                posixpath.normpath(posixpath.join(folder, one.replace("*", middle)))
                for one in targets_of
                if isinstance(one, str)
            ]
    return [one for one in found if not one.startswith("..")]


def _packages(repository: Repository) -> dict[str, str]:
    """Names of the repository's own packages -> their folders."""
    found: dict[str, str] = {}
    for config in repository.named("package.json"):
        if "node_modules/" not in config:
            name = _settings(config, repository).get("name")
            if isinstance(name, str):
                found.setdefault(name, posixpath.dirname(config))
    return found


def _workspace(spec: str, repository: Repository) -> list[str]:
    """Paths for a name that is a package of this repository, by exports, main and the usual
    places.
    """
    packages = repository.memo("packages", lambda: _packages(repository))
    parts = spec.split("/")
    name = "/".join(parts[:2]) if spec.startswith("@") else parts[0]
    if name not in packages:
        return []
    folder, rest = packages[name], spec[len(name) :].strip("/")
    value = _settings(posixpath.join(folder, "package.json"), repository)
    given = _exported(value.get("exports"), "./" + rest if rest else ".")
    if rest:
        given += [rest, "src/" + rest]
    else:
        given += [
            value[key]
            for key in ("source", "types", "module", "main")
            if isinstance(value.get(key), str)
        ]
        given += ["src/index", "index", "src/main"]
    return [posixpath.normpath(posixpath.join(folder, one)) for one in given]


def _exported(exports: Any, key: str) -> list[str]:
    """All paths that an `exports` field gives for a key, conditions in the order they are
    written.
    """
    if isinstance(exports, str):
        return [exports] if key == "." else []
    if isinstance(exports, list):
        return [path for one in exports for path in _exported(one, key)]
    if not isinstance(exports, dict):
        return []
    if any(one.startswith(".") for one in exports):
        exports = exports.get(key)
        return _exported(exports, ".")
    return [path for one in exports.values() for path in _exported(one, key)]
