"""Any other programming language: definitions by common keywords, no imports."""

from __future__ import annotations

import re

from contextkernel.slicing.scan.definitions import Definition, matched

_DEFINITIONS = (
    re.compile(
        r"\n(?P<indent>[ \t]*)(?:(?:export|default|async|pub|public|private|protected|internal"
        r"|static|final|abstract|override|virtual|sealed|partial|local|open|data)[ \t]+)*"
        r"(?P<kind>def|class|func|fun|fn|function|struct|enum|trait|interface|type|module|object"
        r"|record|protocol|extension|sub|proc)[ \t]+(?:self\.)?(?P<name>[A-Za-z_]\w*)",
        re.M,
    ),
)


def definitions(text: str, masked: str) -> list[Definition]:
    """What common keywords introduce."""
    return matched(_DEFINITIONS, masked)
