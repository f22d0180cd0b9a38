"""Sub-tokens: the units by which words of a symptom meet words of source code."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{1,60}")
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PIECE_BYTES = re.compile(rb"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ENDINGS = ("ing", "ies", "ed", "es", "s")
_DIGITS = b"0123456789"
_WORD_BYTES = bytes(
    byte if chr(byte).isalnum() and byte < 128 or byte == 0x5F else 0x20 for byte in range(256)
)
_WITH_BREAKS = b"\0" + _WORD_BYTES[1:]
LONGEST_WORD = 61  # characters; longer ones are data
SHORTEST_STEM = 4  # letters that must stay when an ending is cut


def stem(word: str) -> str:
    """A lower-case word without a common English ending ("queries" gives "query")."""
    if word[-1:] not in "gsd":
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST_STEM:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word


class _Pieces(dict[Any, tuple[str, ...]]):
    """Word -> its sub-tokens, worked out once a word.  Words are text, or bytes as
    `counts_of_bytes` meets them.
    """

    def __missing__(self, word: Any) -> tuple[str, ...]:
        text = word if isinstance(word, str) else word.lstrip(_DIGITS).decode("ascii")
        if len(text) > LONGEST_WORD:
            pieces = []
        # most words: no need for the regex
        elif text.islower() and text.isascii() and text.replace("_", "").isalpha():
            pieces = [stem(piece) for piece in text.split("_") if len(piece) > 1]
        else:
            pieces = [stem(piece.lower()) for piece in _PIECE.findall(text) if len(piece) > 1]
        if len(pieces) > 1:
            pieces.append(text.lower().strip("_"))
        found = self[word] = tuple(pieces)
        return found


PIECES = _Pieces()


def pieces_of(word: str | bytes) -> tuple[str, ...]:
    """The sub-tokens of one identifier: stemmed pieces, and the whole word in lower case when it
    has several.
    """
    return PIECES[word]


def starting(words: Iterable[bytes], starts: frozenset[bytes]) -> list[bytes]:
    """The words of which a sub-token, or the whole, may begin with one of `starts` (three
    lower-case letters each).

    Saves the stemming of most words: one that is left out has no sub-token that begins so.
    """
    found = []
    for word in words:
        if word.isalpha() and word.islower():
            if word[:3] in starts:
                found.append(word)
        elif not starts.isdisjoint(_starts_of(word)):
            found.append(word)
    return found


def _starts_of(word: bytes) -> list[bytes]:
    """The first three letters of each sub-token of a word that is not all lower-case letters,
    and of the whole.
    """
    low = word.lower()
    whole = low.strip(b"_")
    if (low == word or word.isupper()) and low.replace(b"_", b"").isalpha():
        starts = [piece[:3] for piece in whole.split(b"_")]
    else:
        starts = [piece[:3].lower() for piece in _PIECE_BYTES.findall(word.lstrip(_DIGITS))]
        whole = low.lstrip(_DIGITS).strip(b"_")
    starts.append(whole[:3])
    return starts


def words_of(data: bytes, breaks: bool = False) -> list[bytes]:
    """The words of a text in ASCII, UTF-8 or Latin-1, in order; twice as fast as the regex.
    `breaks`: NUL counts as a word.
    """
    return data.translate(_WITH_BREAKS if breaks else _WORD_BYTES).split()


def counts(text: str) -> dict[str, int]:
    """How often each sub-token stands in a text."""
    found: dict[str, int] = {}
    get = found.get
    for word, times in Counter(WORD.findall(text)).items():
        for piece in PIECES[word]:
            found[piece] = get(piece, 0) + times
    return found


def counts_of_bytes(data: bytes) -> dict[str, int]:
    """`counts` for the bytes of a file in ASCII, UTF-8 or Latin-1, at half the cost."""
    found: dict[str, int] = {}
    get = found.get
    for word, times in Counter(words_of(data)).items():
        for piece in PIECES[word]:
            found[piece] = get(piece, 0) + times
    return found
