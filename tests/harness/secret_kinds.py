"""Kinds of secrets from `tests/assets/secret_kinds.txt`, made up at test time, and the twins
that are none.
"""

from __future__ import annotations

import os
import random
import re
import string

ASSETS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "assets")
LETTERS = string.ascii_letters + string.digits
CLASSES = {
    "b62": LETTERS,
    "hex": "0123456789abcdef",
    "up": string.ascii_uppercase + "234567",
    "low": string.ascii_lowercase + string.digits,
    "b64": LETTERS + "+/",
    "url": LETTERS + "-_",
    "dig": string.digits,
}
# what people make up
WORDS = ("s3cretWord", "hunter", "Tr0ub4dor!3x", "correct-horse", "letmein99", "123456")
PIECE = 6  # characters of a secret that no output may hold in a row
HOLE = re.compile(rf"<(word|(?:{'|'.join(CLASSES)}):\d+)>")


def kinds() -> list[str]:
    """The templates, one a kind."""
    return [line for line in _lines("secret_kinds.txt") if HOLE.search(line)]


def twins() -> list[str]:
    """Texts that must stay as they are."""
    return _lines("secret_twins.txt")


def _lines(name: str) -> list[str]:
    with open(os.path.join(ASSETS, name), encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file]
    return [
        line
        for line in lines
        if line and not line.startswith(("# One", "# Classes", "# Commands", "# dig", "##"))
    ]


def made(template: str, draw: random.Random, word: str) -> tuple[str, list[str]]:
    """(a text of this kind, the secrets in it)."""
    secrets: list[str] = []

    def filled(hole):
        kind, _, length = hole.group(1).partition(":")
        secrets.append(
            word
            if kind == "word"
            else "".join(draw.choice(CLASSES[kind]) for _ in range(int(length)))
        )
        return secrets[-1]

    text = (
        HOLE.sub(filled, template)
        .replace("\\\\n", "\0")
        .replace("\\n", "\n")
        .replace("\\t", "\t")
        .replace("\0", "\\n")
    )
    return text, secrets


def words_of(template: str) -> tuple[str, ...]:
    """The words to try for a template."""
    return WORDS if "<word>" in template else WORDS[:1]


def leaked(text: str, secrets: list[str], piece: int = PIECE) -> list[str]:
    """The secrets of which so many characters in a row stand in the text, or the whole of a
    shorter one.
    """
    return [
        secret
        for secret in secrets
        if len(secret) >= PIECE
        and any(secret[at : at + piece] in text for at in range(max(1, len(secret) - piece + 1)))
    ]


def leaked_in_files(text: str, secrets: list[str]) -> list[str]:
    """As `leaked`, for texts with times and handles in them: six figures in a row may be a part
    of these.
    """
    return leaked(text, [secret for secret in secrets if not secret.isdigit()], 10)
