"""A class cut down to what one of its members needs."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from contextkernel.symbols.calls import last_word, names_in, registers_subclasses
from contextkernel.symbols.effects import Effects
from contextkernel.symbols.scope import FUNCTIONS, Module, Statement, now_reads, read_block

# distance of members that are kept only because nothing proves that they are not called
IN_DOUBT = 9
# bases from outside that call no method of a subclass but those named in underscores
PLAIN_BASES = frozenset(
    "object Exception BaseException ValueError TypeError KeyError IndexError LookupError "
    "AttributeError RuntimeError OSError IOError "
    "NotImplementedError ArithmeticError ImportError Warning UserWarning DeprecationWarning "
    "StopIteration ABC Generic Protocol "
    "NamedTuple TypedDict Enum IntEnum Flag IntFlag StrEnum int str float bytes tuple frozenset "
    "list dict set".split()
)
PLAIN_DECORATORS = frozenset("dataclass total_ordering runtime_checkable final unique".split())
BY_NAME = frozenset("getattr setattr hasattr delattr attrgetter methodcaller".split())
LISTING = frozenset("dir vars getmembers".split())


class Part(NamedTuple):
    """Lines that a slice holds together, why, and how far from the symbol (0 is the symbol
    itself).
    """

    first: int
    last: int
    why: str
    distance: int


class ClassSlice:
    """The members of a class that one of them needs; grows with the words that kept code uses."""

    def __init__(self, module: Module, statement: Statement, effects: Effects) -> None:
        self.module, self.statement, self.effects = module, statement, effects
        self.node = next(node for node in statement.nodes if isinstance(node, ast.ClassDef))
        self.members = read_block(self.node.body, module.table, module.lazy)
        self.kept: dict[int, tuple[str, int]] = {}
        self.whole = ""

    def choose(self, name: str) -> bool:
        """Keeps a member and what every use of the class runs; False when there is no such
        member.
        """
        chosen = [index for index, member in enumerate(self.members) if name in member.binds]
        chosen = chosen or [
            i for i, member in enumerate(self.members) if name in _set_on_self(member.nodes)
        ]
        if not chosen:
            return False
        self.kept = {index: ("the symbol", 0) for index in chosen}
        for index, member in enumerate(self.members):
            if (
                index not in self.kept
                and (not _is_method(member) or any(_is_special(bound) for bound in member.binds))
                and not _is_text(member)
            ):
                self.kept[index] = (f"every use of {self.node.name}", 1)
        self.whole = self._reason_for_all()
        return True

    def _reason_for_all(self) -> str:
        """Why no member may be left out, when that is so."""
        if not self.parts_apart():
            return "its lines cannot be parted"
        for decorator in self.node.decorator_list:
            word = last_word(decorator.func if isinstance(decorator, ast.Call) else decorator)
            if word not in PLAIN_DECORATORS:
                return f"decorator {word} may use any of them"
        if self.node.keywords:
            return "its metaclass or base may use any of them"
        for base in self.foreign_bases():
            return f"base {base}, defined elsewhere, may call any of them"
        heads = frozenset(name for base in self.node.bases for name in names_in(base))
        for index in self.effects.reach(heads)[1] if heads else ():
            if any(registers_subclasses(top) for top in self.module.statements[index].nodes):
                return "a base takes part in its making"
        return ""

    def foreign_bases(self) -> Iterator[str]:
        """Bases, its own and its bases', that are not defined in this module and may call any
        method.
        """
        waiting, seen = [self.node], {self.node.name}
        while waiting:
            for base in waiting.pop().bases:
                word = last_word(base.value if isinstance(base, ast.Subscript) else base)
                found = [
                    node
                    for index in self.module.binders.get(word, ())
                    for node in self.module.statements[index].nodes
                    if isinstance(node, ast.ClassDef) and node.name == word
                ]
                if not found and word not in PLAIN_BASES:
                    yield word or "(an expression)"
                waiting += [node for node in found if node.name not in seen]
                seen.add(word)

    def grow(self, outside: Iterable[ast.AST]) -> bool:
        """Keeps members named by kept code, its own and that outside; whether there was anything
        to add.
        """
        before = len(self.kept)
        own = [node for index in self.kept for node in self.members[index].nodes]
        words = words_in(own) | {
            node.id for top in own for node in ast.walk(top) if isinstance(node, ast.Name)
        }
        outside = list(outside)
        words |= words_in(outside)
        self.whole = (
            self.whole
            or next(self._dynamic_uses(own + outside), "")
            or next(self._escapes(own), "")
        )
        for index, member in enumerate(self.members):
            if _is_text(member) and "__doc__" not in words:
                continue
            if index not in self.kept and (self.whole or member.binds & words or _is_text(member)):
                self.kept[index] = (
                    (self.whole, IN_DOUBT)
                    if not member.binds & words
                    else ("named by kept code", 2)
                )
        return len(self.kept) > before

    def _dynamic_uses(self, tops: Iterable[ast.AST]) -> Iterator[str]:
        for top in tops:
            for node in ast.walk(top):
                if (
                    isinstance(node, ast.Attribute)
                    and node.attr == "__dict__"
                    and not (isinstance(node.value, ast.Name) and node.value.id == "self")
                ):
                    yield f"__dict__ of a class may list members at line {node.lineno}"
                if not isinstance(node, ast.Call):
                    continue
                word = last_word(node.func)
                at = 0 if word in ("attrgetter", "methodcaller") else 1
                if word in BY_NAME and not all(
                    isinstance(argument, ast.Constant) for argument in node.args[at : at + 1]
                ):
                    yield f"{word} with a computed name at line {node.lineno}"
                if word in LISTING and node.args:
                    yield f"{word} lists members at line {node.lineno}"

    def _escapes(self, tops: Iterable[ast.AST]) -> Iterator[str]:
        """Calls of code defined elsewhere that get the instance itself."""
        for top in tops:
            for function in ast.walk(top):
                if not isinstance(function, FUNCTIONS) or not function.args.args:
                    continue
                own = function.args.args[0].arg
                for call in ast.walk(function):
                    if isinstance(call, ast.Call) and self._is_foreign(call, own):
                        given = call.args + [keyword.value for keyword in call.keywords]
                        if any(
                            isinstance(argument, ast.Name) and argument.id == own
                            for argument in given
                        ):
                            yield (
                                f"{last_word(call.func) or 'a call'} gets the instance at line "
                                f"{call.lineno}"
                            )

    def _is_foreign(self, call: ast.Call, own: str) -> bool:
        if self.effects.is_inert(call.func, len(call.args)) or last_word(call.func) in (
            "append",
            "add",
            "ref",
            "__new__",
            "__init__",
        ):
            return False
        if isinstance(call.func, ast.Name):
            kind = (
                self.effects.kind(call.func.id) if call.func.id in self.module.binders else "import"
            )
            return kind not in ("plain", "stateful")
        return not (
            isinstance(call.func, ast.Attribute)
            and isinstance(call.func.value, ast.Name)
            and call.func.value.id == own
        )

    def reads(self) -> list[tuple[int, set[str]]]:
        """Module names that the header (at 0) and the kept members read, with the reader's
        distance, nearest first.
        """
        heads = (
            self.node.decorator_list
            + self.node.bases
            + [keyword.value for keyword in self.node.keywords]
        )
        found = {0: now_reads(heads, self.module.lazy)}
        for index, (_, distance) in self.kept.items():
            found.setdefault(distance, set()).update(self.members[index].reads)
        return sorted(found.items())

    def nodes(self) -> list[ast.AST]:
        """The kept members' statements."""
        return [node for index in self.kept for node in self.members[index].nodes]

    def parts(self) -> list[Part]:
        """The header and the kept members, with their lines."""
        if len(self.kept) == len(self.members) and not self.parts_apart():
            return [Part(self.statement.first, self.statement.last, "the symbol", 0)]
        header = Part(
            self.statement.first, self.members[0].first - 1, f"header of {self.node.name}", 0
        )
        return [header] + [
            Part(self.members[i].first, self.members[i].last, *self.kept[i])
            for i in sorted(self.kept)
        ]

    def parts_apart(self) -> bool:
        """Whether header and members stand on lines of their own."""
        return len(self.statement.nodes) == 1 and self.members[0].first > self.node.lineno

    def left_out(self) -> list[str]:
        """Names of members that are not kept, in the order of the class."""
        return [
            name
            for index, member in enumerate(self.members)
            if index not in self.kept
            for name in sorted(member.binds)
        ]


def words_in(tops: Iterable[ast.AST]) -> set[str]:
    """Attribute names and identifier-like texts in code."""
    found: set[str] = set()
    for top in tops:
        for node in ast.walk(top):
            if isinstance(node, ast.Attribute):
                found.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.update(part for part in node.value.split(".") if part.isidentifier())
            elif type(node).__name__ == "MatchClass":
                found.update(getattr(node, "kwd_attrs", ()))
    return found


def _set_on_self(nodes: Iterable[ast.AST]) -> set[str]:
    return {
        node.attr
        for top in nodes
        for node in ast.walk(top)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id in ("self", "cls")
    }


def _is_method(member: Statement) -> bool:
    return any(isinstance(node, FUNCTIONS) for node in member.nodes)


def _is_special(name: str) -> bool:
    return name.startswith("_") and name.endswith("_") and len(name) > 2


def _is_text(member: Statement) -> bool:
    return all(
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in member.nodes
    )
