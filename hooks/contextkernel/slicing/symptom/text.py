"""A symptom (traceback, failing test, issue text, diff) read as evidence."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

from contextkernel.slicing.languages import TABLE
from contextkernel.slicing.scan import subtokens
from contextkernel.slicing.symptom.frames import Frame, Place, frames_of

T = TypeVar("T")
LONGEST = 60_000  # characters read; of longer texts the beginning and the end
STOP = frozenset(
    "the and for with this that from have not you are but can was when which should would issue "
    "error file line return class def "
    "import none true false code example expected actual version python print following using "
    "used use does it is in on of to as be "
    "if or an at by we my so no do self recall call last traceback most module".split()
)
_SUFFIXES = "|".join(
    sorted(
        {suffix[1:] for row in TABLE for suffix in row.suffixes}
        | set("html toml cfg ini yaml yml json txt rst md xml css scss sql proto tmpl".split()),
        key=lambda one: (-len(one), one),
    )
)
# A path is the group.  Where a run of its characters holds none, no later start in that run would
# find one: the run is passed over whole, up to a letter that may be a drive
_PATH = re.compile(
    rf"(?<![\w@])(?:((?:[A-Za-z]:)?[\w./\\~+-]*[\w+-]\.(?:{_SUFFIXES})\b(?![\w.(]))"
    r"|[\w./\\~+-]*[./\\~+-](?=[A-Za-z]:)|[\w./\\~+-]+)|\w+"
)
_BLOB = re.compile(
    r"/(?:blob"
    r"|blame)/[^/\s]{1,300}/(?P<path>[\w./+-]{1,500}\.\w{1,60})(?:#L(?P<first>\d{1,9})(?:-L?(?P<last>\d{1,9}))?)?"
)
_DOTTED = re.compile(r"\b[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)+")
_TICKED = re.compile(r"`([^`\n]{2,200})`")
_CALLED = re.compile(r"\b([A-Za-z_]\w+)\(")
_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_QUOTED = re.compile(r"(?<!\w)(?:\"([^\"\n]{3,120})\"|'([^'\n]{3,120})')(?!\w)")
_RAISED = re.compile(
    (
        r"^(?:E\s+)?(?P<kind>(?:[A-Za-z_][\w]*\.)*[A-Z]\w*(?:Error|Exception|Warning|Exit"
        r"|Interrupt|Failure|Fault|DoesNotExist|Http404)|panic|fatal error|error|Uncaught \w+"
        r"|Exception in thread \"[^\"]*\" [\w.$]+|Caused by: [\w.$]+|thread '[^']*' panicked "
        r"at)\s*:\s*(?P<text>\S[^\n]*)"
    ),
    re.M,
)
_TEST = re.compile(
    (
        r"--- FAIL: (\w+)|^(?:FAIL|ERROR): (\w+) \(|::(?:\w{1,200}::){0,20}(test_?\w+)|^test "
        r"([\w:]+) \.\.\. FAILED"
    ),
    re.M,
)
WORDS = re.compile(r"[A-Za-z]+")
_HOLE = re.compile(
    r"'[^'\n]*'|\"[^\"\n]*\"|`[^`\n]*`|<[^>\n]{0,500}>|(?<![\d.])[\d.]*\d"
    r"|[\[({][^\])}\n]{0,500}[\])}]"
)
# Links, and lines that name a file of an installed package: their words are places, not words of
# the symptom
_ELSEWHERE = re.compile(
    r"https?://\S+|^[^\n]*(?:site-packages|dist-packages|[/\\]lib[/\\]python)[^\n]*$", re.M
)
SHINGLE = 3  # words in a row that count as one piece of a message


class Symptom(NamedTuple):
    """The evidence in a text.  `weights`: sub-token -> weight in the query.  `ticked` and `coded`:
    names marked as code and
    names that look like code.  `shingles`: runs of words of error messages.  `changed`: places of a
    diff."""

    text: str
    frames: tuple[Frame, ...]
    places: tuple[Place, ...]
    dotted: tuple[str, ...]
    ticked: tuple[str, ...]
    coded: tuple[str, ...]
    literals: tuple[str, ...]
    shingles: tuple[tuple[str, ...], ...]
    tests: tuple[str, ...]
    raised: tuple[str, ...]
    changed: tuple[Place, ...]
    weights: dict[str, float]


def read(text: str, diff: str = "") -> Symptom:
    """The evidence in a symptom text and perhaps a unified diff.  A given text always gives the
    same.
    """
    from contextkernel.slicing.symptom import diff as diffs  # late: rarely asked for

    changed, changed_text = diffs.read(diff) if diff else ((), "")
    whole = (
        (text + "\n" + changed_text if changed_text else text)
        .replace("\r\n", "\n")
        .replace("\r", "\n")
    )
    if len(whole) > LONGEST:
        whole = whole[: LONGEST // 2] + "\n" + whole[-LONGEST // 2 :]
    frames = frames_of(whole)
    dotted = _unique(one.replace("::", ".") for one in _DOTTED.findall(whole))
    ticked = _unique(
        word for span in _TICKED.findall(whole) for word in subtokens.WORD.findall(span)
    )
    coded = [
        word
        for word in subtokens.WORD.findall(whole)
        if "_" in word.strip("_") or _CAMEL.search(word)
    ]
    coded += _CALLED.findall(whole) + [part for one in dotted for part in one.split(".")]
    ticked, coded = _names(ticked), _names(coded)
    messages = [match.group("text") for match in _RAISED.finditer(whole)]
    marked = set(ticked)
    literals = _unique(first or second for first, second in _QUOTED.findall(whole))
    return Symptom(
        whole,
        frames,
        _places(whole, frames),
        tuple(dotted),
        tuple(ticked),
        tuple(one for one in coded if one not in marked),
        tuple(literals[:40]),
        _shingles(messages),
        _unique_names(_TEST.findall(whole)),
        tuple(_unique(match.group("kind").rpartition(".")[2] for match in _RAISED.finditer(whole))),
        changed,
        _weights(whole, ticked + coded),
    )


def with_code(symptom: Symptom, lines: Sequence[str]) -> Symptom:
    """The symptom with the words of source lines that its frames name: a report that leaves its
    code lines out says as much as one that has them.
    """
    text = "\n".join(lines)
    weights, known = dict(symptom.weights), {*symptom.ticked, *symptom.coded}
    coded = [
        word
        for word in subtokens.WORD.findall(text)
        if "_" in word.strip("_") or _CAMEL.search(word)
    ] + _CALLED.findall(text)
    names = [name for name in _names(coded) if name not in known]
    told = {
        word: 1.0
        for word in subtokens.counts(text)
        if word not in STOP and len(word) > 1 and word not in weights
    }
    for piece in {piece for name in names for piece in subtokens.pieces_of(name)}:
        if piece in told:
            told[piece] += 0.5
    return (
        symptom._replace(coded=symptom.coded + tuple(names), weights={**weights, **told})
        if told or names
        else symptom
    )


def _unique(values: Iterable[T]) -> list[T]:
    return list(dict.fromkeys(values))


def _names(words: list[str]) -> list[str]:
    return [word for word in _unique(words) if len(word) > 3 and word.lower() not in STOP]


def _unique_names(rows: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(_unique(name for row in rows for name in row if name))


def _places(text: str, frames: tuple[Frame, ...]) -> tuple[Place, ...]:
    """Paths that are mentioned, those of links to a forge with their lines first; frames are not
    repeated.
    """
    framed = {frame.path for frame in frames}
    found = [
        Place(
            match.group("path"),
            int(match.group("first") or 0),
            int(match.group("last") or match.group("first") or 0),
        )
        for match in _BLOB.finditer(text)
    ]
    found += [Place(path, 0, 0) for path in _PATH.findall(text) if path and path not in framed]
    return tuple(_unique(found))


def _shingles(messages: list[str]) -> tuple[tuple[str, ...], ...]:
    """Runs of three words of the messages, none across a hole (a quoted value, a number, a
    bracket).
    """
    found = []
    for message in messages[:12]:
        for piece in _HOLE.split(message):
            words = WORDS.findall(piece)
            found += [
                tuple(word.lower() for word in words[at : at + SHINGLE])
                for at in range(len(words) - SHINGLE + 1)
            ]
    return tuple(_unique(found)[:120])


def _weights(text: str, names: list[str]) -> dict[str, float]:
    """Sub-token -> weight: 1 + log(times), one more for words of the first line, a half more for
    words of names.  No links.
    """
    told = _ELSEWHERE.sub(" ", text)
    weights = {
        word: 1 + math.log(times)
        for word, times in subtokens.counts(told).items()
        if word not in STOP and len(word) > 1
    }
    for word in subtokens.counts(text.strip().partition("\n")[0]):
        if word in weights:
            weights[word] += 1
    for name in names:
        for piece in subtokens.pieces_of(name):
            if piece in weights:
                weights[piece] += 0.5
    return weights
