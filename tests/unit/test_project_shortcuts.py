"""Where a fast way stands for a plain one in T2, both give the same: on the plugin's own sources
and on drawn texts.
"""

from __future__ import annotations

import os
import random
import re

import pytest

import plugin
from contextkernel.slicing import candidates
from contextkernel.slicing.languages import python
from contextkernel.slicing.scan import subtokens
from contextkernel.slicing.symptom import frames
from rounds import drawing, for_seeds

SOURCES = [
    os.path.join(folder, name)
    for folder, _, names in os.walk(os.path.join(plugin.ROOT, "hooks"))
    for name in names
    if name.endswith(".py")
]
ODD = [
    "",
    "_",
    "__",
    "a",
    "A",
    "_a_",
    "a1b2",
    "1a",
    "aB",
    "ABc",
    "HTTPServer",
    "read_HTTP2_body",
    "x" * 61,
    "x" * 62,
    "snake_case_names",
    "queries",
    "UPPER_CASE",
    "a_1",
    "ab_12_cd",
    "utf8",
    "Ünï",
    "größe",
    "naïve_case",
]
PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def drawn_words(number):
    draw = random.Random(number)
    return [
        "".join(draw.choice("abcdefgXYZ019_") for _ in range(draw.randint(1, 14)))
        for _ in range(400)
    ]


def texts():
    found = []
    for path in sorted(SOURCES):
        with open(path, encoding="utf-8") as handle:
            found.append(handle.read())
    return found


def plain_pieces(word):
    pieces = (
        [subtokens.stem(piece.lower()) for piece in PIECE.findall(word) if len(piece) > 1]
        if len(word) <= 61
        else []
    )
    return tuple(pieces + [word.lower().strip("_")] if len(pieces) > 1 else pieces)


def test_sub_tokens_are_those_of_the_regex():
    words = ODD + drawn_words(1) + re.findall(r"\w+", " ".join(texts()))
    assert [word for word in words if subtokens.pieces_of(word) != plain_pieces(word)] == []


def test_no_word_with_a_sub_token_of_the_query_is_left_out(record_property):
    own = [word for word in ODD if word.isascii()] + sorted(
        set(re.findall(r"[A-Za-z0-9_]+", " ".join(texts())))
    )

    def check(seed):
        words = own + drawn_words(seed)
        query = {
            piece
            for word in random.Random(seed).sample(words, 30)
            for piece in subtokens.pieces_of(word.encode())
        }
        kept = set(
            subtokens.starting(
                {word.encode() for word in words}, frozenset(piece[:3].encode() for piece in query)
            )
        )
        assert kept
        assert [
            word
            for word in words
            if query.intersection(subtokens.pieces_of(word.encode())) and word.encode() not in kept
        ] == []

    for_seeds(record_property, check, 8, 1000)


@pytest.mark.parametrize(
    "pattern, words",
    [(python._HEAD, python._HEAD_WORDS), (python._IMPORT, python._IMPORT_WORDS)],
    ids=["heads", "imports"],
)
def test_matches_are_those_of_finditer(pattern, words, record_property):
    draw, count = drawing(record_property, 600, 60000, seed=3)
    pieces = [
        "def ",
        "def\t",
        "class ",
        "class\tA(",
        "import ",
        "import\ta, b",
        "from ",
        "from\t.x ",
        "import(",
        "a",
        "b:",
        "(",
        ")",
        "\n",
        " ",
        "\\\n",
        "# def ",
        "[T]",
        ",",
        ".",
    ]
    drawn = ["".join(draw.choice(pieces) for _ in range(60)) for _ in range(count)]
    found = 0
    for text in texts() + drawn:
        plain = [match.span() for match in pattern.finditer(text)]
        assert [match.span() for match in python._matches(pattern, words, text)] == plain
        found += len(plain)
    assert found > 1000


