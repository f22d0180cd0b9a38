"""What calls and names stand for, as far as their look tells: tables and small questions to
`ast` nodes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from contextkernel.symbols.scope import FUNCTIONS, Statement, now

if TYPE_CHECKING:
    from contextkernel.symbols.scope import Definition

# Calls that change none of their arguments; what they run (a key function, __str__) is followed all
# the same.
INERT = frozenset(
    "len print isinstance issubclass repr str int float bool bytes bytearray list dict set tuple "
    "frozenset sorted reversed "
    "enumerate zip range map filter min max sum abs any all hash id callable hasattr getattr "
    "object property staticmethod "
    "classmethod super divmod round ord chr hex bin format TypeVar ParamSpec TypeVarTuple NewType "
    "namedtuple NamedTuple "
    "TypedDict cast getLogger compile partial wraps lru_cache cache cached_property dataclass "
    "field fields contextmanager "
    "asynccontextmanager overload abstractmethod total_ordering runtime_checkable final unique "
    "singledispatch itemgetter "
    "attrgetter methodcaller Path PurePath Struct deque OrderedDict defaultdict Counter Lock "
    "RLock local override setter "
    "getter deleter Decimal Fraction date time datetime timedelta Event Semaphore ContextVar "
    "MappingProxyType".split()
)
READING = frozenset(  # methods that change nothing in any container or text of the standard library
    "get items keys values copy index count join format strip lstrip rstrip split splitlines "
    "startswith endswith encode decode "
    "lower upper title replace union intersection difference isdisjoint issubset issuperset "
    "findall match fullmatch search "
    "finditer group groups sub".split()
)
FIXED = frozenset(  # calls whose value cannot be changed afterwards
    "str int float bool bytes frozenset len ord chr abs min max round sum repr object compile "
    "TypeVar ParamSpec NewType "
    "namedtuple getLogger getenv Path PurePath Struct itemgetter attrgetter Decimal Fraction date "
    "time timedelta datetime "
    "range dirname basename abspath realpath join strip split lower upper format replace "
    "MappingProxyType".split()
)
WHOLE = ("globals", "eval", "exec")  # whoever calls these may read or bind any name of the module
MAKERS = ("type", "ABCMeta", "EnumMeta")  # a class of these bases makes classes
FRAMES = ("__globals__", "f_globals")
DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.Tuple)
HANDED_ON = (
    ast.Assign,
    ast.AnnAssign,
    ast.NamedExpr,
    ast.Call,
    ast.keyword,
    ast.List,
    ast.Tuple,
    ast.Set,
    ast.Dict,
    ast.Return,
    ast.Yield,
)
OPERATIONS = (
    ast.BinOp,
    ast.UnaryOp,
    ast.Compare,
    ast.AugAssign,
    ast.Subscript,
    ast.Attribute,
    ast.For,
    ast.comprehension,
    ast.FormattedValue,
    ast.Starred,
)
VALUES = (ast.Constant, ast.JoinedStr, ast.Compare)


def root(node: ast.AST) -> str:
    """The name an attribute, subscript or call chain starts with; "" when it starts with
    something else.
    """
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call, ast.Starred, ast.Await)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def last_word(node: ast.AST) -> str:
    """The last word of a dotted name."""
    return (
        node.attr
        if isinstance(node, ast.Attribute)
        else node.id
        if isinstance(node, ast.Name)
        else ""
    )


def names_in(node: ast.AST) -> set[str]:
    """All names in a node."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def operands(node: ast.AST) -> Sequence[ast.AST]:
    """What an operation asks to do something: objects with methods for operators, items,
    attributes or iteration.
    """
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.Compare):
        return [node.left] + node.comparators
    return [
        getattr(node, field)
        for field in ("operand", "iter", "target", "value")
        if hasattr(node, field)
    ][:1]


def values_given(block: ast.AST, name: str) -> Iterator[ast.AST]:
    """The values that a block assigns to a name; the name's own node when it is bound in another
    way.
    """
    plain = set()
    for node in ast.walk(block):
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            for target in getattr(node, "targets", [getattr(node, "target", None)]):
                if isinstance(target, ast.Name) and target.id == name:
                    plain.add(id(target))
                    yield node.value
        elif isinstance(node, FUNCTIONS + (ast.ClassDef,)) and node.name == name:
            yield node
    yield from (
        node
        for node in ast.walk(block)
        if isinstance(node, ast.Name)
        and node.id == name
        and isinstance(node.ctx, ast.Store)
        and id(node) not in plain
    )


