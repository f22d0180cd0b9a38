"""The lines of one file that one symbol needs.

symbol_slice(source, "Class.method")          ranges, notes, whether the symbol is there
"""

from __future__ import annotations

from contextkernel import lines
from contextkernel.symbols.blocks import block_parts, mentions
from contextkernel.symbols.classes import Part
from contextkernel.symbols.fitting import Range, SymbolSlice
from contextkernel.symbols.python import NeedsWholeFileError, UnknownNameError, python_parts


def symbol_slice(source: str, name: str, language: str = "python") -> SymbolSlice:
    """The lines of `source` that `name` needs.  Not found: no ranges, and a note with near matches.

    Python is traced through the module; other languages give the definition's block and the file's
    imports.
    """
    source = source[1:] if source[:1] == "\ufeff" else source
    if language.lower() != "python":
        parts, notes = block_parts(source, name, language)
        return _sliced(source, parts, notes)
    if "\r" in source.replace("\r\n", ""):
        return _everything(source, name, "a lone carriage return makes line numbers ambiguous")
    try:
        parts, notes = python_parts(source, name)
    except UnknownNameError as fault:
        return SymbolSlice((), (str(fault),), False)
    except NeedsWholeFileError as fault:
        return _everything(source, name, str(fault))
    except SyntaxError as fault:
        return _everything(
            source, name, f"this Python cannot parse it ({fault.msg}, line {fault.lineno})"
        )
    except (ValueError, RecursionError, MemoryError) as fault:
        return _everything(source, name, f"this Python cannot parse it ({fault})")
    return _sliced(source, _with_comments(source, parts), notes)


def _everything(source: str, name: str, why: str) -> SymbolSlice:
    count = len(source.split("\n")) - source.endswith("\n")
    if not mentions(source.replace("\r", "\n"), name):
        return SymbolSlice((), (f"no symbol {name} in this file; {why}",), False)
    whole = Part(1, max(1, count), "the whole file: " + why, 0)
    return SymbolSlice(
        ((whole.first, whole.last),), ("the whole file is kept: " + why,), True, (whole,)
    )


def _sliced(source: str, parts: list[Part], notes: list[str]) -> SymbolSlice:
    if not parts:
        return SymbolSlice((), tuple(notes), False)
    return SymbolSlice(_joined(source, parts), tuple(dict.fromkeys(notes)), True, tuple(parts))


def _with_comments(source: str, parts: list[Part]) -> list[Part]:
    """The parts with the comment block right above the symbol itself."""
    text = source.split("\n")
    return [
        part._replace(first=_comment_above(text, part.first)) if part.distance == 0 else part
        for part in parts
    ]


def _comment_above(text: list[str], first: int) -> int:
    while first > 1 and text[first - 2].lstrip().startswith("#"):
        first -= 1
    return first


def _joined(source: str, parts: list[Part]) -> tuple[Range, ...]:
    """The parts as ranges; a gap of blank lines is closed."""
    text = source.split("\n")
    numbers = sorted({number for part in parts for number in range(part.first, part.last + 1)})
    filled: list[int] = []
    for number in numbers:
        if (
            filled
            and number - filled[-1] > 1
            and not any(line.strip() for line in text[filled[-1] : number - 1])
        ):
            filled += range(filled[-1] + 1, number)
        filled.append(number)
    return tuple(lines.spans(filled))
