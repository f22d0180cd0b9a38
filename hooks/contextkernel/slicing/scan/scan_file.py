"""One source file as the facts that the index keeps of it."""

from __future__ import annotations

import re
from typing import NamedTuple

from contextkernel.slicing.languages import language_module, language_of
from contextkernel.slicing.scan import file_kinds, subtokens
from contextkernel.slicing.scan.definitions import Definition

# A posting says how a term occurs in a file: bits 0-6 times in the text, 7-10 times in defined
# names, 11 in the path.
BODY, NAMED, IN_PATH = 0x7F, 0x780, 0x800
NAMED_SHIFT, BITS = 7, 12
# first character of terms that are a defined name, or a word of an import
DEFINES, IMPORTS = ("\x01", "\x02")
_IMPORT_WORD = re.compile(r"[\w$-]+")

VERSION = 1  # rises when the meaning of a stored value changes


class Scan(NamedTuple):
    """What is kept of a file.  `length`: sub-tokens in it.  `terms`: term -> posting bits.
    `note`: why it was not scanned.
    """

    language: str
    length: int = 0
    terms: dict[str, int] = {}
    imports: list[str] = []
    definitions: list[Definition] = []
    unresolved: str = ""
    note: str = ""


def scan(path: str, data: bytes) -> Scan:
    """The facts of a file whose suffix is in the table of languages.  Never raises on odd
    content.
    """
    row = language_of(path)
    if row is None:
        return Scan("", note="no known language")
    role = file_kinds.role_of(path)
    note = file_kinds.refusal(data) or ("vendored" if role == "vendored" else "")
    if note:
        return Scan(row.name, note=note)
    text = file_kinds.decoded(data)
    module = language_module(row.name)
    masked = module.blank(text)
    definitions = module.definitions(text, masked)
    imports = module.imports(text, masked)
    terms = (
        subtokens.counts(text) if data[:2] in file_kinds.UTF_16 else subtokens.counts_of_bytes(data)
    )
    length = sum(terms.values())
    for term in [term for term, times in terms.items() if times > BODY]:
        terms[term] = BODY
    _add_names(terms, definitions, role == "test")
    for word in subtokens.WORD.findall(path):
        for piece in subtokens.PIECES[word]:
            terms[piece] = terms.get(piece, 0) | IN_PATH
    for spec in imports:
        for word in _IMPORT_WORD.findall(spec):
            terms[IMPORTS + word] = 1
    return Scan(row.name, length, terms, imports, definitions, module.unresolved(text))


def _add_names(terms: dict[str, int], definitions: list[Definition], is_test: bool) -> None:
    """Count defined names into the terms; the names of tests are not kept whole (nobody asks for
    their only definition).
    """
    pieces_of = subtokens.PIECES
    named: dict[str, int] = {}
    for name in {one.name: 1 for one in definitions}:
        if not is_test:
            terms[DEFINES + name] = 1
        # most were met in the text, as bytes
        for piece in pieces_of[name.encode() if name.isascii() else name]:
            named[piece] = named.get(piece, 0) + 1
    for piece, times in named.items():
        terms[piece] = terms.get(piece, 0) | (min(times, 15) << NAMED_SHIFT)
