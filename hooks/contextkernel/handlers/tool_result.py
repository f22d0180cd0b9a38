"""One tool result: its normal form, the original stored first, or the original. The logic of
PostToolUse for both lanes.

A module of its own, since Python compiles the main script anew at every start.
"""

from __future__ import annotations

import os
import sys

from contextkernel.clients import cpu_limit, replies, responses
from contextkernel.clients.claude import session_files
from contextkernel.store import recorder, settings

LARGEST = (
    128 * 1024 * 1024
)  # bytes of a persisted output that are read back; a larger one stays as the client shows it
# what JavaScript or Python trims
BLANK = (
    " \t\n"
    "\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
)
OURS = (
    "mcp__plugin_context-kernel_kernel__",
    "mcp__kernel__recall",
    "mcp__kernel__kernel_repo_slice",
    "mcp__kernel__kernel_slice",
)  # `kernel` alone may be another's server
PATHS = ("path", "file_path", "relative_path", "filePath", "file")  # of MCP tools that read a file


def handle(event: dict) -> dict:
    """The reply: a replacement, context about an alarm, or {} where the original passes."""
    from contextkernel.store import presence

    if tapped():
        _tap(event)
    tool = event.get("tool_name")
    if not isinstance(tool, str) or not _serves(tool):
        return {}
    if event["ck_client"] == "codex" and not _replaceable(event):
        return {}
    if tool.startswith(OURS) or (
        event["ck_lane"] == "script" and presence.served(_text(event, "session_id"))
    ):
        return {}
    output = responses.read(tool, event.get("tool_response"))
    fault = session_files.recalled(tool, event.get("tool_input"))
    if fault:
        from contextkernel.handlers import page_fault
        from contextkernel.store import blobs

        blobs.touch(fault)
        texts = list(output.texts) if output else []
        page_fault.record_file(event, fault, texts, responses.BASH_MOST)
        return {}
    if output is None:
        if not responses.is_other(tool, event.get("tool_response")):
            _note_shape(event, tool)
        return {}
    size = sum(len(text) for text in output.texts)
    if output.whole:
        size = _size_of(output.whole) or size
    if tool == "Read" and not _skipped(event):
        return _read(event, output, size)
    if size < 4 * settings.number("CK_MIN_TOKENS") or _skipped(event):
        return _passed(event, tool, output, size)
    return _normalized(event, tool, output, size)


def _replaceable(event: dict) -> bool:
    """Whether Codex lets a text stand for this result: not for what a script of code mode is
    given, nor where more than text would go.
    """
    if _text(event, "tool_use_id").startswith("exec-"):
        return False
    response = event.get("tool_response")
    if not isinstance(response, dict):
        return True
    blocks = response.get(
        "content"
    )  # of an MCP result; with structuredContent, the model reads that and not the blocks
    return (
        not response.get("structuredContent")
        and isinstance(blocks, list)
        and all(isinstance(block, dict) and block.get("type") == "text" for block in blocks)
    )


def _text(event: dict, name: str) -> str:
    value = event.get(name)
    return value if isinstance(value, str) else ""


def _serves(tool: str) -> bool:
    names = settings.words("CK_TOOLS")
    if tool in names:
        return True
    import fnmatch  # late: most tools need no pattern

    return any("*" in name and fnmatch.fnmatchcase(tool, name) for name in names)


def _skipped(event: dict) -> bool:
    return replies.reads_raw(event, settings.words("CK_AGENT_SKIP"))


def _size_of(path: str) -> int:
    try:
        return os.path.getsize(path)
    except (OSError, ValueError):
        return 0


def _passed(event: dict, tool: str, output: responses.Output, size: int, rule: str = "") -> dict:
    """{}; the resident lane books the result as it is (in the script lane that would cost a file
    per event). `rule`: why, where that is to be known.
    """
    if event["ck_lane"] == "resident" or rule:
        host = _host_bytes(event, tool, size, output.most)
        _book(event, tool, "", rule, size, host, host, 0, 0, "")
    return {}


