"""Secrets in commands, paths and notes, masked before they reach the ledger. In doubt a word is
masked: the ledger needs no values.

By what they look like (`masking_kinds`), by the name that stands before them (`masking_names`), by
the program that takes
them (`masking_tools`). Patterns are compiled when their words occur: all of them would cost a hook
some milliseconds.
"""

from __future__ import annotations

import functools
import re

from contextkernel import masking_kinds as kinds
from contextkernel.masking_kinds import HIDDEN
from contextkernel.masking_names import Pattern

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from collections.abc import Iterable

LOOKED_AT = 4096  # characters of a longer text that are looked at; the rest is left out
LONGEST = 1000  # characters of a value; a longer one is masked, whatever it is
LAST_WORD = (
    1024  # characters at their end that may be a part of something, and are left out with it
)
SHORTEST = 6  # characters: what is shorter holds no secret that could be told from a word
PATH_MOST = 1024  # characters of a path
# Fields of a ledger row that are keys or words of ours; every other text is masked, cut to so many
# characters.
KEYS = frozenset(
    ("kind", "client", "session", "agent", "tool_use_id", "handle", "lane", "status", "repo", "spans")
)
MOST = {"text": 500, "why": 500, "cwd": PATH_MOST, "path": PATH_MOST, "transcript": PATH_MOST}

_NAMED = Pattern(
    r"""(?<![^\W_])(?<!\w)([^\W\d](?:[\w$]|[.-](?=[\w$])){0,80})((?:\\?["'])?[\])]{0,2}\s{0,4}(?::\s{1,3}[&A-Za-z][\w<>.&|'\[\]]{0,40}\??\s{0,3}=(?=\s)|:=|=>|={1,3}|\?=|\+=|:(?!:)|：|＝|%3[DdAa]|\s+is\s+(?=["'\w]))\s{0,4})"""
)
_SPACED = Pattern(
    r"""(?<![\w-])(?:config\w*(?:[ :]set)?|configure[ ]set|set(?:-secret)?|setx|setenv|export|ENV|ARG|-x|-gx|-gU?x)\s+(?:--?\S+\s+){0,4}["']?([^\s"'=|;&]{2,120})["']?\s+(?=[^\s=-])"""
)
_LONG = Pattern(r"(?<![\w-])(--?|/)([^\W\d][\w.-]{0,60})\s+(?=[^\s-]|-[^\s-]*[\d!@#$%^&*])")
_PROSE = Pattern(r"""(?<![\w-])["']?([^\W\d][\w.-]{0,60})["']?[\s,]{1,4}(?=\S)""")
_LINE = Pattern(
    r"""^[ \t]*["']?([^\W\d][\w.-]{0,60})["']?[ \t]+("[^"\n]+"|'[^'\n]+'|[^\s"'=:{([]+);?[ \t]*$""",
    re.M,
)
_PAIRS = Pattern(
    r"""(?i)([^\W\d][\w.-]{0,80})((?:\\?["'])?\s{0,4}(?:,|</key>|</name>|>|\{)?\s{0,20}(?:\\?["'<]|-\s)?(?:value|val|string|default|content|data)(?:\\?["'])?\s{0,4}[:=>]\s{0,4})"""
)
_ELEMENT = Pattern(r"""<(?:[\w-]+:)?([^\W\d][\w.-]{0,80})(?:\s[^<>]{0,200})?>([^<]{1,500})(?=<)""")
_QUOTED_PAIR = Pattern(
    r"""\\?["']([^\W\d][\w.-]{0,80})\\?["']\s{0,4}(?:,|=>|\))\s{0,4}(?=\\?["'])"""
)
_HEADER = Pattern(
    r"""(?i)(?<![a-z0-9])(?:proxy-|x-|http_|https_)?(?:authorization|authentication-token|auth-token|set-cookie2?|cookie)\\?["']?\]?\)?(?:\s{0,4}(?:=>|[:=,])\s{0,4}|\s{1,4}(?=\\?["']?(?:bearer|basic|token|digest)\b))(?=\S)"""
)
_SCHEME = Pattern(
    r"""(?i)(?<![\w-])(bearer|basic|digest|negotiate|apikey|token|splunk|hawk|bot)(?:\s|\\+\s?|%20|\+){1,3}(?:(?:token|key)=)?["']?([\w.~+/=%:|-]{6,})"""
)
_COMMON = Pattern(r"[a-z][a-z/-]*\.?|[A-Z][a-z]+|[A-Z]+")
_LINE_NAME = Pattern(
    r"""[ \t]*(?:-[ \t]+)?["']?[^\W\d][\w.$-]*(?:[ ][^\W\d][\w.$-]*){0,3}["']?[ \t]*"""
)


