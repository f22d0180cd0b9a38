"""The rules of .gitignore files, for folders that git does not know."""
from __future__ import annotations

import re
from typing import List, NamedTuple


class Rule(NamedTuple):
    """One line of a .gitignore.  `pattern` is matched against the path relative to the file's folder."""

    pattern: "re.Pattern[str]"
    refuses: bool
    folders_only: bool


def rules_of(text: str) -> List[Rule]:
    """The rules of a .gitignore, in its order."""
    rules = []
    for line in text.split("\n"):
        line = line.rstrip("\r")
        line = re.sub(r"(?<!\\)\s+$", "", line)
        if not line or line.startswith("#"):
            continue
        refuses = not line.startswith("!")
        line = line if refuses else line[1:]
        folders_only = line.endswith("/")
        line = line.rstrip("/")
        if line:
            rules.append(Rule(re.compile(_regex(line)), refuses, folders_only))
    return rules


def _regex(glob: str) -> str:
    """A gitignore glob as a regex over a whole relative path."""
    anchored = "/" in glob
    glob = glob.lstrip("/")
    out, at = [] if anchored else ["(?:.*/)?"], 0
    while at < len(glob):
        if glob.startswith("**/", at):
            out.append("(?:.*/)?")
            at += 3
        elif glob.startswith("/**", at) and at + 3 == len(glob):
            out.append("/.*")
            at += 3
        elif glob[at] == "*":
            out.append("[^/]*")
            at += 1
        elif glob[at] == "?":
            out.append("[^/]")
            at += 1
        elif glob[at] == "[" and "]" in glob[at + 2:]:
            end = glob.index("]", at + 2)
            inner = glob[at + 1:end].replace("\\", "\\\\").replace("[", "\\[")
            out.append("[" + ("^" + inner[1:] if inner[0] in "!^" else inner) + "]")
            at = end + 1
        else:
            at += glob[at] == "\\" and at + 1 < len(glob)
            out.append(re.escape(glob[at]))
            at += 1
    return "".join(out) + r"\Z"


def refused(path: str, is_folder: bool, layers: "List[tuple]") -> bool:
    """Is a path ignored?  `layers`: (folder, rules) from the root inwards; the last rule that matches decides."""
    for folder, rules in reversed(layers):
        relative = path[len(folder) + 1:] if folder else path
        for rule in reversed(rules):
            if (is_folder or not rule.folders_only) and rule.pattern.match(relative):
                return rule.refuses
    return False
