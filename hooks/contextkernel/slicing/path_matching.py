"""Path texts of a symptom, found in a repository."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from typing import NamedTuple

from contextkernel.slicing.repository import Repository

LONGEST_PATH = 4096  # characters; PATH_MAX of Linux
_DRIVE = re.compile(r"^[A-Za-z]:(?=/)")
_SCHEME = re.compile(r"^(?:file://|webpack(?:-internal)?:///|async |webpack://[^/]*/)")
_INSTALLED = re.compile(r"^(?:.*/)?(?:site-packages|dist-packages)/(?P<rest>.+)$")
_NODE_INSTALLED = re.compile(r"^(?:.*/)?node_modules/(?P<name>(?:@[^/]+/)?[^/]+)/(?P<rest>.+)$")
_CARGO_INSTALLED = re.compile(
    r"^(?:.*/)?\.cargo/registry/src/[^/]+/(?P<name>[\w-]+?)-\d[^/]*/(?P<rest>.+)$"
)
_GO_INSTALLED = re.compile(r"^(?:.*/)?pkg/mod/(?P<name>[^@]+)@[^/]+/(?P<rest>.+)$")
_FOREIGN = re.compile(
    r"(^|/)(?:python\d+(?:\.\d+)?/(?!site-packages|dist-packages)"
    r"|Python\d+/[Ll]ib/(?!site-packages)|Python\.framework/|rustc/[0-9a-f]{20,}|go/src/"
    r"|libexec/src/|node:|internal/modules/|jdk)|^<|^node:|^internal/"
)
_SOURCE_ROOTS = ("", "src/", "lib/", "python/")


def found_path(given: str, repository: Repository) -> str:
    """The repository file that a path text names, or "" when none or several could be meant.

    Exact or none: a path below the root; an installed copy (site-packages, node_modules, a
    registry) only when this repository is that package; else the one file that shares the longest
    tail, at least two parts of it, or all of the shorter path.  Files of the language itself never
    name a repository file.
    """
    if len(given) > LONGEST_PATH:
        return ""
    path = _SCHEME.sub("", given.strip().replace("\\", "/"))
    root = repository.root.replace("\\", "/").rstrip("/") + "/"
    if path.startswith(root):
        path = path[len(root) :]
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


class _Registry(NamedTuple):
    """Where an installer puts packages, and the file that gives a package its name there."""

    path: re.Pattern[str]  # groups: name, rest
    manifest: str
    name: str  # a pattern, with the package's name at %s


_REGISTRIES = (
    _Registry(_NODE_INSTALLED, "package.json", r'"name": "%s"'),
    _Registry(_CARGO_INSTALLED, "Cargo.toml", r'^name\s*=\s*"%s"'),
    _Registry(_GO_INSTALLED, "go.mod", r"^module\s+%s\s*$"),
)


def _installed(path: str, repository: Repository) -> str | None:
    """The file of an installed copy of this repository, "" when the copy is another package's,
    None when it is no such path.
    """
    match = _INSTALLED.match(path)
    if match:
        return _first_known((root + match.group("rest") for root in _SOURCE_ROOTS), repository)
    for registry in _REGISTRIES:
        match = registry.path.match(path)
        if match:
            name = re.compile(registry.name.replace("%s", re.escape(match.group("name"))), re.M)
            rest = match.group("rest")
            own = (
                posixpath.join(posixpath.dirname(manifest), rest)
                for manifest in repository.named(registry.manifest)
                if name.search(repository.text(manifest))
            )
            return _first_known(own, repository)
    return None


def _first_known(paths: Iterable[str], repository: Repository) -> str:
    return next((path for path in paths if path in repository.paths), "")


def _by_tail(parts: list[str], absolute: bool, repository: Repository) -> str:
    best = 0
    found: list[str] = []
    for path in repository.named(parts[-1]):
        own = path.split("/")
        shared = 0
        while shared < min(len(own), len(parts)) and own[-1 - shared] == parts[-1 - shared]:
            shared += 1
        enough = (
            shared >= 2
            or shared == len(parts)
            or (absolute and shared == len(own) and len(parts) <= 2)
        )
        if not enough or shared < best:
            continue
        found = [path] if shared > best else found + [path]
        best = shared
    if len(found) > 1:  # the whole path of one of them, or the only one that is no test
        found = [one for one in found if one.count("/") + 1 == best] or [
            one for one in found if not repository.is_test(one)
        ]
    return found[0] if len(found) == 1 else ""
