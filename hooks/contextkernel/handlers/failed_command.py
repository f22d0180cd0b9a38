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
from contextkernel.handlers import eligibility, operators, rewrite
from contextkernel.receipt import Receipt
from contextkernel.store import recorder, settings

EVENT = "failure lane"
LARGEST = 256 * 1024 * 1024  # bytes; what is larger stays as the client shows it
SECONDS = 30  # then the original stays: the client waits for us
HELD = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP) if os.name == "posix" else ()
NOT_SHORTER = eligibility.Reason("not shorter", False)


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
        or _is_raw_agents(command, session)
    ):
        return 0
    file = output_file.opened(1, start)
    if file is None:
        return 0
    signal.alarm(SECONDS)
    if 4 * settings.number("CK_MIN_TOKENS") <= file.size() <= LARGEST:
        # again while some process of the command's still writes
        for _ in range(output_file.ROUNDS):
            if _rewrite_file(file, code, command, session):
                break
    file.close()
    return 0


def _is_raw_agents(command: str, session: str) -> bool:
    """Whether a hook left a note (it is taken) that this command's agent reads raw output."""
    from contextkernel.clients.claude import shell_prefix

    return shell_prefix.take_note(settings.data_root(), command, session) or shell_prefix.watched(
        settings.data_root(), session
    )


def _rewrite_file(file: output_file.OutputFile, code: int, command: str, session: str) -> bool:
    """True where the file needs no further look: rewritten, or left as it is for good."""
    raw = file.read()
    job = rewrite.Job(
        [raw],
        operators.failure_forms,
        Receipt(session=session, tool="Bash", lane="failure", command=command, cwd=_folder()),
        exit_code=code,
        cap=limits.FAILURE_WHOLE_CHARS,
        host=lambda size: min(size, limits.FAILURE_MAX_CHARS),
        command=command,
    )

    def declines(change: rewrite.Change) -> eligibility.Reason | None:
        return NOT_SHORTER if len(_new_bytes(change)) >= len(raw) else None

    def deliver(change: rewrite.Change) -> list[bytes]:
        _replace(file, raw, _new_bytes(change))
        return [_new_bytes(change)]

    try:
        change = rewrite.rewrite(job, deliver, declines)
        _offer(change.originals(), session)
    except cpu_limit.OperatorError as error:
        recorder.record_note(EVENT, session, str(error))
    except rewrite.NotRewrittenError as error:
        if error.reason.is_telling:
            recorder.record_note(EVENT, session, str(error))
        return error.reason is not eligibility.STILL_WRITTEN
    return True


def _new_bytes(change: rewrite.Change) -> bytes:
    new = change.forms[0][0].encode("utf-8", "surrogateescape")
    is_ended = new.endswith(b"\n") or not change.raws[0].endswith(b"\n")
    return new if is_ended else new + b"\n"


def _replace(file: output_file.OutputFile, raw: bytes, new: bytes) -> None:
    """Put the new text in the place of the raw one. Raises NotRewrittenError."""
    if HELD:
        signal.pthread_sigmask(signal.SIG_BLOCK, HELD)  # two writes that belong together
    signal.alarm(0)
    try:
        is_done = file.replace(raw, new)
    except OSError as error:
        why = eligibility.Reason(f"output not rewritten: {error.strerror}", True)
        raise rewrite.NotRewrittenError(why) from error
    if HELD:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD)
    signal.alarm(SECONDS)
    if not is_done:
        raise rewrite.NotRewrittenError(eligibility.STILL_WRITTEN)


def _folder() -> str:
    return os.getcwd() if os.path.isdir(".") else ""


def _offer(originals: list[tuple[str, bytes]], session: str) -> None:
    """Lay the original into the folder of the session, wherever its transcript is."""
    base = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")
    projects = os.path.join(base, "projects")
    for name in os.listdir(projects) if session and os.path.isdir(projects) else ():
        transcript = os.path.join(projects, name, session + ".jsonl")
        if os.path.exists(transcript):
            rewrite.offer(transcript, originals, EVENT, session)
            return
