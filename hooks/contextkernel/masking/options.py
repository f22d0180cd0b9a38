"""What programs take as secrets: by option, by place in the line, and on stdin."""

from __future__ import annotations

import bisect
import re

from contextkernel.masking.context import value_end
from contextkernel.masking.names import Pattern, is_plain
from contextkernel.masking.tools import (
    OPTIONS,
    OTHERS,
    PASSWORD_OPTIONS,
    PLACES,
    PORT,
    READERS,
    SHELL_WORD,
    USER,
    USER_JOINED,
)

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Spans = Iterator[tuple[int, int]]

WRITERS = ("echo", "printf", "yes ", "<<", "print", "write-output")  # words of what feeds stdin
_WORD = Pattern(r"[^\s|;&\"'`(){}<>]+|[|;&\n]")
_SLASH = Pattern(r"[/\\]")
_HERE_STRING = Pattern(r"<<<\s*")
_HERE_DOCUMENT = Pattern(r"<<-?\s*\\?[\"']?([A-Za-z_]\w{0,40})[\"']?[^\n]*\n")
_WRITER = Pattern(r"(?<![\w-])(?:echo|printf|yes|Write-Output|print)\s+(?:-[neE]+\s+)*")


def taken(text: str, small: str, enclosing: list[str], is_cut: bool) -> Spans:
    """Spans of what programs take as secrets, by option, by place and on stdin."""
    for words, before, value in PLACES:
        if before and any(word in small for word in words):
            yield from _in_place(text, before, value, enclosing)
    yield from _of_options(text, enclosing)
    if any(word in small for word in WRITERS):
        yield from piped(text, enclosing, is_cut)


def _in_place(text: str, before: str, value: str, enclosing: list[str]) -> Spans:
    flags = re.M
    if before.startswith("(?i)"):
        before, flags = before[4:], re.M | re.I
    for place in re.finditer(f"({before})({value})", text, flags):
        secret = place.group(2)
        if secret and not is_plain(secret.strip(), enclosing[place.start(2)]):
            yield place.span(2)


class _Program:
    """What is known of the command that is read: which of its options take a secret."""

    def __init__(self) -> None:
        self.options: list[str] = []
        self.is_other = False  # a program whose -p is none
        self.has_user = False

    def learn(self, word: str) -> None:
        """Take a word of the command."""
        base = _SLASH.split(word)[-1].lower()
        base = base[:-4] if base.endswith(".exe") else base
        if base in OPTIONS and word[0] != "-":
            self.options = self.options + OPTIONS[base]
        self.is_other = self.is_other or base in OTHERS
        self.has_user = self.has_user or word in USER or word.startswith(USER_JOINED)


def _of_options(text: str, enclosing: list[str]) -> Spans:
    """Spans of values of options that are secret for the program named before them on the
    command.
    """
    if not (" -" in text or " /" in text):
        return
    program, last = _Program(), ""
    for part in _WORD.finditer(text):
        word, start = part.group(), part.start()
        if word in "|;&\n":
            if word != "\n" or last != "\\":
                program = _Program()
        elif word[0] in "-/":
            span = _value_of(text, enclosing, program.options, word, start)
            if span:
                yield span
            if program.has_user and not program.is_other and not program.options:
                span = _value_of(text, enclosing, PASSWORD_OPTIONS, word, start)
                if span and not PORT.fullmatch(text[slice(*span)].strip("\"'")):
                    yield span
        program.learn(word)
        last = word


def _value_of(
    text: str, enclosing: list[str], options: Sequence[str], word: str, start: int
) -> tuple[int, int] | None:
    """The span of the secret that the first of some options takes; None when there is none."""
    for option in options:
        sign = option[-1] if option[-1] in ":%,+" else ""
        name = option[:-1] if sign else option
        at = _value_start(text, name, sign, word, start)
        if at < 0:
            continue
        end = value_end(text, at, enclosing[at - 1] if text[at - 1] not in "\"'" else "")
        if sign in (":", "%", ","):
            cut = text.find(sign, at, end)
            at = cut + 1 if cut >= 0 else end
            while end > at and text[end - 1] in "\"'":
                end -= 1
        value = text[at:end]
        is_secret = value and not is_plain(value.strip(), enclosing[at - 1])
        return (at, end) if is_secret and not value.startswith("//") else None
    return None


