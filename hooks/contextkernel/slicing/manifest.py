"""A slice as text for a model, or as plain values for a program.

The budget of a text holds for all that it makes its reader read: every printed line, and in a list
of commands what the commands print as well.  The printed text itself is measured, so what it says
of its size is so.
"""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

from contextkernel import paths, tokens
from contextkernel.lines import in_words
from contextkernel.slicing.caveats import Age, caveats
from contextkernel.slicing.line_selection import (
    BARE,
    COMMANDS,
    DEFINITION_CHARS,
    DEFINITIONS_SHOWN,
    NUMBERED,
)
from contextkernel.slicing.parts import Place, Request, Slice
from contextkernel.slicing.repository import Repository
from contextkernel.slicing.slice import Slicer

FRAMES_SHOWN, BEYOND_SHOWN = 40, 15
BRIEF_FRAMES_SHOWN = 3
# of the budget: above, what stands around the places is kept brief
FRAMING_SHARE = 0.25
ROUNDS = 5  # selections tried, each with the room that the one before left or lacked
CLOSE = 0.02  # of the budget that may be left


class _Text(NamedTuple):
    """A printed slice.  `own`: bytes of the text; `size`: with what its commands print.
    `framing`: bytes of it that are no places.
    """

    text: str
    own: int
    size: int
    framing: int


