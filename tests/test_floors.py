"""The house holds: the floors, only the standard library, entries that only start, one broad
except, no machine's paths.
"""

from __future__ import annotations

import ast
import functools
import os
import re
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PACKAGE = os.path.join(ROOT, "hooks", "contextkernel")
ENTRIES = ("hooks", "mcp", "bench", "codex")

# The floors, from the top: each module at the top of the package is in one row, and imports only
# rows below its own. Entries (hooks/*.py, mcp/*.py) stand above all of them: a client starts them,
# and they import what ENTRY_MAY names.
FLOORS = {
    "application": ("handlers", "commands", "server", "setup"),
    "operators": (
        "normalize",
        "slicing",
        "symbols",
        "reread",
        "savings",
        "memory",
        "projection",
    ),
    "ground": ("clients", "store"),
    "values": (
        "lines",
        "marks",
        "masking",
        "paths",
        "receipt",
        "records",
        "shell",
        "tokens",
    ),
}
EMPTY_ROOMS = ("memory", "projection")  # kept free for what is to come
BELOW = {  # floor -> floors it may import
    "application": ("operators", "ground", "values"),
    "operators": ("values",),
    "ground": ("values",),
    "values": ("values",),
}
SIDEWAYS = {  # (from, to): on one floor, each with its reason
    ("handlers", "handlers"): "events share steps",
    ("clients", "store"): "the edge of every hook notes its errors in the ledger",
    ("symbols", "slicing"): "languages and definitions are known once",
    ("server", "handlers"): "the server answers events",
    ("server", "commands"): "the recall tool reads its options as every command does",
    ("setup", "commands"): "the installer reads its options as every command does",
    ("commands", "handlers"): "a command does what an event does",
}
ENTRY_MAY = (
    "contextkernel",
    "contextkernel.handlers",
    "contextkernel.commands",
    "contextkernel.server",
    "contextkernel.setup",
    "contextkernel.clients",
    "contextkernel.clients.hook_io",
    "contextkernel.clients.cli_io",
    "contextkernel.clients.cpu_limit",
    "contextkernel.normalize.formats.plain",  # the worker
    "contextkernel.store",
    "contextkernel.store.settings",
)  # the last two: where the server's bytecode goes
ENTRY_LINES, ENTRY_FUNCTION_LINES = 30, 15
LONG_ENTRIES = ("mcp/server.py",)  # the streams are moved away before anything of ours is imported
# where bytecode goes when the plugin's folder is read-only
FROM_THE_PACKAGE = ("contextkernel.store", "contextkernel.store.settings")
BROAD_EXCEPT = ("hooks/contextkernel/clients/hook_io.py", "hooks/contextkernel/server/serve.py")
HOMES = {
    path.rstrip(os.sep)
    for path in (
        ROOT,
        os.path.expanduser("~" + os.environ.get("USER", "")),
        os.path.expanduser("~root"),
    )
} - {"", "~"}
# folders of the machine at hand; invented paths are welcome
MACHINE = re.compile("|".join(re.escape(path) + r"(?:/\.|/[a-z_]+/|$)" for path in sorted(HOMES)))
SHELL_ONLY = re.compile(r"\.(png|ico|db)$")


def tracked():
    """Files of the project, relative: as git sees them, or all of them where this is no
    repository.
    """
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    if listed.returncode == 0:
        names = listed.stdout.decode().split("\0")
    else:
        names = [
            os.path.relpath(os.path.join(folder, name), ROOT)
            for folder, _, files in os.walk(ROOT)
            for name in files
            if "/.git" not in folder and "__pycache__" not in folder
        ]
    return sorted(name for name in names if name and os.path.isfile(os.path.join(ROOT, name)))


