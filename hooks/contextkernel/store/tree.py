"""The files of a repository as they are on disk: git's own list, or a walk that honours .gitignore."""
from __future__ import annotations

import os
import stat
from typing import Dict, List, NamedTuple, Tuple

from contextkernel.store.ignore import refused, rules_of

GIT_SECONDS = 60
# Only where git does not say what is source: folders of tools, known by name or by the mark they carry
_TOOL_FOLDERS = frozenset((".git", ".hg", ".svn", "node_modules", "__pycache__", ".tox", ".nox", ".idea"))
_TOOL_MARKS = ("CACHEDIR.TAG", "pyvenv.cfg")


class Listing(NamedTuple):
    """`files`: path -> (size in bytes, mtime in ns), in order of paths.  `how`: "git" or "walk".  `skipped`: notes on what was left out."""

    files: Dict[str, Tuple[int, int]]
    how: str
    skipped: Tuple[str, ...] = ()


def listing(root: str) -> Listing:
    """All regular files of a folder that belong to its source.  Symbolic links are left out (their targets are listed themselves)."""
    names = _git_names(root)
    if names:
        return _with_facts(root, names)
    files: Dict[str, Tuple[int, int]] = {}
    notes: List[str] = []
    _walk(root, "", [], files, notes)
    return Listing(dict(sorted(files.items())), "walk", tuple(sorted(notes)))


def _inside_git(root: str) -> bool:
    folder = root
    while True:
        if os.path.exists(os.path.join(folder, ".git")):
            return True
        parent = os.path.dirname(folder)
        if parent == folder:
            return False
        folder = parent


def _git_names(root: str) -> List[str]:
    """Paths below `root` that git tracks or would track; [] without git.  Runs no program of the repository's configuration."""
    if not _inside_git(root):
        return []
    import subprocess  # late: 5 ms

    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment.update(GIT_OPTIONAL_LOCKS="0", LC_ALL="C")
    command = ["git", "-C", root, "-c", "core.fsmonitor=false", "-c", "core.quotepath=false", "ls-files", "-co", "--exclude-standard", "-z"]
    try:
        ran = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, timeout=GIT_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return []
    if ran.returncode:
        return []
    return sorted({os.fsdecode(name) for name in ran.stdout.split(b"\0") if name})


def _with_facts(root: str, names: List[str]) -> Listing:
    files: Dict[str, Tuple[int, int]] = {}
    notes: List[str] = []
    base, walked = root + os.sep, False
    for name in names:
        try:
            facts = os.lstat(base + name)
        except OSError:
            continue  # deleted but still tracked
        if stat.S_ISREG(facts.st_mode):
            files[name] = (facts.st_size, facts.st_mtime_ns)
        elif stat.S_ISDIR(facts.st_mode):  # a submodule, or a repository inside this one
            _walk(root, name.rstrip("/"), [], files, notes)
            walked = True
    return Listing(dict(sorted(files.items())) if walked else files, "git", tuple(sorted(notes)))


def _walk(root: str, folder: str, layers: "List[tuple]", files: Dict[str, Tuple[int, int]], notes: List[str]) -> None:
    """Add the files below a folder; links to folders are not followed, so loops cannot occur."""
    try:
        with os.scandir(os.path.join(root, folder)) as entries:
            found = list(entries)
    except OSError:
        notes.append("%s: not readable" % (folder or "."))
        return
    names = {entry.name for entry in found}
    if folder and any(mark in names for mark in _TOOL_MARKS):
        notes.append("%s: a tool's own folder (%s)" % (folder, next(mark for mark in _TOOL_MARKS if mark in names)))
        return
    if ".gitignore" in names:
        layers = layers + [(folder, _rules(os.path.join(root, folder, ".gitignore")))]
    for entry in found:
        path = folder + "/" + entry.name if folder else entry.name
        try:
            is_file = entry.is_file(follow_symlinks=False)
            is_folder = not is_file and entry.is_dir(follow_symlinks=False)
            if not (is_folder or is_file) or layers and refused(path, is_folder, layers):
                continue
            if is_folder and entry.name not in _TOOL_FOLDERS:
                _walk(root, path, layers, files, notes)
            elif is_file:
                facts = entry.stat(follow_symlinks=False)
                files[path] = (facts.st_size, facts.st_mtime_ns)
        except OSError:
            notes.append("%s: not readable" % path)


def _rules(path: str) -> list:
    try:
        with open(path, "rb") as handle:
            return rules_of(handle.read().decode("utf-8", "replace"))
    except OSError:
        return []
