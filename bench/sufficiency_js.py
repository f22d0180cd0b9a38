"""Throw sites of a JavaScript or TypeScript tree and who calls them, by regexes of our own.

A caller is a call, in another file's function, of a name that exactly one function of the tree has,
where the calling file also mentions that file's stem or the name in an import or require.
Everything else is left out.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from sufficiency_oracle import FEWEST_WORDS, FILLERS, Frame, Function, Site, source_files

SUFFIXES = (".js", ".mjs", ".cjs", ".ts")
HEAD = re.compile(
    r"^[ \t]*(?:export[ \t]+)?(?:default[ \t]+)?(?:async[ \t]+)?(?:function\*?[ \t]+(\w+)[ \t]*\("
    r"|(?:const|let|var)[ \t]+(\w+)[ \t]*=[ \t]*(?:async[ \t]*)?"
    r"(?:function\b|\([^()\n]*\)[ \t]*=>)|(?:[\w$]+\.)+(\w+)[ \t]*=[ \t]*function\b|(?:static[ "
    r"\t]+)?(?:async[ \t]+)?#?(\w+)[ \t]*\([^;\n]*\)[ \t]*\{[ \t]*$)"
)
THROW = re.compile(
    r"\bthrow[ \t]+(?:new[ \t]+)?([A-Z]\w*)\([ \t\n]*([\"'`])((?:(?!\2)[^\\]|\\.)*)\2"
)
KEYWORDS = frozenset("if for while switch catch function return constructor".split())
NOISE = re.compile(r"/\*.*?\*/|(?<![:\\\"'`/])//[^\n]*", re.S)
SHORTEST = 5  # characters of a name that may be followed


class Tree:
    """The functions and call sites of every script under a folder."""

    def __init__(self, root: str) -> None:
        self.lines: dict[str, list[str]] = {}
        self.functions: dict[tuple[str, str], Function] = {}
        self.callers: dict[tuple[str, str], list[Frame]] = {}
        texts = {}
        for path in source_files(root, SUFFIXES):
            with open(f"{root}/{path}", encoding="utf-8", errors="replace") as stream:
                texts[path] = NOISE.sub(
                    lambda match: re.sub(r"[^\n]", " ", match.group()), stream.read()
                )
            self.lines[path] = texts[path].split("\n")
            for function in _functions(path, self.lines[path]):
                self.functions.setdefault((path, function.name), function)
        self.texts = texts
        names: dict[str, list[Function]] = {}
        for function in self.functions.values():
            names.setdefault(function.name, []).append(function)
        self.unique = {
            name: found[0]
            for name, found in names.items()
            if len(found) == 1 and len(name) >= SHORTEST
        }
        for path in sorted(texts):
            self._calls(path)

    def _calls(self, path: str) -> None:
        loads = " ".join(
            line for line in self.lines[path] if re.search(r"\b(?:import|require|from)\b", line)
        )
        for number, line in enumerate(self.lines[path], 1):
            for match in re.finditer(r"(?<![\w$])(?:this\.)?#?(\w+)\(", line):
                target = self.unique.get(match.group(1))
                if target is None or HEAD.match(line) and match.group(1) in line.partition("(")[0]:
                    continue
                stem = re.escape(target.path.rpartition("/")[2].rpartition(".")[0])
                if target.path != path and not re.search(rf"[/\"']{stem}(?:\.\w+)?[\"']", loads):
                    continue
                around = self._around(path, number)
                if around and around.name != target.name:
                    self.callers.setdefault((target.path, target.name), []).append(
                        Frame(path, number, around.name, line.strip())
                    )

    def _around(self, path: str, line: int) -> Function | None:
        found = [
            one
            for one in self.functions.values()
            if one.path == path and one.first <= line <= one.last
        ]
        return min(found, key=lambda one: one.last - one.first) if found else None

    def sites(self, chance: random.Random) -> Iterator[Site]:
        """Throw statements with a readable message, by path and line."""
        for path in sorted(self.texts):
            for match in THROW.finditer(self.texts[path]):
                line = self.texts[path].count("\n", 0, match.start()) + 1
                around = self._around(path, line)
                message = (
                    re.sub(r"\$\{[^{}]*\}", lambda _: chance.choice(FILLERS), match.group(3))
                    .split("\n")[0]
                    .partition("${")[0]
                    .strip()
                )
                if around and len(re.findall(r"[A-Za-z]{3,}", message)) >= FEWEST_WORDS:
                    yield Site(
                        path, line, around.name, around.first, around.last, match.group(1), message
                    )

    def callers_at(self, site: Site, hops: int) -> list[Frame]:
        """Frames so many calls above a throw, none of them in its file, sorted."""
        edge = {(site.path, site.function)}
        seen = set(edge)
        frames: list[Frame] = []
        for _ in range(hops):
            frames = sorted({frame for target in edge for frame in self.callers.get(target, ())})
            edge = {(frame.path, frame.function) for frame in frames} - seen
            frames = [frame for frame in frames if (frame.path, frame.function) in edge]
            seen |= edge
        return [frame for frame in frames if frame.path != site.path]


def _functions(path: str, lines: list[str]) -> Iterator[Function]:
    """Functions by their head line; the end is the first line that closes at the head's
    indentation.
    """
    for number, line in enumerate(lines, 1):
        match = HEAD.match(line)
        name = next((group for group in match.groups() if group), "") if match else ""
        if not name or name in KEYWORDS:
            continue
        indent = len(line) - len(line.lstrip())
        last = number
        if not re.search(r"\}[ \t;,)]*$", line):
            last = next(
                (
                    after
                    for after in range(number + 1, len(lines) + 1)
                    if re.match(rf"[ \t]{{{indent}}}[}})]", lines[after - 1])
                    and len(lines[after - 1]) - len(lines[after - 1].lstrip()) == indent
                ),
                number,
            )
        yield Function(path, name, number, last, None)


def symptom(site: Site, frame: Frame) -> str:
    """What a user pastes: the error, then one caller's frame.  The throw site is not in it."""
    column = 1 + len(frame.text) // 2
    return (
        f"{site.error}: {site.message}\n    at {frame.function} "
        f"(/home/user/app/{frame.path}:{frame.line}:{column})\n"
    )