def _read(event: dict, output: responses.Output, size: int) -> dict:
    """A first Read is never cut and never deduplicated; a repeated one may come in short form,
    without line numbers of its own.
    """
    if event["ck_lane"] != "resident" or size < 4 * settings.number("CK_DELTA_MIN"):
        return _passed(event, "Read", output, size)
    from contextkernel.handlers import reread  # late: only large Reads
    from contextkernel.store import backoff

    decision = reread.short_form(event, output.texts[0])
    if decision.rule == "whole" or (
        settings.flag("CK_CANARY") and backoff.resting(_text(event, "session_id"), "Read")
    ):
        return _passed(event, "Read", output, size)
    from contextkernel.store import blobs

    raw = output.texts[0].encode("utf-8", "surrogatepass")
    _book(
        event,
        "Read",
        blobs.handle_of(raw),
        decision.rule,
        len(raw),
        len(raw),
        len(decision.text.encode("utf-8", "replace")),
        raw.count(b"\n") + 1,
        decision.text.count("\n") + 1,
        "pending",
    )
    return replies.replace_output(
        event,
        responses.raw_cell(event["tool_response"]["file"]["filePath"], decision.text),
        decision.text,
    )


def _normalized(event: dict, tool: str, output: responses.Output, size: int) -> dict:
    from contextkernel.store import backoff

    raws = _originals(event, output)
    if raws is None:
        return _passed(event, tool, output, size, "too large")
    code, ended = 0, ""
    if event["ck_client"] == "codex" and tool == "Bash":
        from contextkernel.clients.codex import rollout

        known = rollout.exit_code(_text(event, "transcript_path"), _text(event, "tool_use_id"))
        if known is None:
            return _passed(event, tool, output, size, "exit code unknown")
        code, ended = (
            known,
            f"Process exited with code {known}\nOutput:\n",
        )  # Codex's own head, which a replacement replaces too
    try:
        results = _normal_forms(event, tool, raws, output.most, code)
    except cpu_limit.LimitError as limit:
        return _passed(event, tool, output, size, str(limit))
    changed = [raw for raw, (_, rules) in zip(raws, results) if rules]
    if not changed:
        return _passed(event, tool, output, size)
    who = _text(event, "session_id")
    if settings.flag("CK_CANARY") and backoff.resting(who, tool):
        return _passed(event, tool, output, size, "resting")
    if not _stored(event, changed):
        return {}
    texts = [_sound(new) if rules else text for (new, rules), text in zip(results, output.texts)]
    if ended:
        ended += _cut_note(output.texts[0], changed[0])
    reply = replies.replace_output(event, output.rebuild(texts), ended + "\n".join(texts))
    if not reply:
        return _passed(event, tool, output, size, "too long for the client")
    reply = replies.with_context(event, reply, _alarm(who))
    from contextkernel.store import blobs

    raw_size = sum(map(len, raws))
    handles = " ".join(dict.fromkeys(map(blobs.handle_of, changed)))
    _book(
        event,
        tool,
        handles,
        "+".join(dict.fromkeys(rule for _, rules in results for rule in rules)),
        raw_size,
        _host_bytes(event, tool, raw_size, output.most),
        sum(len(text.encode("utf-8", "replace")) for text in texts),
        sum(raw.count(b"\n") + 1 for raw in raws),
        sum(text.count("\n") + 1 for text in texts),
        "pending",
    )
    return reply


def _host_bytes(event: dict, tool: str, size: int, most: int) -> int:
    """Bytes that the client alone would show of a result of `size` bytes."""
    if event["ck_client"] != "codex":
        return responses.host_bytes(tool, size, most)
    from contextkernel.clients.codex import rollout

    return rollout.shown_bytes(tool, size)


def _cut_note(text: str, raw: bytes) -> str:
    """A mark where Codex had cut the output before we saw it; "" where it is whole."""
    from contextkernel import marks
    from contextkernel.clients.codex import rollout
    from contextkernel.store import blobs

    tokens = rollout.cut_tokens(text)
    if not tokens:
        return ""
    words = f"Codex itself cut {tokens} tokens out of this output, which are not stored"
    return marks.note(words, blobs.handle_of(raw)) + "\n"


def _originals(event: dict, output: responses.Output) -> list[bytes] | None:
    """The raw bytes of each text; of the first from the file that holds it whole, where the
    client cut it. None: too large. Raises OSError.
    """
    raws = [text.encode("utf-8", "surrogatepass") for text in output.texts]
    if output.whole:
        from contextkernel.store import files

        try:
            raws[0] = files.content(output.whole, LARGEST)
        except files.TooLargeError:
            return None
        size = event["tool_response"].get("persistedOutputSize")
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


