"""A repository as operators see it: its paths, what its index says, and texts on demand.  And path texts found in it."""
from __future__ import annotations

import posixpath
import re
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Sequence, Tuple

from contextkernel.project import roles
from contextkernel.project.definitions import Definition


class Facts(NamedTuple):
    """What the index keeps of one file: unresolved imports and definitions by line."""

    imports: List[str]
    definitions: List[Definition]


class Repository:
    """The plain values an entry passes in, and what is worked out from them once.

    `rows`: one a source file with number, path, language, length, note, blind (store.index.File).
    `read(path)` gives bytes and raises OSError; `facts_of(number)` and `postings(terms)` are the index's.
    """

    def __init__(self, root: str, paths: Iterable[str], rows: Sequence[Any], read: Callable[[str], bytes],
                 facts_of: Callable[[int], "Tuple[list, list]"], postings: Callable[[Sequence[str]], Dict[str, List[int]]],
                 keeps_edge: "Callable[[str, str], bool] | None" = None) -> None:
        self.root, self.postings, self.keeps_edge = root, postings, keeps_edge
        self.rows = {row.path: row for row in rows}
        self.paths = frozenset(paths)
        self._read, self._facts_of = read, facts_of
        self._texts: Dict[str, str] = {}
        self._facts: Dict[str, Facts] = {}
        self._memo: Dict[str, Any] = {}

    def memo(self, key: str, make: Callable[[], Any]) -> Any:
        """The value of a key, made once."""
        if key not in self._memo:
            self._memo[key] = make()
        return self._memo[key]

    def text(self, path: str) -> str:
        """The text of a file, "" when it cannot be read."""
        if path not in self._texts:
            try:
                self._texts[path] = roles.decoded(self._read(path))
            except OSError:
                self._texts[path] = ""
        return self._texts[path]

    def facts(self, path: str) -> Facts:
        """What the index keeps of a file; nothing for files it does not know."""
        if path not in self._facts:
            row = self.rows.get(path)
            imports, definitions = self._facts_of(row.number) if row else ([], [])
            self._facts[path] = Facts(imports, [Definition(*one) for one in definitions])
        return self._facts[path]

    def named(self, name: str) -> List[str]:
        """Paths of the files of a name, sorted."""
        return self.memo("names", lambda: _grouped(self.paths, posixpath.basename)).get(name, [])

    def folder(self, folder: str) -> List[str]:
        """Paths of the files directly in a folder, sorted."""
        return self.memo("folders", lambda: _grouped(self.paths, posixpath.dirname)).get(folder, [])

    def folders_ending(self, tail: str) -> List[str]:
        """Folders whose path is `tail` or ends with it, sorted."""
        folders = self.memo("folders", lambda: _grouped(self.paths, posixpath.dirname))
        return sorted(one for one in folders if one == tail or one.endswith("/" + tail))

    def weight(self, path: str) -> float:
        """The share of its score that a file keeps by its role."""
        folders = self.memo("test folders", lambda: roles.test_folders(self.paths))
        return roles.WEIGHT["test" if roles.in_folders(path, folders) else roles.role_of(path)]

    def is_test(self, path: str) -> bool:
        """Is it a test, an example or documentation?"""
        return roles.role_of(path) == "test" or roles.in_folders(path, self.memo("test folders", lambda: roles.test_folders(self.paths)))


def _grouped(paths: Iterable[str], key: Callable[[str], str]) -> Dict[str, List[str]]:
    groups: Dict[str, List[str]] = {}
    for path in sorted(paths):
        groups.setdefault(key(path), []).append(path)
    return groups


