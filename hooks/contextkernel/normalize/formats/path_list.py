"""Lists of paths: each folder once, then its names; nothing is left out until the room is used
up.
"""

from __future__ import annotations

import re

from contextkernel import marks
from contextkernel.normalize.document import Document
from contextkernel.normalize.layout import Block, Layout, Rank, Request

PATH = re.compile(r"(?:\./|/|~/|[A-Za-z]:\\)?[\w.@+~#$%(){}\[\]=,&'-][^\t\n:*?\"<>|]*$")
TARGET_CHARS = 12000  # characters; above, large folders are cut to their first names
FEWEST, SHARE = 30, 0.9
FIRST_NAMES, LAST_NAMES = 6, 2


def layout(document: Document, request: Request) -> Layout | None:
    """Runs of paths as folders with names; None when fewer than nine in ten lines are paths
    below some folder.
    """
    lines = document.lines
    at_path = [
        bool(line)
        and "/" in line
        and "  " not in line
        and not line.startswith(" ")
        and PATH.match(line) is not None
        for line in lines
    ]
    if sum(at_path) < FEWEST or sum(at_path) < SHARE * sum(1 for line in lines if line.strip()):
        return None
    if sum(line.count(" ") for line, ok in zip(lines, at_path) if ok) > 0.3 * sum(at_path):
        return None  # prose with slashes
    blocks: list[Block] = []
    start = 0
    target_chars = request.limits.target_chars if request.exit_code else TARGET_CHARS
    while start < len(lines):
        if not at_path[start]:
            blocks.append(Block(start, start, Rank.MUST if lines[start].strip() else Rank.NOTABLE))
            start += 1
            continue
        end = start
        while end + 1 < len(lines) and at_path[end + 1]:
            end += 1
        blocks.append(
            Block(
                start,
                end,
                Rank.MUST,
                tuple(folders(lines[start : end + 1], target_chars, request.handle)),
                "hoist",
            )
        )
        start = end + 1
    return Layout(blocks, "paths grouped by folder", None, target_chars + 4000)


def folders(paths: list[str], target_chars: int, handle: str) -> list[str]:
    """Lines "folder/: name, name"; a name that holds ", " keeps its line.  Over `target_chars`
    characters large folders are cut.
    """
    groups: dict[str, list[str]] = {}
    for path in paths:
        folder, _, name = path.rstrip("/").rpartition("/")
        groups.setdefault(folder, []).append(name + ("/" if path.endswith("/") else ""))
    lines = _written(groups)
    if sum(map(len, lines)) + len(lines) <= target_chars:
        return lines
    most = 40
    while most > 2:
        lines = _written(groups, most, handle)
        if sum(map(len, lines)) + len(lines) <= target_chars:
            return lines
        most //= 2
    head = lines[: max(4, len(lines) * target_chars // (2 * (sum(map(len, lines)) + 1)))]
    size = 0
    kept = []
    for line in head:
        size += len(line) + 1
        if size > target_chars:
            break
        kept.append(line)
    left = list(groups)[len(kept) :]
    tops: dict[str, int] = {}
    for folder in left:
        top = "/".join(folder.split("/")[:2])
        tops[top] = tops.get(top, 0) + len(groups[folder])
    words = ", ".join(
        "%s %d" % pair for pair in sorted(tops.items(), key=lambda pair: -pair[1])[:4]
    )
    return kept + [marks.note(f"{len(left)} more folders: {marks.clip(words, 60)}", handle)]


def _written(groups: dict[str, list[str]], most: int = 0, handle: str = "") -> list[str]:
    lines: list[str] = []
    for folder, names in groups.items():
        if any(", " in name for name in names):
            lines += [folder + "/" + name for name in names]
            continue
        if len(names) == 1:
            lines.append((folder + "/" if folder else "") + names[0])
            continue
        more = ""
        if most and len(names) > most + 4:
            more = " " + marks.note(f"{len(names) - most} more", handle)
            names = (
                names[: most - LAST_NAMES] + ["…"] + names[-LAST_NAMES:]
                if most > 2 * LAST_NAMES
                else names[:most]
            )
        lines.append((folder + "/: " if folder else "./: ") + ", ".join(names) + more)
    return lines
