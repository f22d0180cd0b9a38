"""T1: a tool's output in its normal form, with a complete account of what was left out.

Pure: text and source in, text and account out.  The same text comes back when nothing is worth
hiding, when the
agent asked for exactly these lines, when the text is our own, or when anything about it is in
doubt.
"""

from __future__ import annotations

from contextkernel import marks
from contextkernel.normalize.edits import Normalized, accounting_error
from contextkernel.records import NamedTuple

# characters: the client cuts a failing command's output at 10,000 (5,000 + 5,000), and shows a 2 KB
# preview of any other above
FAILURE_MAX_CHARS, SUCCESS_MAX_CHARS = 9900, 30000
# characters to aim at: about 1,950 and 1,600 tokens
FAILURE_TARGET_CHARS, SUCCESS_TARGET_CHARS = 7800, 6500
MARKS_CHARS = 200  # of the most, kept free for what stands around the blocks
MIN_BYTES = 800  # shorter texts pass, no rewriting of them pays for its mark
# what a rewriting must save: twice the cost of a mark, and a tenth
MIN_SAVED_BYTES, MIN_SAVED_SHARE = 240, 0.10
# more lines than this, of fewer characters on average, are next to empty
SPARSE_MIN_LINES, SPARSE_CHARS_A_LINE = 50000, 3
TRIES = 6  # layouts, each four fifths of the one before, to come under the client's limit
# programs that show files and nothing of their own
READERS = frozenset(
    "cd sed cat head tail xargs find nl tr cut awk ssh less more bat echo true for read "
    "done".split()
)
SAMPLE_HEAD, SAMPLE_TAIL = 12000, 4000  # characters looked at to tell the format
SAMPLE_LINE = 2000  # of one line

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from collections.abc import Iterable

    from contextkernel.normalize.commands import Command
    from contextkernel.normalize.document import Document
    from contextkernel.normalize.layout import Layout, Request


class Source(NamedTuple):
    """Where a text comes from.

    `handle` "": computed.  `max_chars`: what the client shows at most (on failure 9,900).
    `known`: those handles named by marks in the text that the store holds; a mark with another one
    is anybody's words.
    """

    tool: str = "Bash"
    command: str = ""
    exit_code: int = 0
    handle: str = ""
    max_chars: int = SUCCESS_MAX_CHARS
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
    client_max = FAILURE_MAX_CHARS if source.exit_code else SUCCESS_MAX_CHARS
    max_chars = min(source.max_chars, client_max)
    if len(text) < MIN_BYTES or _is_binary(text):
        return same
    if _is_ours(text, source) and (len(text) < max_chars or not source.exit_code):
        return same
    from contextkernel.normalize.commands import facts

    command = facts(source.command)
    if command.explicit:
        return same
    return _rewritten(text, source, command, max_chars) or same


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


def _rewritten(text: str, source: Source, command: Command, max_chars: int) -> Normalized | None:
    """The first format's rewriting that pays and is accounted for; None when there is none."""
    if _is_code(text, source, command):
        return None
    from contextkernel.normalize.layout import Limits, Request

    document = document_of(text)
    handle = source.handle or handle_of(text)
    target = FAILURE_TARGET_CHARS if source.exit_code else SUCCESS_TARGET_CHARS
    limits = Limits(min(target, max_chars - MARKS_CHARS - 100), max_chars - MARKS_CHARS)
    request = Request(handle, source.exit_code, limits, command, source.tool)
    layout = _layout(document, request, len(text) >= max_chars)
    if layout is None:
        return None
    document = layout.document or document
    normalized = _fitted(document, layout, request, max_chars)
    if normalized is None or not _pays(text, normalized.text, max_chars):
        return None
    return None if accounting_error(text, normalized, document.raw) else normalized


