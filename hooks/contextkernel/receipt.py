"""The receipt: what one tool result cost and what was hidden of it. One type for whoever writes,
keeps and reads it; its fields are the columns of the ledger's table, in their order.

The canary judges one receipt against exactly the tool result it speaks of.  A handle is a digest of
the raw text, so the raw text cannot hold it: a result that shows `recall HANDLE` shows our text.
"""

from __future__ import annotations

from contextkernel.records import NamedTuple

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any


SPILLED = "<persisted-output>"  # the client stored our text away and shows a preview of it


class Receipt(NamedTuple):
    """Sizes are bytes. `raw`: of the tool's output; `host`: what the client alone would show of
    it; `shown`: what the model was given.

    `rule` names what was left out by, `handle` the stored originals (blank-separated); both are ""
    for what passed.  `reason`: why it passed, or what the canary has against it.  `status`:
    pending, verified, refused, missing, expired; "" where there is nothing to judge.
    Sizes and `repo` are None where they are not known; `generation` None and `at` 0.0 are filled in
    by the ledger.
    """

    client: str = "claude"
    session: str = ""
    agent: str = ""
    generation: int | None = None
    tool_use_id: str = ""
    tool: str = ""
    lane: str = ""
    rule: str = ""
    command: str = ""
    handle: str = ""
    raw: int | None = None
    host: int | None = None
    shown: int | None = None
    lines: int | None = None
    lines_shown: int | None = None
    status: str = ""
    reason: str = ""
    at: float = 0.0
    cwd: str = ""
    agent_type: str = ""
    transcript: str = ""
    repo: str | None = None

    def as_row(self) -> dict[str, Any]:
        """A row of the spool or the ledger; what is not known of the receipt is left out."""
        return {name: value for name, value in zip(self._fields, self) if value is not None}

    @classmethod
    def of_row(cls, row: dict[str, Any]) -> Receipt:
        """The receipt in a row; fields of other versions are passed over, missing ones have their
        defaults. Nothing is checked: a row of the spool is what its line says.
        """
        return cls(**{name: row[name] for name in cls._fields if name in row})


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
