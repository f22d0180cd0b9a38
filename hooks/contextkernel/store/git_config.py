"""Values of git's configuration, read from the files as text: nothing in them is run, nothing
but regular files is opened.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from contextkernel.store import files

MOST_BYTES = 1 << 20  # of one file
MOST_FILES = 50  # included ones
SYSTEM = ("/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig")
_SPECIAL = {"n": "\n", "t": "\t", "b": "\b", "\\": "\\", '"': '"'}


class Value(NamedTuple):
    """One value with the name of its key ("core.excludesfile", "remote.origin.promisor"; all but
    the middle part in small letters).
    """

    key: str
    value: str


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


def parsed(text: str) -> Iterator[tuple[str, str]]:
    """(key, value) of each line of a configuration text; a key without a value is "true".  Lines
    that git refuses are passed over.
    """
    section, at = "", 0
    while at < len(text):
        char = text[at]
        if char in "#;":
            at = _line_end(text, at)
        elif char == "[":
            section, at = _section(text, at + 1)
        elif char.isalpha():
            end = at
            while end < len(text) and (text[end].isalnum() or text[end] == "-"):
                end += 1
            key = section + "." + text[at:end].lower()
            value, at = _value(text, end)
            yield key, value
        else:
            at += 1


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _section(text: str, at: int) -> tuple[str, int]:
    """("section" or "section.Subsection", behind the bracket)."""
    end = at
    while end < len(text) and text[end] not in ']"\n':
        end += 1
    name = text[at:end].strip().lower()
    if text[end : end + 1] != '"':
        return name, end + 1
    out: list[str] = []
    end += 1
    while end < len(text) and text[end] not in '"\n':
        end += text[end] == "\\"
        out.append(text[end : end + 1])
        end += 1
    closed = text.find("]", end, _line_end(text, end))
    return name + "." + "".join(out), (closed if closed >= 0 else end) + 1


def _value(text: str, at: int) -> tuple[str, int]:
    """(the value behind a key, the end of its line)."""
    while text[at : at + 1] in (" ", "\t"):
        at += 1
    if text[at : at + 1] != "=":
        return "true", _line_end(text, at)
    at += 1
    out: list[str] = []
    kept, quoted = 0, False  # characters that are not blanks at the end
    while at < len(text) and (text[at] != "\n"):
        char = text[at]
        at += 1
        if char == "\\":
            following = text[at : at + 1]
            at += 1
            if following == "\r" and text[at : at + 1] == "\n":
                at += 1
            elif following != "\n":
                out.append(_SPECIAL.get(following, following))
                kept = len(out)
        elif char == '"':
            quoted = not quoted
            kept = len(out)
        elif char in "#;" and not quoted:
            at = _line_end(text, at)
        elif quoted or out or char not in " \t\r":
            out.append(char)
            kept = len(out) if quoted or char not in " \t\r" else kept
    return "".join(out[:kept]), at


def last(found: list[Value]) -> dict[str, str]:
    """key -> its last value."""
    return dict(found)
