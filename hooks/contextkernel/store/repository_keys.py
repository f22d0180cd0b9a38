"""The repository of a folder, told without starting git.

It is known by its common folder (worktrees, subfolders and submodules' own) and by its remotes
(clones, forks that name their origin). Both are kept as digests: no path or address stands in a
key.
"""

from __future__ import annotations

import os

from contextkernel.store import checkout, git_config
from contextkernel.store.blobs import digest_of

REMOTES = 8  # of a repository that count


def repository(folder: str) -> str:
    """The keys of the repository that a folder lies in, blank-separated; "" where it lies in
    none, or this cannot be told.
    """
    common = common_folder(folder)
    if not common:
        return ""
    return " ".join(
        dict.fromkeys(_key(name) for name in [os.path.realpath(common)] + _remotes(common))
    )


def _key(name: str) -> str:
    return digest_of(name.encode("utf-8", "surrogateescape"))[:16]


def common_folder(folder: str) -> str:
    """The folder that all worktrees of a repository share; "" outside of one."""
    at = os.path.realpath(folder) if folder and os.path.isabs(folder) and "\0" not in folder else ""
    while at:
        found = checkout.checkout_at(at)
        if found:
            return found.common
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
        return os.path.realpath(common_folder(folder) or folder)
    rest = plain.partition("://")[2] or plain.replace(":", "/", 1)
    host, _, path = rest.rpartition("@")[2].partition("/")
    path = path[: -len(".git")] if path.rstrip("/").endswith(".git") else path
    return f"{host.partition(':')[0].lower()}/{path.strip('/').lower()}"
