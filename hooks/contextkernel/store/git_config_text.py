"""The text of a git configuration file as keys and values."""

from __future__ import annotations

from collections.abc import Iterator

from contextkernel.records import NamedTuple

_SPECIAL = {"n": "\n", "t": "\t", "b": "\b", "\\": "\\", '"': '"'}


class Value(NamedTuple):
    """One value with the name of its key ("core.excludesfile", "remote.origin.promisor"; all but
    the middle part in small letters).
    """

    key: str
    value: str


def parsed(text: str) -> Iterator[tuple[str, str]]:
    """(key, value) of each line of a configuration text; a key without a value is "true".  Lines
    that git refuses are passed over.
    """
    section, at = "", 0
    while at < len(text):
        char = text[at]
        if char in "#;":
            at = _line_end(text, at)
        elif char == "[":
            section, at = _section(text, at + 1)
        elif char.isalpha():
            end = at
            while end < len(text) and (text[end].isalnum() or text[end] == "-"):
                end += 1
            key = section + "." + text[at:end].lower()
            value, at = _value(text, end)
            yield key, value
        else:
            at += 1


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _section(text: str, at: int) -> tuple[str, int]:
    """("section" or "section.Subsection", behind the bracket)."""
    end = at
    while end < len(text) and text[end] not in ']"\n':
        end += 1
    name = text[at:end].strip().lower()
    if text[end : end + 1] != '"':
        return name, end + 1
    out: list[str] = []
    end += 1
    while end < len(text) and text[end] not in '"\n':
        end += text[end] == "\\"
        out.append(text[end : end + 1])
        end += 1
    closed = text.find("]", end, _line_end(text, end))
    return name + "." + "".join(out), (closed if closed >= 0 else end) + 1


def _value(text: str, at: int) -> tuple[str, int]:
    """(the value behind a key, the end of its line)."""
    while text[at : at + 1] in (" ", "\t"):
        at += 1
    if text[at : at + 1] != "=":
        return "true", _line_end(text, at)
    at += 1
    out: list[str] = []
    kept, quoted = 0, False  # characters that are not blanks at the end
    while at < len(text) and (text[at] != "\n"):
        char = text[at]
        at += 1
        if char == "\\":
            following = text[at : at + 1]
            at += 1
            if following == "\r" and text[at : at + 1] == "\n":
                at += 1
            elif following != "\n":
                out.append(_SPECIAL.get(following, following))
                kept = len(out)
        elif char == '"':
            quoted = not quoted
            kept = len(out)
        elif char in "#;" and not quoted:
            at = _line_end(text, at)
        elif quoted or out or char not in " \t\r":
            out.append(char)
            kept = len(out) if quoted or char not in " \t\r" else kept
    return "".join(out[:kept]), at


def last(found: list[Value]) -> dict[str, str]:
    """key -> its last value."""
    return dict(found)
