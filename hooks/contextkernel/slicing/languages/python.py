"""Python: definitions, imports and where they lead."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from contextkernel.slicing.repository import Repository
from contextkernel.slicing.scan.blanking import without_triple_quotes
from contextkernel.slicing.scan.definitions import Definition, matched

# These begin with words that are looked for as such, ten times faster than by the engine; what
# stands before them is then looked at
_HEAD = re.compile(
    r"(?:def|class)[ \t]+(?:[\w*\[\], ]*?[ \t*])??(?P<name>[A-Za-z_]\w*)[ \t]*[(:\[]"
)
_IMPORT = re.compile(
    r"(?:import[ \t]+(?P<names>[\w., \t]+)|from[ \t]+(?P<origin>[.\w]+)[ \t]+c?import[ \t]*"
    r"(?:\((?P<many>[^)]*)\)|(?P<few>(?:[^\n\\#;]|\\\r?\n)*)))"
)
_DEFINITIONS = (
    re.compile(r"\n(?P<indent>)(?P<name>[A-Za-z_]\w{2,})(?P<kind>)[ \t]*(?::[^=\n]{1,80})?=(?!=)"),
)
_HEAD_WORDS, _IMPORT_WORDS = ("def", "class"), ("import", "from")
_COMMENT = re.compile(r"#[^\n]*")
_DYNAMIC = ("import_module(", "__import__(", "import_string(")
SUFFIXES = (".py", ".pyx", ".pyi", ".pxd")
MOST_STEPS = 5  # re-exports followed from one __init__ to the next

# 3.9 has no sys.stdlib_module_names; these are the ones that repositories also use as file names
_STDLIB = frozenset(
    getattr(
        sys,
        "stdlib_module_names",
        "ast code copy json logging numbers operator platform random re select signal site "
        "statistics string struct test time token types typing utils uuid".split(),
    )
) - {"utils"}


def blank(text: str) -> str:
    """The text with the inside of triple-quoted strings blanked."""
    return without_triple_quotes(text)


def definitions(text: str, masked: str) -> list[Definition]:
    """Functions, classes and module-level names."""
    found = [one._replace(kind="name") for one in matched(_DEFINITIONS, masked)]
    line, at = 1, 0
    for match in _matches(_HEAD, _HEAD_WORDS, masked):
        start = match.start()
        before = masked[masked.rfind("\n", 0, start) + 1 : start]
        if before.strip() in ("", "async", "c", "cp"):
            line += masked.count("\n", at, start)
            at = start
            kind = "class" if masked.startswith("class", start) else "def"
            found.append(
                Definition(
                    match.group("name"),
                    kind,
                    line,
                    len(before[: len(before) - len(before.lstrip())].expandtabs(4)),
                )
            )
    return sorted(found, key=lambda one: one.line)


def _matches(
    pattern: re.Pattern[str], words: tuple[str, ...], text: str
) -> Iterator[re.Match[str]]:
    """What `pattern.finditer(text)` gives, for a pattern that can only begin with one of the
    words and a blank or a tab.
    """
    starts: list[int] = []
    for word in [word + space for space in (" \t" if "\t" in text else " ") for word in words]:
        at = text.find(word)
        while at >= 0:
            starts.append(at)
            at = text.find(word, at + 1)
    end = 0
    for start in sorted(starts):
        match = pattern.match(text, start) if start >= end else None
        if match:
            end = match.end()
            yield match


def imports(text: str, masked: str) -> list[str]:
    """Import statements as "module" or "origin:name,name"; the dots of relative origins are
    kept.
    """
    found = []
    for match in _matches(_IMPORT, _IMPORT_WORDS, masked):
        before = masked[masked.rfind("\n", 0, match.start()) + 1 : match.start()].strip()
        if before not in ("", "c") and not before.endswith((":", ";")):
            continue
        if match.group("names"):
            found += [part.split()[0] for part in match.group("names").split(",") if part.strip()]
            continue
        names = match.group("many")
        names = (
            _COMMENT.sub("", names) if names is not None else match.group("few").replace("\\", " ")
        )
        cut = [part.split()[0] for part in names.split(",") if part.strip()]
        found.append(match.group("origin") + ":" + ",".join(cut))
    return list(dict.fromkeys(found))


def unresolved(text: str) -> str:
    """A word on imports that regexes cannot follow, or ""."""
    # all three have the first
    return "dynamic import" if "import_" in text and any(call in text for call in _DYNAMIC) else ""


def targets(spec: str, path: str, repository: Repository) -> list[str]:
    """The repository files that one import of the file `path` reaches; [] when it leaves the
    repository.
    """
    origin, _, names = spec.partition(":")
    if not names:
        found = module_file(origin, path, repository)
        return [found] if found else []
    reached = []
    for name in names.split(","):
        below = (
            module_file(
                origin + name if origin.endswith(".") else origin + "." + name, path, repository
            )
            if name != "*"
            else ""
        )
        holder = "" if below else module_file(origin, path, repository)
        if below:
            reached.append(below)
        elif holder:
            reached.append(holder)
            reached += _re_exported(name, holder, repository, MOST_STEPS)
    return list(dict.fromkeys(reached))


def _re_exported(name: str, holder: str, repository: Repository, steps: int) -> list[str]:
    """The files through which `name` comes into the package file `holder`, the defining one
    last.
    """
    if not steps or not holder.endswith("__init__.py"):
        return []
    facts = repository.facts(holder)
    if any(one.name == name for one in facts.definitions):
        return []
    for spec in facts.imports:
        origin, _, names = spec.partition(":")
        given = names.split(",") if names else []
        if name not in given and "*" not in given and name != "*":
            continue
        source = module_file(origin, holder, repository)
        below = (
            module_file(origin + ("" if origin.endswith(".") else ".") + name, holder, repository)
            if name in given
            else ""
        )
        if below:
            return [below]
        if not source or source == holder:
            continue
        if name in given:
            return [source] + _re_exported(name, source, repository, steps - 1)
        if name == "*" or any(one.name == name for one in repository.facts(source).definitions):
            return [source]
        deeper = _re_exported(name, source, repository, steps - 1)
        if deeper:
            return [source] + deeper
    return []


def module_file(module: str, path: str, repository: Repository) -> str:
    """The file of a module as the file `path` names it, or "".  Exact: a part of the name never
    counts as the whole.
    """
    folder = path.rpartition("/")[0]
    known: dict[tuple[str, str], str] = repository.memo("python modules", dict)
    key = (module, folder)
    if key not in known:
        known[key] = (
            _relative(module, folder, repository)
            if module.startswith(".")
            else _absolute(module, folder, repository)
        )
    return known[key]


def _relative(module: str, folder: str, repository: Repository) -> str:
    rest = module.lstrip(".")
    for _ in range(len(module) - len(rest) - 1):
        if not folder:
            return ""
        folder = folder.rpartition("/")[0]
    return _in_folder(folder, rest, repository)


def _absolute(module: str, folder: str, repository: Repository) -> str:
    while folder and (folder + "/__init__.py") in repository.paths:
        folder = folder.rpartition("/")[0]
    standard = module.partition(".")[0] in _STDLIB
    while True:
        if not (standard and folder):
            for base in (folder, (folder + "/src").lstrip("/"), (folder + "/lib").lstrip("/")):
                found = _in_folder(base, module, repository)
                if found:
                    return found
        if not folder:
            return ""
        folder = folder.rpartition("/")[0]


def _in_folder(folder: str, module: str, repository: Repository) -> str:
    base = "/".join(part for part in (folder, module.replace(".", "/")) if part)
    for suffix in SUFFIXES:
        if base + suffix in repository.paths:
            return base + suffix
        if (base + "/__init__" + suffix if base else "__init__" + suffix) in repository.paths:
            return base + "/__init__" + suffix if base else "__init__" + suffix
    return ""


def implicit_imports(path: str, repository: Repository) -> list[str]:
    """Files that count as imported without a statement: the conftest files that pytest loads for
    a test file.
    """
    name = path.rpartition("/")[2]
    if not (name.startswith("test_") or name.endswith("_test.py")):
        return []
    found, folder = [], path.rpartition("/")[0]
    while True:
        candidate = (folder + "/conftest.py").lstrip("/")
        if candidate in repository.paths:
            found.append(candidate)
        if not folder:
            return found
        folder = folder.rpartition("/")[0]
