"""What the names of a module stand for: can their values be changed in place?"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from contextkernel.symbols.calls import (
    DISPLAYS,
    FIXED,
    INERT,
    VALUES,
    last_word,
    names_in,
    packages_of,
    values_given,
    writes_itself,
)
from contextkernel.symbols.scope import DEFINITIONS, FUNCTIONS, Module, now

if TYPE_CHECKING:
    from contextkernel.symbols.scope import Definition


class Kinds:
    """The kinds of a module's names, computed when asked for."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.imported = self._imported()
        self._kinds: dict[str, str] = {}

    def kind(self, name: str) -> str:
        """What a module name stands for: import, fixed, display, variable, plain or stateful (a
        definition).
        """
        if name not in self._kinds:
            self._kinds[name] = "fixed"  # what a recursive look-up sees
            self._kinds[name] = self._kind(name)
        return self._kinds[name]

    def _kind(self, name: str) -> str:
        kinds = {
            self._kind_in(node, name)
            for index in self.module.binders.get(name, ())
            for node in self.module.statements[index].nodes
            if name in self.module.statements[index].binds
        }
        for kind in ("stateful", "variable", "display", "plain", "import"):
            if kind in kinds:
                return kind
        return "fixed"

    def _kind_in(self, node: ast.stmt, name: str) -> str:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            return "import"
        if isinstance(node, DEFINITIONS):
            return (
                "fixed" if node.name != name else "stateful" if self._keeps_state(node) else "plain"
            )
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            simple = all(
                isinstance(target, ast.Name)
                for target in getattr(node, "targets", [getattr(node, "target", None)])
            )
            if node.value is None or (simple and self.is_fixed(node.value)):
                return "fixed"
            return "display" if simple and isinstance(node.value, DISPLAYS) else "variable"
        if isinstance(node, (ast.Try, ast.If)) and name in self.imported:
            return "import"
        if isinstance(node, (ast.Try, ast.If)) and all(
            self.is_fixed(value) for value in values_given(node, name)
        ):
            return "fixed"
        if isinstance(node, (ast.Delete, ast.Expr)):
            return "fixed"
        return "variable"

    def is_fixed(self, value: ast.AST) -> bool:
        """Whether a value cannot be changed in place; unsure means no."""
        if isinstance(value, VALUES):
            return True
        if isinstance(value, ast.Tuple):
            return all(self.is_fixed(part) for part in value.elts)
        if isinstance(value, ast.BinOp):
            return self.is_fixed(value.left) and self.is_fixed(value.right)
        if isinstance(value, ast.UnaryOp):
            return self.is_fixed(value.operand)
        if isinstance(value, ast.IfExp):
            return self.is_fixed(value.body) and self.is_fixed(value.orelse)
        if isinstance(value, ast.Name):
            return value.id in self.module.binders and self.kind(value.id) == "fixed"
        return (
            isinstance(value, ast.Call)
            and last_word(value.func) in FIXED
            and not self._is_ours(last_word(value.func))
        )

    def _is_ours(self, name: str) -> bool:
        return any(
            isinstance(node, DEFINITIONS) and node.name == name
            for index in self.module.binders.get(name, ())
            for node in self.module.statements[index].nodes
        )

    def is_inert(self, function: ast.AST, arguments: int = 0) -> bool:
        """Whether a call changes none of its arguments."""
        word = last_word(function)
        if word == "type" and arguments == 1:
            return True
        return word in INERT and not (isinstance(function, ast.Name) and self._is_ours(word))

    def _keeps_state(self, node: Definition) -> bool:
        if any(
            not self.is_inert(d.func if isinstance(d, ast.Call) else d) for d in node.decorator_list
        ):
            return True
        if writes_itself(node):
            return True
        if isinstance(node, FUNCTIONS):
            defaults = node.args.defaults + [d for d in node.args.kw_defaults if d is not None]
            return not all(
                self.is_fixed(default) or isinstance(default, ast.Name) for default in defaults
            )
        shared = [
            part.value
            for part in node.body
            if isinstance(part, (ast.Assign, ast.AnnAssign)) and part.value is not None
        ]
        if any(not self.is_fixed(value) and not isinstance(value, ast.Name) for value in shared):
            return True
        return any(
            self.kind(name) == "stateful"
            for base in [*node.bases, *(k.value for k in node.keywords)]
            for name in names_in(base)
            if name != node.name
        )

    def _imported(self) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        for statement in self.module.statements:
            for top in statement.nodes:
                for node in now((top,), True):
                    for name, package in packages_of(node):
                        found.setdefault(name, set()).add(package)
        return {name: frozenset(packages) for name, packages in found.items()}
