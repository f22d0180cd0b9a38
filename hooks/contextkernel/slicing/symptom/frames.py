"""Stack frames and diagnostics in a text, in the forms of many runtimes and compilers."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import NamedTuple


class Frame(NamedTuple):
    """One frame: a path as written, its 1-based line (0: not said), the function ("" : not said).

    `distance`: 0 is where the error was raised, 1 its caller, and so on; the root cause of a chain
    comes first.
    `has_code`: the text shows the source line below the frame, as Python does.
    """

    path: str
    line: int
    function: str
    distance: int
    has_code: bool = False


class Place(NamedTuple):
    """A path as written with lines that were named with it (0: none)."""

    path: str
    first: int
    last: int


class _Form(NamedTuple):
    """`hints`: every match holds one of them; a pattern is compiled when it may match (all of them
    cost 5 ms).

    A match without a path is a run of characters that holds none, passed over whole.
    """

    runtime: str
    pattern: str
    raise_last: bool
    hints: tuple[str, ...]


_P = r"[\w.@~+$%\-/\\:]"  # characters of a path; ":" for drives and schemes
_FORMS = (
    _Form(
        "python",
        r'File "(?P<path>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<name>[\w.<>]+))?',
        True,
        ('File "',),
    ),
    _Form(
        "ipython",
        r"^File (?P<path>[^\s:\"][^\n:\"]*\.pyx?):(?P<line>\d+), in (?P<name>[\w.<>]+)",
        True,
        ("File ",),
    ),
    _Form(
        "ipython",
        (
            r"^(?P<path>[~/\w][^\n:\"'()<>]*?\.pyx?) in "
            r"(?P<name>[\w.<>]+)\((?:[^\n]*)\)\s*(?:\n(?![^\n]*-->)[^\n]*){0,6}(?:\n\s*-+> "
            r"?(?P<line>\d+))?"
        ),
        True,
        (".py in ", ".pyx in "),
    ),
    _Form(
        "pytest",
        r"^(?:E\s+)?(?P<path>[\w./\\-]+\.pyx?):(?P<line>\d+):(?: in (?P<name>[\w<>]+)| ?\w*|[ \t])",
        True,
        (".py:", ".pyx:"),
    ),
    _Form(
        "java",
        (
            r"\bat (?:[\w.\-@]+/)?(?P<class>[\w.$]+)\.(?P<name>[\w$<>]+)\((?P<path>\w+\.(?:java"
            r"|kt|scala|groovy)):(?P<line>\d+)\)"
        ),
        False,
        (".java:", ".kt:", ".scala:", ".groovy:"),
    ),
    _Form(
        "node",
        r"^[^\S\n]*at (?:async )?(?:(?P<name>[^\n(]{1,120}?) \()?(?P<path>(?:file://|webpack://)?/?"
        + _P
        + r"+?\.[a-z]{2,6})(?:\?[^:\n)]*)?:(?P<line>\d+):\d+\)?",
        False,
        ("at ",),
    ),
    _Form(
        "firefox",
        r"^(?P<name>[\w.$/<>\[\]]*)@(?P<path>\S+?\.[a-z]{2,6}):(?P<line>\d+):\d+$",
        False,
        ("@",),
    ),
    _Form(
        "go",
        r"^[ \t]+(?P<path>[\w./@\-~+:\\]+\.go):(?P<line>\d+)(?: \+0x[0-9a-f]+|:|$)",
        False,
        (".go:",),
    ),
    _Form(
        "rust",
        r"panicked at (?:'[^\n]{0,2000}', )?(?P<path>" + _P + r"+?\.rs):(?P<line>\d+):\d+",
        False,
        ("panicked at ",),
    ),
    _Form(
        "rust",
        r"^[^\S\n]*\s(?:at|-->) (?P<path>" + _P + r"+?\.rs):(?P<line>\d+)(?::\d+)?",
        False,
        (".rs:",),
    ),
    _Form(
        "native",
        (
            r"^[^\S\n]*#\d+\s+(?:0x[0-9a-f]+ )?(?:in "
            r")?(?=(?P<name>[\w:~<>*&]+))(?P=name)[^\n]*?(?: at |\s)(?P<path>[\w./\\+-]+\.(?:c|cc"
            r"|cpp|cxx|h|hpp|hh|hxx|inl|ipp|m|mm)):(?P<line>\d+)"
        ),
        False,
        ("#",),
    ),
    _Form(
        "php",
        r"^#\d+ (?P<path>[^\s(]+\.php)\((?P<line>\d+)\): ?(?P<name>[\w\\>:-]*)",
        False,
        (".php(",),
    ),
    _Form("php", r"\bin (?P<path>/[^\s:]+\.php)(?: on line |:)(?P<line>\d+)", False, (".php",)),
    _Form(
        "ruby",
        r"(?<![\w./-])(?P<path>[\w./-]+\.rb):(?P<line>\d+):in [`'](?P<name>[^'\n]{0,300})'",
        False,
        (".rb:",),
    ),
    _Form(
        ".net",
        (
            r"\bat (?P<name>[\w.`<>]+)\([^\n)]{0,1000}\) in "
            r"(?P<path>[^\n:]{0,300}(?::\\[^\n:]{0,300})?\.(?:cs|vb|fs)):line (?P<line>\d+)"
        ),
        False,
        (":line ",),
    ),
    _Form(
        "typescript",
        r"^(?P<path>[\w./\\@-]+\.[cm]?[jt]sx?)\((?P<line>\d+),\d+\): (?:error|warning)",
        False,
        ("): ",),
    ),
    _Form(
        "compiler",
        (
            r"(?P<path>(?:[A-Za-z]:)?[\w./\\+@-]+\.[A-Za-z]{1,5}):(?P<line>\d+)(?::\d+)?"
            r"|[\w./\\+@-]+(?=[A-Za-z]:)|[\w./\\+@-]+"
        ),
        False,
        (":",),
    ),
)
_GROUPS = re.compile(
    (
        r"^Traceback \(most recent call last\)|^[^\S\n]*(?:Caused by|Suppressed):|^goroutine \d+"
        r"|^During handling of|^The above exception|^stack backtrace:"
    ),
    re.M,
)
_CODE_BELOW = re.compile(r"\n[ \t]+(?!File \")\S")
LONGEST_NUMBER = 9  # digits of a line's number
_LATER_IS_ROOT = (
    "java",
)  # "Caused by" goes towards the root; in Python the first traceback of a chain is the root


class _Found(NamedTuple):
    """A place as a form matched it: in which group of lines, where in the text."""

    group: int
    start: int
    form: _Form
    path: str
    line: int
    function: str
    has_code: bool


def frames_of(text: str) -> tuple[Frame, ...]:
    """All frames of a text, nearest to the raise site first.  A place that two forms match
    counts once, by the first form.
    """
    breaks = [match.start() for match in _GROUPS.finditer(text)]
    found: list[_Found] = []
    starts: list[int] = []  # of the places taken, ascending; they do not overlap
    ends: list[int] = []
    for form in _FORMS:
        if not any(hint in text for hint in form.hints):
            continue
        for match in re.compile(form.pattern, re.M).finditer(text):
            start, end = match.span("path")
            if start < 0:
                continue
            groups = match.groupdict()
            at = bisect_left(starts, end)
            if at and ends[at - 1] > start or len(groups["line"] or "") > LONGEST_NUMBER:
                continue
            starts.insert(at, start)
            ends.insert(at, end)
            has_code = form.runtime == "python" and _shows_code(text, match.end())
            found.append(
                _Found(
                    bisect_right(breaks, start),
                    start,
                    form,
                    _path(groups),
                    int(groups["line"] or 0),
                    (groups.get("name") or "").strip(),
                    has_code,
                )
            )
    return _by_distance(found)


def _shows_code(text: str, at: int) -> bool:
    """Whether a line of source stands below the line of a place."""
    end = text.find("\n", at)
    return end >= 0 and _CODE_BELOW.match(text, end) is not None


def _path(groups: dict[str, str]) -> str:
    """The path as written; for Java with its package, from the class's name."""
    package = (groups.get("class") or "").rpartition(".")[0]
    return package.replace(".", "/") + "/" + groups["path"] if package else groups["path"]


def _by_distance(found: list[_Found]) -> tuple[Frame, ...]:
    groups: dict[tuple[int, str], list[_Found]] = {}
    for one in sorted(found, key=lambda row: (row.group, row.start)):
        groups.setdefault((one.group, one.form.runtime), []).append(one)
    placed: list[tuple[int, int, int, Frame]] = []
    for (group, runtime), members in groups.items():
        members = members[::-1] if members[0].form.raise_last else members
        chain = -group if runtime in _LATER_IS_ROOT else group
        placed += [
            (
                distance,
                chain,
                one.start,
                Frame(one.path, one.line, one.function, distance, one.has_code),
            )
            for distance, one in enumerate(members)
        ]
    frames, seen = [], set()
    for _, _, _, frame in sorted(placed, key=lambda row: row[:3]):
        if (frame.path, frame.line) not in seen:
            seen.add((frame.path, frame.line))
            frames.append(frame)
    return tuple(frames)