def handle(repository: Repository, cut: Slice) -> str:
    """The name of a slice: 12 hex digits of what it shows."""
    shown = repr([(place.path, place.ranges) for place in cut.places])
    return hashlib.sha256(shown.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def as_values(repository: Repository, slicer: Slicer, request: Request, age: Age) -> dict[str, Any]:
    """The slice as a JSON object.  Its budget is that of the source lines that the ranges name."""
    cut = slicer.cut(tokens.in_bytes(request.budget), BARE)
    size = tokens.of_bytes(cut.size)
    values = {
        "handle": "T2@" + handle(repository, cut),
        "repository": repository.root,
        "files": [
            {"path": place.path, "ranges": [list(span) for span in place.ranges], "why": place.why}
            for place in cut.places
        ],
        "tokens": size,
        "budget": request.budget,
        "fits": size <= request.budget,
        "smallest": tokens.of_bytes(cut.smallest),
        "frames": [{"path": spot.path, "line": spot.first, "why": spot.why} for spot in cut.frames],
        "seeds": list(cut.seeds),
        "tests": list(cut.tests),
        "beyond": list(cut.beyond),
        "outside_depth": cut.outside,
        "not_in_repository": list(cut.foreign[:FRAMES_SHOWN]),
        "blind_spots": caveats(repository, cut, age),
        "index": {"files": age.files, "changed_since": list(age.changed), "building": age.building},
    }
    return dict(values, budget_line=request.budget_line) if request.budget_line else values


def as_text(
    repository: Repository, slicer: Slicer, request: Request, age: Age, inline: bool = False
) -> str:
    """The slice as a manifest: places with reasons and ready commands, what is not shown, blind
    spots, the budget.

    `inline`: with the source lines themselves, numbered as in the file.  The richest text within
    the budget, or the smallest one when none is.
    """
    budget = tokens.in_bytes(request.budget)
    form = NUMBERED if inline else COMMANDS
    printer = _Printer(repository, request, age, inline)
    smallest = slicer.cut(0, form)
    best = printer.printed(smallest, is_brief=False)
    is_brief = best.framing > budget * FRAMING_SHARE
    if is_brief:
        best = printer.printed(smallest, is_brief)
    room, before = budget - best.framing, smallest.places
    for _ in range(ROUNDS):
        cut = slicer.cut(room, form)
        if room <= smallest.smallest or cut.places == before:
            break
        before = cut.places
        tried = printer.printed(cut, is_brief)
        if tried.size <= budget and (best.size > budget or tried.size > best.size):
            best = tried
        if 0 <= budget - tried.size <= budget * CLOSE:
            break
        room += budget - tried.size
    return best.text


class _Printer:
    """Slices of one request as texts."""

    def __init__(self, repository: Repository, request: Request, age: Age, inline: bool) -> None:
        self._repository, self._request, self._age = repository, request, age
        self._inline = inline

    def printed(self, cut: Slice, is_brief: bool) -> _Text:
        """The text of a slice with its size in it."""
        places: list[str] = []
        for number, place in enumerate(cut.places, 1):
            places += self._place(number, place)
        shown = sum(_bytes_of(self._lines_of(place)) for place in cut.places)
        above, below = self._above(cut, is_brief), self._below(cut, is_brief)
        elsewhere = 0 if self._inline else shown
        own = _bytes_of(above + places + below)
        # the lines about the size are part of it: their numbers grow by a digit at most twice
        text = above + places + below
        for _ in range(3):
            about = self._about_size(own, elsewhere)
            text = [above[0], *about[:-1], *above[1:], *places, *below, about[-1]]
            own = _bytes_of(text)
        return _Text("\n".join(text) + "\n", own, own + elsewhere, own - _bytes_of(places))

    def _above(self, cut: Slice, is_brief: bool) -> list[str]:
        count = sum(len(place.ranges) for place in cut.places)
        out = [
            f"T2@{handle(self._repository, cut)}  {count} places in {len(cut.places)} files of "
            f"{paths.shown(self._repository.root)}"
        ]
        if not cut.places:
            out.append(
                "No match: nothing in this repository matches the symptom's frames, paths, names "
                "or words."
            )
        return out + _frames(cut, BRIEF_FRAMES_SHOWN if is_brief else FRAMES_SHOWN)

    def _lines_of(self, place: Place) -> list[str]:
        lines = self._repository.text(place.path).split("\n")
        return [line for first, last in place.ranges for line in lines[first - 1 : last]]

    def _place(self, number: int, place: Place) -> list[str]:
        head = f"{number}. {paths.shown(place.path)}:{in_words(place.ranges)}  "
        lines = self._repository.text(place.path).split("\n")
        body = _numbered(place, lines) if self._inline else self._commands(place, lines)
        return [head + paths.plain(place.why), *body]

    def _commands(self, place: Place, lines: list[str]) -> list[str]:
        script = ";".join(
            f"{first},{last}p" if first != last else f"{first}p" for first, last in place.ranges
        )
        heads = [
            one.line
            for one in self._repository.facts(place.path).definitions
            if any(first <= one.line <= last for first, last in place.ranges) and one.kind != "name"
        ]
        out = [f"   sed -n {paths.quoted(script)} {paths.quoted(place.path)}"]
        for line in heads[:DEFINITIONS_SHOWN]:
            text = lines[line - 1].strip()[:DEFINITION_CHARS] if line <= len(lines) else ""
            out.append(f"   {line}: {text}" if text else "")
        if len(heads) > DEFINITIONS_SHOWN:
            out.append(f"   and {len(heads) - DEFINITIONS_SHOWN} more definitions")
        return out

    def _below(self, cut: Slice, is_brief: bool) -> list[str]:
        budget, depth = self._request.budget, self._request.depth
        out = []
        if cut.tests and not is_brief:
            out.append("related tests, not shown: " + ", ".join(map(paths.shown, cut.tests)))
        if cut.beyond and not is_brief:
            best = ", ".join(map(paths.shown, cut.beyond[:BEYOND_SHOWN]))
            out.append("next best files, not shown: " + best)
        if cut.outside:
            out.append(
                f"{cut.outside} more files share words with the symptom but are farther away than "
                f"--depth {depth or 'full'}"
            )
        without = ", without --depth" if depth or self._request.importers else ""
        out.append(
            f"for more: the same call with --budget {budget * 2}{without}, or read any file by its "
            "path"
        )
        return [*out, "blind spots:"] + [
            "  " + one for one in caveats(self._repository, cut, self._age)
        ]

    def _about_size(self, own: int, elsewhere: int) -> list[str]:
        """What the text says of its size: first what must be known at once, then the last line."""
        budget, size = self._request.budget, tokens.of_bytes(own + elsewhere)
        out = []
        if size > budget:
            out.append(
                f"Even the smallest answer needs ~{size} tokens, more than the budget of {budget}."
            )
        parts = (
            f": ~{tokens.of_bytes(own)} here, ~{tokens.of_bytes(elsewhere)} printed by the commands"
            if elsewhere
            else ""
        )
        last = f"budget: ~{size} of {budget} tokens (bytes/4){parts}"
        line = self._request.budget_line
        return [*out, f"{last}\n{line}" if line else last]


def _bytes_of(lines: list[str]) -> int:
    text = "\n".join([*lines, ""])
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogateescape"))


def _numbered(place: Place, lines: list[str]) -> list[str]:
    out = []
    for first, last in place.ranges:
        out += [
            f"{at:6d}\t{lines[at - 1].rstrip(chr(13))}"
            for at in range(first, min(last, len(lines)) + 1)
        ]
        if (first, last) != place.ranges[-1]:
            out.append("   ...")
    return out


def _frames(cut: Slice, limit: int) -> list[str]:
    if not cut.frames:
        return []
    shown = [
        f"{paths.shown(spot.path)}:{spot.first}" if spot.first else paths.shown(spot.path)
        for spot in cut.frames
    ]
    shown = list(dict.fromkeys(shown))
    more = f" and {len(shown) - limit} more" if len(shown) > limit else ""
    return ["named by the symptom, nearest to the error first: " + ", ".join(shown[:limit]) + more]
