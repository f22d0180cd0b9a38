"""Sub-tokens: the units by which words of a symptom meet words of source code."""
from __future__ import annotations

import re
from collections import Counter
from typing import Dict, Tuple

WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{1,60}")
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ENDINGS = ("ing", "ies", "ed", "es", "s")
SHORTEST_STEM = 4  # letters that must stay when an ending is cut


def stem(word: str) -> str:
    """A lower-case word without a common English ending ("queries" gives "query")."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST_STEM:
            return word[:-len(ending)] + ("y" if ending == "ies" else "")
    return word


class _Pieces(Dict[str, Tuple[str, ...]]):
    """Word -> its sub-tokens, worked out once a word."""

    def __missing__(self, word: str) -> Tuple[str, ...]:
        pieces = [stem(piece.lower()) for piece in _PIECE.findall(word) if len(piece) > 1]
        if len(pieces) > 1:
            pieces.append(word.lower().strip("_"))
        found = self[word] = tuple(pieces)
        return found


PIECES = _Pieces()


def pieces_of(word: str) -> Tuple[str, ...]:
    """The sub-tokens of one identifier: stemmed pieces, and the whole word in lower case when it has several."""
    return PIECES[word]


def counts(text: str) -> Dict[str, int]:
    """How often each sub-token stands in a text."""
    found: Dict[str, int] = {}
    get = found.get
    for word, times in Counter(WORD.findall(text)).items():
        for piece in PIECES[word]:
            found[piece] = get(piece, 0) + times
    return found