def _value_start(text: str, name: str, sign: str, word: str, start: int) -> int:
    """Where the value of an option begins if this word names it; -1 if it does not."""
    is_short = len(name) == 2 and name[0] == "-"
    end = start + len(word)
    if word == name or is_short and sign != "+" and _is_cluster(word, name[1]):
        at = end
        while at < len(text) and text[at] in " \t=\\\n":
            at += 1
        if at >= len(text) or text[at] == "-" and not text[at + 1 : at + 2].isdigit():
            return -1
        is_apart = at > end or text[at] not in ("'", '"')
        return -1 if sign == "+" and is_apart else at
    if word.startswith((name + "=", name + ":")):
        return start + len(name) + 1
    if (is_short or sign == "+") and word.startswith(name):
        return start + len(name)
    return -1


def _is_cluster(word: str, letter: str) -> bool:
    """Whether a word is a few short options, the last of which is this letter."""
    return 2 < len(word) < 6 and word[1] != "-" and word.endswith(letter) and word[1:].isalpha()


def piped(text: str, enclosing: list[str], far: bool = False) -> list[tuple[int, int]]:
    """Spans of what echo, printf, here-documents and here-strings hand to a program that reads a
    secret.

    `far`: the text was cut, and such a program may stand beyond its end.
    """
    readers = [reader.start() for reader in READERS.finditer(text)]
    if not readers and not far:
        return []
    spans = (
        _written(text, enclosing, readers, far)
        + _here_strings(text, readers, far)
        + _here_documents(text, readers)
    )
    return [(start, end) for start, end in spans if end > start]


def _written(
    text: str, enclosing: list[str], readers: list[int], far: bool
) -> list[tuple[int, int]]:
    """Arguments of echo and its like in front of a reader, in one pipeline with it."""
    spans: list[tuple[int, int]] = []
    end = stop = 0
    for writer in _WRITER.finditer(text):
        if writer.start() < end:
            continue  # a word of the one before
        end = _end_of_arguments(text, writer.end(), enclosing)
        if end >= len(text) and not far or end < len(text) and text[end] not in "|);}":
            continue
        if end >= stop or end < len(text) and text[end] in ");}":
            stop = _end_of_pipeline(text, end, enclosing)
        at = bisect.bisect_left(readers, end)
        if far and stop >= len(text) or at < len(readers) and readers[at] < stop:
            spans.append((writer.end(), end))
    return spans


def _here_strings(text: str, readers: list[int], far: bool) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for sign in _HERE_STRING.finditer(text):
        first = text.rfind("\n", 0, sign.start()) + 1
        last = _line_end(text, sign.start())
        if far or any(first <= reader < last for reader in readers):
            word = re.compile(SHELL_WORD).match(text, sign.end())
            spans.append((sign.end(), word.end() if word else last))
    return spans


def _here_documents(text: str, readers: list[int]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for sign in _HERE_DOCUMENT.finditer(text):
        first = text.rfind("\n", 0, sign.start()) + 1
        if any(first <= reader < sign.end() for reader in readers):
            close = re.compile(rf"^[ \t]*{sign.group(1)}[ \t]*$", re.M).search(text, sign.end())
            spans.append((sign.end(), close.start() if close else len(text)))
    return spans


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _end_of_arguments(text: str, at: int, enclosing: list[str]) -> int:
    level = enclosing[at] if at < len(text) else ""
    level = "" if at < len(text) and text[at] == level else level
    outer = enclosing[at - 1]
    while at < len(text) and not (
        text[at] in "|;\n&)}" and enclosing[at] in (level if level == outer else outer, outer)
    ):
        if text[at] == outer and outer:
            break
        at += 1
    return at


def _end_of_pipeline(text: str, at: int, enclosing: list[str]) -> int:
    """Where the pipeline ends that goes on at `at`: a line's end; within brackets, `;` does not
    end it.
    """
    grouped = at < len(text) and text[at] in ";)}"
    while at < len(text):
        if text[at] == "\n" and text[at - 1] not in "\\|":
            break
        if (
            not grouped
            and not enclosing[at]
            and (text[at] == ";" or text.startswith(("&&", "||"), at))
        ):
            break
        at += 2 if text.startswith("||", at) else 1
    return at
