"""The failure lane after a failure: stores a command's whole output and puts its normal form in its
place.

    failure_lane.py EXIT_CODE START ARGUMENT        started by the wrapper `failure_lane`, with the
    command's own stdout

EXIT_CODE: negative for a signal that ended the command.  START: bytes that were in the output file
before the command.  ARGUMENT: what the client gave the wrapper.  Prints nothing;
whatever is in doubt leaves the file as it is.
"""

from __future__ import annotations

import fnmatch
import os
import signal

from contextkernel.clients import cpu_limit, limits
from contextkernel.clients.claude import output_file, shell_argument
from contextkernel.store import recorder, settings

MOST = limits.FAILURE_WHOLE_CHARS  # of our text
MOSTLY_NOISE = (
    0.5  # an output that the client shows whole is rewritten only below this share of its length
)
LARGEST = 256 * 1024 * 1024  # bytes; what is larger stays as the client shows it
NUL, RARE = "\u2400", 10  # the sign for a NUL, shown where they are less than a tenth
SECONDS = 30  # then the original stays: the client waits for us
HELD = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP) if os.name == "posix" else ()


def main(argv: list[str]) -> int:
    """0, also when nothing was rewritten."""
    code, start, argument = int(argv[0]), int(argv[1]), argv[2]
    try:
        settings.guard()
    except settings.ForeignStateError:
        return 0
    session = os.environ.get("CLAUDE_CODE_SESSION_ID") or output_file.session_in(1)
    command = shell_argument.command_in(argument)
    if (
        shell_argument.wants_raw(command)
        or not any(fnmatch.fnmatchcase("Bash", name) for name in settings.words("CK_TOOLS"))
        or _noted(command, session)
    ):
        return 0
    file = output_file.opened(1, start)
    if file is None:
        return 0
    signal.alarm(SECONDS)
    if 4 * settings.number("CK_MIN_TOKENS") <= file.size() <= LARGEST:
        for _ in range(
            output_file.ROUNDS
        ):  # again while some process of the command's still writes
            if _rewritten(file, code, command, session):
                break
    file.close()
    return 0


def _noted(command: str, session: str) -> bool:
    from contextkernel.clients.claude import shell_prefix

    return shell_prefix.take_note(settings.data_root(), command, session) or shell_prefix.watched(
        settings.data_root(), session
    )


def _rewritten(file, code: int, command: str, session: str) -> bool:
    """Whether the file needs no further look: rewritten, or left as it is for good."""
    from contextkernel.store import blobs

    raw = file.read()
    handle = blobs.handle_of(raw)
    try:
        text, rules = cpu_limit.call(_plain_form, (raw, code, command, handle), len(raw))
    except (cpu_limit.LimitError, cpu_limit.OperatorError) as error:
        return _passed(session, str(error))
    if not rules:
        return True
    new = text.encode("utf-8", "surrogateescape")
    new += b"\n" if raw.endswith(b"\n") and not new.endswith(b"\n") else b""
    if len(new) >= len(raw):
        return True
    try:
        issued = blobs.put(raw)
    except blobs.StoreError as error:
        return _passed(session, str(error))
    if issued != handle:  # another text holds these digits: the mark would name the wrong one
        return _passed(session, f"handle clash {issued}")
    if HELD:
        signal.pthread_sigmask(signal.SIG_BLOCK, HELD)  # two writes that belong together
    signal.alarm(0)
    try:
        done = file.replace(raw, new)
    except OSError as error:
        return _passed(session, f"output not rewritten: {error.strerror}")
    if HELD:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD)
    signal.alarm(SECONDS)
    if done:
        _book(raw, rules, new, handle, command, session)
        _offer(handle, raw, session)
    return done


def _passed(session: str, why: str) -> bool:
    recorder.record("note", {"event": "failure lane", "session": session, "why": why})
    return True


def _plain_form(raw: bytes, code: int, command: str, handle: str) -> tuple:
    from contextkernel.handlers import operators

    normal = normal_form(raw, code, command, handle)
    return operators.plain(normal) if normal else ("", ())


def normal_form(raw: bytes, code: int, command: str, handle: str):
    """What the model is to read instead of a failing command's output, as Normalized; None:
    leave it as it is.
    """
    from contextkernel.normalize import Source, normalize
    from contextkernel.normalize.commands import facts
    from contextkernel.store import handles

    asked = facts(command)
    if shell_argument.is_answer(code, asked.stages[-1] if asked.stages else ()):
        return None
    text = raw.decode("utf-8", "surrogateescape")
    text = text[:-1] if text.endswith("\n") else text  # the client cuts it off, too
    whole = _units(text) <= MOST  # the client adds lines of its own
    source = Source("Bash", command, code, handle, MOST, handles.known_in(text))
    if text.count("\0") <= len(text) // RARE:  # a few of them make no binary
        text = text.replace("\0", NUL)
    result = normalize(text, source)
    for _ in range(3):
        if not result.edits or _units(result.text) < MOST:
            break
        result = normalize(text, source._replace(cap=MOST * MOST // (_units(result.text) + 300)))
    if not result.edits and not whole and not asked.explicit:
        from contextkernel.normalize.head_and_tail import both_ends  # late: rare

        result = both_ends(text, source._replace(cap=MOST * len(text) // _units(text) - 1))
    if (
        not result.edits
        or _units(result.text) >= MOST
        or (whole and len(result.text) > MOSTLY_NOISE * len(text))
    ):
        return None
    return result


def _units(text: str) -> int:
    """UTF-16 units, which is what the client counts."""
    return len(text) if text.isascii() else len(text) + sum(char > "\uffff" for char in text)


def _book(raw: bytes, rules: tuple, new: bytes, handle: str, command: str, session: str) -> None:
    recorder.record(
        "receipt",
        {
            "client": "claude",
            "session": session,
            "tool": "Bash",
            "lane": "failure",
            "rule": "+".join(rules),
            "command": command,
            "handle": handle,
            "raw": len(raw),
            "host": min(len(raw), limits.FAILURE_MAX_CHARS),
            "shown": len(new),
            "lines": raw.count(b"\n") + 1,
            "lines_shown": new.count(b"\n") + 1,
            "status": "",
            "cwd": os.getcwd() if os.path.isdir(".") else "",
        },
    )


def _offer(handle: str, raw: bytes, session: str) -> None:
    """Lay the original into the session's own folder, which needs no permission to read."""
    from contextkernel.clients.claude import session_files as folders

    base = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")
    projects = os.path.join(base, "projects")
    for name in os.listdir(projects) if session and os.path.isdir(projects) else ():
        transcript = os.path.join(projects, name, session + ".jsonl")
        if os.path.exists(transcript):
            try:
                folders.offer(transcript, handle, raw)
            except OSError as error:
                recorder.record(
                    "note",
                    {
                        "event": "failure lane",
                        "session": session,
                        "why": f"no recall file: {error}",
                    },
                )
            return
