"""A definition's own block and its file's imports, for languages whose names are not traced.

Braces are matched on text with strings and comments blanked; a language without them is read by
indentation.
"""

from __future__ import annotations

import difflib
import re

from contextkernel.slicing.languages import TABLE, language_module
from contextkernel.slicing.scan.definitions import Definition
from contextkernel.symbols.classes import Part

_IMPORT = re.compile(
    r"\s*(?:import\b|export\b.*\bfrom\b|package\b|use\b|(?:pub(?:\([^)]*\))?\s+)?(?:use"
    r"|mod\s+\w+;)|extern crate\b|#\s*include\b|using\b|namespace\b[^{]*;"
    r"|require\b|require_once\b|require_relative\b|include\b|from\b.*\bimport\b|(?:const|let"
    r"|var)\b.*\brequire\()"
)
_ATTACHED = re.compile(
    r"\s*(?:@[\w.]+|#\[|///?|/\*|\*|#(?!\s*(?:include|define|if|endif|else)\b)|template\s*<)"
)
_GO_METHOD = re.compile(r"\s*func\s*\(\s*(?:\w+\s+)?\*?(\w+)")
_RUST_IMPL = re.compile(
    r"\n[ \t]*impl\b(?:<[^{;\n]*?>)?[ \t]*(?:[\w:<>, ']+?[ \t]+for[ \t]+)?(\w+)[^{;]*\{"
)
_TYPE_LINE = re.compile(r"[A-Za-z_][\w \t*]*$")
_DECLARED = (
    r"[ \t]*(?!(?:return|else|throw|new|await|yield|delete|goto|case)\b)(?:#[ \t]*define[ \t]+"
    r"|(?:[\w$*&:<>,\[\].~?]+[ \t*&]+)+)%s\b[ \t]*(?:[(=;:{\[]|$)"
)
_LONGEST_HEAD = 40  # lines from a definition's name to its opening brace


def block_parts(source: str, name: str, language: str) -> tuple[list[Part], list[str]]:
    """The parts of the blocks that define `name` (`Class.method`, `Class::method` too) and the
    notes.

    No parts when there is no such definition: the one note then names near matches.
    """
    row = next((row for row in TABLE if row.name.lower() == language.lower()), TABLE[-1])
    known = language_module(row.name)
    masked = known.blank(source)
    text = masked.split("\n")
    definitions = [
        (one, Part(one.line, _end(text, one), one.kind, 0))
        for one in known.definitions(source, masked)
    ]
    owner, _, last = name.replace("::", ".").replace("#", ".").rpartition(".")
    if all(one.name != last for one, _ in definitions):
        definitions += [
            (one, Part(one.line, _end(text, one), one.kind, 0)) for one in _by_look(text, last)
        ]
    found = [
        (one, part)
        for one, part in definitions
        if one.name == last
        and (not owner or owner in _owners(masked, text, one, part, definitions))
    ]
    if not found:
        names = sorted({one.name for one, _ in definitions})
        near = difflib.get_close_matches(last, names, 5, 0.6)
        return [], [f"no symbol {name} in this file; near: {', '.join(near) or 'nothing'}"]
    parts = [
        part._replace(
            first=_with_head(
                source.split("\n"), _with_type(text, one) if row.name == "C" else part.first
            ),
            why="the symbol",
        )
        for one, part in found
    ]
    around = [
        Part(outer.first, _head_end(text, outer), "header around it", 1)
        for outer in _enclosing(definitions, parts)
    ]
    imports = [Part(first, last_line, "import", 2) for first, last_line in _imports(text)]
    notes = [
        f"{row.name}: the defining block and the file's imports; names that it uses are not traced"
    ]
    if len(parts) > 1:
        notes.append(f"{len(parts)} definitions carry this name")
    return sorted(parts + around + imports), notes


def mentions(source: str, name: str) -> bool:
    """Whether a text defines or binds the last part of a dotted name, by its look."""
    last = re.escape(name.rpartition(".")[2])
    return (
        re.search(
            (
                r"(?m)^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+%s\b|^[ \t]*%s\b[^\n=]*="
                r"|\bimport\b[^\n]*\b%s\b|\bas[ \t]+%s\b"
            )
            % ((last,) * 4),
            source,
        )
        is not None
    )