FILES = tracked()
SOURCES = [name for name in FILES if name.endswith(".py")]
PRODUCT = [name for name in SOURCES if name.split("/")[0] in ENTRIES]
SHIPPED = [name for name in PRODUCT if name.split("/")[0] in ("hooks", "mcp")]
STARTED = [name for name in PRODUCT if name.startswith(("hooks/", "mcp/")) and name.count("/") == 1]


@functools.cache
def tree_of(name):
    """A file's syntax, in the oldest Python's grammar. Raises SyntaxError."""
    with open(os.path.join(ROOT, name), "rb") as handle:
        return ast.parse(handle.read(), name, feature_version=(3, 9))


@functools.cache
def imports_of(name):
    return list(imported(tree_of(name)))


@functools.cache
def starts_of(name):
    return starts(tree_of(name))


def floor_of(module):
    """("operators", "normalize") for contextkernel.normalize.formats.x; entries are everything
    outside of the package.
    """
    parts = module.split(".")
    if parts[0] != "contextkernel":
        return ("entries", module)
    name = parts[1] if len(parts) > 1 else ""
    for floor, names in FLOORS.items():
        if name in names:
            return (floor, name)
    return ("package", name)


def module_of(name):
    if not name.startswith("hooks/contextkernel/"):
        return name
    return re.sub(r"(/__init__)?\.py$", "", name[len("hooks/") :]).replace("/", ".")