def writes_itself(node: Definition) -> bool:
    """Whether a function or a class stores into its own attributes when used: `f.calls += 1`,
    `cls.n = 1`, `type(self).n = 1`.
    """
    own = {node.name, "cls", "type"} if isinstance(node, ast.ClassDef) else {node.name}
    if isinstance(node, ast.ClassDef) and any(last_word(base) in MAKERS for base in node.bases):
        own |= {
            part.args.args[0].arg
            for part in ast.walk(node)
            if isinstance(part, FUNCTIONS) and part.args.args
        }
    for part in ast.walk(node):
        if (
            isinstance(part, (ast.Attribute, ast.Subscript))
            and not isinstance(part.ctx, ast.Load)
            and (
                root(part) in own
                or isinstance(part.value, ast.Attribute)
                and part.value.attr == "__class__"
            )
        ):
            return True
    return False


def is_main_guard(statement: Statement) -> bool:
    """Whether this is `if __name__ == "__main__":` without an else."""
    node = statement.nodes[0]
    if (
        len(statement.nodes) != 1
        or not isinstance(node, ast.If)
        or node.orelse
        or not isinstance(node.test, ast.Compare)
    ):
        return False
    sides = [node.test.left] + node.test.comparators
    named = any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)
    return named and any(
        isinstance(side, ast.Constant) and side.value == "__main__" for side in sides
    )


def asks_module(node: ast.AST, unbound: frozenset[str] | set[str]) -> bool:
    """Whether a node reaches the module's namespace by a way that no name shows."""
    if isinstance(node, ast.Name):
        return node.id in unbound and node.id in WHOLE
    if isinstance(node, ast.Attribute):
        return node.attr in FRAMES
    if isinstance(node, ast.Subscript):
        return last_word(node.value) == "modules" and "__name__" in names_in(node.slice)
    return (
        isinstance(node, ast.Call)
        and last_word(node.func) in ("import_module", "__import__")
        and any(
            isinstance(argument, ast.Name) and argument.id == "__name__" for argument in node.args
        )
    )


def packages_of(node: ast.AST) -> Iterator[tuple[str, str]]:
    """(name, package) for every name an import binds; relative imports keep their dots."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            top = alias.name.split(".")[0]
            yield alias.asname or top, top
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            top = (node.module or alias.name).split(".")[0]
            yield alias.asname or alias.name, "." * node.level + top


def with_parents(tops: tuple[ast.stmt, ...]) -> Iterator[tuple[ast.AST, ast.AST, ast.AST]]:
    """Every node with its parent and its parent's parent."""
    waiting: list[tuple[ast.AST, ast.AST, ast.AST]] = [(top, top, top) for top in tops]
    while waiting:
        node, parent, above = waiting.pop()
        yield node, parent, above
        waiting += [(child, node, parent) for child in ast.iter_child_nodes(node)]


def registers_subclasses(top: ast.AST) -> bool:
    """Whether a class statement takes part in the making of its subclasses, or code here lists
    them.
    """
    for node in ast.walk(top):
        if isinstance(node, FUNCTIONS) and node.name in ("__init_subclass__", "__prepare__"):
            return True
        if isinstance(node, ast.ClassDef) and any(last_word(base) in MAKERS for base in node.bases):
            return True
        if isinstance(node, ast.Attribute) and node.attr == "__subclasses__":
            return True
    return False


def calls_its_argument(top: ast.AST) -> bool:
    """Whether a function here calls a parameter of its own at once, as `run_now(f)` does and a
    wrapper does not.
    """
    for node in ast.walk(top):
        if isinstance(node, FUNCTIONS):
            own = {
                argument.arg for argument in node.args.args if argument.arg not in ("self", "cls")
            }
            for part in now(node.body, True):
                if (
                    isinstance(part, ast.Call)
                    and isinstance(part.func, ast.Name)
                    and part.func.id in own
                ):
                    return True
    return False


def is_bare_namespace(node: ast.AST) -> bool:
    """Whether a node is `vars()`, `locals()` or `dir()`: the namespace around it."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("vars", "locals", "dir")
        and not node.args
    )