def _end(text: list[str], one: Definition) -> int:
    """The last line of a definition: the closing brace, the `;` before any brace, or the end of
    its indentation.
    """
    depth, opened = 0, False
    for number in range(one.line, len(text) + 1):
        for character in text[number - 1]:
            if character in "{([":
                depth += 1
                opened = opened or character == "{"
            elif character in "})]":
                depth -= 1
                if opened and depth <= 0:
                    return number
            elif character == ";" and depth <= 0:
                return number
        if not opened and (
            depth <= 0 and _is_complete(text, number) or number - one.line > _LONGEST_HEAD
        ):
            return max(number, _by_indent(text, one))
    return len(text) if text[-1].strip() else len(text) - 1


def _is_complete(text: list[str], number: int) -> bool:
    """Whether a head without a brace so far has ended: the next line with text does not open or
    continue it.
    """
    following = next((line.strip() for line in text[number : number + 3] if line.strip()), "")
    ends = text[number - 1].rstrip()
    return not (
        following.startswith(
            ("{", "where", ":", "->", "=>", "throws", "extends", "implements", ".", "?")
        )
        or ends.endswith((",", "=", "=>", "->", "(", "|", "&", "+", "\\"))
    )


def _by_indent(text: list[str], one: Definition) -> int:
    last = one.line
    for number in range(one.line + 1, len(text) + 1):
        line = text[number - 1]
        if not line.strip():
            continue
        if len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip()) <= one.indent:
            return number if re.match(r"\s*end\b", line) else last
        last = number
    return last


def _with_head(lines: list[str], first: int) -> int:
    """The first line with the annotations, attributes and comments right above."""
    while first > 1 and _ATTACHED.match(lines[first - 2]):
        first -= 1
    return first


def _with_type(text: list[str], one: Definition) -> int:
    """The first line of a C function whose type stands on the line above its name."""
    above = text[one.line - 2] if one.line > 1 else ""
    return (
        one.line - 1
        if text[one.line - 1].startswith(one.name) and _TYPE_LINE.match(above)
        else one.line
    )


def _by_look(text: list[str], name: str) -> list[Definition]:
    """Lines that declare a name by their look: words before it, and an opening or an end after
    it.
    """
    look = re.compile(_DECLARED % re.escape(name))
    return [
        Definition(name, "declaration", number, len(line) - len(line.lstrip()))
        for number, line in enumerate(text, 1)
        if look.match(line)
    ]


def _owners(
    masked: str,
    text: list[str],
    one: Definition,
    part: Part,
    definitions: list[tuple[Definition, Part]],
) -> list[str]:
    """Names of the types a definition belongs to: around it, its Go receiver, its Rust impl."""
    names = [
        outer.name
        for outer, lines in definitions
        if lines.first < part.first and lines.last >= part.last
    ]
    receiver = _GO_METHOD.match(text[one.line - 1])
    if receiver:
        names.append(receiver.group(1))
    for match in _RUST_IMPL.finditer(masked):
        first = masked.count("\n", 0, match.start()) + 2
        if (
            first < part.first
            and _end(text, Definition(match.group(1), "impl", first, 0)) >= part.last
        ):
            names.append(match.group(1))
    return names + [".".join(names)]


def _enclosing(definitions: list[tuple[Definition, Part]], parts: list[Part]) -> list[Part]:
    return [
        outer
        for _, outer in definitions
        if any(outer.first < part.first and outer.last >= part.last for part in parts)
    ]


def _head_end(text: list[str], outer: Part) -> int:
    for number in range(outer.first, min(outer.last, outer.first + 8) + 1):
        if "{" in text[number - 1]:
            return number
    return outer.first


def _imports(text: list[str]) -> list[tuple[int, int]]:
    """Line ranges of imports; a bracket left open goes on to where it closes."""
    found: list[tuple[int, int]] = []
    number = 1
    while number <= len(text):
        first = number
        if _IMPORT.match(text[number - 1]):
            depth = _depth(text[number - 1])
            while depth > 0 and number < len(text):
                number += 1
                depth += _depth(text[number - 1])
            found.append((first, number))
        number += 1
    return found


def _depth(line: str) -> int:
    return sum(line.count(mark) for mark in "({[") - sum(line.count(mark) for mark in ")}]")
