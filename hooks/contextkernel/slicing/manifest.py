"""A slice as text for a model, or as plain values for a program."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

from contextkernel import paths, tokens
from contextkernel.lines import in_words
from contextkernel.slicing.repository import Repository
from contextkernel.slicing.slice import Place, Request, Slice

SHOWN_FRAMES, SHOWN_BEYOND, SHOWN_UNREAD = 40, 15, 12
HEADS_SHOWN = 100  # characters of a source line in the outline


class Age(NamedTuple):
    """How the index stands to the files on disk: `changed` since it was read, `files` in it,
    `building`: a child is at it.

    `notes` on the list of files; `unread`: (path, reason) of what could not be read.
    """

    files: int
    changed: tuple[str, ...] = ()
    building: bool = False
    notes: tuple[str, ...] = ()
    unread: tuple[tuple[str, str], ...] = ()


def handle(repository: Repository, cut: Slice) -> str:
    """The name of a slice: 12 hex digits of what it shows."""
    shown = repr([(place.path, place.ranges) for place in cut.places])
    return hashlib.sha256(shown.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def as_values(repository: Repository, cut: Slice, request: Request, age: Age) -> dict[str, Any]:
    """The slice as a JSON object."""
    size = tokens.of_bytes(cut.size)
    return {
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
        "not_in_repository": list(cut.foreign[:SHOWN_FRAMES]),
        "blind_spots": _blind(repository, cut, age),
        "index": {"files": age.files, "changed_since": list(age.changed), "building": age.building},
    }


def as_text(
    repository: Repository, cut: Slice, request: Request, age: Age, inline: bool = False
) -> str:
    """The slice as a manifest: places with reasons and ready commands, what is not shown, blind
    spots, the budget.

    `inline`: with the source lines themselves, numbered as in the file.
    """
    size, places = tokens.of_bytes(cut.size), sum(len(place.ranges) for place in cut.places)
    out = [
        (
            f"T2@{handle(repository, cut)}  {places} places in {len(cut.places)} files of "
            f"{paths.shown(repository.root)}"
        )
    ]
    if not cut.places:
        out.append(
            "nothing in this repository answers to the symptom: no frame, path, name or word "
            "of it was found"
        )
    if size > request.budget:
        out.append(
            f"the budget of {request.budget} tokens holds not even the lines that the "
            f"symptom names; this is the smallest form, ~{size} tokens"
        )
    out += _frames(cut)
    for number, place in enumerate(cut.places, 1):
        out += _place(number, place, repository, inline)
    out += _rest(repository, cut, request)
    blind = _blind(repository, cut, age)
    out += ["blind spots:"] + ["  " + one for one in blind]
    out.append(
        f"budget: ~{size} of {request.budget} tokens shown (bytes/4, an "
        f"estimate){'' if inline else '; the lines themselves come with the commands above'}"
    )
    return "\n".join(out) + "\n"


def _frames(cut: Slice) -> list[str]:
    if not cut.frames:
        return []
    shown = [
        f"{paths.shown(spot.path)}:{spot.first}" if spot.first else paths.shown(spot.path)
        for spot in cut.frames
    ]
    more = "" if len(shown) <= SHOWN_FRAMES else f" and {len(shown) - SHOWN_FRAMES} more"
    return [
        "named by the symptom, nearest to the error first: "
        + ", ".join(list(dict.fromkeys(shown))[:SHOWN_FRAMES])
        + more
    ]


def _place(number: int, place: Place, repository: Repository, inline: bool) -> list[str]:
    out = [
        f"{number}. {paths.shown(place.path)}:{in_words(place.ranges)}  {paths.plain(place.why)}"
    ]
    lines = repository.text(place.path).split("\n")
    if inline:
        for first, last in place.ranges:
            out += [
                "%6d\t%s" % (at, lines[at - 1].rstrip("\r"))
                for at in range(first, min(last, len(lines)) + 1)
            ]
            out.append("   ...") if (first, last) != place.ranges[-1] else None
        return out
    script = ";".join(
        "%d,%dp" % span if span[0] != span[1] else f"{span[0]}p" for span in place.ranges
    )
    out.append(f"   sed -n {paths.quoted(script)} {paths.quoted(place.path)}")
    heads = [
        one
        for one in repository.facts(place.path).definitions
        if any(first <= one.line <= last for first, last in place.ranges) and one.kind != "name"
    ]
    for one in heads[:8]:
        out.append(
            f"   {one.line}: {lines[one.line - 1].strip()[:HEADS_SHOWN]}"
            if one.line <= len(lines)
            else ""
        )
    if len(heads) > 8:
        out.append(f"   and {len(heads) - 8} more definitions")
    return out


def _rest(repository: Repository, cut: Slice, request: Request) -> list[str]:
    out = []
    if cut.tests:
        out.append(
            "related tests, not counted in the budget: " + ", ".join(map(paths.shown, cut.tests))
        )
    if cut.beyond:
        out.append(
            "next best, not shown: " + ", ".join(map(paths.shown, cut.beyond[:SHOWN_BEYOND]))
        )
    if cut.outside:
        out.append(
            f"{cut.outside} more files answer to words of the symptom but lie outside of "
            f"depth {request.depth or 'full'}"
        )
    out.append(
        f"more: the same call with a larger budget (--budget {request.budget * 2}), without "
        "--depth, or read any file by its path"
    )
    return out


def _blind(repository: Repository, cut: Slice, age: Age) -> list[str]:
    """What this slice cannot know, one line each."""
    out = [
        "calls by name, registries and data files are not followed; ranking is by words and imports"
    ]
    if age.changed:
        out.append(
            f"index older than the files: {len(age.changed)} changed since, "
            f"{', '.join(map(paths.shown, age.changed[:8]))}"
            f"{' and more' if len(age.changed) > 8 else ''}"
        )
    if age.building:
        out.append("the index is still being built: a later call sees more")
    if cut.foreign:
        out.append(
            "frames outside of this repository: "
            + ", ".join(map(paths.plain, cut.foreign[:6]))
            + (f" and {len(cut.foreign) - 6} more" if len(cut.foreign) > 6 else "")
        )
    out += [f"{paths.plain(one)} (imports not followed)" for one in cut.blind[:6]]
    out += [
        (
            f"{count} "
            f"{ {'big': 'files over 1 MB', 'no known language': 'files'}.get(note, note + ' files') }"
            " not scanned"
        )
        for note, count in sorted(cut.notes.items())
    ]
    out += age.notes
    if age.unread:
        more = (
            ""
            if len(age.unread) <= SHOWN_UNREAD
            else f"; and {len(age.unread) - SHOWN_UNREAD} more"
        )
        out.append(
            "not read: "
            + "; ".join(f"{paths.shown(path)} ({why})" for path, why in age.unread[:SHOWN_UNREAD])
            + more
        )
    unresolved = sorted(
        {row.language for row in repository.rows.values() if row.language == "other"}
    )
    if unresolved:
        out.append(
            "languages whose imports are not resolved: "
            + ", ".join(
                sorted(
                    {
                        path[path.rfind(".") :]
                        for path, row in repository.rows.items()
                        if row.language == "other"
                    }
                )
            )
        )
    return out
