"""Def-use facts of one Python module: what each of its statements binds and reads.

A *statement* here is one statement of the module's own level, or several that share a line.  Names
are those of the module's namespace.  What runs when the module is imported (decorators, defaults,
class bodies, comprehensions) is walked on the `ast`; what runs later (bodies of functions and
lambdas) is answered by `symtable`, which knows parameters, closures, `global`, `nonlocal` and class
scopes exactly.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = FUNCTIONS + (ast.ClassDef,)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
if TYPE_CHECKING:
    AnyFunction = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    AnyComprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
# nodes that bind a name by themselves (of `match`, which 3.9 does not have) -> the field of it
_CAUGHT_IN = {
    "ExceptHandler": "name",
    "MatchAs": "name",
    "MatchStar": "name",
    "MatchMapping": "rest",
}
ASKS_ANNOTATIONS = ("get_type_hints", "__annotations__", "eval_str", "get_annotations")


class Statement(NamedTuple):
    """One statement of the module's level, or several that share a line; lines are 1-based,
    inclusive.
    """

    first: int
    last: int
    nodes: tuple[ast.stmt, ...]
    binds: frozenset[str]  # names that importing the module binds, rebinds or deletes here
    writes: frozenset[str]  # names that a function in here rebinds by `global`
    reads: frozenset[str]  # names read here, now or when a function in here is called


class Module(NamedTuple):
    statements: tuple[Statement, ...]
    binders: dict[str, tuple[int, ...]]  # name -> indexes of the statements that bind or write it
    lazy: bool  # whether annotations are left unevaluated (`from __future__ import annotations`)
    table: symtable.SymbolTable


def read_module(source: str) -> Module:
    """The statements of a module's source and who binds which name.

    Raises SyntaxError, ValueError (NUL bytes) or RecursionError as the parser does: the source may
    be newer than the running Python.
    """
    tree = ast.parse(source)
    table = symtable.symtable(source, "module", "exec")
    lazy = is_lazy(tree) and not any(word in source for word in ASKS_ANNOTATIONS)
    statements = read_block(tree.body, table, lazy)
    binders: dict[str, list[int]] = {}
    for index, statement in enumerate(statements):
        for name in statement.binds | statement.writes:
            binders.setdefault(name, []).append(index)
    return Module(
        tuple(statements), {name: tuple(found) for name, found in binders.items()}, lazy, table
    )


def read_block(
    body: Iterable[ast.stmt], table: symtable.SymbolTable, lazy: bool
) -> list[Statement]:
    """The statements of a block, be it a module's or a class's body; `table` is the module's."""
    groups = line_groups(body)
    statements = []
    for (first, last, nodes), inside in zip(groups, _tables_by_group(table, groups)):
        reads = now_reads(nodes, lazy)
        writes: set[str] = set()
        for child in inside:
            later_reads(child, reads, writes)
        binds = set(bound_names(nodes)) | set(_bound_in_passing(nodes, lazy))
        statements.append(
            Statement(first, last, nodes, frozenset(binds), frozenset(writes), frozenset(reads))
        )
    return statements


def is_lazy(tree: ast.Module) -> bool:
    """Whether the module asks for unevaluated annotations."""
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(a.name == "annotations" for a in node.names)
        for node in tree.body
    )


def first_line(node: ast.stmt) -> int:
    """The 1-based line a statement starts at, decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno] + [one.lineno for one in decorators])


def line_groups(body: Iterable[ast.stmt]) -> list[tuple[int, int, tuple[ast.stmt, ...]]]:
    """The statements of a block as (first line, last line, statements); those that share a line
    are one group.
    """
    groups: list[tuple[int, int, tuple[ast.stmt, ...]]] = []
    for node in body:
        first, last = first_line(node), node.end_lineno or node.lineno
        if groups and first <= groups[-1][1]:
            start, end, nodes = groups[-1]
            groups[-1] = (start, max(end, last), nodes + (node,))
        else:
            groups.append((first, last, (node,)))
    return groups


def own_tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    """The outermost function scopes under a module's or class's table, those of its classes'
    methods included.
    """
    for child in table.get_children():
        kind = str(child.get_type()).lower()
        if kind.endswith("function"):
            yield child
        # 3.14 gives annotations scopes of their own; `now_reads` walks them
        elif "annotation" not in kind:
            yield from own_tables(child)


def _tables_by_group(
    table: symtable.SymbolTable, groups: list[tuple[int, int, tuple[ast.stmt, ...]]]
) -> list[list[symtable.SymbolTable]]:
    found: list[list[symtable.SymbolTable]] = [[] for _ in groups]
    owner: dict[int, int] = {}
    for index, (first, last, _) in enumerate(groups):
        for line in range(first, last + 1):
            owner[line] = index
    for child in own_tables(table):
        if child.get_lineno() in owner:
            found[owner[child.get_lineno()]].append(child)
    return found


def later_reads(table: symtable.SymbolTable, reads: set[str], writes: set[str]) -> None:
    """Adds the module names that a function's scope and the scopes in it read and rebind."""
    is_class = str(table.get_type()).lower().endswith("class")
    for symbol in table.get_symbols():
        name = symbol.get_name()
        if symbol.is_global():
            if symbol.is_referenced():
                reads.add(name)
            if symbol.is_declared_global() and (symbol.is_assigned() or symbol.is_imported()):
                writes.add(name)
                reads.add(name)  # the binding may be made elsewhere
        elif is_class and symbol.is_referenced() and symbol.is_assigned():
            reads.add(name)  # `x = x` in a class body reads the outer x first
    for child in table.get_children():
        if "annotation" not in str(child.get_type()).lower():
            later_reads(child, reads, writes)