def _normal_forms(
    event: dict, tool: str, raws: list[bytes], most: int, code: int = 0
) -> list[tuple]:
    """(text, rules) of each text, under one CPU limit for all. Raises cpu_limit.LimitError."""
    from contextkernel.handlers import operators
    from contextkernel.store import blobs, handles

    given = event.get("tool_input")
    command = given.get("command") if isinstance(given, dict) else ""
    if tool.startswith("mcp__") and isinstance(given, dict) and not command:
        command = next(
            (
                "cat '%s'" % given[name].replace("'", "")
                for name in PATHS
                if isinstance(given.get(name), str)
            ),
            "",
        )
    cap = 9900 if event["ck_client"] == "codex" else most
    texts = [raw.decode("utf-8", "surrogateescape") for raw in raws]
    sources = [
        (
            tool,
            command if isinstance(command, str) else "",
            code,
            blobs.handle_of(raw),
            cap,
            handles.known_in(text),
        )
        for raw, text in zip(raws, texts)
    ]
    return cpu_limit.call(
        operators.normal_forms, (texts, sources), sum(map(len, raws)), event.get("ck_since")
    )


def _sound(text: str) -> str:
    """The text with undecodable bytes as U+FFFD, which is how the client shows them."""
    return (
        text
        if text.isascii()
        else text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    )


def _stored(event: dict, changed: list) -> bool:
    """Whether every original is on disk; if not, one stderr line and one ledger row say why."""
    from contextkernel.store import blobs

    try:
        handles = [blobs.put(raw) for raw in changed]
    except blobs.StoreError as error:
        sys.stderr.write(f"context-kernel: original passed through: {error}\n")
        recorder.record(
            "note",
            {"event": "PostToolUse", "session": _text(event, "session_id"), "why": str(error)},
        )
        return False
    for raw, issued in zip(changed, handles):
        if issued != blobs.handle_of(
            raw
        ):  # another text holds these digits: the mark would name the wrong one
            recorder.record(
                "note",
                {
                    "event": "PostToolUse",
                    "session": _text(event, "session_id"),
                    "why": f"handle clash {issued}",
                },
            )
            return False
        try:
            session_files.offer(_text(event, "transcript_path"), issued, raw)
        except OSError as error:
            recorder.record(
                "note",
                {
                    "event": "PostToolUse",
                    "session": _text(event, "session_id"),
                    "why": f"no recall file: {error}",
                },
            )
    return True


def _book(
    event: dict,
    tool: str,
    handles: str,
    rule: str,
    raw: int,
    host: int,
    shown: int,
    lines: int,
    lines_shown: int,
    status: str,
) -> None:
    given = event.get("tool_input")
    what = (
        next(
            (
                str(given[key])
                for key in ("command", "file_path", "pattern", "url", "description")
                if given.get(key)
            ),
            "",
        )
        if isinstance(given, dict) and (handles or rule)  # nobody asks what a small result was
        else ""
    )
    recorder.record(
        "receipt",
        {
            "client": event["ck_client"],
            "session": _text(event, "session_id"),
            "agent": _text(event, "agent_id"),
            "tool_use_id": _text(event, "tool_use_id"),
            "tool": tool,
            "lane": event["ck_lane"],
            "rule": rule,
            "command": what,
            "handle": handles,
            "raw": raw,
            "host": host,
            "shown": shown,
            "lines": lines,
            "lines_shown": lines_shown,
            "status": status,
            "cwd": _text(event, "cwd"),
            "agent_type": _text(event, "agent_type"),
            "transcript": _text(event, "transcript_path"),
        },
    )


def _alarm(who: str) -> str:
    """What the model is told, once a session, when the client refused replacements."""
    from contextkernel.store import backoff

    why = backoff.untold(who) if settings.flag("CK_CANARY") else ""
    return f"context-kernel: savings are overstated in this session: {why}" if why else ""


def _note_shape(event: dict, tool: str) -> None:
    """Name an unknown shape by its keys: in the ledger, and in the tap file where the user has
    one.
    """
    keys = _key_names(event.get("tool_response"))
    recorder.record(
        "note",
        {
            "event": "PostToolUse",
            "session": _text(event, "session_id"),
            "why": f"unknown shape of {tool[:60]}: {keys}",
        },
    )


def _key_names(response) -> str:
    from contextkernel.masking import masked

    return masked(responses.key_names(response), 2000)


def tapped() -> bool:
    """Whether the user asked for a log of payload keys: the file that CK_TAP_FLAG names exists."""
    return os.path.isfile(os.path.expanduser(settings.text("CK_TAP_FLAG")))


def _tap(event: dict) -> None:
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
