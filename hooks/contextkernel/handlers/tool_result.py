"""One tool result: its normal form, the original stored first, or the original. The logic of
PostToolUse for both lanes.

A module of its own, since Python compiles the main script anew at every start.
"""

from __future__ import annotations

import os
import sys

from contextkernel.clients import limits, replies, responses
from contextkernel.clients.claude import session_files
from contextkernel.clients.tool_call import ToolCall, text_in
from contextkernel.handlers import eligibility
from contextkernel.store import recorder, settings

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

    from contextkernel.clients.replies import Reply
    from contextkernel.clients.responses import Output
    from contextkernel.handlers.eligibility import Reason
    from contextkernel.handlers.rewrite import Change, Job
    from contextkernel.receipt import Receipt

EVENT = "PostToolUse"
# bytes of a persisted output that are read back; a larger one stays as the client shows it
LARGEST = 128 * 1024 * 1024
# what JavaScript or Python trims
BLANK = (
    " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
)
PATHS = ("path", "file_path", "relative_path", "filePath", "file")  # of MCP tools that read a file


def handle(event: dict[str, Any]) -> Reply:
    """The reply: a replacement, context about an alarm, or {} where the original passes."""
    if tapped():
        _tap(event)
    call = ToolCall.from_event(event)
    if eligibility.why_not_ours(call):
        return {}
    output = responses.read(call.tool, call.response)
    recalled = session_files.recalled(call.tool, call.input)
    if recalled:
        _record_page_fault(call, recalled, output)
        return {}
    if output is None:
        _note_shape(call)
        return {}
    size = _size_of(output)
    reason = eligibility.why_passed(call, output, size)
    if reason:
        return _pass(call, output, size, reason)
    return (_shorten_read if call.tool == "Read" else _shorten)(call, output, size)


def _record_page_fault(call: ToolCall, recalled: str, output: Output | None) -> None:
    """A recall file was read: its text is in use, and came back into the context."""
    from contextkernel.store import blobs

    blobs.touch(recalled)
    given_back = sum(len(text) for text in output.texts) if output else 0
    recorder.record(
        "fault",
        {
            "handle": recalled,
            "session": call.session,
            "route": "file",
            "bytes": max(1, min(given_back, limits.BASH_MAX_CHARS)),
        },
    )


def _size_of(output: Output) -> int:
    """Bytes of all texts; where the client cut them, of the file that holds them whole."""
    if output.whole:
        try:
            whole = os.path.getsize(output.whole)
        except (OSError, ValueError):
            whole = 0
        if whole:
            return whole
    return sum(len(text) for text in output.texts)


def _pass(call: ToolCall, output: Output, size: int, reason: Reason) -> Reply:
    """{}; the resident lane records the result as it is, a script only for a reason that is worth
    a file.
    """
    if call.lane == "resident" or reason.is_telling:
        host = responses.host_bytes(call.tool, size, output.most)
        recorder.record_receipt(
            _receipt(call)._replace(
                raw=size, host=host, shown=host, lines=0, lines_shown=0, reason=reason.text
            )
        )
    return {}


def _receipt(call: ToolCall) -> Receipt:
    """A receipt that says whose result it is."""
    from contextkernel.receipt import Receipt  # late: a script books hardly any of them

    return Receipt(
        client=call.client,
        session=call.session,
        agent=call.agent,
        tool_use_id=call.use,
        tool=call.tool,
        lane=call.lane,
        command=call.subject,
        cwd=call.cwd,
        agent_type=call.agent_type,
        transcript=call.transcript,
    )


def _shorten_read(call: ToolCall, output: Output, size: int) -> Reply:
    """A first Read is never cut and never deduplicated; a repeated one may come in short form,
    without line numbers of its own.
    """
    from contextkernel.handlers import reread  # late: only large Reads
    from contextkernel.store import blobs

    file = responses.read_file(call.response)
    text = output.texts[0]
    decision = reread.short_form(call, file, text)
    if decision.rule == "whole":
        return _pass(call, output, size, eligibility.READ_WHOLE)
    if _is_resting(call):
        return _pass(call, output, size, eligibility.RESTING)
    raw = text.encode("utf-8", "surrogatepass")
    recorder.record_receipt(
        _receipt(call)._replace(
            handle=blobs.handle_of(raw),
            rule=decision.rule,
            raw=len(raw),
            host=len(raw),
            shown=len(decision.text.encode("utf-8", "replace")),
            lines=raw.count(b"\n") + 1,
            lines_shown=decision.text.count("\n") + 1,
            status="pending",
        )
    )
    return replies.replace_output(call, responses.raw_cell(file.path, decision.text), decision.text)


def _is_resting(call: ToolCall) -> bool:
    from contextkernel.store import backoff

    return settings.flag("CK_CANARY") and backoff.resting(call.session, call.tool)


def _shorten(call: ToolCall, output: Output, size: int) -> Reply:
    from contextkernel.handlers import rewrite  # late: only what is large

    reply: Reply = {}

    def deliver(change: Change) -> list[bytes]:
        nonlocal reply
        rewrite.offer(call.transcript, change.originals(), EVENT, call.session)
        texts = [
            _sound(new) if rules else text for (new, rules), text in zip(change.forms, output.texts)
        ]
        plain = _codex_head(call, job.exit_code) + "\n".join(texts)
        reply = replies.replace_output(call, output.rebuild(texts), plain, _alarm(call))
        if not reply:
            raise rewrite.NotRewrittenError(eligibility.TOO_LONG)
        return [text.encode("utf-8", "replace") for text in texts]

    try:
        job = _job(call, output)
        rewrite.rewrite(
            job, deliver, lambda change: eligibility.RESTING if _is_resting(call) else None
        )
    except rewrite.NotStoredError as error:
        sys.stderr.write(f"context-kernel: original passed through: {error}\n")
        recorder.record_note(EVENT, call.session, str(error))
        return {}
    except rewrite.NotRewrittenError as error:
        return _pass(call, output, size, _telling(call, error.reason))
    return reply