def now_reads(nodes: Iterable[ast.AST], lazy: bool) -> set[str]:
    """Names read when these statements run, class bodies included; a superset (class-level names
    count too).
    """
    found = set()
    for node in now(nodes, lazy):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)  # `x += 1` reads x
    return found


def now(nodes: Iterable[ast.AST], lazy: bool) -> Iterator[ast.AST]:
    """Every node that is evaluated when these statements run: all but bodies of functions and
    lambdas.

    Names bound by a comprehension are left out inside it.  Texts in annotations are parsed and
    walked.
    """
    for node in nodes:
        yield from _now(node, lazy, frozenset())


def _now(node: ast.AST, lazy: bool, shadowed: frozenset[str]) -> Iterator[ast.AST]:
    if isinstance(node, ast.Name) and node.id in shadowed:
        return
    yield node
    if isinstance(node, FUNCTIONS + (ast.Lambda,)):
        for child in _signature(node, lazy):
            yield from _now(child, lazy, shadowed)
    elif isinstance(node, COMPREHENSIONS):
        yield from _comprehension(node, lazy, shadowed)
    else:
        for field, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else (value,):
                if not isinstance(child, ast.AST):
                    continue
                if field == "annotation":
                    child = unquoted(child)
                yield from _now(child, lazy, shadowed)


def _signature(node: AnyFunction, lazy: bool) -> Iterator[ast.AST]:
    """Decorators, defaults and, when they are evaluated or a decorator may ask for them,
    annotations.
    """
    arguments = node.args
    yield from getattr(node, "decorator_list", ())
    yield from arguments.defaults
    yield from (default for default in arguments.kw_defaults if default is not None)
    if isinstance(node, ast.Lambda) or (lazy and not node.decorator_list):
        return
    yield from (unquoted(note) for note in annotated_types(node))


def annotated_types(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.expr]:
    """The annotations of a function's signature."""
    given = function.args
    every = (
        given.args
        + given.kwonlyargs
        + getattr(given, "posonlyargs", [])
        + [given.vararg, given.kwarg]
    )
    yield from (
        argument.annotation
        for argument in every
        if argument is not None and argument.annotation is not None
    )
    if function.returns is not None:
        yield function.returns


def unquoted(note: ast.AST) -> ast.AST:
    """An annotation with a quoted type parsed; what does not parse stays as it is."""
    if isinstance(note, ast.Constant) and isinstance(note.value, str):
        try:
            return ast.parse(note.value.strip(), mode="eval").body
        except (SyntaxError, ValueError):
            return note
    return note


def _comprehension(
    node: AnyComprehension, lazy: bool, shadowed: frozenset[str]
) -> Iterator[ast.AST]:
    bound = {
        name.id
        for part in node.generators
        for name in ast.walk(part.target)
        if isinstance(name, ast.Name)
    }
    inner = shadowed | bound
    # the first iterable belongs to the scope around
    yield from _now(node.generators[0].iter, lazy, shadowed)
    for index, part in enumerate(node.generators):
        if index:
            yield from _now(part.iter, lazy, inner)
        for test in part.ifs:
            yield from _now(test, lazy, inner)
    for field in ("elt", "key", "value"):
        child = getattr(node, field, None)
        if child is not None:
            yield from _now(child, lazy, inner)


def _bound_in_passing(nodes: Iterable[ast.AST], lazy: bool) -> Iterator[str]:
    """Names bound by a walrus in a signature, or by `global` in a class body."""
    for node in now(nodes, lazy):
        if isinstance(node, ast.NamedExpr):
            yield node.target.id
        elif isinstance(node, ast.Global):
            yield from node.names


def bound_names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Names that these statements bind or delete in their own scope (the module's, or a
    class's).
    """
    for node in nodes:
        if isinstance(node, DEFINITIONS):
            yield node.name
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, COMPREHENSIONS):
            yield from (n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
            continue
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.alias) and node.name != "*":
            yield node.asname or node.name.split(".")[0]
        else:
            yield from _caught_names(node)
        yield from bound_names(ast.iter_child_nodes(node))


def _caught_names(node: ast.AST) -> Iterator[str]:
    """The name that an exception handler or a part of a `match` binds by itself."""
    field = _CAUGHT_IN.get(type(node).__name__)
    name: str | None = getattr(node, field) if field else None
    if name:
        yield name
