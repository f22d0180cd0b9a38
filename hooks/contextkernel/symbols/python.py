"""What a symbol of a Python module needs to behave the same, as source lines.

Two rules, applied until nothing is added: a name that kept code reads brings every statement that
binds, rebinds or deletes it; a statement whose running may change what a needed name stands for
(see `effects`) is kept as well.  When in doubt more is kept.
"""

from __future__ import annotations

import ast
import difflib
from collections import deque
from collections.abc import Iterable

from contextkernel.symbols.calls import names_in
from contextkernel.symbols.classes import ClassSlice, Part
from contextkernel.symbols.effects import Effects
from contextkernel.symbols.scope import (
    DEFINITIONS,
    FUNCTIONS,
    Module,
    Statement,
    bound_names,
    read_module,
)

FAR = 8  # distance of what is kept for no name in particular
# unread imports that are kept as registering something; a module with more is a table of contents
SIDE_EFFECT_IMPORTS = 20


class UnknownNameError(LookupError):
    """No such symbol; the message names near matches."""


class NeedsWholeFileError(Exception):
    """The whole module is needed; the message says why."""


class PythonSlice:
    """The statements of a module that one symbol needs."""

    def __init__(self, source: str) -> None:
        self.module: Module = read_module(source)
        self.effects = Effects(self.module)
        self.kept: dict[int, tuple[str, int]] = {}  # statement -> (why, distance)
        self.needed: set[str] = set()
        self.partial: dict[int, ClassSlice] = {}
        self.notes: list[str] = []
        self._waiting: deque[int] = deque()
        self._lists_subclasses = False

    def of(self, name: str) -> list[Part]:
        """The parts of the slice of a symbol.

        Raises UnknownNameError, or NeedsWholeFileError when nothing may be left out.
        """
        self._keep_targets(name)
        for index, statement in enumerate(self.module.statements):
            self._keep_what_always_runs(index, statement)
        self._drain()
        while self._add_effects() or self._grow_classes():
            self._drain()
        self._note_writers()
        return sorted(part for index in self.kept for part in self._parts(index))

    def _keep_targets(self, name: str) -> None:
        if name in self.module.binders:
            self.needed.add(name)
            for index in self.module.binders[name]:
                self._keep(index, "the symbol", 0)
            return
        head, _, tail = name.partition(".")
        member, _, deeper = tail.partition(".")
        found = (
            [self._keep_member(index, head, member) for index in self.module.binders.get(head, ())]
            if tail
            else []
        )
        if not any(found):
            raise UnknownNameError(self._unknown(name))
        if deeper:
            self.notes.append(f"{deeper} is inside {head}.{member}, which is kept whole")
        self.needed.add(head)
        for index in self.module.binders[head]:  # rebinds of the class
            self._keep(index, f"binds {head}", 1)

    def _keep_member(self, index: int, head: str, member: str) -> bool:
        statement = self.module.statements[index]
        classes = [
            node for node in statement.nodes if isinstance(node, ast.ClassDef) and node.name == head
        ]
        if classes:
            cut = ClassSlice(self.module, statement, self.effects)
            if not cut.choose(member):
                return False
            self.partial[index] = cut
        elif not any(member in _inner_names(node, head) for node in statement.nodes):
            return False
        else:
            self.notes.append(f"{member} is defined inside other code, which is kept whole")
        self._keep(index, "the symbol", 0)
        return True

    def _unknown(self, name: str) -> str:
        every = set(self.module.binders)
        for statement in self.module.statements:
            for node in statement.nodes:
                if isinstance(node, ast.ClassDef):
                    every |= {f"{node.name}.{inner}" for inner in bound_names(node.body)}
        last = name.rpartition(".")[2]
        near = sorted(known for known in every if known.rpartition(".")[2] == last)[:3]
        near += [
            known
            for known in difflib.get_close_matches(name, sorted(every), 5, 0.6)
            if known not in near
        ]
        text = f"no symbol {name} in this module; near: {', '.join(near[:5]) or 'nothing'}"
        if any(_is_star(node) for statement in self.module.statements for node in statement.nodes):
            text += "; it may come from a star import"
        return text + (
            "; the module has a __getattr__" if "__getattr__" in self.module.binders else ""
        )

    def _keep(self, index: int, why: str, distance: int) -> None:
        if index not in self.kept:
            self.kept[index] = (why, distance)
            self._waiting.append(index)

    def _keep_what_always_runs(self, index: int, statement: Statement) -> None:
        if any(
            _is_star(node) or (isinstance(node, ast.ImportFrom) and node.module == "__future__")
            for node in statement.nodes
        ):
            self._keep(index, "may bind any name", FAR)
        if "__name__" in statement.binds:
            self._keep(index, "every class reads __name__", FAR)
        effect = self.effects.of(index)
        if effect.guard:
            self._keep(index, "may stop the module from loading", FAR)
        if effect.dynamic:
            raise NeedsWholeFileError(
                f"line {statement.first} reaches the module's names by computed text"
            )

    def _drain(self) -> None:
        while self._waiting:
            index = self._waiting.popleft()
            if self.effects.is_dynamic(index):
                first, last = self.module.statements[index][:2]
                raise NeedsWholeFileError(
                    f"lines {first}-{last} use eval, exec, globals() or sys.modules"
                )
            for distance, names in self._reads(index):
                self._need(names, distance + 1)
            self._lists_subclasses = self._lists_subclasses or any(
                isinstance(node, ast.Attribute) and node.attr == "__subclasses__"
                for top in self._nodes(index)
                for node in ast.walk(top)
            )

    def _need(self, names: Iterable[str], distance: int) -> None:
        for name in sorted(names):
            if name == "__doc__":
                self._keep_text(distance)
            if name in self.module.binders and name not in self.needed:
                self.needed.add(name)
                for index in self.module.binders[name]:
                    self._keep(index, f"binds {name}", distance)

    def _keep_text(self, distance: int) -> None:
        first = self.module.statements[0]
        if all(isinstance(node, ast.Expr) for node in first.nodes):
            self._keep(0, "the module's __doc__", distance)

    def _add_effects(self) -> bool:
        packages = self.effects.packages(self.needed)
        plain = {
            alias.name.split(".")[0]
            for index in self.kept
            for node in self._nodes(index)
            if isinstance(node, ast.Import)
            for alias in node.names
        }
        before = len(self.kept)
        for index, statement in enumerate(self.module.statements):
            if index in self.kept:
                continue
            if self.effects.touches(index, self.needed, packages):
                self._keep(index, "changes what kept names stand for", FAR - 4)
            elif any(_loads_part_of(node, plain) for node in statement.nodes):
                self._keep(index, "loads a part of a kept package", FAR)
            elif self._lists_subclasses and any(
                _heads(node) & self.needed for node in statement.nodes
            ):
                self._keep(index, "is listed by __subclasses__()", FAR - 4)
        if len(self.kept) == before:
            self._keep_unread_imports()
        return len(self.kept) > before

    def _grow_classes(self) -> bool:
        grown = False
        for index, cut in self.partial.items():
            if cut.grow(
                node for other in self.kept if other != index for node in self._nodes(other)
            ):
                self._waiting.append(index)
                grown = True
        return grown

    def _keep_unread_imports(self) -> None:
        read = {name for statement in self.module.statements for name in statement.reads}
        read |= {
            node.value
            for index in self.module.binders.get("__all__", ())
            for top in self.module.statements[index].nodes
            for node in ast.walk(top)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        unread = [
            index
            for index, statement in enumerate(self.module.statements)
            if index not in self.kept
            and all(isinstance(node, (ast.Import, ast.ImportFrom)) for node in statement.nodes)
            and not statement.binds & read
        ]
        if len(unread) <= SIDE_EFFECT_IMPORTS:
            for index in unread:
                self._keep(index, "imported for its effect: nothing reads it", FAR)
        elif not any(note.startswith("imports that") for note in self.notes):
            self.notes.append(f"imports that nothing here reads are left out: {len(unread)}")

    def _reads(self, index: int) -> Iterable[tuple[int, Iterable[str]]]:
        """Names read by a kept statement, by the distance of what reads them."""
        return (
            self.partial[index].reads()
            if index in self.partial
            else [(self.kept[index][1], self.module.statements[index].reads)]
        )

    def _nodes(self, index: int) -> Iterable[ast.AST]:
        return (
            self.partial[index].nodes()
            if index in self.partial
            else self.module.statements[index].nodes
        )

    def _parts(self, index: int) -> list[Part]:
        if index in self.partial:
            cut = self.partial[index]
            left = cut.left_out()
            if cut.whole:
                self.notes.append(f"{cut.node.name} is kept whole: {cut.whole}")
            if left:
                self.notes.append(f"left out of {cut.node.name}: {_some(left)}")
            return cut.parts()
        statement = self.module.statements[index]
        return [Part(statement.first, statement.last, *self.kept[index])]

    def _note_writers(self) -> None:
        """Functions that change a needed variable when called, but that nothing kept calls."""
        writers = []
        for index, statement in enumerate(self.module.statements):
            if index not in self.kept and all(
                isinstance(node, FUNCTIONS) for node in statement.nodes
            ):
                changed = sorted(
                    name
                    for name in self.effects.risky(index) & self.needed
                    if self.effects.kind(name) in ("display", "variable")
                )
                if changed:
                    writers.append(
                        f"{getattr(statement.nodes[0], 'name', '')} "
                        f"({', '.join(changed[:2])}, line {statement.first})"
                    )
        if writers:
            self.notes.append("not kept, may change kept variables when called: " + _some(writers))


def _some(words: list[str], most: int = 8) -> str:
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")


def _is_star(node: ast.AST) -> bool:
    return any(
        isinstance(part, ast.ImportFrom) and part.names[0].name == "*" for part in ast.walk(node)
    )


def _heads(node: ast.AST) -> set[str]:
    return (
        {name for base in node.bases for name in names_in(base)}
        if isinstance(node, ast.ClassDef)
        else set()
    )


def _loads_part_of(node: ast.AST, packages: set[str]) -> bool:
    if isinstance(node, ast.Import):
        return any(
            "." in alias.name and alias.name.split(".")[0] in packages for alias in node.names
        )
    return (
        isinstance(node, ast.ImportFrom)
        and not node.level
        and node.module is not None
        and node.module.split(".")[0] in packages
    )


def _inner_names(node: ast.AST, head: str) -> set[str]:
    """Names defined directly inside the definitions called `head` that stand anywhere in a
    statement.
    """
    return {
        name
        for part in ast.walk(node)
        if isinstance(part, DEFINITIONS) and part.name == head
        for name in bound_names(part.body)
    }


def python_parts(source: str, name: str) -> tuple[list[Part], list[str]]:
    """The parts of a symbol's slice and its notes.

    Raises UnknownNameError; NeedsWholeFileError and the parser's errors mean: keep everything.
    """
    found = PythonSlice(source)
    parts = found.of(name)
    return parts, found.notes
