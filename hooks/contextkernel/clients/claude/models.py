"""Context windows of models, by the start of their id; the longest start that fits wins.

Tokens.  Windows as published by the makers; where a client gives a smaller one than the maker
offers, the client's: Claude
Code runs the 4.6 models at 200,000 unless their id ends in [1m] (seen on 2.1.121, 2.1.200 and
2.1.332: compaction at 167,000).
"""

from __future__ import annotations

import re
from typing import NamedTuple

# the smallest window of any current Claude model: too small a guess wastes room, too large a one
# fills it
UNKNOWN_WINDOW = 200000
LARGE_WINDOW = 1000000

WINDOWS = {
    "claude-": 200000,
    "claude-fable-5": LARGE_WINDOW,
    "claude-opus-5": LARGE_WINDOW,
    "claude-sonnet-5": LARGE_WINDOW,
    "claude-haiku-5": LARGE_WINDOW,
    "claude-opus-4-8": LARGE_WINDOW,
    "claude-opus-4-7": LARGE_WINDOW,
    "gpt-5": 400000,
    "gpt-5.5": 1050000,
    "gpt-5.4": 1050000,
    "gpt-5.4-mini": 400000,
    "gpt-5.6": LARGE_WINDOW,
    "gpt-5.3-codex-spark": 128000,
    "gemini-": 1048576,
}
PRICES = {  # US dollars for a million input tokens, as published; the longest start wins
    "claude-fable-5": 10.0,
    "claude-fable-5-2": 8.0,
    "claude-opus-5-5": 4.0,
    "claude-opus-5": 5.0,
    "claude-opus-4": 5.0,
    "claude-opus-4-1": 15.0,
    "claude-opus-4-2025": 15.0,
    "claude-sonnet-5": 2.0,
    "claude-sonnet-4": 3.0,
    "claude-haiku-5": 0.1,
    "claude-haiku-4": 1.0,
    "gpt-5.5": 5.0,
    "gpt-5.4": 2.5,
    "gpt-5.4-mini": 0.75,
}
NEWER_TOKENIZER = (
    "claude-fable-5",
    "claude-opus-5",
    "claude-sonnet-5",
    "claude-haiku-5",
    "claude-mythos-5",
    "claude-opus-4-7",
    "claude-opus-4-8",
)


# What providers put before a maker's name: us.anthropic.claude-…-v1:0, anthropic/claude-…,
# arn:aws:bedrock:…:inference-profile/…
_FAMILY = re.compile(r"(?:^|[/.:])((?:claude|gpt|gemini)-[^/]*)$")


class Model(NamedTuple):
    """A model's window in its own tokens, whether it is known, the bytes of code and logs that one
    of its tokens holds, and its price.

    `price`: US dollars for a million input tokens, 0.0 where it is not known.
    """

    window: int
    known: bool
    bytes_a_token: float
    price: float = 0.0


def maker_name(model: str) -> str:
    """A model id as its maker writes it, in small letters: without a provider's prefix, a
    claude's version and date behind dashes.
    """
    name = model[:500].lower().strip()  # a longer one is none
    found = _FAMILY.search(name)
    name = found.group(1) if found else name
    return re.sub(r"[.@]", "-", name) if name.startswith("claude-") else name


def facts(model: str) -> Model:
    """What is known of a model id. Unknown ids get UNKNOWN_WINDOW.

    Bytes a token: 2.3 for the 5 families and their tokenizer, 2.8 otherwise, measured on 29,809
    tool results of public sessions.
    """
    name = maker_name(model)
    ratio = 2.3 if name.startswith(NEWER_TOKENIZER) else 2.8
    price = PRICES.get(
        max((start for start in PRICES if name.startswith(start)), key=len, default=""), 0.0
    )
    if name.endswith("[1m]"):
        return Model(LARGE_WINDOW, True, ratio, price)
    start = max((start for start in WINDOWS if name.startswith(start)), key=len, default="")
    known = start not in ("", "claude-") or name.startswith(
        ("claude-opus-4", "claude-sonnet-4", "claude-haiku-4", "claude-3")
    )
    return Model(WINDOWS.get(start, UNKNOWN_WINDOW), known, ratio, price)
