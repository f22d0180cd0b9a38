"""The slice of a repository: its index brought up to date, the answer, and the answers kept."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import sys
import time
from typing import Callable

from contextkernel.paths import PLUGIN_ROOT
from contextkernel.slicing import manifest
from contextkernel.slicing.caveats import Age
from contextkernel.slicing.languages import language_of
from contextkernel.slicing.parts import Request
from contextkernel.slicing.repository import Repository
from contextkernel.slicing.scan import scan_file, subtokens
from contextkernel.slicing.slice import Slicer
from contextkernel.slicing.symptom import text as symptoms
from contextkernel.store import files as store_files
from contextkernel.store import index as indexes
from contextkernel.store import settings, tree

# of changed source: as much is scanned at once even without --wait (about half a CPU second)
INLINE_BYTES = 4 << 20
BUILD_SECONDS = 600.0  # of a clock: a build that nobody waits for ends then
FIRST_FILES = 200  # scanned before the first answer of a repository that has no index yet
MOST_BYTES = 64 << 20  # of one file that is read whole
SCANNERS = ("scan", "languages")  # folders of slicing/ that an index depends on


class WrongCall(Exception):
    """A call that cannot be answered; the message is the one line for stderr."""


def operator_hash(names: tuple[str, ...] = ()) -> str:
    """A hash over the sources of the operator (or of those of its modules): what an answer (or
    an index) depends on.
    """
    folder = os.path.join(PLUGIN_ROOT, "hooks", "contextkernel", "slicing")
    whole = []
    for base, folders, files in os.walk(folder):
        folders[:] = sorted(one for one in folders if one != "__pycache__")
        for name in sorted(files):
            stem = (
                os.path.relpath(os.path.join(base, name), folder)
                .partition(os.sep)[0]
                .partition(".")[0]
            )
            if name.endswith(".py") and (not names or stem in names):
                whole.append(
                    name.encode()
                    + b"\0"
                    + store_files.content(os.path.join(base, name), MOST_BYTES)
                )
    return hashlib.sha256(b"".join(whole)).hexdigest()[:16]


def answer(root: str, text: str, request: Request, wait: bool = True, form: str = "text") -> str:
    """The slice of a repository for a symptom text; `form`: "text", "lines" or "json".  Raises
    WrongCall, OSError.
    """
    root = os.path.realpath(root)
    if not os.path.isdir(root):
        raise WrongCall(f"no such folder: {root}")
    listing = tree.listing(root)
    sources = {path: facts for path, facts in listing.files.items() if language_of(path)}
    kept = indexes.Index(indexes.file_of(root), operator_hash(SCANNERS))
    try:
        return _from_sound(
            kept, lambda: _from_index(root, listing, sources, kept, text, request, wait, form)
        )
    finally:
        kept.close()


def _from_sound(kept: indexes.Index, work: Callable[[], str]) -> str:
    """What `work` gives; where the index shows itself as damaged meanwhile, it is begun anew and
    asked once more.  Raises OSError.
    """
    try:
        try:
            return work()
        except indexes.DAMAGE as error:
            if not indexes.is_damage(error):
                raise
            kept.begin_anew()
            return work()
    except sqlite3.Error as error:
        raise OSError(f"index {kept.path}: {error}") from error


def _from_index(
    root: str,
    listing: tree.Listing,
    sources: dict[str, indexes.Signature],
    kept: indexes.Index,
    text: str,
    request: Request,
    wait: bool,
    form: str,
) -> str:
    age = _brought_up(root, sources, kept, text, wait)
    unread = [
        (one.path, one.why) for one in listing.unread if not one.special or language_of(one.path)
    ]
    age = age._replace(notes=listing.notes, unread=tuple(sorted(unread + list(age.unread))))
    key = _key(sources, text, request, form, age) if settings.flag("CK_SLICE_CACHE", True) else ""
    found = kept.answer(key) if key else ""
    if not found:
        found = _sliced(root, list(listing.files), kept, text, request, form, age)
        if key and not age.changed:
            kept.keep_answer(key, found)
    return found


def repository_of(
    root: str,
    paths: list[str],
    kept: indexes.Index,
    keeps_edge: Callable[[str, str], bool] | None = None,
) -> Repository:
    """The repository as operators see it, from its listing and its open index."""

    def read(path: str) -> bytes:
        return store_files.content(os.path.join(root, path), MOST_BYTES, follow=False)

    return Repository(root, paths, kept.files(), read, kept.facts, kept.postings, keeps_edge)


def _sliced(
    root: str,
    paths: list[str],
    kept: indexes.Index,
    text: str,
    request: Request,
    form: str,
    age: Age,
) -> str:
    repository = repository_of(root, paths, kept)
    slicer = Slicer(repository, text, request)
    if form == "json":
        return json.dumps(manifest.as_values(repository, slicer, request, age)) + "\n"
    return manifest.as_text(repository, slicer, request, age, form == "lines")


def _key(
    sources: dict[str, indexes.Signature], text: str, request: Request, form: str, age: Age
) -> str:
    asked = (operator_hash(), sys.version_info[:2], text, request, form, age)
    return hashlib.sha256((f"{sources!r}{asked!r}").encode("utf-8", "surrogatepass")).hexdigest()


def _brought_up(
    root: str, sources: dict[str, indexes.Signature], kept: indexes.Index, text: str, wait: bool
) -> Age:
    """The index up to date, or as far as one may wait; a child then does the rest."""
    changed, gone = kept.stale(root, sources)
    if wait or sum(sources[path][0] for path in changed) <= INLINE_BYTES:
        unread = (
            kept.bring_up(root, sources, changed, gone, scan_file.scan) if changed or gone else []
        )
        return Age(len(sources), unread=tuple(unread))
    if len(changed) == len(sources):
        first = _best_named(changed, text)
        kept.add(root, {path: sources[path] for path in first}, scan_file.scan)
        changed = sorted(set(changed) - set(first))
    import subprocess  # late: 5 ms, and most calls need none

    subprocess.Popen(
        [
            sys.executable,
            "-I",
            "-S",
            os.path.join(PLUGIN_ROOT, "hooks", "ck.py"),
            "slice",
            "--repo",
            root,
            "--yes",  # whoever asked for this answer has been asked
            "--build",
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        close_fds=True,
    )
    return Age(len(sources) - len(changed), tuple(changed), True)


def build(root: str, seconds: float = BUILD_SECONDS) -> None:
    """Bring the index of a repository up to date for nobody who waits: after so many seconds what
    is done is kept and the rest left to a later call.  Raises OSError.
    """
    root = os.path.realpath(root)
    deadline = time.monotonic() + seconds
    sources = {path: facts for path, facts in tree.listing(root).files.items() if language_of(path)}
    kept = indexes.Index(indexes.file_of(root), operator_hash(SCANNERS))
    try:
        _from_sound(
            kept,
            lambda: str(kept.refresh(root, sources, scan_file.scan, deadline=deadline)),
        )
    finally:
        kept.close()


def _best_named(paths: list[str], text: str) -> list[str]:
    """The files whose paths have most words of the symptom in them."""
    weights = symptoms.read(text).weights
    score = {
        path: sum(
            weights.get(piece, 0.0)
            for word in set(subtokens.WORD.findall(path))
            for piece in subtokens.pieces_of(word)
        )
        for path in paths
    }
    return sorted(sorted(paths, key=lambda path: (-score[path], path))[:FIRST_FILES])