def masked(text: str, most: int = 300) -> str:
    """The text with secrets replaced by ***, cut to `most` characters. Names stay, values go.

    Of a long text only the beginning is looked at, and what may be a part of something there is
    left out.
    """
    if len(text) < SHORTEST:
        return text[:most]
    looked_at = max(LOOKED_AT, 2 * most)
    is_cut = len(text) > looked_at
    if is_cut:
        text = _whole_words(text[:looked_at])
    text = _without_secrets(text, is_cut)
    return text if len(text) <= most and not is_cut else text[: most - 1] + "…"


def of_row(row: dict) -> dict:
    """A ledger row with every text masked but its keys; a transcript's path that holds a secret
    is left out, since it would name no file.
    """
    safe = {
        name: _left(value, MOST.get(name, 300))
        if isinstance(value, str) and name not in KEYS
        else value
        for name, value in row.items()
    }
    if safe.get("transcript") != row.get("transcript"):
        safe["transcript"] = ""
    return safe


# rows that follow each other name the same folder and transcript: masking them costs a hook 0.5 ms
_recent = functools.lru_cache(maxsize=256)(masked)


def _left(text: str, most: int) -> str:
    """The text masked; *** where a rule of ours fails over it: no row is lost by it, and nothing
    is told.
    """
    mask = _recent if len(text) <= LOOKED_AT else masked
    try:
        return mask(text, most)
    except (IndexError, ValueError, RecursionError, re.error):
        return HIDDEN


def _whole_words(text: str) -> str:
    """A text that was cut, without what may be a part: its last word, and an armoured block that
    it ends in.
    """
    end = max(text.rfind(sign, len(text) - LAST_WORD) for sign in " \n\t")
    return text[: end if end > 0 else len(text) - LAST_WORD]


def _without_secrets(text: str, is_cut: bool) -> str:
    small = text.lower()
    text = kinds.without_blocks(text)
    if "://" in text or "@" in text:
        text = kinds.without_logins(text)
    text = kinds.without_issued(text)
    enclosing = quotes(text)
    spans = (
        list(_headers(text, small, enclosing))
        + list(_named(text, small, enclosing))
        + list(_in_places(text, small, enclosing, is_cut))
    )
    return kinds.without_random(_replaced(text, spans))


