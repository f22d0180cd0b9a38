"""T1: a tool's output in its normal form, with a complete account of what was left out.

Pure: text and source in, text and account out.  The same text comes back when nothing is worth
hiding, when the
agent asked for exactly these lines, when the text is our own, or when anything about it is in
doubt.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from contextkernel import marks
from contextkernel.edits import Normalized, accounting_error

FAILURE_CAP = (
    9900  # characters; the client cuts a failing command's output at 10,000 (5,000 + 5,000)
)
SUCCESS_CAP = 30000  # characters; above, the client shows a 2 KB preview
LEAST = 800  # bytes; shorter texts pass, no rewriting of them pays for its mark
LEAST_SAVED, LEAST_SHARE = (
    240,
    0.10,
)  # bytes and share that a rewriting must save: twice the cost of a mark, and a tenth
ROOM, FAILURE_ROOM = 6500, 7800  # characters to aim at: about 1,600 and 1,950 tokens
MANY, SPARSE = (
    50000,
    3,
)  # lines, and characters of each on average: more lines that are shorter are next to empty
READERS = frozenset(
    "cd sed cat head tail xargs find nl tr cut awk ssh less more bat echo true for read done".split()
)  # programs that show files and nothing of their own
SAMPLE_HEAD, SAMPLE_TAIL = 12000, 4000  # characters looked at to tell the format

if TYPE_CHECKING:
    from contextkernel.normalize.document import Document


class Source(NamedTuple):
    """Where a text comes from.  `handle` "": computed.  `cap`: characters the client shows at most
    (on failure 9,900).

    `known`: those handles named by marks in the text that the store holds; a mark with another one
    is anybody's words.
    """

    tool: str = "Bash"
    command: str = ""
    exit_code: int = 0
    handle: str = ""
    cap: int = SUCCESS_CAP
    known: frozenset[str] = frozenset()


def handle_of(text: str) -> str:
    """The first 12 hex digits of the SHA-256 of a text's bytes."""
    import hashlib  # costs 3 ms; callers that store the text pass the handle

    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        data = text.encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:12]


def normalize(text: str, source: Source) -> Normalized:
    """The normal form of a text.  Never longer in bytes; every changed text names `recall
    HANDLE` in a mark.
    """
    same = Normalized(text)
    hard = min(source.cap, SUCCESS_CAP) if not source.exit_code else min(source.cap, FAILURE_CAP)
    if len(text) < LEAST or _is_binary(text):
        return same
    if _is_ours(text, source) and (len(text) < hard or not source.exit_code):
        return same
    from contextkernel.normalize.commands import facts

    command = facts(source.command)
    if command.explicit:
        return same
    return _rewritten(text, source, command, hard) or same


def _is_ours(text: str, source: Source) -> bool:
    """Whether a text holds a mark of ours: one whose handle gives something back; any mark where
    the source has no handle, hence no store.
    """
    if not marks.carries_mark(text):
        return False
    if not source.handle:
        return True
    return any(
        handle in source.known or handle == source.handle for handle in marks.handles_in(text)
    )


def _is_binary(text: str) -> bool:
    """Whether a text holds NUL or mostly undecodable bytes."""
    if "\0" in text:
        return True
    sample = text[:4000]
    return (
        sum(char == "\ufffd" or "\ud800" <= char <= "\udfff" for char in sample) > len(sample) // 20
    )


