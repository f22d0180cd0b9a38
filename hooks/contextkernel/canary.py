"""The canary: one receipt against exactly the tool result it speaks of.

A handle is a digest of the raw text, so the raw text cannot hold it: a result that shows `recall
HANDLE` shows our text.
"""

from __future__ import annotations

from typing import NamedTuple

SPILLED = "<persisted-output>"  # the client stored our text away and shows a preview of it


class Verdict(NamedTuple):
    """`status` is verified, refused or missing; `reason` the client's words, or ours, for what
    is not verified.
    """

    status: str
    reason: str = ""


def judge(handle: str, shown: str | None, refusal: str) -> Verdict | None:
    """The verdict on a replacement that names `handle`; None while the transcript has neither
    result nor refusal.

    `shown`: the text of the tool result as the model was sent it, None when it is not there yet.
    `refusal`: the client's error about a replacement of this result, "" for none; whose it was it
    does not say, so the text
    decides where it is there.
    """
    ours = bool(handle) and shown is not None and "recall " + handle in shown
    if refusal and not ours:
        return Verdict("refused", refusal)
    if shown is None:
        return None
    if not ours:
        return Verdict(
            "missing", "the result does not show our text (another hook may have replaced it)"
        )
    if shown.lstrip().startswith(SPILLED):
        return Verdict("missing", "the client spilled our text to a file")
    return Verdict("verified")
