"""What running a module's statement may do to names that it does not bind.

Registration is the case in point: `register(f)`, `@app.route(...)`, `TABLE["a"] = 1`.  A
statement's effect is over-estimated: what a call may change is what is handed to it and whatever
the code behind it reads in a place where it could be changed.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from contextkernel.symbols.calls import (
    HANDED_ON,
    OPERATIONS,
    READING,
    WHOLE,
    asks_module,
    calls_its_argument,
    is_bare_namespace,
    is_main_guard,
    names_in,
    operands,
    registers_subclasses,
    root,
    with_parents,
)
from contextkernel.symbols.kinds import Kinds
from contextkernel.symbols.scope import DEFINITIONS, Module, Statement, now


class Effect(NamedTuple):
    """What one statement does when it runs."""

    touched: frozenset[str]  # stored into, receivers of method calls, handed to calls
    started: frozenset[str]  # called, decorating, or handed to calls that change nothing
    bare: bool  # an expression statement with a call: it is there for its effect
    # imported names that are stored into, called for their effect, or decorate by attribute
    outer: frozenset[str]
    guard: bool  # it may raise on purpose: whether the module loads at all depends on it
    dynamic: bool  # it may bind names that cannot be read off the text


class Effects(Kinds):
    """The effects of a module's statements and the names they reach, computed when asked for."""

    def __init__(self, module: Module) -> None:
        super().__init__(module)
        self.unbound = frozenset(WHOLE) - frozenset(module.binders)
        self._effects: dict[int, Effect] = {}
        self._risky: dict[int, frozenset[str]] = {}
        self._reach: dict[frozenset[str], tuple[frozenset[str], frozenset[int]]] = {}

    def of(self, index: int) -> Effect:
        """What running a statement does; nothing at all for `if __name__ == "__main__"`."""
        if index not in self._effects:
            statement = self.module.statements[index]
            self._effects[index] = (
                Effect(frozenset(), frozenset(), False, frozenset(), False, False)
                if is_main_guard(statement)
                else _Run(self, statement).effect()
            )
        return self._effects[index]

    def touches(self, index: int, needed: set[str], packages: set[str]) -> bool:
        """Whether running a statement may change what one of the needed names stands for."""
        effect = self.of(index)
        if any(
            name in needed and self.kind(name) not in ("fixed", "import") for name in effect.touched
        ):
            return True
        if packages & self.packages(effect.outer):
            return True
        if not effect.started and not effect.touched:
            return False
        names, statements = self.reach(effect.touched | effect.started)
        if any(name in needed and self.kind(name) == "stateful" for name in names):
            return True
        for other in statements:
            if self.module.statements[other].writes & needed:
                return True
            if any(
                name in needed and self.kind(name) in ("display", "variable", "stateful")
                for name in self.risky(other)
            ):
                return True
            if effect.bare and packages & self.packages(self._outer_of_bodies(other)):
                return True
        return False

    def reach(self, names: frozenset[str]) -> tuple[frozenset[str], frozenset[int]]:
        """The names that code behind `names` may read, and the statements that bind them."""
        if names not in self._reach:
            found, waiting = set(names), list(names)
            statements: set[int] = set()
            while waiting:
                for index in self.module.binders.get(waiting.pop(), ()):
                    if index not in statements and not is_main_guard(self.module.statements[index]):
                        statements.add(index)
                        fresh = self.module.statements[index].reads - found
                        found |= fresh
                        waiting += fresh
            self._reach[names] = (frozenset(found), frozenset(statements))
        return self._reach[names]

    def packages(self, names: frozenset[str] | set[str]) -> set[str]:
        """The packages that imported names come from, by their first dotted part."""
        return {package for name in names for package in self.imported.get(name, ())}

    def is_dynamic(self, index: int) -> bool:
        """Whether any code in a statement, its functions included, may reach every name of the
        module.
        """
        statement = self.module.statements[index]
        unbound = self.unbound & statement.reads
        return any(asks_module(node, unbound) for top in statement.nodes for node in ast.walk(top))

    def _outer_of_bodies(self, index: int) -> frozenset[str]:
        run = _Run(self, self.module.statements[index])
        for top in run.statement.nodes:
            for node in ast.walk(top):
                run.visit(node)
        return frozenset(run.outer)

    def risky(self, index: int) -> frozenset[str]:
        """Module names that a statement, its functions included, uses in a place where they
        could be changed.
        """
        if index not in self._risky:
            statement = self.module.statements[index]
            found = {
                node.id
                for node, parent, above in with_parents(statement.nodes)
                if isinstance(node, ast.Name) and not self._only_reads(node, parent, above)
            }
            self._risky[index] = frozenset(found) & statement.reads
        return self._risky[index]

    def _only_reads(self, node: ast.Name, parent: ast.AST, above: ast.AST) -> bool:
        if isinstance(parent, ast.Call):
            if parent.func is node:
                return True  # followed as a call
            return self.kind(node.id) == "display" and self.is_inert(parent.func, len(parent.args))
        if isinstance(parent, ast.Attribute) and isinstance(parent.ctx, ast.Load):
            if isinstance(above, ast.Call) and above.func is parent:
                return parent.attr in READING
            # `add = TABLE.append`
            return self.kind(node.id) != "display" and not isinstance(above, HANDED_ON)
        if isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Load):
            return not isinstance(above, (ast.Attribute, ast.Subscript))
        if isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.FormattedValue, ast.Raise)):
            return True
        if isinstance(parent, (ast.Compare, ast.comprehension, ast.For, ast.AsyncFor)):
            return self.kind(node.id) == "display"
        return (
            isinstance(parent, (ast.If, ast.While, ast.IfExp, ast.Assert)) and parent.test is node
        )