def plain_blank(text):
    """Triple-quoted strings blanked, one character after the other; None where a quote may stand
    in a comment or a string.
    """
    out, at = [], 0
    while at < len(text):
        mark = text[at : at + 3]
        if mark not in ('"""', "'''"):
            out.append(text[at])
            at += 1
            continue
        line = text[text.rfind("\n", 0, at) + 1 : at]
        if set("#'\"") & set(line):
            return None
        end = at + 3
        while end < len(text) and not (
            text.startswith(mark, end)
            and (len(text[at + 3 : end]) - len(text[at + 3 : end].rstrip("\\"))) % 2 == 0
        ):
            end += 1
        out += [mark, re.sub(r"[^\n]", " ", text[at + 3 : end])]
        at = end
        if at < len(text):
            out.append(mark)
            at += 3
    return "".join(out)


def test_blanking_is_that_of_a_plain_walk(record_property):
    draw, count = drawing(record_property, 3000, 300000, seed=4)
    drawn = [
        "".join(
            draw.choice(['"""', "'''", "x", "\n", "\n", "\n", " = ", "\\", "r"])
            for _ in range(draw.randint(1, 12))
        )
        for _ in range(count)
    ]
    checked = 0
    for text in texts() + drawn:
        plain = plain_blank(text)
        if plain is not None:
            assert python.blank(text) == plain, text
            checked += '"""' in text or "'''" in text
    assert checked > 500


@pytest.mark.parametrize(
    "text, has",
    [
        ("cannot reindex on an axis", True),
        ("Cannot\n  'REINDEX', on(an)", True),
        ("cannot reindexing on an", False),
        ("on cannot reindex", False),
        ("cannot reindex1on", True),
        ("scannot reindex on", False),
        ("cannot reïndex on", False),
        ("", False),
    ],
)
def test_a_run_of_words_of_a_message(text, has):
    runs = candidates._runs([("nothing", "of", "it"), ("cannot", "reindex", "on")])
    found = candidates._with_a_run(text.encode("ascii", "replace"), runs, 1)
    assert found == ({0} if has else set())
    assert candidates._with_a_run((f"x\n\0\n{text}\n\0\n").encode("ascii", "replace"), runs, 3) == (
        {1} if has else set()
    )
    assert candidates._with_a_run(b"cannot\n\0\nreindex on", runs, 2) == set(), "not across a break"


def test_what_blocks_tell_is_what_each_tells_alone():
    worth = {
        piece: 1.0 + len(piece) / 7
        for piece in ("block", "worth", "path", "line", "read_text", "reader", "12")
    }
    blocks = [part for text in texts()[:40] for part in text.split("\n\n")] + [
        "",
        "reader 12 READ_TEXT readText Reader's",
        "\n",
    ]
    together = candidates.TermScorer(worth).worths("\n\0\n".join(blocks).encode("ascii", "replace"))
    alone = []
    for block in blocks:
        times = {piece: 0 for piece in worth}
        for word in re.findall(r"[A-Za-z0-9_]+", block):
            for piece in plain_pieces(word.lstrip("0123456789")):
                times[piece] = times.get(piece, 0) + 1
        alone.append(
            sum(
                worth[piece] * times[piece] * (candidates.K1 + 1) / (times[piece] + candidates.K1)
                for piece in worth
                if times[piece]
            )
        )
    assert together == pytest.approx(alone)
    assert len([one for one in alone if one]) > 100


def test_every_form_of_frames_has_a_hint_that_its_matches_hold():
    examples = {
        0: 'File "a.py", line 3, in f',
        1: "File a.py:3, in f",
        2: "a.py in f(x)",
        3: "a.py:3: in f",
        4: "at a.B.c(B.java:3)",
        5: "    at f (/x/a.js:3:4)",
        6: "f@http://x/a.js:3:4",
        7: "\t/x/a.go:3 +0x1d",
        8: "panicked at src/a.rs:3:4",
        9: "   --> src/a.rs:3:4",
        10: "#1 0x12 in f () at a.c:3",
        11: "#0 /x/a.php(3): f",
        12: "in /x/a.php on line 3",
        13: "a.rb:3:in `f'",
        14: "at A.F() in c:\\a.cs:line 3",
        15: "a.ts(3,4): error",
        16: "a.kt:3",
    }
    assert sorted(examples) == list(range(len(frames._FORMS)))
    for number, text in examples.items():
        assert re.search(frames._FORMS[number].pattern, text, re.M), text
        assert frames.frames_of(text), text
        assert any(hint in text for hint in frames._FORMS[number].hints), text
