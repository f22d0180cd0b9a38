"""The rules of ignore files, as git's own matcher reads them, in time linear in the text.

Texts and paths are taken byte for byte, one character a byte (`bytewise`): git's `?` is one byte
too.  Whatever a pattern
holds, nothing is raised and nothing grows: a pattern of many stars is followed as a set of states,
and past BUDGET the rest
of the patterns with wildcards does not count.
"""

from __future__ import annotations

import os
import re
from typing import Callable, NamedTuple, Union

# comparisons of a path with a pattern, in runs of 16 bytes: about ten seconds, a thousand times
# what repositories need
BUDGET = 20_000_000
LONGEST = 1024  # bytes of a pattern; a longer one matches nothing
MOST_LOOPS = 2  # stars in a regular expression: so many cannot make it slow

_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": " \t",
    "cntrl": "\0-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@[-`{-~",
    "space": " \t-\r",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
_STAR, _DEEP = "*", "**"  # any run without a slash, any run
_Token = Union[str, frozenset[str]]


class Work:
    """What is left of BUDGET, shared by all rules of one listing."""

    def __init__(self, left: int = BUDGET) -> None:
        self.left = left


class Rule(NamedTuple):
    """A line of an ignore file.  `by_name`: the last part of a path is matched, else all of it
    below the file's folder.
    """

    matches: Callable[[str], object]
    by_name: bool
    refuses: bool
    folders_only: bool


class Rules(NamedTuple):
    """An ignore file: `exact` and `wild` hold (number of the line, rule), last line first."""

    exact: dict[tuple[bool, str], list[tuple[int, Rule]]]  # by_name and the text itself
    wild: list[tuple[int, Rule]]
    work: Work
    folds_case: bool


def bytewise(path: str) -> str:
    """A path, or text of the file system, with one character a byte."""
    return path if path.isascii() else os.fsencode(path).decode("latin-1")


def rules_of(text: str, work: Work | None = None, folds_case: bool = False) -> Rules:
    """The rules of an ignore file's text (one character a byte)."""
    rules = Rules({}, [], work or Work(), folds_case)
    text = text[3:] if text.startswith("\xef\xbb\xbf") else text
    for number, line in enumerate(text.split("\n")):
        line = _trimmed(line[:-1] if line.endswith("\r") else line).partition("\0")[0]
        if line and not line.startswith("#"):
            _add(rules, number, line.lower() if folds_case else line)
    for same in rules.exact.values():
        same.reverse()
    rules.wild.reverse()
    return rules


def _trimmed(line: str) -> str:
    """A line without the blanks at its end; a backslash keeps the one that follows it."""
    kept = line.rstrip(" ")
    slashes = len(kept) - len(kept.rstrip("\\"))
    return kept + " " if slashes % 2 and len(kept) < len(line) else kept


def _add(rules: Rules, number: int, line: str) -> None:
    refuses = not line.startswith("!")
    line = line if refuses else line[1:]
    folders_only = line.endswith("/")
    line = line[:-1] if folders_only else line
    by_name = "/" not in line
    line = line[1:] if line.startswith("/") else line
    if not line:
        return
    if not _special(line):
        rules.exact.setdefault((by_name, line), []).append(
            (number, Rule(line.__eq__, by_name, refuses, folders_only))
        )
        return
    matches = _matcher(line, by_name, rules.work)
    if matches:
        rules.wild.append((number, Rule(matches, by_name, refuses, folders_only)))


def _special(text: str) -> bool:
    return any(one in text for one in "*?[\\")


def refused(path: str, is_folder: bool, layers: list[tuple[str, Rules]]) -> bool:
    """Is a path (one character a byte) ignored?  `layers`: (folder, rules), the strongest last;
    the last rule that matches decides.
    """
    name = path[path.rfind("/") + 1 :]
    for folder, rules in reversed(layers):
        found = _verdict(rules, path[len(folder) + 1 :] if folder else path, name, is_folder)
        if found is not None:
            return found
    return False


def _verdict(rules: Rules, relative: str, name: str, is_folder: bool) -> bool | None:
    if rules.folds_case:
        relative, name = relative.lower(), name.lower()
    best, refuses = -1, None
    if rules.exact:
        for key in ((True, name), (False, relative)):
            for number, rule in rules.exact.get(key, ()):
                if number > best and (is_folder or not rule.folders_only):
                    best, refuses = number, rule.refuses
                    break
    if not rules.wild or rules.work.left <= 0:
        return refuses
    rules.work.left -= len(rules.wild) * (1 + (len(relative) >> 4))
    for number, rule in rules.wild:
        if number < best:
            break
        if (is_folder or not rule.folders_only) and rule.matches(
            name if rule.by_name else relative
        ):
            return rule.refuses
    return refuses


# -- one pattern


def matcher(pattern: str, work: Work | None = None) -> Callable[[str], object]:
    """Whether a whole path matches a pattern in which `*` stays between slashes and `**` does
    not.
    """
    return (_matcher(pattern, False, work or Work()) if _special(pattern) else pattern.__eq__) or (
        lambda text: False
    )


def _matcher(pattern: str, by_name: bool, work: Work) -> Callable[[str], object] | None:
    """A test for a pattern with wildcards; None when it matches nothing."""
    if pattern[0] == "*" and by_name and not _special(pattern[1:]):
        end = pattern[1:]
        return lambda text: text.endswith(end)
    tokens = _tokens(re.sub(r"\*{3,}", "**", pattern), by_name)
    if tokens is None or len(tokens) > LONGEST:
        return None
    if sum(isinstance(token, str) for token in tokens) <= MOST_LOOPS:
        return re.compile(_regex(tokens), re.DOTALL).fullmatch
    return _Machine(tokens, work).matches


