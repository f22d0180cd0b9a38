"""The failure lane's place: the wrapper's copy in the state folder, the setting that names it, and
the notes it reads.

STATE/bin/failure-lane   the copy that CLAUDE_CODE_SHELL_PREFIX names: a missing prefix makes every
command exit 127, so it
                         lies outside of the plugin and stays when the lane is switched off
                         (sessions that run still name it)
STATE/lane/where         interpreter and plugin folder, one a line; without it the copy passes
everything through
STATE/lane/chained       the prefix that the user had before
STATE/lane/owner         the settings file that these three belong to; those of a further one end in
its key (lane_keys.py)
STATE/lane/<…>.json      the journal of the settings file (install.py)
STATE/lane/raw-<key>     a command that stays raw
STATE/lane/ended-<pid>   how a command ended, in the words of a bash before 5.0
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from typing import NamedTuple

from contextkernel import paths
from contextkernel.clients import lane_keys
from contextkernel.clients.claude import settings_file
from contextkernel.clients.claude.settings_file import Refused
from contextkernel.clients.claude.shell_argument import key_of
from contextkernel.clients.lane_keys import settings_path  # noqa: F401  the switch asks here
from contextkernel.store import files

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

PREFIX = "CLAUDE_CODE_SHELL_PREFIX"
# a note of a command that succeeded is not taken by a wrapper; it must not speak for ever
NOTE_SECONDS = 3600
TRIAL_SECONDS = 20
MOST_SAID = 1024 * 1024  # bytes of what a trial says
# each ends with 42: passed through; as a Bash call whose shell leads its group; as one that a
# signal ends
TRIALS = (
    "exit 42",
    "kill -0 -- -$$ && exit 42 # pwd -P >| ",
    "bash -c 'kill -9 $$'; [ $? = 137 ] && exit 42 # pwd -P >| ",
)


class Status(NamedTuple):
    """`named`: the prefix in the settings file ("" for none); `wrapper`: our copy's path;
    `root`: the plugin it would start ("" when off).
    """

    settings: str
    named: str
    wrapper: str
    root: str
    chained: str


def wrapper_path(state: str, key: str = "") -> str:
    """Where the copy lies that a settings file with this key names."""
    return os.path.join(state, "bin", lane_keys.WRAPPER + key)


def interpreter() -> str:
    """The Python to start after a failure: the base one, not a virtual environment's, which may
    go.
    """
    base = getattr(sys, "_base_executable", None)
    return base if base and os.path.exists(base) else sys.executable or "python3"


def _lane(state: str, *names: str) -> str:
    return os.path.join(state, "lane", *names)


def _line(path: str, number: int = 0) -> str:
    """A line of a small file; "" when it is not there."""
    raw = settings_file.read(path)
    lines = os.fsdecode(raw or b"").split("\n")
    return lines[number] if number < len(lines) else ""


def status(state: str, path: str) -> Status:
    """What is switched on. Raises Refused for settings that cannot be read."""
    env = settings_file.parse(settings_file.read(path), path).get("env")
    named = env.get(PREFIX) if isinstance(env, dict) else None
    key = lane_keys.key_for(state, path)
    root, chained = _line(_lane(state, "where" + key), 1), _line(_lane(state, "chained" + key))
    return Status(
        path, named if isinstance(named, str) else "", wrapper_path(state, key), root, chained
    )


# -- on --------------------------------------------------------------------------------------------
def place(state: str, root: str, python: str, key: str = "") -> str:
    """The path of the wrapper's copy, written and tried out, with the plugin and interpreter it
    will start. Raises Refused.
    """
    path = wrapper_path(state, key)
    for text in (path, root, python):
        if "\n" in text:
            raise Refused(f"{text!r} holds a line break; the failure lane cannot name it")
    if " -" in path:
        raise Refused(
            f"{path} holds ' -', where Claude Code would split it; choose another state "
            "folder ($CK_DATA)"
        )
    source = os.path.join(root, "hooks", "failure_lane")
    body = settings_file.read(source)
    if body is None:
        raise Refused(f"{source} is missing")
    _place_file(path, _with_shell(body), 0o700)
    _place_file(_lane(state, "where" + key), os.fsencode(f"{python}\n{root}\n"), 0o600)
    # what somebody else's prefix makes of a trial is not ours to judge
    if not _line(_lane(state, "chained" + key)):
        _try_out(path, _lane(state, "trial"))
    return path


def _with_shell(body: bytes) -> bytes:
    """The wrapper with bash in its first line where the system has it: that saves it a start (see
    there). Raises Refused without any bash.

    A bash in another place is looked for at each start: an update may move it, and every command
    would end with 127.
    """
    if os.access("/bin/bash", os.X_OK):
        return b"#!/bin/bash -p\n" + body.split(b"\n", 1)[1]
    if shutil.which("bash") is None:
        raise Refused(
            "there is no bash; no other shell can start a command as Claude Code does (a "
            "process group of its own, every environment name)"
        )
    return body


def _place_file(path: str, raw: bytes, mode: int) -> None:
    if settings_file.read(path) != raw:
        settings_file.write(path, raw)
    try:
        os.chmod(path, mode)
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from error


def _try_out(path: str, place_of_output: str) -> None:
    """Raises Refused unless the copy runs a command as Claude Code would: a broken prefix would
    break every command.
    """
    descriptor, output = files.beside(place_of_output)
    try:
        for argument in TRIALS:
            done = subprocess.run(
                [path, argument],
                stdin=subprocess.DEVNULL,
                stdout=descriptor,
                stderr=descriptor,
                env=dict(os.environ, SHELL=shutil.which("bash") or "/bin/bash"),
                timeout=TRIAL_SECONDS,
                start_new_session=True,
            )
            if done.returncode != 42:
                said = files.content(output, MOST_SAID).decode("utf-8", "replace")[:200]
                raise Refused(
                    f"{path} answers the trial `{argument}` with exit {done.returncode}: {said}"
                )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Refused(f"{path} cannot be run ({error})") from error
    finally:
        os.close(descriptor)
        os.unlink(output)


def switch_on(state: str, root: str, python: str, path: str, inherited: str = "") -> str:
    """The prefix that is chained now ("" for none), after the wrapper's copy stands and the
    settings name it. Raises Refused.

    `inherited` is the prefix in the environment: the settings would override it, so it is chained
    too.
    """
    key = lane_keys.key_for(state, path)
    ours = wrapper_path(state, key)
    now = status(state, path)
    before = now.named or inherited
    chained = now.chained if before == ours else "" if lane_keys.is_ours(state, before) else before
    if "\n" in chained or "\n" in path:
        raise Refused(
            f"the prefix {chained!r} or the path {path!r} holds a line break; it cannot be chained"
        )
    _place_file(_lane(state, "chained" + key), os.fsencode(chained + "\n" * bool(chained)), 0o600)
    if not key:
        _place_file(_lane(state, "owner"), os.fsencode(os.path.abspath(path) + "\n"), 0o600)
    place(state, root, python, key)
    if now.named == ours:
        return chained
    journal = settings_file.opened(_lane(state), path)
    # before the change: a crash leaves a way back
    settings_file.save_journal(_lane(state), journal)
    settings_file.change(path, lambda settings: _set(settings, ours))
    settings_file.save_journal(
        _lane(state), journal._replace(after=settings_file.digest(settings_file.read(path)))
    )
    return chained


def _set(settings: dict[str, Any], value: str) -> None:
    env = settings.setdefault("env", {})
    if not isinstance(env, dict):
        raise Refused("env in the settings is no object; nothing was changed")
    env[PREFIX] = value


def refresh(state: str, root: str, python: str) -> None:
    """After an update of the plugin: the copy and the folder it starts are this plugin's. Does
    nothing where the lane is off. Raises Refused.
    """
    _sweep(state)
    for key in lane_keys.keys_on(state):
        held, copy = _line(_lane(state, "where" + key), 1), wrapper_path(state, key)
        if held and os.path.exists(copy):
            body = settings_file.read(os.path.join(root, "hooks", "failure_lane")) or b"\n"
            if held != root or settings_file.read(copy) != _with_shell(body):
                place(state, root, python, key)


def _sweep(state: str) -> None:
    """Remove what wrappers under an old bash have read: files of no use to anybody after the
    command's end.
    """
    now = time.time()
    try:
        for entry in os.scandir(_lane(state)):
            if (
                entry.name.startswith("ended-")
                and now - entry.stat(follow_symlinks=False).st_mtime > NOTE_SECONDS
            ):
                os.unlink(entry.path)
    except OSError as error:
        raise Refused(f"{_lane(state)}: {error.strerror}") from error


# -- off -------------------------------------------------------------------------------------------
def switch_off(state: str, path: str) -> bool:
    """Whether the settings named our wrapper; they are as before now, to the byte where nobody
    touched them since. Raises Refused.

    The copy stays, and passes everything through (to the user's own prefix where there was one),
    for sessions that run.
    """
    now, where = settings_file.read(path), _lane(state, "where" + lane_keys.key_for(state, path))
    named = lane_keys.is_ours(state, status(state, path).named)
    journal = settings_file.load_journal(_lane(state), path)
    if (
        named
        and journal is not None
        and journal.exact
        and settings_file.digest(now) == journal.after
    ):
        if journal.before is None:
            os.unlink(os.path.realpath(path))
        else:
            settings_file.write(path, journal.before)
    elif named:
        settings_file.change(path, lambda settings: _unset(settings, journal))
    settings_file.drop_journal(_lane(state), path)
    if os.path.lexists(where):
        os.unlink(where)
    return named


def _unset(settings: dict[str, Any], journal: settings_file.Journal | None) -> None:
    """Takes our value out: back to the prefix that stood there before, else away, with an `env`
    that was not there before.
    """
    try:
        old = settings_file.parse(journal.before, journal.path) if journal is not None else {}
    except Refused:
        old = {}
    env = old.get("env")
    if isinstance(env, dict) and PREFIX in env:
        settings["env"][PREFIX] = env[PREFIX]
        return
    del settings["env"][PREFIX]
    settings_file.prune(settings, settings_file.containers(old), ("env",))


# -- notes -----------------------------------------------------------------------------------------
def leave_note(state: str, command: str, session: str) -> None:
    """Tell the wrapper that this session's next failure of the command stays raw. Raises
    OSError. Nothing where the lane is off.
    """
    if not lane_keys.keys_on(state):
        return
    now = time.time()
    for entry in os.scandir(_lane(state)):
        if entry.name.startswith("raw-") and now - entry.stat().st_mtime > NOTE_SECONDS:
            os.unlink(entry.path)
    _leave(_lane(state, "raw-" + key_of(command, session)))


def _leave(path: str) -> None:
    """An empty note, as young as now; a link under its name is replaced, not followed. Raises
    OSError.
    """
    files.replace(path, b"")


def watch(state: str, session: str, agent: str, runs: bool) -> None:
    """While an agent that reads raw output runs, every failure of its session stays raw. Raises
    OSError. Nothing where the lane is off.

    The wrapper cannot know which agent a command belongs to; raw is never wrong, only longer.
    """
    path = _lane(state, f"agent-{paths.file_name_of(session)}-{paths.file_name_of(agent)}")
    if runs and lane_keys.keys_on(state):
        _leave(path)
    elif os.path.lexists(path):
        os.unlink(path)


def watched(state: str, session: str) -> bool:
    """Whether such an agent runs in the session now; one that started NOTE_SECONDS ago no longer
    counts.
    """
    start, now = f"agent-{paths.file_name_of(session)}-", time.time()
    try:
        return any(
            entry.name.startswith(start) and now - entry.stat().st_mtime <= NOTE_SECONDS
            for entry in os.scandir(_lane(state))
        )
    except OSError:
        return False


def take_note(state: str, command: str, session: str) -> bool:
    """Whether a note asked to leave this command raw; it is used up."""
    path = _lane(state, "raw-" + key_of(command, session))
    try:
        fresh = time.time() - os.stat(path).st_mtime <= NOTE_SECONDS
        os.unlink(path)
    except OSError:
        return False
    return fresh