LONGEST_PATH = 4096  # characters; PATH_MAX of Linux
_DRIVE = re.compile(r"^[A-Za-z]:(?=/)")
_SCHEME = re.compile(r"^(?:file://|webpack(?:-internal)?:///|async |webpack://[^/]*/)")
_INSTALLED = re.compile(r"^(?:.*/)?(?:site-packages|dist-packages)/(?P<rest>.+)$")
_NODE_INSTALLED = re.compile(r"^(?:.*/)?node_modules/(?P<name>(?:@[^/]+/)?[^/]+)/(?P<rest>.+)$")
_CARGO_INSTALLED = re.compile(r"^(?:.*/)?\.cargo/registry/src/[^/]+/(?P<name>[\w-]+?)-\d[^/]*/(?P<rest>.+)$")
_GO_INSTALLED = re.compile(r"^(?:.*/)?pkg/mod/(?P<name>[^@]+)@[^/]+/(?P<rest>.+)$")
_FOREIGN = re.compile(r"(^|/)(?:python\d+(?:\.\d+)?/(?!site-packages|dist-packages)|Python\d+/[Ll]ib/(?!site-packages)|Python\.framework/|rustc/[0-9a-f]{20,}|go/src/|libexec/src/|node:|internal/modules/|jdk)|^<|^node:|^internal/")
_SOURCE_ROOTS = ("", "src/", "lib/", "python/")


def found_path(given: str, repository: Repository) -> str:
    """The repository file that a path text names, or "" when none or several could be meant.

    Exact or none: a path below the root; an installed copy (site-packages, node_modules, a registry) only when this
    repository is that package; else the one file that shares the longest tail, at least two parts of it, or
    all of the shorter path.  Files of the language itself never name a repository file.
    """
    if len(given) > LONGEST_PATH:
        return ""
    path = _SCHEME.sub("", given.strip().replace("\\", "/"))
    root = repository.root.replace("\\", "/").rstrip("/") + "/"
    if path.startswith(root):
        path = path[len(root):]
        return path if path in repository.paths else ""
    installed = _installed(path, repository)
    if installed is not None:
        return installed
    if _FOREIGN.search(path):
        return ""
    absolute = path.startswith(("/", "~")) or bool(_DRIVE.match(path))
    path = posixpath.normpath(_DRIVE.sub("", path)).lstrip("/")
    while path.startswith("../"):
        path = path[3:]
    if not absolute and path in repository.paths:
        return path
    return _by_tail(path.split("/"), absolute, repository)


def _installed(path: str, repository: Repository) -> "str | None":
    """The file of an installed copy of this repository, "" when the copy is another package's, None when it is no such path."""
    match = _INSTALLED.match(path)
    if match:
        return next((root + match.group("rest") for root in _SOURCE_ROOTS if root + match.group("rest") in repository.paths), "")
    match = _NODE_INSTALLED.match(path)
    if match:
        own = [posixpath.dirname(one) for one in repository.named("package.json") if '"name": "%s"' % match.group("name") in repository.text(one)]
        return next((one for one in (posixpath.join(folder, match.group("rest")) for folder in own) if one in repository.paths), "")
    match = _CARGO_INSTALLED.match(path)
    if match:
        own = [posixpath.dirname(one) for one in repository.named("Cargo.toml")
               if re.search(r'^name\s*=\s*"%s"' % re.escape(match.group("name")), repository.text(one), re.M)]
        return next((one for one in (posixpath.join(folder, match.group("rest")) for folder in own) if one in repository.paths), "")
    match = _GO_INSTALLED.match(path)
    if match:
        own = [posixpath.dirname(one) for one in repository.named("go.mod") if re.search(r"^module\s+%s\s*$" % re.escape(match.group("name")), repository.text(one), re.M)]
        return next((one for one in (posixpath.join(folder, match.group("rest")) for folder in own) if one in repository.paths), "")
    return None


def _by_tail(parts: List[str], absolute: bool, repository: Repository) -> str:
    best, found = 0, []
    for path in repository.named(parts[-1]):
        own = path.split("/")
        shared = 0
        while shared < min(len(own), len(parts)) and own[-1 - shared] == parts[-1 - shared]:
            shared += 1
        enough = shared >= 2 or shared == len(parts) or (absolute and shared == len(own) and len(parts) <= 2)
        if not enough or shared < best:
            continue
        found = [path] if shared > best else found + [path]
        best = shared
    if len(found) > 1:  # the whole path of one of them, or the only one that is no test
        found = [one for one in found if one.count("/") + 1 == best] or [one for one in found if not repository.is_test(one)]
    return found[0] if len(found) == 1 else ""