def _tokens(pattern: str, by_name: bool) -> list[_Token] | None:
    """A pattern as sets of characters, _STAR and _DEEP; "**/" stands for the folders that may be
    missing.

    None when it can match nothing.  Two stars are special at the begin of what follows the plain
    part, and after a slash.
    """
    out: list[_Token] = []
    at, start = 0, min(pattern.find(one) for one in "*?[\\" if one in pattern)
    while at < len(pattern):
        one = pattern[at]
        at += 1
        if one == "\\":
            if at == len(pattern):
                return None
            out.append(frozenset(pattern[at]))
            at += 1
        elif one == "?":
            out.append(_ANY if by_name else _NO_SLASH)
        elif one == "*":
            deep = pattern[at : at + 1] == "*"
            begin, at = at - 1, at + deep
            special = (
                deep
                and not by_name
                and (begin == start or pattern[begin - 1] == "/")
                and (at == len(pattern) or pattern[at] == "/" or pattern.startswith("\\/", at))
            )
            if special and pattern[at : at + 1] == "/":
                at += 1
                if out[-1:] != ["**/"]:
                    out.append("**/")
            elif special:
                out.append(_DEEP)
            elif out[-1:] != [_STAR]:
                out.append(_STAR)
        elif one == "[":
            found = _set(pattern, at)
            if found is None:
                return None
            members, at = found
            out.append(members if by_name else members - {"/"})
        else:
            out.append(frozenset(one))
    return out


_ANY = frozenset(map(chr, range(256)))
_NO_SLASH = _ANY - {"/"}


def _set(pattern: str, at: int) -> tuple[frozenset[str], int] | None:
    """(members, end) of a bracket whose inside begins at `at`; None without an end, or with a
    class of no known name.
    """
    negated = pattern[at : at + 1] in ("!", "^")
    at += negated
    members, before, first = set(), "", True
    while True:
        one = pattern[at : at + 1]
        if not one:
            return None
        if one == "]" and not first:
            break
        first = False
        at += 1
        if one == "\\":
            one = pattern[at : at + 1]
            if not one:
                return None
            at += 1
            members.add(one)
        elif one == "-" and before and pattern[at : at + 1] not in ("", "]"):
            last = pattern[at]
            at += 1
            if last == "\\":
                last = pattern[at : at + 1]
                if not last:
                    return None
                at += 1
            # nothing for a range that runs backwards
            members.update(map(chr, range(ord(before), ord(last) + 1)))
            one = ""
        elif one == "[" and pattern[at : at + 1] == ":":
            end = pattern.find("]", at + 1)
            if end < 0:
                return None
            if end - at >= 2 and pattern[end - 1] == ":":
                spans = _CLASSES.get(pattern[at + 1 : end - 1])
                if spans is None:
                    return None
                escaped = spans.replace("[", r"\[")
                members.update(char for char in _ANY if re.match(f"[{escaped}]", char))
                at, one = end + 1, ""
            else:
                members.add(one)
        else:
            members.add(one)
        before = one
    return frozenset(_ANY - members if negated else members), at + 1


def _regex(tokens: list[_Token]) -> str:
    parts = {_STAR: "[^/]*", _DEEP: ".*", "**/": "(?:.*/)?"}
    return "".join(parts[token] if isinstance(token, str) else _written(token) for token in tokens)


def _written(members: frozenset[str]) -> str:
    if len(members) == 1:
        return re.escape(next(iter(members)))
    if len(members) >= 255 and members in (_ANY, _NO_SLASH):
        return "." if members == _ANY else "[^/]"
    if not members:
        return r"(?!)"
    codes = "".join(f"\\x{ord(one):02x}" for one in sorted(members))
    return f"[{codes}]"


class _Machine:
    """A pattern as states, one bit each: what is behind a text of n bytes takes n steps,
    whatever the pattern.
    """

    def __init__(self, tokens: list[_Token], work: Work) -> None:
        self.work, self.least = work, 0
        self.steps: dict[str, int] = {}  # character -> states that it leads out of
        self.stays: dict[str, int] = {}  # character -> states that it leaves as they are
        # states that may be left for the next one, or for the one after it
        self.free = self.skips = 0
        position = 0
        for token in tokens:
            bit = 1 << position
            if isinstance(token, str):
                self.free |= bit
                for char in _NO_SLASH if token == _STAR else _ANY:
                    self.stays[char] = self.stays.get(char, 0) | bit
                if token == "**/":  # any run and a slash, or neither
                    self.skips |= bit
                    position += 1
                    self.steps["/"] = self.steps.get("/", 0) | bit << 1
            else:
                self.least += 1
                for char in token:
                    self.steps[char] = self.steps.get(char, 0) | bit
            position += 1
        self.end = 1 << position

    def matches(self, text: str) -> bool:
        """Whether the whole text matches."""
        if len(text) < self.least or self.work.left <= 0:
            return False
        self.work.left -= len(text)
        state = self._closed(1)
        for char in text:
            state = self._closed(
                (state & self.steps.get(char, 0)) << 1 | state & self.stays.get(char, 0)
            )
            if not state:
                return False
        return bool(state & self.end)

    def _closed(self, state: int) -> int:
        state |= (state & self.skips) << 2
        return state | (state & self.free) << 1
