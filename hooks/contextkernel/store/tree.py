"""The files of a repository as they are on disk: those that git would list, or a walk that
honours .gitignore.
"""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from contextkernel.store import files as store_files
from contextkernel.store import git, git_index, ignore
from contextkernel.store.checkout import Checkout, checkout_at, is_linked_worktree
from contextkernel.store.own_checkout import checkout_of

# Only where git does not say what is source: folders of tools, known by name or by the mark they
# carry
_TOOL_FOLDERS = frozenset(
    (".git", ".hg", ".svn", "node_modules", "__pycache__", ".tox", ".nox", ".idea")
)
_TOOL_MARKS = ("CACHEDIR.TAG", "pyvenv.cfg")
_KINDS = (
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)

_LIMIT = 1 << 63

# How a folder is taken: as git takes a checkout, only for what git tracks in it (it is ignored), or
# by .gitignore alone
_CHECKOUT, _TRACKED_ONLY, _PLAIN = "checkout", "tracked only", "plain"


class Unread(NamedTuple):
    """A path of the tree that could not be read, with the reason.  `special`: it is no file,
    folder or link to one.
    """

    path: str
    why: str
    special: bool = False


class Listing(NamedTuple):
    """`files`: path -> (size in bytes, mtime in ns, ctime in ns, inode), in order of paths.
    `how`: "git" (its index and ignore files) or "walk".

    `skipped`: notes on what is no source.  `notes`: what a reader of the list must know.  `unread`:
    what could not be read.
    """

    files: dict[str, tuple[int, int, int, int]]
    how: str
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = ()


class _Known(NamedTuple):
    """What git tracks below a root: files, folders that hold some, other repositories.
    `prefix`: of the root, from the top.
    """

    files: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()
    links: frozenset[str] = frozenset()
    prefix: str = ""


_Layers = list[tuple[str, ignore.Rules]]


class _Walk:
    """One walk below a root.  No link is followed, no folder is entered twice, and depth costs
    no stack.
    """

    def __init__(self, root: str, known: _Known, worktrees: bool) -> None:
        self.root, self.known, self.worktrees = root, known, worktrees
        self.files: dict[str, tuple[int, int, int, int]] = {}
        self.skipped: list[str] = []
        self.unread: list[Unread] = []
        self.work = ignore.Work()
        self.folds_case = False
        self._left: list[tuple[str, _Layers, str]] = []

    def rules(self, data: bytes) -> ignore.Rules:
        """The rules of an ignore file's bytes."""
        return ignore.rules_of(data.decode("latin-1"), self.work, self.folds_case)

    def rules_in(self, folder: str, shown: str) -> ignore.Rules | None:
        """The rules of a folder's .gitignore; None when it cannot be read, which is noted."""
        try:
            data = store_files.content(
                os.path.join(folder, ".gitignore"), git.IGNORE_BYTES, follow=False
            )
        except OSError as error:
            self.unread.append(Unread(shown, _why(error)))
            return None
        return self.rules(data)

    def run(self, layers: _Layers, state: str) -> None:
        """Take all files below the root."""
        self._left.append(("", layers, state))
        while self._left:
            self._folder(*self._left.pop())

    def _folder(self, folder: str, layers: _Layers, state: str) -> None:
        where = os.path.join(self.root, folder)
        try:
            with os.scandir(where) as entries:
                found = list(entries)
        except OSError as error:
            self.unread.append(Unread(folder or ".", _why(error)))
            return
        names = {entry.name for entry in found}
        prefix = self.known.prefix
        if (
            folder
            and state == _CHECKOUT
            and (
                prefix + folder in self.known.links
                or ".git" in names
                and prefix + folder not in self.known.folders
                and checkout_at(where)
            )
        ):
            layers, state = [], _PLAIN  # a submodule, or a repository inside this one
        if folder and not self.worktrees and ".git" in names and is_linked_worktree(where):
            self.skipped.append(f"{folder}: a linked working tree")
            return
        if folder and state == _PLAIN and any(mark in names for mark in _TOOL_MARKS):
            self.skipped.append(
                f"{folder}: a tool's own folder "
                f"({next(mark for mark in _TOOL_MARKS if mark in names)})"
            )
            return
        if ".gitignore" in names and state != _TRACKED_ONLY:
            rules = self.rules_in(where, folder + "/.gitignore" if folder else ".gitignore")
            layers = (
                layers + [(ignore.bytewise((prefix + folder).rstrip("/")), rules)]
                if rules
                else layers
            )
        base = folder + "/" if folder else ""
        tracked = self.known.files if state != _PLAIN else frozenset()
        for entry in found:
            path = base + entry.name
            if entry.name == ".git":
                continue
            if prefix + path not in tracked or not self._tracked(entry, path):
                self._entry(entry, path, layers, state)

    def _tracked(self, entry: os.DirEntry[str], path: str) -> bool:
        """Take a file that git tracks, with no question to its rules; False when it is something
        else now.
        """
        try:
            facts = entry.stat(follow_symlinks=False)
        except OSError as error:
            self.unread.append(Unread(path, _why(error)))
            return True
        if stat.S_ISREG(facts.st_mode):
            self.files[path] = _facts(facts)
            return True
        return False

    def _entry(self, entry: os.DirEntry[str], path: str, layers: _Layers, state: str) -> None:
        try:
            if entry.is_file(follow_symlinks=False):
                if self._takes_file(path, layers, state):
                    self.files[path] = _facts(entry.stat(follow_symlinks=False))
            elif entry.is_dir(follow_symlinks=False):
                into = self._enters(path, entry.name, layers, state)
                if into:
                    self._left.append((path, layers, into))
            elif self._takes_file(path, layers, state):
                self._special(entry, path)
        except OSError as error:
            self.unread.append(Unread(path, _why(error)))

    def _takes_file(self, path: str, layers: _Layers, state: str) -> bool:
        if state != _PLAIN and self.known.prefix + path in self.known.files:
            return True
        return state != _TRACKED_ONLY and not (layers and self._refused(path, False, layers))

    def _enters(self, path: str, name: str, layers: _Layers, state: str) -> str:
        """How a folder is taken, "" when it is not."""
        if state == _PLAIN:
            return (
                ""
                if layers and self._refused(path, True, layers) or name in _TOOL_FOLDERS
                else _PLAIN
            )
        full = self.known.prefix + path
        if full in self.known.links:
            return _CHECKOUT
        if state == _TRACKED_ONLY or layers and self._refused(path, True, layers):
            return _TRACKED_ONLY if full in self.known.folders else ""
        return _CHECKOUT

    def _refused(self, path: str, is_folder: bool, layers: _Layers) -> bool:
        return ignore.refused(ignore.bytewise(self.known.prefix + path), is_folder, layers)

    def _special(self, entry: os.DirEntry[str], path: str) -> None:
        """Note a FIFO, device or socket, or a link to one; a link to a file or folder of the
        tree is listed where it leads to.
        """
        try:
            mode = entry.stat().st_mode
        except OSError:
            return  # leads nowhere
        for is_kind, kind in _KINDS:
            if is_kind(mode):
                self.unread.append(
                    Unread(path, "a link to " + kind if entry.is_symlink() else kind, True)
                )

    def listing(self, how: str, notes: tuple[str, ...] = ()) -> Listing:
        """What was found."""
        if self.work.left <= 0:
            notes += (
                (
                    "the ignore files hold more patterns than can be followed: ignored files may "
                    "be among these"
                ),
            )
        return Listing(
            dict(sorted(self.files.items())),
            how,
            tuple(sorted(self.skipped)),
            notes,
            tuple(sorted(self.unread)),
        )


