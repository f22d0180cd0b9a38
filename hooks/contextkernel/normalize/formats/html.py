"""HTML: the visible text with titles, ids and link targets of anchors; scripts, styles and
markup are left out.
"""

from __future__ import annotations

from contextkernel.normalize.document import Document
from contextkernel.normalize.layout import Block, Layout, Rank, Request
from contextkernel.normalize.markup import Piece, pieces
from contextkernel.normalize.render import LONG
from contextkernel.normalize.survey import Survey, block_of

BLOCK_TAGS = frozenset(
    (
        "address article aside blockquote body br button caption dd div dl dt fieldset "
        "figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html li main nav ol "
        "option p pre section summary table tbody td tfoot th thead title tr ul"
    ).split()
)
SILENT = frozenset("script style svg noscript template iframe canvas head-only".split())
HEADINGS = frozenset("h1 h2 h3 h4 h5 h6 title dt th caption summary".split())
TARGET_CHARS = 9000
ATTRIBUTE_CHARS, COMMENT_CHARS = 200, 300  # shown of an attribute, of a comment


class Reader:
    """Collects (source line, text, whether it is a heading or a named place) for every visible
    line.
    """

    def __init__(self) -> None:
        self.lines: list[tuple[int, str, bool]] = []
        self.words: list[str] = []
        self.start = 0
        self.silent = 0
        self.heading = False

    def read(self, text: str) -> None:
        """Take a whole document."""
        for piece in pieces(text):
            getattr(self, "_take_" + piece.kind)(piece)
        self.flush()

    def flush(self) -> None:
        text = " ".join("".join(self.words).replace("\xa0", " ").split())
        if text:
            self.lines.append((self.start, text, self.heading))
        self.words, self.heading = [], False

    def add(self, text: str, line: int) -> None:
        if not self.words:
            self.start = line
        self.words.append(text)

    def _take_start(self, piece: Piece) -> None:
        tag, attributes = piece.text, piece.attributes
        if tag in SILENT:
            self.silent += 1
        elif tag in BLOCK_TAGS:
            self.flush()
        place = attributes.get("id") or (
            attributes.get("name") if tag in ("a", "input", "meta", "form", "select") else None
        )
        if tag in HEADINGS:
            self.heading = True
        if place and not self.silent:
            self.add(f" #{place} ", piece.line)
            self.heading = True
        for key in ("alt", "title", "placeholder", "content" if place else "aria-label"):
            if attributes.get(key) and not self.silent:
                self.add(f" {attributes[key][:ATTRIBUTE_CHARS]} ", piece.line)

    def _take_end(self, piece: Piece) -> None:
        if piece.text in SILENT:
            self.silent = max(0, self.silent - 1)
        elif piece.text in BLOCK_TAGS:
            self.flush()

    def _take_text(self, piece: Piece) -> None:
        if not self.silent and piece.text.strip():
            self.add(piece.text, piece.line)
        elif not self.silent and self.words:
            self.words.append(" ")

    def _take_comment(self, piece: Piece) -> None:
        from contextkernel.normalize.severity import FAULT, severity

        if severity(piece.text) == FAULT:
            self.flush()
            self.add(f"<!-- {piece.text.strip()[:COMMENT_CHARS]} -->", piece.line)
            self.flush()


def layout(document: Document, request: Request) -> Layout | None:
    """Visible lines in place of the source; None when the markup gives no text."""
    reader = Reader()
    reader.read("\n".join(document.lines))
    if len(reader.lines) < 3:
        return None
    text = _visible(document, reader.lines)
    survey = Survey(text.lines, bool(request.exit_code))
    ranks = survey.ranks()
    headings = {i for i, line in enumerate(reader.lines) if line[2]}
    blocks: list[Block] = []
    for index, line in enumerate(text.lines):
        rank = Rank.NOTABLE if index in headings else ranks.get(index, Rank.PLAIN)
        if len(line) > LONG:
            blocks.append(block_of(text, index, rank))
        else:
            blocks.append(Block(index, index, rank, (line,), "html"))
    return Layout(
        blocks,
        "HTML as visible text",
        survey.digest,
        0 if request.exit_code else TARGET_CHARS,
        text,
    )


def _visible(document: Document, shown: list[tuple[int, str, bool]]) -> Document:
    """The visible lines: each stands for its source lines up to the next one's."""
    numbers = [number - 1 for number, _, _ in shown]
    numbers[0] = 0
    firsts = [document.span(number, number)[0] - 1 for number in numbers]
    lasts = [max(a, b - 1) for a, b in zip(firsts, firsts[1:] + [len(document.raw)])]
    return Document([text for _, text, _ in shown], document.raw, firsts, lasts)
