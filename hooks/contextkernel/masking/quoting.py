"""Where the words of a text end, as a shell reads its quotes."""

from __future__ import annotations


def quotes(text: str) -> list[str]:
    """For each character the quote that it stands in, as a shell reads them; "" outside. An
    apostrophe in a word is none.
    """
    around: list[str] = []
    inside, at = "", 0
    while at < len(text):
        char = text[at]
        if char == "\\" and inside != "'":
            around += [inside] * min(2, len(text) - at)
            at += 2
            continue
        if inside:
            around.append(inside)
            inside = "" if char == inside else inside
        else:
            is_apostrophe = (
                char == "'" and text[at - 1 : at].isalpha() and text[at + 1 : at + 2].isalpha()
            )
            inside = char if char in "\"'" and not is_apostrophe else ""
            around.append(inside)
        at += 1
    return around[: len(text)]


def value_end(text: str, at: int, inside: str, stops: str = ";|&") -> int:
    """Where the value that begins at `at` ends: a word with its quotes; `inside`: the quote that
    it stands in.
    """
    if text.startswith(('\\"', "\\'"), at):
        close = text.find(text[at : at + 2], at + 2)
        return close + 2 if close >= 0 else len(text)
    if (
        at < len(text)
        and text[at] == inside
        and text[at + 1 : at + 2] in ("", " ", "\n", "\t", ")", ";", ",", "|", "&", "}", "]")
    ):
        return at
    first = at
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 2
        elif text.startswith(("$(", "${"), at) or char == "`":
            at = _close(text, at)
        elif char in "\"'":
            if char == inside and at > first:
                break
            close = closing_quote(text, at)
            at = close + 1
        elif char.isspace() or (char in stops and at > first) or (char in ";|&" and inside == ""):
            break
        else:
            at += 1
    return min(at, len(text))


def closing_quote(text: str, at: int) -> int:
    """The place of the quote that closes the one at `at`; the text's end where it is missing."""
    char, escapes = text[at], text[at] == '"' or text[at - 1 : at] == "$"
    end = text.find(char, at + 1)
    while end > 0 and escapes and text[end - 1] == "\\":
        before = end - 1
        while before > at and text[before] == "\\":
            before -= 1
        if (end - before) % 2:
            break
        end = text.find(char, end + 1)
    return len(text) - 1 if end < 0 else end


def _close(text: str, at: int) -> int:
    """Behind the end of a substitution or variable that begins at `at`."""
    if text[at] == "`":
        end = text.find("`", at + 1)
        return end + 1 if end > 0 else len(text)
    opens, closes, depth = text[at + 1], {"(": ")", "{": "}"}[text[at + 1]], 0
    for place in range(at + 1, min(len(text), at + 1000)):
        depth += (text[place] == opens) - (text[place] == closes)
        if depth == 0:
            return place + 1
    return at + 2
