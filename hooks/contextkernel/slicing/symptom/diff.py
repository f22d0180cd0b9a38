"""A unified diff as evidence: the places it touches and the words it changes."""

from __future__ import annotations

import re

from contextkernel.slicing.symptom.frames import Place

_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?(.*)")


def read(diff: str) -> tuple[tuple[Place, ...], str]:
    """(places, text): the places in the new files by hunk, and the changed lines with their
    hunk's context as one text.
    """
    places: list[Place] = []
    words: list[str] = []
    path, left = "", 0
    for line in diff.replace("\r\n", "\n").split("\n"):
        if left <= 0 and line.startswith(("--- ", "+++ ")):
            name = line[4:].split("\t")[0].strip().strip('"')
            if name != "/dev/null":
                path = name[2:] if name[:2] in ("a/", "b/") else name
            continue
        match = _HUNK.match(line)
        if match:
            first, left = int(match.group(1)), int(match.group(2) or 1)
            places.append(Place(path, max(1, first), max(1, first + left - 1)))
            words.append(match.group(3))
        elif line.startswith(("+", "-")):
            words.append(line[1:])
            left -= line.startswith("+")
        elif line.startswith(" "):
            left -= 1
    return tuple(dict.fromkeys(places)), "\n".join(word for word in words if word)
