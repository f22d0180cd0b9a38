"""Whether a handle that was made in one repository or session is honoured in another."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from contextkernel.store import files
from contextkernel.store.repository_keys import common_folder, repository

LARGEST = 1 << 20  # bytes of a file of git's that is read
_SHA = re.compile(r"\b[0-9a-f]{40,64}\b")
PROJECTS = "projects"  # Claude Code keeps a project's sessions in one folder below this one


def _text(path: str) -> str:
    """A file's text; "" where it is none that may be read."""
    try:
        return files.content(path, LARGEST).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


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
    first, second = common_folder(one), common_folder(other)
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