class _Run:
    """Collects the effect of one statement, node by node."""

    def __init__(self, effects: Effects, statement: Statement) -> None:
        self.effects, self.statement = effects, statement
        self.touched: set[str] = set()
        self.started: set[str] = set()
        self.outer: set[str] = set()
        self.runs_own_body = False

    def effect(self) -> Effect:
        statement, module = self.statement, self.effects.module
        guard = dynamic = bare = False
        for node in now(statement.nodes, module.lazy):
            self.visit(node)
            guard = guard or isinstance(node, (ast.Raise, ast.Assert))
            bare = bare or (
                isinstance(node, ast.Expr) and isinstance(node.value, (ast.Call, ast.Await))
            )
            dynamic = dynamic or asks_module(node, self.effects.unbound) or is_bare_namespace(node)
        if self.runs_own_body:
            self.started |= statement.binds
        known = statement.reads | statement.binds
        touched = frozenset(self.touched & known)
        started = frozenset(self.started & (known | frozenset(module.binders)))
        if not dynamic and (touched or started):
            dynamic = any(
                self.effects.is_dynamic(index) for index in self.effects.reach(touched | started)[1]
            )
        return Effect(touched, started, bare, frozenset(self.outer), guard, dynamic)

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            self.touched.add(root(node))
            self.outer.add(root(node))
        elif isinstance(node, ast.Call):
            self._call(node.func, node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            self.outer.add(root(node.value))
            if not self.effects.is_inert(node.value.func):
                self.outer |= {name for argument in node.value.args for name in names_in(argument)}
        elif isinstance(node, OPERATIONS):
            for name in (root(part) for part in operands(node)):
                # its class may answer the operation with code of its own
                if self.effects.kind(name) == "variable":
                    self.started |= {
                        one
                        for one in self.effects.reach(frozenset((name,)))[0]
                        if self.effects.kind(one) in ("plain", "stateful")
                    }
        elif isinstance(node, DEFINITIONS):
            for decorator in node.decorator_list:
                self._decorator(decorator, node)
            if isinstance(node, ast.ClassDef):
                self._class(node)

    def _call(self, function: ast.AST, call: ast.Call) -> None:
        given = {
            name
            for argument in call.args + [k.value for k in call.keywords]
            for name in names_in(argument)
        }
        if self.effects.is_inert(function, len(call.args)):
            self.started |= given
        else:
            self.touched |= given
        if isinstance(function, ast.Attribute):
            (self.started if function.attr in READING else self.touched).add(root(function))
        else:
            self.started.add(root(function))
        if "random" in self.effects.packages({root(function)}):
            self.outer.add(root(function))  # a draw moves the generator on

    def _decorator(self, decorator: ast.AST, node: ast.AST) -> None:
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        if self.effects.is_inert(function):
            return
        name = root(function)
        if isinstance(function, ast.Attribute):
            self.touched.add(name)
            self.outer.add(name)
        self.started.add(name)
        for index in self.effects.module.binders.get(name, ()):
            self.runs_own_body = self.runs_own_body or any(
                calls_its_argument(top) for top in self.effects.module.statements[index].nodes
            )

    def _class(self, node: ast.ClassDef) -> None:
        """A subclass runs its bases' `__init_subclass__` and metaclass, which may write into
        them.
        """
        heads = {
            name
            for base in node.bases + [k.value for k in node.keywords]
            for name in names_in(base)
        }
        _, statements = self.effects.reach(frozenset(heads))
        for index in statements:
            if any(
                registers_subclasses(top) for top in self.effects.module.statements[index].nodes
            ):
                self.touched |= heads
                self.started |= heads | {node.name}
                return
