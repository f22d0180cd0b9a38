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
MOST_NAMES, LAST_NAMES = 40, 2  # of a folder that is cut; of them from its end


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
    large folders are cut, then the last folders are only counted.
    """
    groups: dict[str, list[str]] = {}
    for path in paths:
        folder, _, name = path.rstrip("/").rpartition("/")
        groups.setdefault(folder, []).append(name + ("/" if path.endswith("/") else ""))
    lines = _written(groups)
    most = 2 * MOST_NAMES
    while _size(lines) > target_chars:
        most //= 2
        if most <= 2:
            return _first_folders(lines, groups, target_chars, handle)
        lines = _written(groups, most, handle)
    return lines


def _size(lines: list[str]) -> int:
    return sum(map(len, lines)) + len(lines)


def _first_folders(
    lines: list[str], groups: dict[str, list[str]], target_chars: int, handle: str
) -> list[str]:
    """The first lines, and a mark that counts what is in the other folders, by their top."""
    kept: list[str] = []
    size = 0
    for line in lines[: max(4, len(lines) * target_chars // (2 * (sum(map(len, lines)) + 1)))]:
        size += len(line) + 1
        if size > target_chars:
            break
        kept.append(line)
    left = list(groups)[len(kept) :]
    tops: dict[str, int] = {}
    for folder in left:
        top = "/".join(folder.split("/")[:2])
        tops[top] = tops.get(top, 0) + len(groups[folder])
    largest = sorted(tops.items(), key=lambda pair: -pair[1])[:4]
    words = marks.clip(", ".join(f"{top} {count}" for top, count in largest), 60)
    return kept + [marks.note(f"{len(left)} more folders: {words}", handle)]


def _written(groups: dict[str, list[str]], most: int = 0, handle: str = "") -> list[str]:
    """A line for each folder, with `most` of its names; 0: all."""
    lines: list[str] = []
    for folder, names in groups.items():
        if any(", " in name for name in names):
            lines += [folder + "/" + name for name in names]
        elif len(names) == 1:
            lines.append((folder + "/" if folder else "") + names[0])
        else:
            lines.append((folder or ".") + "/: " + _listed(names, most, handle))
    return lines


def _listed(names: list[str], most: int, handle: str) -> str:
    """Names, the middle of very many left out."""
    if not most or len(names) <= most + 4:
        return ", ".join(names)
    mark = marks.note(f"{len(names) - most} more", handle)
    if most > 2 * LAST_NAMES:
        names = names[: most - LAST_NAMES] + ["…"] + names[-LAST_NAMES:]
    else:
        names = names[:most]
    return ", ".join(names) + " " + mark
