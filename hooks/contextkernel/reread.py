"""What a Read shows of a file whose earlier copy stands whole in the context."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, NamedTuple

from contextkernel import marks, tokens

MOST_SHARE = 0.5  # of the text: a longer diff is harder to read than the file
MOST_WORK = 4000000  # line pairs: difflib is quadratic in the part that differs
# of the search for like runs of lines, about a second: it is cubic where lines repeat, and cut off
# there
MOST_STEPS = 8000000
CONTEXT = 3  # lines around a change, as diff -U3


class _TooLongError(Exception):
    """The search for like lines took more steps than it may."""


if TYPE_CHECKING:

    class _SequenceMatcher(difflib.SequenceMatcher[str]):
        b2j: dict[str, list[int]]

else:
    _SequenceMatcher = difflib.SequenceMatcher


class _Matcher(_SequenceMatcher):
    """Counts the steps of its search. Raises _TooLongError."""

    def __init__(self, before: list[str], after: list[str]) -> None:
        super().__init__(None, before, after)
        self.left = MOST_STEPS
        self.sums = [0]  # steps for the lines of `before` up to one
        for line in before:
            self.sums.append(self.sums[-1] + 2 + len(self.b2j.get(line, ())))

    def find_longest_match(  # the names of difflib, which gives all four
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> difflib.Match:
        self.left -= self.sums[-1 if ahi is None else ahi] - self.sums[alo]
        if self.left < 0:
            raise _TooLongError
        return super().find_longest_match(alo, ahi, blo, bhi)


class Decision(NamedTuple):
    """`rule` is "whole" (no text: the client's own result passes), "reread" or "delta"; `text`
    is what the model reads instead.
    """

    rule: str
    text: str = ""


WHOLE = Decision("whole")
BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def decide(
    path: str,
    now: str,
    held: str | None,
    given_mark: bool,
    handle: str,
    least: int,
    bytes_changed: str = "",
) -> Decision:
    """The form of a repeated Read. `now`: the file's text; `held`: the copy proved to stand in the
    context, None for none.

    `given_mark`: the same request was just answered with the mark, so now it gets the text.
    `handle` names the stored `now`; `least`: tokens that the short form must save.
    `bytes_changed`: what changed in the file's bytes and cannot be seen in the text, such as its
    line ends.  The diff is exact: applied to `held` it gives `now`, and its line numbers are the
    file's.
    """
    if held is None or (held == now and given_mark):
        return WHOLE
    if held == now:
        mark = unchanged(path, now, handle)
        if bytes_changed:
            mark = same_text(path, now, handle, bytes_changed)
        return _worth(Decision("reread", mark), now, least)
    body = unified(held, now)
    if body is None:
        return WHOLE
    text = (
        f"[ck: {_short(path)} changed; unified diff against your earlier Read of it; recall "
        f"{handle}]\n{body}"
    )
    return (
        _worth(Decision("delta", text), now, least)
        if tokens.estimate(text) < MOST_SHARE * tokens.estimate(now)
        else WHOLE
    )


def unchanged(path: str, text: str, handle: str) -> str:
    """The mark of three lines for a file that did not change."""
    lines = text.count("\n") + (not text.endswith("\n"))
    return (
        f"[ck: {_short(path)} unchanged; recall {handle}]\nlines 1-{lines} are on disk as your "
        "earlier Read showed them\nRead it once more for the text"
    )


def same_text(path: str, text: str, handle: str, what: str) -> str:
    """The mark for a file whose bytes changed and whose text, as a Read shows it, did not."""
    lines = text.count("\n") + (not text.endswith("\n"))
    return (
        f"[ck: {_short(path)} changed on disk: {what}; recall {handle}]\nthe text of lines "
        f"1-{lines} is as your earlier Read showed it\nRead it once more for the text"
    )


def form_of(data: bytes) -> str:
    """What a Read does not show of a file's bytes: "LF", "CRLF", "mixed line ends" or "no line
    ends", with ", BOM" where it begins with one.
    """
    crlf = data.count(b"\r\n")
    lf, cr = data.count(b"\n") - crlf, data.count(b"\r") - crlf
    kinds = [name for name, count in (("LF", lf), ("CRLF", crlf), ("CR", cr)) if count]
    ends = "mixed line ends" if len(kinds) > 1 else "".join(kinds) or "no line ends"
    return ends + (", BOM" if data.startswith(BOMS) else "")


def change_of(before: str, after: str) -> str:
    """What changed between two forms, in words."""
    return f"{before} -> {after}" if before != after else "bytes that a Read does not show"


def _worth(decision: Decision, now: str, least: int) -> Decision:
    return decision if tokens.estimate(now) - tokens.estimate(decision.text) >= least else WHOLE


def _short(path: str) -> str:
    path = marks.harmless(" ".join(path.split("\n")))
    return path if len(path) <= 60 else "…" + path[-59:]


def unified(old: str, new: str) -> str | None:
    """The unified diff of two texts, 3 lines of context, true line numbers; None where it would
    cost too much to compute.

    The line break at the end counts as in `diff`: a text without one gets "\\ No newline at end of
    file".
    """
    before, after = _lines(old), _lines(new)
    same = _common(before, after)
    end = min(_common(before[same:][::-1], after[same:][::-1]), min(len(before), len(after)) - same)
    first, cut = max(0, same - CONTEXT), max(0, end - CONTEXT)
    middle = before[first : len(before) - cut], after[first : len(after) - cut]
    if len(middle[0]) * len(middle[1]) > MOST_WORK:
        return None
    try:
        groups = list(_Matcher(*middle).get_grouped_opcodes(CONTEXT))
    except _TooLongError:
        return None
    out = ["--- earlier Read", "+++ on disk now"]
    for group in groups:
        out.append(
            f"@@ -{_range(first + group[0][1], first + group[-1][2])} "
            f"+{_range(first + group[0][3], first + group[-1][4])} @@"
        )
        for kind, start, end, new_start, new_end in group:
            lines = (
                [" " + line for line in middle[0][start:end]]
                if kind == "equal"
                else ["-" + line for line in middle[0][start:end]]
                + ["+" + line for line in middle[1][new_start:new_end]]
            )
            for line in lines:
                out += (
                    [line[: -len(NO_NEWLINE)], "\\ No newline at end of file"]
                    if line.endswith(NO_NEWLINE)
                    else [line]
                )
    return "\n".join(out)


def _range(start: int, end: int) -> str:
    """Lines `start` to `end` (0-based, end exclusive) as a hunk's head names them: "3", "3,2";
    of no line, the one before.
    """
    length = end - start
    return str(start + 1) if length == 1 else f"{start + (length > 0)},{length}"


NO_NEWLINE = "\0no newline"  # makes a last line without a line break differ from one with it


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1] == "":
        return lines[:-1]
    return lines[:-1] + [lines[-1] + NO_NEWLINE]


def _common(one: list[str], other: list[str]) -> int:
    """Length of the common start of two lists."""
    count = 0
    for a, b in zip(one, other):
        if a != b:
            break
        count += 1
    return count
