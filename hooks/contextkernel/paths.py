"""Path texts: POSIX form for state keys and comparisons."""
from __future__ import annotations

import os
import re

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def posix(path: str) -> str:
    """A path with forward slashes."""
    return path.replace("\\", "/")


def names_a_file(text: object) -> bool:
    """Whether a value can be a path at all: text without NUL, in characters that the file system can carry."""
    try:
        return isinstance(text, str) and bool(text) and b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def file_name_of(identifier: str, most: int = 80) -> str:
    """An identifier (session, agent, tool use) as a safe file name of at most `most` characters; never empty, never dots only."""
    name = _UNSAFE.sub("_", identifier)[:most]
    return name if name.strip(".") else "_"
