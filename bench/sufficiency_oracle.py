"""Raise sites of a Python source tree and who calls them: an oracle that shares no code with the
slicer.

Callers are found on `ast`, by qualified names: plain calls through the file's imports (re-exports
followed to the defining module), `self.method()` inside its class, `Class(...)` as its `__init__`,
and methods on unknown objects only when one function of the whole tree has that compound name.
What is ambiguous is no caller.
"""

from __future__ import annotations

import ast
import os
import random
import re
from collections.abc import Iterator
from typing import NamedTuple

SKIPPED = re.compile(
    r"(^|/)(tests?|testing|_testing|docs?|examples?|benchmarks?|_vendor|vendor|vendored"
    r"|node_modules|build|\.[^/]+)(/|$)|(^|/)(test_[^/]*|conftest|[^/]*_test)\.py$"
)
FILLERS = ("3", "'spam'", "None", "0.5", "'a'", "7", "[1, 2]")
FEWEST_WORDS = 2  # of a message's constant part: fewer say nothing to a reader either
DEEPEST = 6  # steps of re-export


class Frame(NamedTuple):
    """A call as a traceback shows it; `line` is 1-based."""

    path: str
    line: int
    function: str
    text: str


class Site(NamedTuple):
    """A raise with its message as a user would see it, holes filled; `key` is (path, qualified
    name).
    """

    path: str
    line: int
    function: str
    first: int
    last: int
    error: str
    message: str


class Function(NamedTuple):
    path: str
    name: str  # qualified: "f", "Class.method"
    first: int
    last: int
    node: ast.AST


