"""Where a text was hidden: the repository of a folder, told without starting git, and whether a
handle is honoured elsewhere.

A repository is known by its common folder (worktrees, subfolders and submodules' own) and by its
remotes (clones, forks that name their origin). Both are kept as digests: no path or address stands
in a key.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from contextkernel.store import files, git, git_config
from contextkernel.store.blobs import digest_of

LARGEST = 1 << 20  # bytes of a file of git's that is read
REMOTES = 8  # of a repository that count
_SHA = re.compile(r"\b[0-9a-f]{40,64}\b")
PROJECTS = "projects"  # Claude Code keeps a project's sessions in one folder below this one


def repository(folder: str) -> str:
    """The keys of the repository that a folder lies in, blank-separated; "" where it lies in
    none, or this cannot be told.
    """
    common = _common(folder)
    if not common:
        return ""
    return " ".join(
        dict.fromkeys(_key(name) for name in [os.path.realpath(common)] + _remotes(common))
    )


def _key(name: str) -> str:
    return digest_of(name.encode("utf-8", "surrogateescape"))[:16]


def _text(path: str) -> str:
    """A file's text; "" where it is none that may be read."""
    try:
        return files.content(path, LARGEST).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def _common(folder: str) -> str:
    """The folder that all worktrees of a repository share; "" outside of one."""
    at = os.path.realpath(folder) if folder and os.path.isabs(folder) and "\0" not in folder else ""
    while at:
        checkout = git.checkout_at(at)
        if checkout:
            return checkout.common
        if os.path.isfile(os.path.join(at, "HEAD")) and os.path.isdir(os.path.join(at, "objects")):
            return at  # a bare repository, or inside of a git folder
        above = os.path.dirname(at)
        at = above if above != at else ""
    return ""


def _remotes(common: str) -> list[str]:
    """The addresses of a repository's remotes, in one spelling; a folder as the repository
    there.
    """
    urls = [
        value
        for key, value in git_config.values([os.path.join(common, "config")])
        if key.startswith("remote.") and key.endswith(".url")
    ]
    return [_address(url, common) for url in urls[:REMOTES]]


def _address(url: str, common: str) -> str:
    """host/path of an address, whatever its scheme and user; the common folder of a repository
    on this machine.
    """
    plain = url[len("file://") :] if url.startswith("file://") else url
    if "://" not in plain and (os.path.isabs(plain) or plain.startswith(".")):
        folder = os.path.join(os.path.dirname(common), plain)
        return os.path.realpath(_common(folder) or folder)
    rest = plain.partition("://")[2] or plain.replace(":", "/", 1)
    host, _, path = rest.rpartition("@")[2].partition("/")
    path = path[: -len(".git")] if path.rstrip("/").endswith(".git") else path
    return f"{host.partition(':')[0].lower()}/{path.strip('/').lower()}"


def honoured(
    receipts: Iterable[dict[str, Any]], session: str, folder: str, transcript: str = ""
) -> bool:
    """Whether a handle with these receipts is given back to a session in a folder ("": not known).

    Any receipt of the same session, project or repository counts, and any that does not say where
    it was made. Without a receipt nothing can be told, nor where a caller has neither folder nor
    session: then it is given back.
    """
    rows = list(receipts)
    if not rows or not (folder or session or transcript):
        return True
    project = _project(transcript)
    if any(
        not row["repo"]
        or (session and row["session"] == session)
        or (project and _project(row["transcript"] or "") == project)
        for row in rows
    ):
        return True
    if not folder:
        return False
    keys = set(repository(folder).split())
    return any(keys & set(row["repo"].split()) for row in rows) or any(
        _related(folder, row["cwd"] or "") for row in rows
    )


def _project(transcript: str) -> str:
    """The folder of a project's sessions that a transcript lies in; "" for another client's."""
    folder = os.path.dirname(transcript)
    return folder if os.path.basename(os.path.dirname(folder)) == PROJECTS else ""


def _related(one: str, other: str) -> bool:
    """Whether two folders' repositories know a commit in common, by their branches, tags and
    logs: a fork that names no origin.
    """
    first, second = _common(one), _common(other)
    return bool(first and second and _commits(first) & _commits(second))


def _commits(common: str) -> set[str]:
    """Ids that the references and the log of a repository name."""
    texts = [
        _text(os.path.join(common, name))
        for name in ("packed-refs", "HEAD", os.path.join("logs", "HEAD"), "FETCH_HEAD", "ORIG_HEAD")
    ]
    for folder, folders, names in os.walk(os.path.join(common, "refs")):
        folders[:] = sorted(folders)[:100]
        texts += [_text(os.path.join(folder, name)) for name in sorted(names)[:100]]
    return {sha for text in texts for sha in _SHA.findall(text) if sha.strip("0")}


def receipts_of(handle: str) -> list[dict[str, Any]] | None:
    """The ledger's receipts of a handle, or of those that it is the beginning of; None where the
    ledger cannot be asked.
    """
    import sqlite3  # late: 10 ms

    from contextkernel.store import blobs, ledger, settings

    if (
        not handle.isalnum()
        or len(handle) < blobs.SHORTEST_PREFIX
        or not os.path.isdir(settings.data_root())
    ):
        return None
    if settings.flag("CK_LOG_OFF") and not os.path.exists(
        os.path.join(settings.data_root(), "state.db")
    ):
        return None
    try:
        books = ledger.open_ledger()
        try:
            digits = handle[: blobs.HANDLE_DIGITS]
            found = books.rows(
                "SELECT * FROM receipts WHERE handle LIKE ? OR handle LIKE ? ORDER BY at DESC",
                (digits + "%", "% " + digits + "%"),
            )
        finally:
            books.close()
    except (blobs.StoreError, sqlite3.Error):
        return None
    return found
