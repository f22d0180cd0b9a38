"""Secrets by what stands before them: a telling name, a header, an authentication scheme; and
where their values end, as a shell reads its quotes.
"""

from __future__ import annotations

import re

from contextkernel.masking.names import (
    FRAGMENTS,
    Pattern,
    is_plain,
    is_secret,
    looks_random,
    telling,
)

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from collections.abc import Iterator

    Spans = Iterator[tuple[int, int]]

LONGEST = 1000  # characters of a value; a longer one is masked, whatever it is
SCHEMES = ("bearer", "basic", "digest", "negotiate", "apikey", "token", "splunk", "hawk", "bot")
TOKEN_SCHEMES = ("bearer", "negotiate")  # what follows is a token, whatever it looks like

_NAMED = Pattern(
    r"""(?<![^\W_])(?<!\w)([^\W\d](?:[\w$]|[.-](?=[\w$])){0,80})"""
    r"""((?:\\?["'])?[\])]{0,2}\s{0,4}"""
    r"""(?::\s{1,3}[&A-Za-z][\w<>.&|'\[\]]{0,40}\??\s{0,3}=(?=\s)|"""
    r""":=|=>|={1,3}|\?=|\+=|:(?!:)|：|＝|%3[DdAa]|\s+is\s+(?=["'\w]))\s{0,4})"""
)
_SPACED = Pattern(
    r"""(?<![\w-])(?:config\w*(?:[ :]set)?|configure[ ]set|set(?:-secret)?|setx|setenv|export|ENV"""
    r"""|ARG|-x|-gx|-gU?x)\s+(?:--?\S+\s+){0,4}["']?([^\s"'=|;&]{2,120})["']?\s+(?=[^\s=-])"""
)
_LONG = Pattern(r"(?<![\w-])(--?|/)([^\W\d][\w.-]{0,60})\s+(?=[^\s-]|-[^\s-]*[\d!@#$%^&*])")
_PROSE = Pattern(r"""(?<![\w-])["']?([^\W\d][\w.-]{0,60})["']?[\s,]{1,4}(?=\S)""")
_LINE = Pattern(
    r"""^[ \t]*["']?([^\W\d][\w.-]{0,60})["']?[ \t]+("[^"\n]+"|'[^'\n]+'|[^\s"'=:{([]+);?[ \t]*$""",
    re.M,
)
_PAIRS = Pattern(
    r"""(?i)([^\W\d][\w.-]{0,80})((?:\\?["'])?\s{0,4}(?:,|</key>|</name>|>|\{)?\s{0,20}(?:\\?["'<]"""
    r"""|-\s)?(?:value|val|string|default|content|data)(?:\\?["'])?\s{0,4}[:=>]\s{0,4})"""
)
_ELEMENT = Pattern(r"""<(?:[\w-]+:)?([^\W\d][\w.-]{0,80})(?:\s[^<>]{0,200})?>([^<]{1,500})(?=<)""")
_QUOTED_PAIR = Pattern(
    r"""\\?["']([^\W\d][\w.-]{0,80})\\?["']\s{0,4}(?:,|=>|\))\s{0,4}(?=\\?["'])"""
)
_HEADER = Pattern(
    r"""(?i)(?<![a-z0-9])(?:proxy-|x-|http_|https_)?(?:authorization|authentication-token"""
    r"""|auth-token|set-cookie2?|cookie)\\?["']?\]?\)?(?:\s{0,4}(?:=>|[:=,])\s{0,4}|\s{1,4}"""
    r"""(?=\\?["']?(?:bearer|basic|token|digest)\b))(?=\S)"""
)
_SCHEME = Pattern(
    r"""(?i)(?<![\w-])(bearer|basic|digest|negotiate|apikey|token|splunk|hawk|bot)(?:\s|\\+\s?|%20"""
    r"""|\+){1,3}(?:(?:token|key)=)?["']?([\w.~+/=%:|-]{6,})"""
)
_COMMON = Pattern(r"[a-z][a-z/-]*\.?|[A-Z][a-z]+|[A-Z]+")
_EXTENSION = Pattern(r"\.\w{1,4}$")


def headers(text: str, small: str, enclosing: list[str]) -> Spans:
    """Spans of what authorization and cookie headers hold, and of credentials behind their
    scheme.
    """
    if "auth" in small or "cookie" in small:
        done = 0
        for header in _HEADER.finditer(text):
            start = header.end()
            if start < done:
                continue
            end = _header_end(text, start, enclosing)
            if not _is_readable_header(text[start:end].strip("\"'")):
                yield start, end
                done = end
    if not any(word in small for word in SCHEMES):
        return
    for credentials in _SCHEME.finditer(text):
        scheme, value = credentials.group(1).lower(), credentials.group(2)
        is_word = bool(_COMMON.fullmatch(value))
        is_token = scheme in TOKEN_SCHEMES and not (is_word and len(value) < 16)
        if is_token or not is_word and _looks_issued(value):
            yield credentials.span(2)


def _header_end(text: str, start: int, enclosing: list[str]) -> int:
    """The end of a header's value: its quote, the line, or the quote that the header stands in."""
    inside = enclosing[start - 1]
    if text[start] in "\"'" and text[start] != inside:
        return _closing_quote(text, start) + 1
    quote = inside or "\"'"
    ends = (at for at in range(start, len(text)) if text[at] == "\n" or text[at] in quote)
    return next(ends, len(text))


def _looks_issued(value: str) -> bool:
    return looks_random(value, 6) or (len(value) >= 8 and value.endswith("="))


