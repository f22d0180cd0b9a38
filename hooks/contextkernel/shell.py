"""Shell command lines: the simple commands in them with their places, or None where the line is not
fully understood.

The grammar is the part of POSIX sh and bash that agents write: words with quotes, assignments,
redirects, comments, `;` `&`
`&&` `||` `|` `|&` and newlines.  Everything else (substitutions, subshells, groups, heredocs,
keywords, arithmetic) is
recognised and refused: a command that is not understood is never changed.  Places are character
offsets, end exclusive.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

SEPARATORS = ("&&", "||", "|&", ";", "|", "&", "\n")
VARIABLE = re.compile(r"\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\}|[0-9?#@*!$-])")
PYTHON = re.compile(r"python3?(?:\.\d+)?")
KEYWORDS = frozenset(
    (
        "if then else elif fi for while until do done case esac select function time coproc { } "
        "! [[ ]]"
    ).split()
)
REDIRECT = re.compile(r"(?:\d*|&|\{\w+\})(?:>>|>\||>&|<&|<>|>|<)|&>>?")
LONGEST_PATH = 4096  # characters; PATH_MAX of Linux
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")


class Word(NamedTuple):
    """A word with quotes removed, and its place. `literal`: no expansion in it (variables,
    globs, ~ stay as they stand).
    """

    text: str
    first: int
    end: int
    literal: bool


class Command(NamedTuple):
    """A simple command: its words (assignments and redirects left out) and the separator that
    follows it ("" at the end).
    """

    words: tuple[Word, ...]
    after: str


class _NotUnderstood(Exception):
    pass


def simple_commands(command: str) -> list[Command] | None:
    """The simple commands of a line in order, or None: leave the line alone."""
    try:
        return _commands(command)
    except _NotUnderstood:
        return None


def _commands(text: str) -> list[Command]:
    found: list[Command] = []
    words: list[Word] = []
    at, redirected, begun, open_end = (
        0,
        False,
        False,
        False,
    )  # begun: the present command has a part; open_end: `&&`, `||` or `|` waits for one
    while at < len(text):
        if text[at] in " \t":
            at += 1
        elif text.startswith("\\\n", at):
            at += 2
        elif text[at] == "#":
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif _redirect(text, at):
            at, redirected, begun = at + len(_redirect(text, at)), True, True
        elif any(text.startswith(one, at) for one in SEPARATORS):
            if redirected:
                raise _NotUnderstood
            after = next(one for one in SEPARATORS if text.startswith(one, at))
            at += len(after)
            if begun:
                found.append(Command(tuple(words), after))
                words, begun, open_end = [], False, after in ("&&", "||", "|", "|&")
            elif after != "\n":
                raise _NotUnderstood
        elif text[at] in "()":
            raise _NotUnderstood
        else:
            word = _word(text, at)
            if not redirected and not (not words and ASSIGNMENT.match(word.text)):
                if not words and word.text in KEYWORDS:
                    raise _NotUnderstood
                words.append(word)
            at, redirected, begun = word.end, False, True
    if redirected or open_end and not begun:
        raise _NotUnderstood
    if begun:
        found.append(Command(tuple(words), ""))
    return found


def _redirect(text: str, at: int) -> str:
    """The redirect operator at a place, "" for none. Heredocs, here-strings and process
    substitutions are not understood.
    """
    found = REDIRECT.match(text, at)
    if not found or not found.group():
        return ""
    rest = text[found.end() : found.end() + 1]
    if found.group().endswith("<") and rest == "<" or found.group()[-1] in "<>" and rest == "(":
        raise _NotUnderstood
    return found.group()


def _word(text: str, first: int) -> Word:
    """The word that starts at a place. Raises _NotUnderstood for substitutions and unclosed
    quotes.
    """
    parts, at, literal = [], first, True
    while at < len(text):
        char = text[at]
        if char == "'":
            end = text.find("'", at + 1)
            if end < 0:
                raise _NotUnderstood
            parts.append(text[at + 1 : end])
            at = end + 1
        elif char == '"':
            part, at, plain = _double_quoted(text, at + 1)
            parts.append(part)
            literal = literal and plain
        elif char == "\\":
            if at + 1 == len(text):
                raise _NotUnderstood
            parts.append("" if text[at + 1] == "\n" else text[at + 1])
            at += 2
        elif char == "$":
            at, name = _variable(text, at)
            parts.append(name)
            literal = False
        elif char in "`()":
            raise _NotUnderstood
        elif char in " \t\n;|&<>":
            break
        else:
            parts.append(char)
            literal = literal and char not in "*?["
            at += 1
    return Word("".join(parts), first, at, literal)


def _double_quoted(text: str, at: int) -> tuple[str, int, bool]:
    """(content, place after the closing quote, whether nothing is expanded). Raises
    _NotUnderstood.
    """
    parts: list[str] = []
    plain = True
    while at < len(text):
        char = text[at]
        if char == '"':
            return "".join(parts), at + 1, plain
        if char == "\\" and at + 1 < len(text):
            parts.append(
                text[at + 1]
                if text[at + 1] in '$`"\\'
                else ""
                if text[at + 1] == "\n"
                else text[at : at + 2]
            )
            at += 2
        elif char == "`":
            raise _NotUnderstood
        elif char == "$":
            at, name = _variable(text, at)
            parts.append(name)
            plain = False
        else:
            parts.append(char)
            at += 1
    raise _NotUnderstood


def _variable(text: str, at: int) -> tuple[int, str]:
    """(place after a variable, its text): $name, ${name}, $1, $?. Substitutions and ANSI quotes
    are not understood.
    """
    found = VARIABLE.match(text, at)
    if found:
        return found.end(), found.group()
    if text[at + 1 : at + 2] in ("(", "{", "'", '"', "["):
        raise _NotUnderstood
    return at + 1, "$"


def slicer_place(command: Command) -> int:
    """The place behind the last word when a command is a slicer call that lacks a budget; -1
    otherwise.

    `[python3 [-flags…]] …/ck.py slice|symbol …`, at command position, the script's name as a word
    of its own.  Behind the
    last word, so that a permission rule for any beginning of the command still speaks of the new
    one.
    """
    words = command.words
    at = 0
    if words and PYTHON.fullmatch(os.path.basename(words[0].text)):
        at = 1
        while at < len(words) and re.fullmatch(r"-[IESsBuPq]+", words[at].text):
            at += 1
    if (
        len(words) < at + 2
        or os.path.basename(words[at].text) != "ck.py"
        or words[at + 1].text not in ("slice", "symbol")
        or not words[at + 1].literal
    ):
        return -1
    rest = [word.text for word in words[at + 2 :]]
    if any(map(_names_budget, rest)) or "--build" in rest or "-h" in rest or "--help" in rest:
        return -1
    return words[-1].end


def _names_budget(word: str) -> bool:
    """Whether a word is `--budget`, or was meant to be: a shortened name is refused by ck.py,
    and must not be outvoted here.
    """
    name = word.partition("=")[0]
    return len(name) > 2 and "--budget".startswith(name)


def with_budget(command: str) -> str | None:
    """The line with ` --budget auto` in each slicer call that lacks a budget; None when there is
    none, or any doubt.
    """
    commands = simple_commands(command) if "ck.py" in command else None
    places = [place for place in map(slicer_place, commands or ()) if place >= 0]
    parts = [command[start:end] for start, end in zip([0] + places, places + [len(command)])]
    return " --budget auto".join(parts) if places else None


def working_folder(command: str, cwd: str) -> str:
    """The folder in which the last command of a line works: leading `cd X &&`, `pushd X`, `git
    -C X`, `make -C X` resolved; else `cwd`.
    """
    commands = simple_commands(command)
    for one in commands or ():
        words = [word.text for word in one.words]
        if (
            len(words) == 2
            and words[0] in ("cd", "pushd")
            and one.after in ("&&", ";", "\n")
            and one.words[1].literal
            and words[1] != "-"
        ):
            cwd = os.path.normpath(os.path.join(cwd, os.path.expanduser(words[1])))
            if len(cwd) > LONGEST_PATH:
                break  # no folder is named so; what follows would be joined to it again and again
        elif (
            len(words) > 2
            and words[0] in ("git", "make")
            and words[1] == "-C"
            and one.words[2].literal
        ):
            return os.path.normpath(os.path.join(cwd, os.path.expanduser(words[2])))
    return cwd
