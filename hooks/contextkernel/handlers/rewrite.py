"""A shorter text in an output's place: normal form, the originals stored, the model given it, one
receipt. The one way of the hook, the failure lane and the command line.
"""

from __future__ import annotations

from contextkernel.clients import cpu_limit
from contextkernel.handlers import eligibility
from contextkernel.handlers.eligibility import Reason
from contextkernel.receipt import Receipt
from contextkernel.records import NamedTuple
from contextkernel.store import blobs, handles, recorder

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any, Callable

Form = tuple[str, tuple[str, ...]]  # a new text and the rules that made it; no rules: unchanged


class NotRewrittenError(Exception):
    """The original passes; `reason` says why."""

    def __init__(self, reason: Reason):
        super().__init__(reason.text)
        self.reason = reason


class NotStoredError(NotRewrittenError):
    """It passes since the store could not take it."""


class Job(NamedTuple):
    """An output to shorten.  `operator`: of handlers.operators, texts and sources to forms.
    `cap`: characters that the client shows at most.

    `receipt` says whose output it is; `host(size)`: bytes that the client alone would show of so
    many.  `since`: when the caller began to wait.
    """

    raws: list[bytes]
    operator: Callable[[list[str], list[Any]], list[Form]]
    receipt: Receipt
    exit_code: int
    cap: int
    host: Callable[[int], int]
    command: str = ""
    since: float | None = None


class Change(NamedTuple):
    """What each raw text becomes, and the handle under which it is stored if it changes."""

    raws: list[bytes]
    forms: list[Form]
    handles: list[str]

    def originals(self) -> list[tuple[str, bytes]]:
        """(handle, text) of all that something is left out of."""
        found = zip(self.handles, self.raws, self.forms)
        return [(handle, raw) for handle, raw, (_, rules) in found if rules]


def rewrite(
    job: Job,
    deliver: Callable[[Change], list[bytes]],
    declines: Callable[[Change], Reason | None] = lambda change: None,
) -> Change:
    """The change that an output has gone through. Nothing is given to the model before its original
    is on disk under the very handle that the text names.

    `declines` may keep the original before anything is stored; `deliver` gives the new texts to the
    model and returns all that it reads now. Raises NotRewrittenError, and what they raise;
    cpu_limit.OperatorError.
    """
    change = _change(job)
    if not change.originals():
        raise NotRewrittenError(eligibility.NOTHING_TO_HIDE)
    reason = declines(change)
    if reason:
        raise NotRewrittenError(reason)
    store_originals(change.originals())
    recorder.record_receipt(_completed(job, change, deliver(change)))
    return change


def _change(job: Job) -> Change:
    names = [blobs.handle_of(raw) for raw in job.raws]
    texts = [raw.decode("utf-8", "surrogateescape") for raw in job.raws]
    sources = [
        (job.receipt.tool, job.command, job.exit_code, name, job.cap, handles.known_in(text))
        for name, text in zip(names, texts)
    ]
    size = sum(map(len, job.raws))
    try:
        forms = cpu_limit.call(job.operator, (texts, sources), size, job.since)
    except cpu_limit.LimitError as limit:
        raise NotRewrittenError(Reason(str(limit), True)) from None
    return Change(job.raws, forms, names)


def store_originals(originals: list[tuple[str, bytes]]) -> None:
    """Put every (handle, text) on disk. Raises NotStoredError, also where another text holds a
    handle's digits already: a mark would name the wrong one.
    """
    for handle, raw in originals:
        try:
            issued = blobs.put(raw)
        except blobs.StoreError as error:
            raise NotStoredError(Reason(str(error), True)) from error
        if issued != handle:
            raise NotStoredError(Reason(f"handle clash {issued}", True))


def offer(transcript: str, originals: list[tuple[str, bytes]], event: str, session: str) -> None:
    """Lay originals into the session's own folder, which needs no permission to read. Never
    raises: the store has them, too.
    """
    from contextkernel.clients.claude import session_files

    for handle, raw in originals:
        try:
            session_files.offer(transcript, handle, raw)
        except OSError as error:
            recorder.record_note(event, session, f"no recall file: {error}")


def _completed(job: Job, change: Change, shown: list[bytes]) -> Receipt:
    raw = sum(map(len, job.raws))
    rules = [rule for _, rules in change.forms for rule in rules]
    return job.receipt._replace(
        rule="+".join(dict.fromkeys(rules)),
        handle=" ".join(dict.fromkeys(handle for handle, _ in change.originals())),
        raw=raw,
        host=job.host(raw),
        shown=sum(map(len, shown)),
        lines=sum(text.count(b"\n") + 1 for text in job.raws),
        lines_shown=sum(text.count(b"\n") + 1 for text in shown),
    )