def _is_readable_header(value: str) -> bool:
    """Whether a header holds a placeholder or a sentence."""
    words = value.split()
    if len(words) > 2:
        return all(word.strip(".,").isalpha() and word.islower() for word in words)
    return not words or is_plain(words[-1], '"')


def named(text: str, small: str, enclosing: list[str]) -> Spans:
    """Spans of values that stand behind a telling name: after a sign, as an option's value, in
    pairs and elements.
    """
    if text.isascii() and not any(word in small for word in FRAGMENTS):
        return
    yield from _assigned(text, enclosing)
    for pattern in (_LONG, _SPACED, _QUOTED_PAIR, _PAIRS):
        yield from _paired(text, enclosing, pattern)
    if "<" in text:
        for element in _ELEMENT.finditer(text):
            name, value = element.groups()
            level = telling(name)
            if level and is_secret(name, level, value.strip()):
                yield element.span(2)
    if "\n" in text:
        for line in _LINE.finditer(text):
            name, value = line.groups()
            if telling(name) == 2 and is_secret(name, 2, value):
                yield line.span(2)
    yield from _in_prose(text, enclosing)


def _assigned(text: str, enclosing: list[str]) -> Spans:
    """Values behind a name and a sign: `=`, `:`, `=>`, "is"."""
    done = 0  # up to where values are masked
    for assignment in _NAMED.finditer(text):
        name, separator = assignment.groups()
        level = telling(name) if assignment.start() >= done else 0
        start = assignment.end()
        if not level:
            continue
        if separator.rstrip(" ") == "=" != separator and text.find("\n", 0, start) < 0:
            continue  # a shell's empty value
        inside = enclosing[start - 1] if not separator.strip().startswith(('"', "'")) else ""
        end = _assigned_end(text, assignment, level, inside)
        value = text[start:end]
        if not value or value in "{[(":
            continue
        if len(value) > LONGEST or (is_secret(name, level, value, inside) and not _is_code(value)):
            yield start, end
            done = end


def _assigned_end(text: str, assignment: re.Match[str], level: int, inside: str) -> int:
    """Where the value of an assignment ends."""
    start, separator = assignment.end(), assignment.group(2)
    has_colon = ":" in separator
    stops = ";|&" if "=" in separator and not has_colon else ";|&,}"
    end = value_end(text, start, inside, stops)
    if level < 2:
        return end
    first = text[start : start + 1]
    if first in ("|", ">") and has_colon:
        end = start + 1
    takes_line = has_colon or separator != separator.strip()
    if not takes_line or end <= start or first in "\"'\\{[":
        return end
    if not _begins_line(text, assignment.start()):
        return end
    return _line_value(text, start, assignment.start(), end)


def _paired(text: str, enclosing: list[str], pattern: Pattern) -> Spans:
    """Values behind an option, behind a command that sets a name, and in pairs of a table."""
    stops = ";|&,}<" if pattern is _PAIRS else ";|&"
    done = 0
    for pair in pattern.finditer(text):
        name = pair.group(2) if pattern is _LONG else pair.group(1)
        level = telling(name.rpartition(":")[2]) if pair.start() >= done else 0
        if not level:
            continue
        start = pair.end()
        inside = enclosing[start - 1]
        end = value_end(text, start, "" if inside == text[start : start + 1] else inside, stops)
        if end - start > LONGEST or is_secret(name, level, text[start:end], inside):
            yield start, end
            done = end


def _in_prose(text: str, enclosing: list[str]) -> Spans:
    """Random values behind a telling name and a blank."""
    done = 0
    for word in _PROSE.finditer(text):
        if word.start() < done or telling(word.group(1)) != 2:
            continue
        start = word.end()
        end = value_end(text, start, enclosing[start - 1])
        value = text[start:end]
        if len(value) > LONGEST or _is_random_word(value):
            yield start, end
            done = end


def _is_random_word(value: str) -> bool:
    least = 6 if value[:1] in "\"'" else 8
    return (
        looks_random(value.strip("\"'"), least)
        and "/" not in value
        and not _EXTENSION.search(value.strip("\"',;:)"))
        and not is_plain(value)
    )


def _begins_line(text: str, at: int) -> bool:
    start = text.rfind("\n", 0, at) + 1
    return not text[start:at].strip(" \t-'\"")


def _line_value(text: str, start: int, name: int, end: int) -> int:
    """The end of a value that takes its line (YAML, INI), or the indented lines below a `|` or
    `>`.
    """
    line = text.find("\n", start)
    line = len(text) if line < 0 else line
    if text[start:line].strip() and text[start] in "|>" and len(text[start:line].strip()) < 4:
        own = name - text.rfind("\n", 0, name) - 1
        while line < len(text):
            following = text.find("\n", line + 1)
            following = len(text) if following < 0 else following
            body = text[line + 1 : following]
            if body.strip() and len(body) - len(body.lstrip()) <= own:
                break
            line = following
        return line
    comment = text.find(" #", start, line)
    return max(end, comment if comment >= 0 else line)


def _is_code(value: str) -> bool:
    """Whether a value is the beginning of an expression: a list, a mapping, a call without
    words.
    """
    return value[:1] in "{[(" and not re.search(r"[\w]{4,}", value)


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
            close = _closing_quote(text, at)
            at = close + 1
        elif char.isspace() or (char in stops and at > first) or (char in ";|&" and inside == ""):
            break
        else:
            at += 1
    return min(at, len(text))


def _closing_quote(text: str, at: int) -> int:
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
