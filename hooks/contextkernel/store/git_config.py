"""Values of git's configuration, read from the files as text: nothing in them is run, nothing
but regular files is opened.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from contextkernel.store import files
from contextkernel.store.git_config_text import Value, parsed

MOST_BYTES = 1 << 20  # of one file
MOST_FILES = 50  # included ones
SYSTEM = ("/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig")


def of_person() -> list[str]:
    """The configuration files of the machine and of the person, weakest first."""
    environ = os.environ
    system = (
        []
        if environ.get("GIT_CONFIG_NOSYSTEM", "") not in ("", "0", "false")
        else [environ["GIT_CONFIG_SYSTEM"]]
        if environ.get("GIT_CONFIG_SYSTEM")
        else list(SYSTEM)
    )
    if environ.get("GIT_CONFIG_GLOBAL"):
        return system + [environ["GIT_CONFIG_GLOBAL"]]
    return system + [
        os.path.join(xdg_folder(), "config"),
        os.path.join(os.path.expanduser("~"), ".gitconfig"),
    ]


def xdg_folder() -> str:
    """Where git looks for `config` and `ignore` besides the home folder."""
    return os.path.join(
        os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config"), "git"
    )


def values(paths: list[str], git_folder: str = "", any_condition: bool = False) -> list[Value]:
    """All values of some files, those of included files where they are included; what cannot be
    read holds none.

    `git_folder`: of the repository that `includeIf.gitdir` asks about.  `any_condition`: include
    whatever the condition says.
    """
    left = [MOST_FILES]
    return [value for path in paths for value in _of_file(path, git_folder, any_condition, left)]


def _of_file(path: str, git_folder: str, any_condition: bool, left: list[int]) -> Iterator[Value]:
    if left[0] <= 0:
        return
    left[0] -= 1
    try:
        text = os.fsdecode(files.content(path, MOST_BYTES))
    except (OSError, ValueError):
        return
    for key, value in parsed(text):
        yield Value(key, value)
        if (
            key == "include.path"
            or key.startswith("includeif.")
            and key.endswith(".path")
            and (any_condition or _holds(key[10:-5], path, git_folder))
        ):
            yield from _of_file(
                os.path.join(os.path.dirname(path), person_path(value)),
                git_folder,
                any_condition,
                left,
            )


def person_path(path: str) -> str:
    """A path of a value, with a home folder for a leading `~`."""
    return os.path.expanduser(path) if path.startswith("~") else path


def _holds(condition: str, path: str, git_folder: str) -> bool:
    kind, _, pattern = condition.partition(":")
    if kind not in ("gitdir", "gitdir/i") or not pattern or not git_folder:
        return False
    from contextkernel.store import ignore  # late: few configurations ask

    pattern = person_path(pattern)
    if pattern.startswith("./"):
        pattern = os.path.join(os.path.dirname(os.path.realpath(path)), pattern[2:])
    elif not os.path.isabs(pattern):
        pattern = "**/" + pattern
    pattern, asked = (
        ignore.bytewise(pattern + ("**" if pattern.endswith("/") else "")),
        ignore.bytewise(git_folder),
    )
    if kind == "gitdir/i":
        pattern, asked = pattern.lower(), asked.lower()
    return bool(ignore.matcher(pattern)(asked))