def _rewritten(text: str, source: Source, command, hard: int) -> Normalized | None:
    """The first format's rewriting that pays and is accounted for; None when there is none."""
    from contextkernel.normalize.layout import Ask

    if _is_code(text, source, command):
        return None
    document = document_of(text)
    handle = source.handle or handle_of(text)
    room = FAILURE_ROOM if source.exit_code else ROOM
    ask = Ask(handle, source.exit_code, min(room, hard - 300), hard - 200, command, source.tool)
    layout = _layout(document, ask, len(text) >= hard)
    if layout is None:
        return None
    document = layout.document or document
    for _ in range(6):
        normalized = _rendered(text, document, layout, ask)
        if len(normalized.text) < hard:
            break
        ask = ask._replace(room=ask.room * 4 // 5, hard=ask.hard * 4 // 5)
        layout = layout._replace(room=layout.room * 4 // 5)
    else:
        return None
    if not _pays(text, normalized.text, hard) or accounting_error(text, normalized, document.raw):
        return None
    return normalized


def document_of(text: str) -> Document:
    """The document of a text.  Costs one split when the text holds no control characters."""
    from contextkernel.normalize.document import Document

    raw = text.split("\n")
    if "\x1b" in text or "\b" in text or "\r" in text and "\r" in text.replace("\r\n", "\n"):
        from contextkernel.normalize.terminal import rendered  # only noisy texts need it

        return rendered(raw)
    if "\r" in text:
        return Document([line[:-1] if line.endswith("\r") else line for line in raw], raw)
    return Document(raw, raw)


def _is_code(text: str, source: Source, command) -> bool:
    """Whether the command only printed source code or documents: that is a read, and is never
    cut.
    """
    reads = bool(command.stages) and all(stage[0] in READERS for stage in command.stages)
    if not command.files and not reads:
        return False
    from contextkernel.normalize.formats.source_code import (
        is_code_file,
        is_code_shaped,
        is_data_file,
    )

    if source.tool == "Bash" and any(is_code_file(path) for path in command.files):
        return len(text) < SUCCESS_CAP or is_code_shaped(text[:SAMPLE_HEAD])
    return not any(is_data_file(path) for path in command.files) and is_code_shaped(
        text[:SAMPLE_HEAD]
    )


def _whole(document):
    """A layout that shows every line as it is rendered, as far as the client's cap allows."""
    from contextkernel.normalize.layout import Block, Layout, Rank

    return Layout([Block(index, index, Rank.MUST) for index in range(len(document.lines))])


def _layout(document, ask, too_long: bool):
    """The layout of the first format that knows the document, else the plain one."""
    from contextkernel.normalize.formats import candidates

    if len(document.lines) > MANY and sum(map(len, document.lines)) < SPARSE * len(document.lines):
        return import_module("contextkernel.normalize.sparse").layout(document, ask)
    sample = _sample(document.lines)
    for row in candidates(sample, ask.command):
        layout = import_module("contextkernel.normalize.formats." + row.module).layout(
            document, ask, *row.arguments
        )
        if layout is not None:
            return layout if layout.blocks else _whole(document) if too_long else None
    from contextkernel.normalize.formats import plain

    return plain.layout(document, ask)


def _sample(lines) -> str:
    """The start and the end of a document, for telling its format."""
    head, size = [], 0
    for line in lines:
        if size > SAMPLE_HEAD:
            break
        head.append(line[:2000])
        size += len(head[-1]) + 1
    if len(head) == len(lines):
        return "\n".join(head)
    tail, size = [], 0
    for line in reversed(lines[len(head) :]):
        if size > SAMPLE_TAIL:
            break
        tail.append(line[:2000])
        size += len(tail[-1]) + 1
    return "\n".join(head + ["\f"] + tail[::-1])


def _rendered(text: str, document, layout, ask) -> Normalized:
    """The text of a layout, with its head mark; no text at all changes when nothing was hidden or
    folded.
    """
    from contextkernel.normalize.layout import fit
    from contextkernel.normalize.render import render

    segments = fit(document, layout, ask)
    head = []
    if ask.exit_code:
        head = [""]  # the verdict: it tells how many lines are shown
    elif layout.words:
        head = [marks.note(layout.words, ask.handle)]
    normalized = render(document, segments, head)
    if ask.exit_code:
        line = marks.verdict(
            ask.exit_code, len(document.raw), normalized.text.count("\n"), layout.words, ask.handle
        )
        normalized = normalized._replace(text=line + normalized.text)
    elif f"recall {ask.handle}]" not in normalized.text:  # a mark in the raw text may be anybody's
        line = marks.note(f"as a terminal shows it, {len(document.raw)} lines raw", ask.handle)
        normalized = Normalized(line + "\n" + normalized.text, normalized.edits, 1)
    return normalized


def _pays(raw: str, new: str, hard: int) -> bool:
    """Whether a rewriting saves enough to be worth its marks, or is needed to stay under the
    client's cap.
    """
    before, after = _size(raw), _size(new)
    if after >= before:
        return False
    return before - after >= max(LEAST_SAVED, LEAST_SHARE * before) or len(raw) >= hard


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
