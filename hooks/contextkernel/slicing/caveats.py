"""What a slice cannot know, as lines for its reader."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from contextkernel import paths
from contextkernel.slicing.parts import Slice
from contextkernel.slicing.repository import Repository

CHANGED_SHOWN, FOREIGN_SHOWN, UNRESOLVED_SHOWN, UNREAD_SHOWN, LARGE_SHOWN = 8, 6, 6, 12, 12
NEVER_FOLLOWED = (
    "calls by name, registries and data files are not followed; ranking uses words and imports"
)


class Age(NamedTuple):
    """How the index compares with the files on disk: `changed` since it was read, `files` in it,
    `building`: a child process is at it.

    `notes` on the list of files; `unread`: (path, reason) of what could not be read.
    """

    files: int
    changed: tuple[str, ...] = ()
    building: bool = False
    notes: tuple[str, ...] = ()
    unread: tuple[tuple[str, str], ...] = ()


def caveats(repository: Repository, cut: Slice, age: Age) -> list[str]:
    """What this slice cannot know, one line each."""
    return [
        NEVER_FOLLOWED,
        *_of_index(age),
        *_foreign(cut),
        *(
            f"{paths.plain(one)} (imports not followed)"
            for one in cut.unresolved[:UNRESOLVED_SHOWN]
        ),
        *_unscanned(repository),
        *age.notes,
        *_unread(age),
        *_unresolved_languages(repository),
    ]


def _listed(found: Iterable[str], limit: int, form: Callable[[str], str] = paths.shown) -> str:
    """The first of some texts, and how many more there are."""
    found = list(found)
    more = f" and {len(found) - limit} more" if len(found) > limit else ""
    return ", ".join(map(form, found[:limit])) + more


def _of_index(age: Age) -> list[str]:
    out = []
    if age.changed:
        count = len(age.changed)
        out.append(
            f"the index is out of date for {count} file{'s' if count > 1 else ''}: "
            + _listed(age.changed, CHANGED_SHOWN)
        )
    if age.building:
        out.append("the index is still being built; a later call will see more")
    return out


def _foreign(cut: Slice) -> list[str]:
    if not cut.foreign:
        return []
    return ["frames outside this repository: " + _listed(cut.foreign, FOREIGN_SHOWN, paths.plain)]


def _unscanned(repository: Repository) -> list[str]:
    """Files that the ranking knows by name only: large ones by path, others by their number."""
    by_note: dict[str, list[str]] = {}
    for path, row in sorted(repository.rows.items()):
        if row.note:
            by_note.setdefault(row.note, []).append(path)
    out = []
    for note, found in sorted(by_note.items()):
        if note == "big":
            out.append("over 1 MB, not scanned, read by path: " + _listed(found, LARGE_SHOWN))
        else:
            kind = "" if note == "no known language" else note + " "
            out.append(f"{len(found)} {kind}file{'s' if len(found) > 1 else ''} not scanned")
    return out


def _unread(age: Age) -> list[str]:
    if not age.unread:
        return []
    shown = [f"{paths.shown(path)} ({why})" for path, why in age.unread[:UNREAD_SHOWN]]
    more = len(age.unread) - len(shown)
    return ["not read: " + "; ".join(shown) + (f"; and {more} more" if more else "")]


def _unresolved_languages(repository: Repository) -> list[str]:
    suffixes = {
        path[path.rfind(".") :] for path, row in repository.rows.items() if row.language == "other"
    }
    if not suffixes:
        return []
    return ["languages whose imports are not resolved: " + ", ".join(sorted(suffixes))]
