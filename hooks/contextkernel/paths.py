"""Path texts: POSIX form for state keys and comparisons."""

from __future__ import annotations

import os
import re

# holds hooks/ and mcp/
PLUGIN_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
# unseen, moving what is seen, or no text
_ODD = re.compile(
    "[\\x00-\\x1f\\x7f-\\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def names_a_file(text: object) -> bool:
    """Whether a value can be a path at all: text without NUL, in characters that the file system
    can carry.
    """
    try:
        return isinstance(text, str) and bool(text) and b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def why_too_wide(folder: str) -> str:
    """Why a folder is no repository to look through: the whole machine, the home folder or one
    above it; "" for any other.
    """
    root, home = os.path.realpath(folder), os.path.realpath(os.path.expanduser("~"))
    if root == os.path.dirname(root):
        return "this is the whole machine; name the folder of one repository"
    if root == home:
        return "this is your home folder; name the folder of one repository"
    if home.startswith(root + os.sep):
        return "your home folder lies in it; name the folder of one repository"
    return ""


def file_name_of(identifier: str, most: int = 80) -> str:
    """An identifier (session, agent, tool use) as a safe file name of at most `most` characters;
    never empty, never dots only.
    """
    name = _UNSAFE.sub("_", identifier)[:most]
    return name if name.strip(".") else "_"


def shown(path: str) -> str:
    """A path as it may stand in a text: itself, or a shell's $'…' form when it has control
    characters or is not UTF-8.
    """
    if not _ODD.search(path):
        return path
    escaped = _ODD.sub(_escaped, path.replace("\\", "\\\\").replace("'", "\\'"))
    return f"$'{escaped}'"


def quoted(path: str) -> str:
    """A path as one word of a shell command, that no program takes for an option."""
    import shlex  # late: hooks need none

    path = "./" + path if path.startswith("-") else path
    return shown(path) if _ODD.search(path) else shlex.quote(path)


def plain(text: str) -> str:
    """A line of text with what would break it, or is no text, as backslash forms."""
    return _ODD.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    char = match.group()
    is_byte = "\udc80" <= char <= "\udcff"  # of a name that is not UTF-8
    data = char.encode("utf-8", "surrogateescape" if is_byte else "surrogatepass")
    return "".join(f"\\x{byte:02x}" for byte in data)