def _replaced(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with *** for each span; a quote on both sides stays."""
    parts, at = [], 0
    for start, end in sorted(spans):
        start = max(start, at)
        if start >= end:
            continue
        value = text[start:end]
        quote = value[0] if len(value) > 1 and value[0] in "\"'" and value[-1] == value[0] else ""
        parts += [text[at:start], quote + HIDDEN + quote]
        at = end
    return "".join(parts) + text[at:]


def quotes(text: str) -> list[str]:
    """For each character the quote that it stands in, as a shell reads them; "" outside. An
    apostrophe in a word is none.
    """
    found, inside, at = [], "", 0
    while at < len(text):
        char = text[at]
        if char == "\\" and inside != "'":
            found += [inside] * min(2, len(text) - at)
            at += 2
            continue
        if inside:
            found.append(inside)
            inside = "" if char == inside else inside
        else:
            word = (
                char == "'"
                and text[at - 1 : at].isalpha()
                and text[at + 1 : at + 2].isalpha()
                and text[at - 1 : at] not in "$"
            )
            inside = char if char in "\"'" and not word else ""
            found.append(inside)
        at += 1
    return found[: len(text)]


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


def _headers(text: str, small: str, enclosing: list[str]):
    """Spans of what authorization and cookie headers hold, and of credentials behind their
    scheme.
    """
    if "auth" in small or "cookie" in small:
        done = 0
        for found in _HEADER.finditer(text):
            start = found.end()
            if start < done:
                continue
            if text[start] in "\"'" and text[start] != enclosing[start - 1]:
                end = _closing_quote(text, start) + 1
            else:
                quote = enclosing[start - 1] or "\"'"
                end = next(
                    (at for at in range(start, len(text)) if text[at] == "\n" or text[at] in quote),
                    len(text),
                )
                if not enclosing[start - 1]:
                    first = value_end(text, start, "")
                    end = first if text[start : start + 1] in "\"'" else end
            if not _is_readable_header(text[start:end].strip("\"'")):
                yield start, end
                done = end
    if not any(
        word in small
        for word in (
            "bearer",
            "basic",
            "digest",
            "negotiate",
            "apikey",
            "token",
            "splunk",
            "hawk",
            "bot",
        )
    ):
        return
    for found in _SCHEME.finditer(text):
        scheme, value = found.group(1).lower(), found.group(2)
        if (
            scheme in ("bearer", "negotiate")
            and not (_COMMON.fullmatch(value) and len(value) < 16)
            or not _COMMON.fullmatch(value)
            and _looks(value)
        ):
            yield found.start(2), found.end(2)


def _looks(value: str) -> bool:
    from contextkernel import masking_names as names

    return names.looks_random(value, 6) or (len(value) >= 8 and value.endswith("="))


def _is_readable_header(value: str) -> bool:
    from contextkernel import masking_names as names

    words = value.split()
    return (
        not words
        or (len(words) <= 2 and names.is_plain(words[-1], '"'))
        or (len(words) > 2 and all(word.strip(".,").isalpha() and word.islower() for word in words))
    )


def _named(text: str, small: str, enclosing: list[str]):
    """Spans of values that stand behind a telling name: after a sign, as an option's value, in
    pairs and elements.
    """
    from contextkernel import masking_names as names

    if text.isascii() and not _holds(small, names.FRAGMENTS):
        return
    done = 0  # up to where values are masked
    for found in _NAMED.finditer(text):
        level = names.telling(found.group(1)) if found.start() >= done else 0
        if level:
            start, separator = found.end(), found.group(2)
            stops = ";|&" if "=" in separator and ":" not in separator else ";|&,}"
            inside = enclosing[start - 1] if not separator.strip().startswith(('"', "'")) else ""
            end = value_end(text, start, inside, stops)
            if separator.rstrip(" ") == "=" != separator and "\n" not in text[:start]:
                continue  # a shell's empty value
            if level == 2 and text[start : start + 1] in ("|", ">") and ":" in separator:
                end = start + 1
            if (
                level == 2
                and (":" in separator or separator != separator.strip())
                and end > start
                and text[start : start + 1] not in "\"'\\{["
                and _begins_line(text, found.start())
            ):
                end = _line_value(text, start, found.start(), end)
            value = text[start:end]
            if (
                value
                and value not in "{[("
                and (
                    len(value) > LONGEST
                    or names.is_secret(found.group(1), level, value, inside)
                    and not _is_code(value)
                )
            ):
                yield start, end
                done = end
    for pattern in (_LONG, _SPACED, _QUOTED_PAIR, _PAIRS):
        done = 0
        for found in pattern.finditer(text):
            name = found.group(2) if pattern is _LONG else found.group(1)
            level = names.telling(name.rpartition(":")[2]) if found.start() >= done else 0
            if level:
                start = found.end()
                end = value_end(
                    text,
                    start,
                    enclosing[start - 1] if enclosing[start - 1] != text[start : start + 1] else "",
                    ";|&" if pattern is not _PAIRS else ";|&,}<",
                )
                if end - start > LONGEST or names.is_secret(
                    name, level, text[start:end], enclosing[start - 1]
                ):
                    yield start, end
                    done = end
    if "<" in text:
        for found in _ELEMENT.finditer(text):
            level = names.telling(found.group(1))
            if level and names.is_secret(found.group(1), level, found.group(2).strip()):
                yield found.start(2), found.end(2)
    for found in _LINE.finditer(text) if "\n" in text else ():
        if names.telling(found.group(1)) == 2 and names.is_secret(
            found.group(1), 2, found.group(2)
        ):
            yield found.start(2), found.end(2)
    done = 0
    for found in _PROSE.finditer(text):
        if found.start() >= done and names.telling(found.group(1)) == 2:
            end = value_end(text, found.end(), enclosing[found.end() - 1])
            value = text[found.end() : end]
            if (
                len(value) > LONGEST
                or names.looks_random(value.strip("\"'"), 8 if value[:1] not in "\"'" else 6)
                and "/" not in value
                and not re.search(r"\.\w{1,4}$", value.strip("\"',;:)"))
                and not names.is_plain(value)
            ):
                yield found.end(), end
                done = end


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


def _in_places(text: str, small: str, enclosing: list[str], is_cut: bool):
    """Spans of what programs take as secrets, by option, by place and on stdin."""
    from contextkernel import masking_tools as tools

    for words, before, value in tools.PLACES if _holds(small, tools.PLACE_WORDS) else ():
        if before and any(word in small for word in words):
            flags = re.M | (re.I if before.startswith("(?i)") else 0)
            for found in re.finditer(
                f"({before[4 if flags & re.I else 0 :]})({value})", text, flags
            ):
                if found.group(2) and not _plain(found.group(2), enclosing[found.start(2)]):
                    yield found.start(2), found.end(2)
    yield from _options(text, small, enclosing, tools)
    if any(word in small for word in ("echo", "printf", "yes ", "<<", "print", "write-output")):
        yield from tools.piped(text, enclosing, is_cut)


def _holds(text: str, words: Iterable[str]) -> bool:
    """Whether a text holds one of the words: a loop, which costs a third of `any` over them."""
    for word in words:  # noqa: SIM110
        if word in text:
            return True
    return False


def _plain(value: str, inside: str) -> bool:
    from contextkernel import masking_names as names

    return names.is_plain(value.strip(), inside)


def _options(text: str, small: str, enclosing: list[str], tools):
    """Spans of values of options that are secret for the program named before them on the
    command.
    """
    if not (" -" in text or " /" in text):
        return
    table, active, last, others, user = tools.options(), [], "", False, False
    for found in re.finditer(r"[^\s|;&\"'`(){}<>]+|[|;&\n]", text):
        word, start = found.group(), found.start()
        if word in "|;&\n":
            if word != "\n" or last != "\\":
                active, others, user = [], False, False
        elif word[0] in "-/" and (active or user):
            yield from _option(text, enclosing, active, word, start)
            if user and not others and not active:
                for at, end in _option(text, enclosing, ["-p", "-P"], word, start):
                    if not tools.PORT.fullmatch(text[at:end].strip("\"'")):
                        yield at, end
        base = re.split(r"[/\\]", word)[-1].lower()
        base = base[:-4] if base.endswith(".exe") else base
        if base in table and word[0] != "-":
            active = active + table[base]
        others = others or base in tools.OTHERS
        user = user or word in tools.USER or word.startswith(("--user=", "--username=", "-u="))
        last = word


def _option(text: str, enclosing: list[str], active: list[str], word: str, start: int):
    for option in active:
        sign = option[-1] if option[-1] in ":%,+" else ""
        name = option[:-1] if sign else option
        short = len(name) == 2 and name[0] == "-"
        if word == name or (
            short
            and sign != "+"
            and len(word) > 2
            and word[1] != "-"
            and word.endswith(name[1])
            and word[1:].isalpha()
            and len(word) < 6
        ):
            at = start + len(word)
            while at < len(text) and text[at] in " \t=\\\n":
                at += 1
            if (
                (sign == "+" and (at > start + len(word) or text[at : at + 1] not in ("'", '"')))
                or at >= len(text)
                or text[at] == "-"
                and not text[at + 1 : at + 2].isdigit()
            ):
                continue
        elif word.startswith((name + "=", name + ":")):
            at = start + len(name) + 1
        elif (short or sign == "+") and word.startswith(name):
            at = start + len(name)
        else:
            continue
        end = value_end(text, at, enclosing[at - 1] if text[at - 1] not in "\"'" else "")
        if sign in (":", "%", ","):
            cut = text.find(sign, at, end)
            at = cut + 1 if cut >= 0 else end
            while end > at and text[end - 1] in "\"'":
                end -= 1
        if (
            end > at
            and not _plain(text[at:end], enclosing[at - 1])
            and not text[at:end].startswith("//")
        ):
            yield at, end
        return
