"""What the model is to read instead of a failing command's output."""

from __future__ import annotations

from contextkernel.clients.claude import shell_argument
from contextkernel.normalize import Source, normalize
from contextkernel.normalize.commands import facts
from contextkernel.normalize.edits import Normalized

# an output that the client shows whole is rewritten only below this share of its length
MOSTLY_NOISE = 0.5
NUL, RARE = "\u2400", 10  # the sign for a NUL, shown where they are less than a tenth
ROUNDS = 3  # of a smaller aim each, until the text fits


def failure_form(text: str, source: Source) -> Normalized | None:
    """A shorter text of less than `source.max_chars` UTF-16 units; None: the output stays."""
    asked, limit = facts(source.command), source.max_chars
    if shell_argument.is_answer(source.exit_code, asked.stages[-1] if asked.stages else ()):
        return None
    text = text[:-1] if text.endswith("\n") else text  # the client cuts it off, too
    is_shown_whole = _units(text) <= limit
    if text.count("\0") <= len(text) // RARE:  # a few of them make no binary
        text = text.replace("\0", NUL)
    result = normalize(text, source)
    for _ in range(ROUNDS):
        if not result.edits or _units(result.text) < limit:
            break
        result = normalize(
            text, source._replace(max_chars=limit * limit // (_units(result.text) + 300))
        )
    if not result.edits and not is_shown_whole and not asked.explicit:
        from contextkernel.normalize.head_and_tail import head_and_tail  # late: rare

        result = head_and_tail(
            text, source._replace(max_chars=limit * len(text) // _units(text) - 1)
        )
    is_too_long = _units(result.text) >= limit
    is_mostly_signal = is_shown_whole and len(result.text) > MOSTLY_NOISE * len(text)
    return None if not result.edits or is_too_long or is_mostly_signal else result


def _units(text: str) -> int:
    """UTF-16 units, which is what the client counts."""
    return len(text) if text.isascii() else len(text) + sum(char > "\uffff" for char in text)
