"""Shell command lines: the simple commands in them with their places, or None where the line is not
fully understood.

`lexemes` reads every line. `simple_commands` understands the part of POSIX sh and bash that agents
write: words with quotes, assignments, redirects, comments, `;` `&` `&&` `||` `|` `|&` and newlines.
Everything else (substitutions, subshells, groups, heredocs, keywords, arithmetic) is recognised and
refused: a command that is not understood is never changed. Places are character offsets, end
exclusive.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from contextkernel.records import NamedTuple

# What stands at a place of a line. A word's quotes, and substitutions of two levels, are closed.
_LEXEME = re.compile(
    r"""(?P<blank>[ \t]+|\\\n)
    |(?P<comment>(?<![^ \t\n;&|()<>])\#[^\n]*)
    |(?P<redirect>(?:\d*|\{\w+\})(?:<<<|<<-?|>>|>\||>&|<&|<>|>|<)|&>>?)
    |(?P<separator>&&|\|\||\|&|[;|&\n])
    |(?P<paren>[()])
    |(?P<word>(?:[^ \t\n'"\\|&;<>()`$]+|'[^']*'|"(?:\\.|[^"\\])*"
        |\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`|\\.|\$)+)
    |(?P<stray>.)""",
    re.S | re.X,
)
# Patterns as text: most lines need none of these, and a hook pays for each that is compiled
_VARIABLE = r"\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\}|[0-9?#@*!$-])"
_PIECE = (  # of a word
    r"""(?s)[^'"\\`$(]+|'[^']*'|"(?:\\.|[^"\\])*"|\\.|"""
    + _VARIABLE
    + r"""|\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`|."""
)
_IN_QUOTES = r"""(?s)\\.|`|""" + _VARIABLE + r"""|\$[({'"[]?"""
_UNKNOWN = ("(", "{", "'", '"', "[")  # behind $: substitutions, ANSI quotes
_EXPANDING = r"[`$*?[]"
_QUOTING = r"['\"\\]"
ESCAPED_IN_QUOTES = '$`"\\\n'  # a backslash in double quotes takes the meaning of these only
PYTHON = r"python3?(?:\.\d+)?"
KEYWORDS = frozenset(
    (
        "if then else elif fi for while until do done case esac select function time coproc { } "
        "! [[ ]]"
    ).split()
)
LONGEST_PATH = 4096  # characters; PATH_MAX of Linux
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")


class Lexeme(NamedTuple):
    """What stands at a place of a line. `kind`: blank, comment, redirect (without its target),
    separator, paren, word, or stray: what nothing closes.
    """

    kind: str
    text: str
    first: int
    end: int


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


def lexemes(text: str, at: int = 0) -> Iterator[Lexeme]:
    """What stands in a line from a place on, one after another, with nothing left out."""
    for found in _LEXEME.finditer(text, at):
        yield Lexeme(str(found.lastgroup), found.group(), found.start(), found.end())


def unquoted(word: str, escaped: str = ESCAPED_IN_QUOTES) -> str:
    """A word without its quotes and backslashes; what is expanded in it stays as it stands."""
    if not re.search(_QUOTING, word):
        return word
    return "".join(_plain(found.group(), escaped) for found in re.finditer(_PIECE, word))


def _plain(piece: str, escaped: str) -> str:
    if piece[0] == "'":
        return piece[1:-1]
    if piece[0] == "\\":
        return piece[1:].replace("\n", "")
    if piece[0] != '"':
        return piece
    return re.sub(
        r"(?s)\\(.)",
        lambda found: found.group() if found[1] not in escaped else found[1].strip("\n"),
        piece[1:-1],
    )


def simple_commands(command: str) -> list[Command] | None:
    """The simple commands of a line in order, or None: leave the line alone."""
    try:
        return _commands(command)
    except _NotUnderstood:
        return None


def _commands(text: str) -> list[Command]:
    found: list[Command] = []
    words: list[Word] = []
    redirected = begun = False  # a redirect waits for its target; the present command has a part
    is_open = False  # `&&`, `||` or `|` waits for a command
    for kind, raw, first, end in lexemes(text):
        if kind == "redirect" and "<<" not in raw:
            redirected = begun = True
        elif kind == "separator":
            if redirected or not begun and raw != "\n":
                raise _NotUnderstood
            if begun:
                found.append(Command(tuple(words), raw))
                words, begun, is_open = [], False, raw in ("&&", "||", "|", "|&")
        elif kind == "word":
            word = _word(raw, first, end)
            if not redirected and (words or not ASSIGNMENT.match(word.text)):
                if not words and word.text in KEYWORDS:
                    raise _NotUnderstood
                words.append(word)
            redirected, begun = False, True
        elif kind not in ("blank", "comment"):
            raise _NotUnderstood
    if redirected or is_open and not begun:
        raise _NotUnderstood
    if begun:
        found.append(Command(tuple(words), ""))
    return found


def _word(raw: str, first: int, end: int) -> Word:
    """The word that stands at a place. Raises _NotUnderstood for what is more than variables."""
    if not re.search(_EXPANDING, raw):
        return Word(unquoted(raw), first, end, True)
    literal = True
    for found in re.finditer(_PIECE, raw):
        piece = found.group()
        if piece[0] == '"':
            expansions = re.findall(_IN_QUOTES, piece[1:])
        elif piece[0] == "$":
            expansions = re.findall(_IN_QUOTES, raw[found.start() : found.end() + 1])[:1]
        else:
            if piece[0] in "`(":
                raise _NotUnderstood
            literal = literal and (piece[0] in "'\\" or not re.search(r"[*?[]", piece))
            continue
        if any(one == "`" or one[1:] in _UNKNOWN for one in expansions if one[0] != "\\"):
            raise _NotUnderstood
        literal = literal and all(one[0] == "\\" for one in expansions)
    return Word(unquoted(raw), first, end, literal)


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
    if words and re.fullmatch(PYTHON, os.path.basename(words[0].text)):
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
