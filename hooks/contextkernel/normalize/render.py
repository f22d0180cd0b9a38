"""The new text of a document with its account."""

from __future__ import annotations

from contextkernel.normalize.document import Document
from contextkernel.normalize.edits import Edit, Normalized
from contextkernel.normalize.layout import Segment

LONG = 1200  # characters; a longer line is clipped
KEPT_START, KEPT_END = 700, 200


def render(document: Document, segments: list[Segment], head: list[str]) -> Normalized:
    """Head lines, then every segment; the account names each source line that is not shown
    verbatim.
    """
    out: list[str] = list(head)
    edits: list[Edit] = []
    for segment in segments:
        if segment.lines is not None:
            first, last = document.span(segment.first, segment.last)
            _enter(edits, Edit(segment.rule, first, last, len(segment.lines)))
            out += segment.lines
        elif document.first is None:
            out += document.raw[segment.first : segment.last + 1]
        else:
            for index in range(segment.first, segment.last + 1):
                if not document.verbatim(index):
                    first, last = document.span(index, index)
                    _enter(edits, Edit("terminal", first, last, 1))
                out.append(document.shown(index))
    return Normalized("\n".join(out), tuple(edits), len(head))


def _enter(edits: list[Edit], edit: Edit) -> None:
    """Add an edit, joined to the one before when they share source lines or are neighbours of
    one rule.
    """
    if edits:
        before = edits[-1]
        if edit.first <= before.last or (
            edit.rule == before.rule == "terminal" and edit.first == before.last + 1
        ):
            edits[-1] = Edit(
                before.rule, before.first, max(before.last, edit.last), before.shown + edit.shown
            )
            return
    edits.append(edit)