class Tree:
    """The functions, imports and call sites of every Python file under a folder, tests and
    vendored code aside.
    """

    def __init__(self, root: str) -> None:
        self.lines: dict[str, list[str]] = {}
        self.trees: dict[str, ast.Module] = {}
        self.modules: dict[str, str] = {}  # dotted name -> path
        self.functions: dict[tuple[str, str], Function] = {}
        self.classes: set[tuple[str, str]] = set()
        self.imports: dict[str, dict[str, tuple[str, str] | None]] = {}
        for path in source_files(root, (".py",)):
            self._read(root, path)
        self.dotted = {path: name for name, path in self.modules.items()}
        for path in sorted(self.trees):
            self.imports[path] = self._imports(path)
            self._define(path, self.trees[path].body, "")
        self.by_last: dict[str, list[Function]] = {}
        for function in self.functions.values():
            self.by_last.setdefault(function.name.rpartition(".")[2], []).append(function)
        self.callers: dict[tuple[str, str], list[Frame]] = {}
        for function in sorted(self.functions.values(), key=lambda one: (one.path, one.first)):
            self._calls(function)

    def _read(self, root: str, path: str) -> None:
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as stream:
            text = stream.read()
        try:
            self.trees[path] = ast.parse(text)
        except (SyntaxError, ValueError):
            return
        self.lines[path] = text.split("\n")
        parts = path[:-3].split("/")
        top = len(parts) - 1
        while top and os.path.exists(os.path.join(root, *parts[:top], "__init__.py")):
            top -= 1
        names = parts[top:] if parts[-1] != "__init__" else parts[top:-1]
        self.modules[".".join(names)] = path

    def _imports(self, path: str) -> dict[str, tuple[str, str] | None]:
        """Local name -> (module, attribute or ""); None when one name is imported from two
        places.
        """
        found: dict[str, tuple[str, str] | None] = {}
        own = self.dotted.get(path, "").split(".")
        package = own if path.endswith("__init__.py") else own[:-1]
        for node in ast.walk(self.trees[path]):
            pairs = []
            if isinstance(node, ast.Import):
                pairs = [
                    (
                        a.asname or a.name.split(".")[0],
                        (a.name if a.asname else a.name.split(".")[0], ""),
                    )
                    for a in node.names
                ]
            elif isinstance(node, ast.ImportFrom):
                base = package[: len(package) - node.level + 1] if node.level else []
                module = ".".join(base + ([node.module] if node.module else []))
                pairs = [
                    (a.asname or a.name, (module, a.name)) for a in node.names if a.name != "*"
                ]
            for name, target in pairs:
                found[name] = target if found.get(name, target) == target else None
        return found

    def _define(self, path: str, body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                name = prefix + node.name
                first = min([node.lineno] + [decorator.lineno for decorator in node.decorator_list])
                self.functions[path, name] = Function(
                    path, name, first, node.end_lineno or node.lineno, node
                )
            elif isinstance(node, ast.ClassDef):
                self.classes.add((path, prefix + node.name))
                self._define(path, node.body, prefix + node.name + ".")
            elif isinstance(node, (ast.If, ast.Try)):
                self._define(
                    path,
                    node.body
                    + node.orelse
                    + [s for h in getattr(node, "handlers", []) for s in h.body],
                    prefix,
                )

    def _calls(self, function: Function) -> None:
        local = {
            n.id
            for n in ast.walk(function.node)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        local |= {a.arg for a in ast.walk(function.node) if isinstance(a, ast.arg)}
        seen = set()
        for node in ast.walk(function.node):
            if isinstance(node, ast.Call):
                target = self._target(function, node.func, local)
                if target and target not in seen and target != (function.path, function.name):
                    seen.add(target)
                    line = self.lines[function.path][node.lineno - 1].strip()
                    self.callers.setdefault(target, []).append(
                        Frame(function.path, node.lineno, function.name, line)
                    )

    def _target(
        self, function: Function, called: ast.AST, local: set[str]
    ) -> tuple[str, str] | None:
        parts: list[str] = []
        while isinstance(called, ast.Attribute):
            parts.insert(0, called.attr)
            called = called.value
        if not isinstance(called, ast.Name):
            return self._only_method(parts)
        name = called.id
        if name in ("self", "cls") and len(parts) == 1:
            own = (function.path, function.name.rpartition(".")[0] + "." + parts[0])
            return own if own in self.functions else self._only_method(parts)
        if name in local:
            return self._only_method(parts)
        found = self._lookup(self.dotted.get(function.path, ""), [name] + parts, 0)
        return found or self._only_method(parts)

    def _only_method(self, parts: list[str]) -> tuple[str, str] | None:
        """The one method of a compound name in the tree."""
        name = parts[-1] if parts else ""
        known = (
            self.by_last.get(name, [])
            if "_" in name.strip("_") or (name[:1] == "_" and name[:2] != "__")
            else []
        )
        return (known[0].path, known[0].name) if len(known) == 1 and "." in known[0].name else None

    def _lookup(self, module: str, parts: list[str], depth: int) -> tuple[str, str] | None:
        """The function that dotted parts mean in a module's namespace."""
        path = self.modules.get(module)
        if path is None or depth > DEEPEST or not parts:
            return None
        for name in (".".join(parts), ".".join(parts) + ".__init__"):
            if (path, name) in self.functions:
                return path, name
        if module + "." + parts[0] in self.modules and parts[0] not in self.imports[path]:
            return self._lookup(module + "." + parts[0], parts[1:], depth + 1)
        target = self.imports[path].get(parts[0])
        if not target:
            return None
        module, attribute = target
        if attribute and module + "." + attribute in self.modules:
            found = self._lookup(module + "." + attribute, parts[1:], depth + 1)
            if found:
                return found
        return self._lookup(module, ([attribute] if attribute else []) + parts[1:], depth + 1)

    def sites(self, chance: random.Random) -> Iterator[Site]:
        """Raise statements with a readable message, by path and line."""
        for key in sorted(self.functions):
            function = self.functions[key]
            for node in ast.walk(function.node):
                if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                    message = worded(node.exc.args[0], function.node, node.lineno, chance)
                    error = node.exc.func
                    name = (
                        error.attr if isinstance(error, ast.Attribute) else getattr(error, "id", "")
                    )
                    if (
                        name[:1].isupper()
                        and len(re.findall(r"[A-Za-z]{3,}", message)) >= FEWEST_WORDS
                    ):
                        yield Site(
                            function.path,
                            node.lineno,
                            function.name,
                            function.first,
                            function.last,
                            name,
                            message,
                        )

    def callers_at(self, site: Site, hops: int) -> list[Frame]:
        """Frames so many calls above a raise, none of them in its file, sorted."""
        edge = {(site.path, site.function)}
        seen = set(edge)
        frames: list[Frame] = []
        for _ in range(hops):
            frames = sorted({frame for target in edge for frame in self.callers.get(target, ())})
            edge = {(frame.path, frame.function) for frame in frames} - seen
            frames = [frame for frame in frames if (frame.path, frame.function) in edge]
            seen |= edge
        return [frame for frame in frames if frame.path != site.path]


def source_files(root: str, suffixes: tuple[str, ...]) -> list[str]:
    """Paths of source files below a root, tests, docs and vendored code aside, sorted."""
    found = []
    for folder, folders, files in os.walk(root):
        folders.sort()
        for name in files:
            path = os.path.relpath(os.path.join(folder, name), root).replace(os.sep, "/")
            if name.endswith(suffixes) and not SKIPPED.search(path):
                found.append(path)
    return sorted(found)


def worded(value: ast.AST, function: ast.AST, line: int, chance: random.Random) -> str:
    """A message expression as a text: constants as they are, every hole filled; "" when it has
    no constant part.
    """
    if isinstance(value, ast.Name):
        given = [
            n
            for n in ast.walk(function)
            if isinstance(n, ast.Assign)
            and n.lineno < line
            and any(isinstance(t, ast.Name) and t.id == value.id for t in n.targets)
        ]
        return worded(given[-1].value, function, given[-1].lineno, chance) if given else ""
    if isinstance(value, ast.Constant):
        return value.value.strip() if isinstance(value.value, str) else ""
    if isinstance(value, ast.JoinedStr):
        return "".join(
            part.value if isinstance(part, ast.Constant) else chance.choice(FILLERS)
            for part in value.values
        ).strip()
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mod):
        text = worded(value.left, function, line, chance)
        return re.sub(
            r"%(?:\(\w+\))?[-+ #0]*[\d.*]*[sdrfgxi]", lambda _: chance.choice(FILLERS), text
        )
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        return (
            worded(value.left, function, line, chance)
            + " "
            + worded(value.right, function, line, chance)
        ).strip()
    if (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr == "format"
    ):
        return re.sub(
            r"\{[^{}]*\}",
            lambda _: chance.choice(FILLERS),
            worded(value.func.value, function, line, chance),
        )
    if (
        isinstance(value, ast.Call)
        and value.args
        and getattr(value.func, "id", "") in ("_", "gettext", "dedent")
    ):
        return worded(value.args[0], function, line, chance)
    return ""


def symptom(site: Site, frame: Frame) -> str:
    """What a user pastes: one caller's frame, then the error.  The raise site is not in it."""
    return (
        'Traceback (most recent call last):\n  File "/home/user/venv/lib/python3.11/'
        f'site-packages/{re.sub(r"^src/", "", frame.path)}", line {frame.line}, in '
        f"{frame.function.rpartition('.')[2]}\n    {frame.text}\n{site.error}: {site.message}\n"
    )
