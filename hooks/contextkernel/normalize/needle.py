"""What a search looked for, as a pattern that no line can hold up: it only decides where a long
line is clipped.
"""

from __future__ import annotations

import re

# repetitions; `*` and `+` go no further, nor does one that the pattern begins with (it is tried
# from every character)
FARTHEST, AT_START = 300, 60
CHOICES = 16  # ways through the alternatives and options of a pattern
PART = re.compile(
    (
        r"\\(?P<escaped>.)|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?P<special>\?(?!:|i\)))?(?:\?:|\?i\))?"
        r"|(?P<close>\))|(?P<repeat>[*+]|\{(?P<least>\d*)(?P<most>,\d*)?\})|(?P<option>\?)"
        r"|(?P<bar>\|)|[^\\]"
    ),
    re.S,
)


def pattern_of(wanted: str) -> re.Pattern[str] | None:
    """A pattern for the argument of a grep.  Of one with several repetitions, repeated groups or
    many choices the part before them; None where nothing is left.
    """
    try:
        bounded = _bounded(wanted.replace("\\|", "|"))
        return re.compile(bounded, re.I) if bounded else None
    except (re.error, OverflowError):
        return re.compile(re.escape(wanted), re.I)


def _bounded(text: str) -> str:
    """The longest beginning that holds at most one repetition, bounded, and few choices."""
    out: list[str] = []
    groups: list[int] = []  # where in `out` each open group begins
    atom = 0  # where in `out` the part begins that a quantifier would apply to
    repeated, choices, after, grouped = False, 1, "", False
    for part in PART.finditer(text):
        token = part.group()
        whole = groups[0] if groups else len(out)  # the place before the outermost open group
        if part.group("special") or (part.group("escaped") or "x") in "123456789":
            return _trimmed(out[:whole])
        if token[0] == "(" and not token.endswith("i)"):
            groups.append(len(out))
        if part.group("repeat"):
            is_stacked = repeated or grouped or after in ("repeat", "option")
            if is_stacked or _farthest(part) > FARTHEST:
                return _trimmed(out[: groups[0] if groups else atom])
            repeated = True
            token = _limited(token, FARTHEST if atom else AT_START)
        elif part.group("option") and after != "repeat" or part.group("bar") and groups:
            choices *= 2
            if choices > CHOICES:
                return _trimmed(out[: groups[0] if groups else atom])
        after = part.lastgroup if part.lastgroup in ("repeat", "option") else ""
        if part.group("close"):
            atom, grouped = groups.pop() if groups else len(out), True
        elif not after:
            atom, grouped = len(out), False
        out.append(token)
    return "".join(out)


def _farthest(part: re.Match[str]) -> int:
    """The largest number of a `{2,5}`; 0 for other repetitions."""
    numbers = re.findall(r"\d+", part.group()) if part.group().startswith("{") else ()
    return max((int(number[:6]) for number in numbers), default=0)


def _limited(repetition: str, limit: int) -> str:
    """The repetition with an end to it."""
    if repetition == "*":
        return f"{{0,{limit}}}"
    if repetition == "+":
        return f"{{1,{limit}}}"
    return repetition[:-1] + f"{FARTHEST}}}" if repetition.endswith(",}") else repetition


def _trimmed(parts: list[str]) -> str:
    return "".join(parts).rstrip("|")
