"""The cut that Claude Code itself makes in the output of a failing command, and what can be said
about it.

Seen on 2.1.121, 2.1.200 and 2.1.332: the `error` of PostToolUseFailure is the very text that the
model is shown, first line
`Exit code N`; 10,000 characters pass whole, of longer outputs the first 5,000 and the last 5,000 of
the first 30,000 are
there, with one line between them.  The end of an output over 30,000 characters is nowhere: not in
the hook, not in a file.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from contextkernel.clients import limits

HALF = limits.FAILURE_END_CHARS  # on each side of the cut
_CUT = re.compile(r"\n\n\.\.\. \[(\d{1,15}) characters truncated\] \.\.\.\n\n")
_VERDICT = re.compile(
    r"^\[ck: (?:exit|ended by signal) \d+, [^\n]*?\brecall ([0-9a-f]{12,64})\]", re.M
)


class Cut(NamedTuple):
    """`hidden`: characters between the two halves.  `end_lost`: the client never read the
    output's end either.
    """

    hidden: int
    end_lost: bool


def cut_in(error: str, kept: int = limits.FAILURE_READ_CHARS) -> Cut | None:
    """The client's cut in a failing command's text, or None where it is whole."""
    found = _CUT.search(error)
    if (
        not found
        or not HALF <= found.start() <= HALF + 200
        or len(error) - found.end() > HALF + 200
    ):
        return None
    hidden = int(found.group(1))
    return Cut(hidden, found.start() + hidden + HALF >= kept)


def rewritten_in(error: str) -> str:
    """The handle in the verdict line of a text that the failure lane rewrote; "" for any other."""
    found = _VERDICT.search(error[:400])
    return found.group(1) if found else ""


def advice(cut: Cut, slice_hint: bool) -> str:
    """What the model is told about a cut: what is missing, and how to see it."""
    end = ", and never read its end" if cut.end_lost else ""
    said = (
        f"context-kernel: Claude Code left out {cut.hidden} characters from the middle of this "
        f"failure's output{end}; no copy exists. If the cause is not in "
        "what you see, run the command once more into a file (`COMMAND > "
        '"${TMPDIR:-/tmp}/run.log" 2>&1`) and grep, head or tail that file. '
        "The user can have failures shown whole from now on with /context-kernel:ck-failure-lane "
        "on."
    )
    if slice_hint:
        said += " For the code behind this error: kernel_repo_slice with its text as the symptom."
    return said
