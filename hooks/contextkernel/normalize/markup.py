"""A scanner of HTML that never looks back: tags, text and comments, in time that grows with the
page.

Not html.parser: that one looks through the rest of a page again from every comment or quote that is
not closed, and its versions differ in what they make of broken pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

MARKUP = re.compile(r"<(?:/?[A-Za-z]|!|\?)")
NAME = re.compile(r"[A-Za-z][^\s/>\0]*")
ATTRIBUTE = re.compile(
    r"""[\s/]*([^\s/>][^\s/=>]*)(?:\s*=+\s*(?:'([^']*)'|"([^"]*)"|(?!['"])([^>\s]*)|))?"""
)
CLOSE = re.compile(r"[\s/]*>")
HIDDEN = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<!", ">"), ("<?", ">"))
# no markup inside of these
SCRIPTS = {name: re.compile(rf"(?i)</{name}(?=[\s/>])") for name in ("script", "style")}
# beyond Unicode unless it is all zeros; not worked out
NUMERIC = re.compile(r"&#(?:[0-9]{12,}|[xX][0-9a-fA-F]{12,});?")


class Piece(NamedTuple):
    """`kind` is "start", "end", "text" or "comment"; `text` a name in lower case, or the words;
    `line` is 1-based.
    """

    kind: str
    text: str
    line: int
    attributes: dict[str, str] = {}


def pieces(text: str) -> Iterator[Piece]:
    """The pieces of a page in order.  Markup that is not closed is text, and so is all that
    follows it.
    """
    at, line, counted = 0, 1, 0
    # whether quotes may hide a ">": not after a tag in which that led to the end of the page
    strict = True
    while at < len(text):
        opening_sign = MARKUP.search(text, at)
        start = opening_sign.start() if opening_sign else len(text)
        if start > at:
            line, counted = line + text.count("\n", counted, at), at
            yield Piece("text", plain(text[at:start]), line)
        if not opening_sign:
            return
        line, counted = line + text.count("\n", counted, start), start
        at = start
        if opening_sign.group() in ("<!", "<?"):
            opening, closing = next(pair for pair in HIDDEN if text.startswith(pair[0], at))
            end = text.find(closing, at + len(opening))
            if end < 0:
                break
            if opening == "<!--":
                yield Piece("comment", text[at + 4 : end], line)
            at = end + len(closing)
            continue
        named = NAME.match(text, opening_sign.end() - 1)
        name = named.group().lower() if named else ""
        end = text.find(">", opening_sign.end())
        if end < 0:
            break
        if opening_sign.group()[1] == "/":
            yield Piece("end", name, line)
            at = end + 1
            continue
        attributes, at, empty = _attributes(text, named.end() if named else end, end, strict)
        if at < 0:
            strict = False
            attributes, at, empty = _attributes(text, named.end() if named else end, end, strict)
        yield Piece("start", name, line, attributes)
        if empty:
            yield Piece("end", name, line)
        elif name in SCRIPTS:
            closed = SCRIPTS[name].search(text, at)
            at = closed.start() if closed else len(text)
    if at < len(text):
        yield Piece("text", plain(text[at:]), line)


def plain(text: str) -> str:
    """Text with its character references worked out."""
    return unescape(NUMERIC.sub(_far, text)) if "&" in text else text


def _far(reference: re.Match[str]) -> str:
    digits = reference.group().strip("&#xX;").lstrip("0")
    if len(digits) >= 8:
        return "\ufffd"
    return f"&#x{digits};" if reference.group()[2] in "xX" else f"&#{digits};"


def _attributes(
    text: str, at: int, first_close: int, strict: bool
) -> tuple[dict[str, str], int, bool]:
    """(the attributes of a tag from behind its name on, the place after its ">", whether that was
    "/>"); -1 where it has none outside of quotes.

    With `strict` false it ends at the first ">" whatever quotes say.
    """
    end = len(text) if strict else first_close + 1
    attributes: dict[str, str] = {}
    while True:
        close = CLOSE.match(text, at, end)
        if close:
            return attributes, close.end(), close.group().endswith("/>")
        attribute = ATTRIBUTE.match(text, at, end)
        if not attribute:
            return attributes, -1 if strict else end, False
        at = attribute.end()
        value = next((group for group in attribute.groups()[1:] if group is not None), "")
        attributes[attribute.group(1).lower()] = plain(value)