def _fitted(
    document: Document, layout: Layout, request: Request, max_chars: int
) -> Normalized | None:
    """The text of a layout, with less of it while that is too long; None when it stays so."""
    for _ in range(TRIES):
        normalized = _rendered(document, layout, request)
        if len(normalized.text) < max_chars:
            return normalized
        limits = request.limits
        limits = limits._replace(
            target_chars=limits.target_chars * 4 // 5, max_chars=limits.max_chars * 4 // 5
        )
        request = request._replace(limits=limits)
        layout = layout._replace(target_chars=layout.target_chars * 4 // 5)
    return None


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


def _is_code(text: str, source: Source, command: Command) -> bool:
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
        return len(text) < SUCCESS_MAX_CHARS or is_code_shaped(text[:SAMPLE_HEAD])
    return not any(is_data_file(path) for path in command.files) and is_code_shaped(
        text[:SAMPLE_HEAD]
    )


def _whole(document: Document) -> Layout:
    """A layout that shows every line as it is rendered, as far as the client's limit allows."""
    from contextkernel.normalize.layout import Block, Layout, Rank

    return Layout([Block(index, index, Rank.MUST) for index in range(len(document.lines))])


def _layout(document: Document, request: Request, too_long: bool) -> Layout | None:
    """The layout of the first format that knows the document, else the plain one."""
    lines = document.lines
    if len(lines) > SPARSE_MIN_LINES and sum(map(len, lines)) < SPARSE_CHARS_A_LINE * len(lines):
        from contextkernel.normalize import sparse

        return sparse.layout(document, request)
    from contextkernel.normalize.formats import known

    row_and_layout = known(document, request, _sample(lines))
    if row_and_layout is None:
        from contextkernel.normalize.formats import plain

        return plain.layout(document, request)
    layout = row_and_layout[1]
    if layout.blocks:
        return layout
    return _whole(document) if too_long else None  # nothing of it is to be left out


def _sample(lines: list[str]) -> str:
    """The start and the end of a document, for telling its format."""
    head = _first_lines(lines, SAMPLE_HEAD)
    if len(head) == len(lines):
        return "\n".join(head)
    tail = _first_lines(reversed(lines[len(head) :]), SAMPLE_TAIL)
    return "\n".join(head + ["\f"] + tail[::-1])


def _first_lines(lines: Iterable[str], max_chars: int) -> list[str]:
    """The lines up to the one that goes beyond so many characters; long ones in part."""
    first: list[str] = []
    size = 0
    for line in lines:
        if size > max_chars:
            break
        first.append(line[:SAMPLE_LINE])
        size += len(first[-1]) + 1
    return first


def _rendered(document: Document, layout: Layout, request: Request) -> Normalized:
    """The text of a layout, with its head mark; no text at all changes when nothing was hidden or
    folded.
    """
    from contextkernel.normalize.layout import fit
    from contextkernel.normalize.render import render

    segments = fit(document, layout, request)
    head = []
    if request.exit_code:
        head = [""]  # the verdict: it tells how many lines are shown
    elif layout.words:
        head = [marks.note(layout.words, request.handle)]
    normalized = render(document, segments, head)
    lines = len(document.raw)
    if request.exit_code:
        shown = normalized.text.count("\n")
        line = marks.verdict(request.exit_code, lines, shown, layout.words, request.handle)
        return Normalized(line + normalized.text, normalized.edits, normalized.head)
    if f"recall {request.handle}]" in normalized.text:
        return normalized
    # a mark in the raw text may be anybody's
    line = marks.note(f"as a terminal shows it, {lines} lines raw", request.handle)
    return Normalized(line + "\n" + normalized.text, normalized.edits, 1)


def _pays(raw: str, new: str, max_chars: int) -> bool:
    """Whether a rewriting saves enough to be worth its marks, or is needed to stay under the
    client's cap.
    """
    before, after = _size(raw), _size(new)
    if after >= before:
        return False
    return before - after >= max(MIN_SAVED_BYTES, MIN_SAVED_SHARE * before) or len(raw) >= max_chars


def _size(text: str) -> int:
    """Its UTF-8 bytes."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