def listing(root: str) -> Listing:
    """All regular files of a folder (a real path) that belong to its source; links are left out.
    Starts no process.
    """
    checkout = checkout_of(root)
    found = _listed(root, checkout) if checkout else None
    if found and found.files:
        return found
    walk = _Walk(root, _Known(), worktrees=True)
    walk.run([], _PLAIN)
    return walk.listing("walk", found.notes if found else ())


def _listed(root: str, checkout: Checkout) -> Listing:
    """What `git ls-files --cached --others --exclude-standard` says, with the files of
    repositories inside by .gitignore.
    """
    settings = git.settings_of(checkout)
    notes: tuple[str, ...] = (
        ("a partial clone: git is not started here, the tree is walked",)
        if settings.partial
        else ()
    )
    prefix = (
        os.path.relpath(root, checkout.top).replace(os.sep, "/") + "/"
        if root != checkout.top
        else ""
    )
    try:
        names = git_index.read(checkout.index_path)
    except (OSError, git_index.IndexFormatError) as error:
        names = git_index.Names([], set(), set())
        notes += (f"git's index was not read ({_why(error)}): the tree is walked",)
    if names.folders:
        notes += ("a sparse index: git is not started here, the tree is walked",)
    walk = _Walk(root, _known(names, prefix), worktrees=False)
    walk.folds_case = settings.folds_case
    layers = [("", walk.rules(data)) for _, data in git.base_rules(checkout, settings)]
    state, folder = _CHECKOUT, ""
    for part in prefix.split("/")[:-1]:
        if os.path.lexists(os.path.join(checkout.top, folder, ".gitignore")):
            rules = walk.rules_in(
                os.path.join(checkout.top, folder),
                "/".join([".."] * prefix[len(folder) :].count("/") + [".gitignore"]),
            )
            layers = layers + [(ignore.bytewise(folder), rules)] if rules else layers
        folder = folder + "/" + part if folder else part
        if state == _CHECKOUT and layers and ignore.refused(ignore.bytewise(folder), True, layers):
            state = _TRACKED_ONLY
    walk.run(layers, state)
    return walk.listing("git", notes)


def _known(names: git_index.Names, prefix: str) -> _Known:
    tracked = (
        frozenset(name for name in names.files if name.startswith(prefix))
        if prefix
        else frozenset(names.files)
    )
    folders: set[str] = set()
    for name in names.files:
        cut = name.rfind("/")
        while cut > 0 and name[:cut] not in folders:
            folders.add(name[:cut])
            cut = name.rfind("/", 0, cut)
    return _Known(tracked, frozenset(folders | names.folders), frozenset(names.links), prefix)


def _facts(found: os.stat_result) -> tuple[int, int, int, int]:
    """Size, times and inode as the index can keep them: 64 bits, also after the year 2262."""
    return (
        found.st_size,
        _in_64_bits(found.st_mtime_ns),
        _in_64_bits(found.st_ctime_ns),
        _in_64_bits(found.st_ino),
    )


def _in_64_bits(number: int) -> int:
    return number if -_LIMIT < number < _LIMIT else number % _LIMIT


def _why(error: Exception) -> str:
    """The reason of an error in a few words, without its path."""
    if isinstance(error, store_files.NotRegularError):
        return "no regular file"
    if isinstance(error, store_files.TooLargeError):
        return "too large"
    return (error.strerror if isinstance(error, OSError) else "") or str(error)