def imported(tree):
    """(line, absolute module name) of each import, names imported from a package counted as its
    modules.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, "." * node.level + (node.module or "")
            if (node.module or "").split(".")[0] == "contextkernel":
                for alias in node.names:
                    yield node.lineno, node.module + "." + alias.name


def fault_in_import(importer, target):
    """Why `importer` may not import `target` and what mends it, or ""."""
    if target.startswith("."):
        return "relative import: write the whole name, from contextkernel.x import y"
    floor, name = floor_of(importer)
    below, other = floor_of(target)
    if below == "entries":
        stem = os.path.basename(target)
        if stem + ".py" in {os.path.basename(path) for path in STARTED} and floor != "entries":
            return (
                f"a script is imported: move what is needed from {stem}.py into "
                "contextkernel/handlers or commands"
            )
        return ""
    if floor == "entries":
        if (
            importer.startswith(("bench/", "codex/"))
            or target in ENTRY_MAY
            or below == "application"
        ):
            return ""
        return (
            f"an entry imports {target}: let a module of handlers, commands, server or setup do "
            "it, and import that"
        )
    if below == "package":
        return ""
    if floor == "package":
        return "" if target in FROM_THE_PACKAGE else "the package itself imports nothing of its own"
    if name == other or (name, other) in SIDEWAYS or below in BELOW[floor]:
        return ""
    if floor == below:
        return (
            f"{name} imports its sibling {other}: move what both need to a floor below, or name "
            "the pair in SIDEWAYS with its reason"
        )
    if (floor, below) == ("operators", "ground"):
        return (
            f"an operator imports ground ({other}): read there in a handler, and hand the "
            "operator plain values"
        )
    return (
        f"{name} imports upwards ({other}): move what is needed down, or let the caller hand it in"
    )


@pytest.mark.parametrize(
    "importer, target, fault",
    [
        ("contextkernel.normalize.terminal", "contextkernel.normalize.edits", False),
        ("contextkernel.normalize.terminal", "contextkernel.normalize.table", False),
        ("contextkernel.normalize.terminal", "contextkernel.store.blobs", True),
        ("contextkernel.normalize", "contextkernel.slicing", True),
        ("contextkernel.symbols.slice", "contextkernel.slicing.languages", False),
        ("contextkernel.slicing.slice", "contextkernel.symbols.slice", True),
        ("contextkernel.store.blobs", "contextkernel.clients.hook_io", True),
        ("contextkernel.store.blobs", "contextkernel.savings", True),
        ("contextkernel.lines", "contextkernel.store.blobs", True),
        ("contextkernel.lines", ".tokens", True),
        ("contextkernel.handlers.tool_result", "contextkernel.normalize", False),
        ("contextkernel.handlers.tool_result", "contextkernel.server.tools", True),
        ("contextkernel.handlers.tool_result", "contextkernel.commands.recall", True),
        ("contextkernel.handlers.session", "contextkernel.setup.claude", True),
        ("contextkernel.clients.replies", "contextkernel.handlers", True),
        ("contextkernel.commands.recall", "savings", True),
        ("hooks/post_tool_use.py", "contextkernel.handlers.tool_result", False),
        ("hooks/post_tool_use.py", "contextkernel.clients.hook_io", False),
        ("hooks/post_tool_use.py", "contextkernel.store.blobs", True),
        ("bench/outputs.py", "contextkernel.store.blobs", False),
    ],
)
def test_the_checker_itself(importer, target, fault):
    assert bool(fault_in_import(importer, target)) is fault


def test_there_is_something_to_check():
    assert len([name for name in PRODUCT if name.startswith("hooks/contextkernel/")]) > 5


def test_every_module_has_one_floor():
    listed = [name for names in FLOORS.values() for name in names]
    there = {
        module_of(name).split(".")[1]
        for name in PRODUCT
        if module_of(name).startswith("contextkernel.")
    }
    assert len(listed) == len(set(listed)), "a module stands on two floors: name it once in FLOORS"
    assert not there - set(listed), (
        f"no floor: add {sorted(there - set(listed))} to a row of FLOORS"
    )
    assert set(listed) - there <= set(EMPTY_ROOMS), (
        f"gone: take {sorted(set(listed) - there - set(EMPTY_ROOMS))} out of FLOORS"
    )


def test_imports_point_down():
    faults = [
        f"{name}:{line:d} {fault_in_import(module_of(name), target)}"
        for name in PRODUCT
        for line, target in imports_of(name)
        if fault_in_import(module_of(name), target)
    ]
    assert not faults


def test_nobody_imports_a_script():
    scripts = {os.path.basename(path)[:-3] for path in STARTED} - {
        os.path.basename(path)[:-3] for path in SOURCES if path.startswith(("bench/", "tests/"))
    }
    found = [
        f"{name}:{line:d} {target}"
        for name in SOURCES
        if name.startswith(("bench/", "tests/"))
        for line, target in imports_of(name)
        if target in scripts
    ]
    assert not found, (
        "scripts are started, not imported: import the module of contextkernel that the "
        "script calls"
    )


@pytest.mark.parametrize("name", STARTED)
def test_an_entry_only_starts(name):
    if name in LONG_ENTRIES:
        return
    with open(os.path.join(ROOT, name), encoding="utf-8") as handle:
        count = sum(1 for _ in handle)
    long = [
        node.name
        for node in ast.walk(tree_of(name))
        if isinstance(node, ast.FunctionDef)
        and node.end_lineno - node.lineno >= ENTRY_FUNCTION_LINES
    ]
    mend = (
        "an entry only starts: move its logic into contextkernel/handlers, commands, server "
        "or setup"
    )
    assert count <= ENTRY_LINES, mend
    assert not long, mend


FILE_LINES, FUNCTION_LINES = 350, 60
STILL_LONG: dict[str, tuple[str, ...]] = {}  # files, and functions by file, to be split


def test_files_and_functions_stay_short():
    long = []
    for name in SHIPPED:
        with open(os.path.join(ROOT, name), encoding="utf-8") as handle:
            lines = sum(1 for _ in handle)
        if lines > FILE_LINES and name not in STILL_LONG:
            long.append(f"{name}: {lines} lines, at most {FILE_LINES}")
        long += [
            f"{name}: {node.name} has {size} lines, at most {FUNCTION_LINES}"
            for node in ast.walk(tree_of(name))
            if isinstance(node, ast.FunctionDef)
            for size in [node.end_lineno - node.lineno + 1]
            if size > FUNCTION_LINES and node.name not in STILL_LONG.get(name, ())
        ]
    assert not long


def test_no_import_circle():
    """Among imports at the top of modules, which run at once."""
    arrows = {}
    for name in PRODUCT:
        if name.startswith("hooks/contextkernel/"):
            targets = {
                target
                for node in tree_of(name).body
                for _, target in imported(ast.Module([node], []))
                if isinstance(node, (ast.Import, ast.ImportFrom))
            }
            arrows[module_of(name)] = {
                target
                for target in targets
                if target.startswith("contextkernel.") and target != module_of(name)
            }
    while True:  # take away what imports nothing that is left
        free = [name for name, targets in arrows.items() if not targets & (set(arrows) - {name})]
        if not free:
            break
        for name in free:
            del arrows[name]
    assert not arrows, (
        "these import each other in a circle: move what both need into a module of its own: "
        f"{sorted(arrows)}"
    )


def standard_library():
    if hasattr(sys, "stdlib_module_names"):  # 3.10
        return set(sys.stdlib_module_names)
    import sysconfig

    folder = sysconfig.get_paths()["stdlib"]
    names = {entry.split(".")[0] for entry in os.listdir(folder)} | set(sys.builtin_module_names)
    return names | {
        entry.split(".")[0] for entry in os.listdir(os.path.join(folder, "lib-dynload"))
    }


def test_only_the_standard_library():
    own = standard_library() | {"contextkernel"}
    own |= {os.path.basename(name)[:-3] for name in PRODUCT if name.count("/") == 1}
    harness = {os.path.basename(name)[:-3] for name in SOURCES if name.startswith("tests/harness/")}
    foreign = [
        f"{name}:{line:d} {target}"
        for name in PRODUCT
        for line, target in imports_of(name)
        if target.split(".")[0] not in (own | harness if name.startswith("bench/") else own)
    ]
    assert not foreign


def test_no_entry_hides_a_standard_module():
    stems = {os.path.basename(name)[:-3] for name in PRODUCT if name.count("/") == 1}
    assert not stems & standard_library()


def hands_on(handler):
    """Whether an except block tidies up and lets the exception go on."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def broad_excepts(tree):
    """The lines of each except that would swallow any error."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler)
        and not hands_on(node)
        and {
            part.id
            for part in ast.walk(node.type or ast.Name(id="BaseException"))
            if isinstance(part, ast.Name)
        }
        & {"Exception", "BaseException"}
    ]


def test_broad_except_only_at_the_two_edges():
    found = {
        name: broad_excepts(tree_of(name)) for name in PRODUCT if name.split("/")[0] != "bench"
    }
    strays = {
        name: lines for name, lines in found.items() if len(lines) > int(name in BROAD_EXCEPT)
    }
    assert not strays, f"a broad except hides faults: name the errors that can come: {strays}"


# Each place that starts a process: (file, function) -> what it starts, and why no content of others
# decides it.
STARTS = {
    (
        "hooks/contextkernel/commands/own_answers.py",
        "started",
    ): "the report asks our own hook and server what a session is told: this interpreter, a script "
    "of the plugin, a folder and an environment of its own",
    (
        "hooks/contextkernel/handlers/repo_slice.py",
        "_brought_up",
    ): "this interpreter with ck_slice.py itself: a large index is built while the answer is read",
    (
        "hooks/contextkernel/clients/cpu_limit.py",
        "_forked",
    ): "a copy of this process that runs one operator and can be ended",
    (
        "hooks/contextkernel/clients/cpu_limit.py",
        "Worker._running",
    ): "this interpreter with operators.py: the server's worker, which can be ended",
    (
        "hooks/contextkernel/server/worker.py",
        "_start",
    ): "this interpreter with a script of the plugin: the server answers hooks meanwhile",
    (
        "hooks/contextkernel/setup/demo.py",
        "produced",
    ): "ls, and a test suite just written: outputs to show at the person's own installation",
    (
        "hooks/contextkernel/setup/demo.py",
        "ck",
    ): "this interpreter with ck.py: shows that what was hidden comes back",
    (
        "hooks/contextkernel/setup/context.py",
        "run",
    ): "the client that the person installs for (claude, codex), by its absolute path",
    (
        "hooks/contextkernel/setup/claude.py",
        "warn_of_old_python",
    ): "python3 with a line of ours: is what hooks will find new enough",
    (
        "hooks/contextkernel/setup/codex_bundle.py",
        "AppServer.__init__",
    ): "codex app-server: the only way to trust hooks, at installation",
    (
        "hooks/contextkernel/clients/claude/shell_prefix.py",
        "_try_out",
    ): "our own shell wrapper, with `exit 42`: a broken one would break every command",
}
SHELL_STARTS = {  # scripts in a shell's language start programs by nature
    "install.sh": "finds an interpreter and becomes install_main.py",
    "hooks/failure_lane": "runs the command that the client hands over, as the client would have",
}
STARTERS = {
    "subprocess": {
        "Popen",
        "run",
        "call",
        "check_call",
        "check_output",
        "getoutput",
        "getstatusoutput",
    },
    "os": {"system", "popen", "fork", "forkpty", "startfile", "posix_spawn", "posix_spawnp"}
    | {
        kind + tail
        for kind in ("exec", "spawn")
        for tail in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")
    },
    "asyncio": {"create_subprocess_exec", "create_subprocess_shell"},
}
NEVER_IMPORTED = {
    "multiprocessing",
    "concurrent",
    "pty",
    "ctypes",
    "_posixsubprocess",
    "posix",
    "nt",
    "webbrowser",
    "commands",
    "popen2",
    "cffi",
    "code",
    "pdb",
    "pydoc",
    "idlelib",
    "xmlrpc",
    "socketserver",
}


def starts(tree):
    """(line, function) of each place in which a process could be started, and of what would hide
    one.
    """
    found = []

    def visit(node, inside):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            inside = inside + [node.name]
        names = []
        if isinstance(node, ast.Import):
            names = [
                alias.name
                for alias in node.names
                if alias.name.split(".")[0] in NEVER_IMPORTED
                or alias.asname
                and alias.name in STARTERS
            ]
        elif isinstance(node, ast.ImportFrom):
            base = (node.module or "").split(".")[0]
            names = [
                alias.name
                for alias in node.names
                if base in NEVER_IMPORTED
                or alias.name in STARTERS.get(base, ())
                or base in STARTERS
                and alias.name == "*"
            ]
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.attr in STARTERS.get(node.value.id, ())
        ):
            names = [] if id(node) in annotations else [node.attr]
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("__import__", "eval", "exec")
        ):
            names = [node.func.id]
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "getattr"
            and isinstance(node.args[0], ast.Name)
            and node.args[0].id in STARTERS
        ):
            known = node.args[1].value if isinstance(node.args[1], ast.Constant) else None
            names = ["getattr"] if known is None or known in STARTERS[node.args[0].id] else []
        elif (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Name)
            and node.value.id in STARTERS
        ):
            names = [node.value.id]
        found.extend((node.lineno, ".".join(inside), name) for name in names)
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    annotations = set()
    for node in ast.walk(tree):
        for part in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            annotations.update(id(one) for one in ast.walk(part) if part) if part else None
    visit(tree, [])
    return found


@pytest.mark.parametrize(
    "source, number",
    [
        ("import subprocess\ndef f():\n    subprocess.run(['x'])", 1),
        ("from subprocess import Popen", 1),
        ("import subprocess as s", 1),
        ("import os\nos.execvp('x', [])", 1),
        ("from os import *", 1),
        ("import os\nstart = os.system", 1),
        ("import os\ngetattr(os, 'fo' + 'rk')()", 1),
        ("getattr(os, 'popen')('x')", 1),
        ("import multiprocessing.pool", 1),
        ("from concurrent.futures import ProcessPoolExecutor", 1),
        ("import asyncio\nasyncio.create_subprocess_exec('x')", 1),
        ("__import__('subprocess').run('x')", 1),
        ("import ctypes", 1),
        ("import pty", 1),
        ("o = os\no.fork()", 1),
        ("os.posix_spawn('x', [], {})", 1),
        (
            (
                "import subprocess\nkept: subprocess.Popen = None\n"
                "def f(one: subprocess.Popen) -> subprocess.Popen:\n    return one"
            ),
            0,
        ),
        ("getattr(os, 'O_NOFOLLOW', 0)", 0),
        ("import os\nos.kill(1, 0)", 0),
        ("try:\n    pass\nexcept subprocess.TimeoutExpired:\n    pass", 0),
    ],
)
def test_the_finder_of_starts_itself(source, number):
    assert len(starts(ast.parse(source))) == number


def test_no_process_is_started_elsewhere():
    strays = [
        f"{name}:{line:d} {what} in {function}"
        for name in SHIPPED
        for line, function, what in starts_of(name)
        if (name, function) not in STARTS
    ]
    assert not strays, (
        "a start needs a row in STARTS with its reason (git is never started: store/git.py "
        f"reads its files): {strays}"
    )


def first_line(name):
    with open(os.path.join(ROOT, name), "rb") as handle:
        return handle.read(64).split(b"\n")[0]


def test_each_start_of_the_table_exists():
    found = {(name, function) for name in PRODUCT for _, function, _ in starts_of(name)}
    assert set(STARTS) <= found
    in_shell = {
        name
        for name in FILES
        if name.split("/")[0] in ("hooks", "mcp", "codex") or "/" not in name
        if first_line(name).startswith(b"#!") and b"python" not in first_line(name)
    }
    assert in_shell == set(SHELL_STARTS)


def test_lines_are_split_at_line_feeds_only():
    calls = [
        f"{name}:{node.lineno}"
        for name in PRODUCT
        for node in ast.walk(tree_of(name))
        if isinstance(node, ast.Attribute) and node.attr == "splitlines"
    ]
    assert not calls, f"splitlines() also splits on \\x0c, \\x85 and \\u2028: {calls}"


def test_parses_as_the_oldest_python():
    faults = []
    for name in SOURCES:
        try:
            tree_of(name)
        except SyntaxError as error:
            faults.append(f"{name}:{error.lineno} {error.msg}")
    assert not faults


def test_names_no_machine():
    found = []
    for name in FILES:
        if SHELL_ONLY.search(name):
            continue
        with open(os.path.join(ROOT, name), encoding="utf-8", errors="replace") as handle:
            found += [
                f"{name}:{number:d} {line.strip()[:120]}"
                for number, line in enumerate(handle, 1)
                if MACHINE.search(line)
            ]
    assert not found


CONNECTIONS = {
    "socket",
    "ssl",
    "http",
    "ftplib",
    "smtplib",
    "imaplib",
    "poplib",
    "nntplib",
    "telnetlib",
    "urllib.request",
    "asyncio",
    "requests",
}


def test_nothing_opens_a_connection():
    modules = [
        f"{name}:{line} {target}"
        for name in SHIPPED
        for line, target in imports_of(name)
        if target in CONNECTIONS or target.split(".")[0] in CONNECTIONS
    ]
    assert not modules, f"the product sends nothing anywhere: {modules}"


def test_no_hook_gives_a_permission():
    """The keys by which a hook decides over a call (contracts of both clients) stand nowhere in
    what could write them.
    """
    words = [
        f"{name}:{node.lineno} {node.value}"
        for name in SHIPPED
        for node in ast.walk(tree_of(name))
        if isinstance(node, ast.Constant)
        and node.value in ("permissionDecision", "updatedPermissions", "behavior", "approve")
    ]
    assert not words, f"a hook never decides over a call: {words}"