def _job(call: ToolCall, output: Output) -> Job:
    """What there is to shorten. Raises NotRewrittenError, OSError."""
    from contextkernel.handlers import operators, rewrite

    raws = _originals(call, output)
    is_codex = call.client == "codex"
    return rewrite.Job(
        raws,
        operators.normal_forms,
        _receipt(call)._replace(status="pending"),
        exit_code=_codex_exit_code(call) if is_codex and call.tool == "Bash" else 0,
        cap=limits.CODEX_TEXT_CHARS if is_codex else output.most,
        host=lambda raw: responses.host_bytes(call.tool, raw, output.most),
        command=_command(call),
        since=call.since,
    )


def _codex_exit_code(call: ToolCall) -> int:
    """The exit code, which the event does not tell. Raises NotRewrittenError."""
    from contextkernel.clients.codex import rollout
    from contextkernel.handlers import rewrite

    code = rollout.exit_code(call.transcript, call.use)
    if code is None:
        raise rewrite.NotRewrittenError(eligibility.NO_EXIT_CODE)
    return code


def _codex_head(call: ToolCall, code: int) -> str:
    """Codex's own head of a command's output, which a replacement replaces, too."""
    if call.client == "codex" and call.tool == "Bash":
        return f"Process exited with code {code}\nOutput:\n"
    return ""


def _telling(call: ToolCall, reason: Reason) -> Reason:
    """The reason; of an output left as it is, whether the agent asked for it so."""
    if reason is eligibility.NOTHING_TO_HIDE and call.lane == "resident":
        from contextkernel.clients.claude import shell_argument

        if shell_argument.wants_raw(call.command):
            return eligibility.ASKED_RAW
    return reason


def _originals(call: ToolCall, output: Output) -> list[bytes]:
    """The raw bytes of each text; of the first from the file that holds it whole, where the
    client cut it. Raises NotRewrittenError where that is too large, OSError.
    """
    raws = [text.encode("utf-8", "surrogatepass") for text in output.texts]
    if output.whole:
        from contextkernel.handlers import rewrite
        from contextkernel.store import files

        try:
            raws[0] = files.content(output.whole, LARGEST)
        except files.TooLargeError:
            raise rewrite.NotRewrittenError(eligibility.TOO_LARGE) from None
        size = call.response.get("persistedOutputSize")
        if not _begins(raws[0], output.texts[0]) or (isinstance(size, int) and len(raws[0]) < size):
            raise OSError(f"{output.whole} is not what the tool printed")
    return raws


def _begins(raw: bytes, shown: str) -> bool:
    """Whether a file is the one whose first characters a response shows: the client trims both
    ends and may halve the last character.
    """
    shown = shown.strip(BLANK)[:-1]
    start = (
        raw.decode("utf-8", "replace")
        if len(raw) < 1 << 20
        else raw[: 8 * len(shown) + (1 << 16)].decode("utf-8", "replace")
    )
    return start.lstrip(BLANK).startswith(shown)


def _command(call: ToolCall) -> str:
    """The command that tells what a text is; of an MCP tool that reads a file, one that would show
    it.
    """
    if call.tool.startswith("mcp__") and not call.input.get("command"):
        names = [text_in(call.input, name) for name in PATHS if name in call.input]
        return next(("cat '{}'".format(name.replace("'", "")) for name in names if name), "")
    return call.command


def _sound(text: str) -> str:
    """The text with undecodable bytes as U+FFFD, which is how the client shows them."""
    return (
        text
        if text.isascii()
        else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    )


def _alarm(call: ToolCall) -> str:
    """What the model is told, once a session, when the client refused replacements; Codex takes no
    context beside a replacement.
    """
    from contextkernel.store import backoff

    is_asked = settings.flag("CK_CANARY") and call.client != "codex"
    why = backoff.untold(call.session) if is_asked else ""
    return f"context-kernel: savings are overstated in this session: {why}" if why else ""


def _note_shape(call: ToolCall) -> None:
    """Record an unknown shape by its keys; nothing for a known one without text of ours to do."""
    if not responses.is_other(call.tool, call.response):
        why = f"unknown shape of {call.tool[:60]}: {_key_names(call.response)}"
        recorder.record_note(EVENT, call.session, why)


def _key_names(response: object) -> str:
    from contextkernel.masking import masked

    return masked(responses.key_names(response), 2000)


def tapped() -> bool:
    """Whether the user asked for a log of payload keys: the file that CK_TAP_FLAG names exists."""
    return os.path.isfile(os.path.expanduser(settings.text("CK_TAP_FLAG")))


def _tap(event: dict[str, Any]) -> None:
    """Log a payload's key names to the file that CK_TAP_FLAG names, where it exists; never
    content.
    """
    from contextkernel.masking import masked
    from contextkernel.store import files

    path = os.path.expanduser(settings.text("CK_TAP_FLAG"))
    told = (
        f"{masked(str(event.get('tool_name')))} {_key_names(event)} "
        f"{_key_names(event.get('tool_response'))}\n"
    )
    try:
        files.append(path, told.encode("utf-8", "replace"))
    except OSError as error:
        sys.stderr.write(f"context-kernel: tap: {error}\n")
