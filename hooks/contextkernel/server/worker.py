"""A tool's work in a process of its own: started, watched, ended.  The server itself never
computes for long.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from typing import Callable, NamedTuple

# seconds between two reports of progress; a child that was asked to end has so long to do it
BEAT = 1.0
AT_ONCE = threading.BoundedSemaphore(4)  # children at a time; further calls wait


class Outcome(NamedTuple):
    """How a child ended: exit code (None: it was ended), stdout as sound text, the last line of
    stderr.
    """

    code: int | None
    text: str
    complaint: str


class Child:
    """One child process, or the place where it will be: cancelled before `run`, it never starts."""

    def __init__(self) -> None:
        self.cancelled = False
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def run(
        self,
        arguments: list[str],
        stdin: str,
        folder: str,
        environ: dict[str, str],
        seconds: float,
        report: Callable[[float, str], None],
    ) -> Outcome:
        """Run a Python script to its end, at most `seconds`; `environ` is set besides our own.

        `report(seconds so far, last stderr line)` every BEAT.
        """
        with AT_ONCE:
            with self._lock:
                if self.cancelled:
                    return Outcome(None, "", "")
                self._process = _start(arguments, folder, environ)
            return self._watch(self._process, stdin.encode("utf-8", "replace"), seconds, report)

    def _watch(
        self,
        process: subprocess.Popen[bytes],
        stdin: bytes | None,
        seconds: float,
        report: Callable[[float, str], None],
    ) -> Outcome:
        spent, ended = 0.0, False
        while True:
            try:
                out, complaint = process.communicate(stdin, timeout=BEAT)
                code = None if ended or self.cancelled else process.returncode
                return Outcome(code, out.decode("utf-8", "replace"), _last_line(complaint))
            except subprocess.TimeoutExpired as running:
                spent += BEAT
                if ended or self.cancelled:
                    self.kill()
                elif spent >= seconds:
                    ended = True
                    _signal(process, signal.SIGTERM)
                else:
                    report(spent, _last_line(running.stderr or b""))
                stdin = None  # the first call handed it over

    def cancel(self) -> None:
        """Ask the child and what it started to end; harmless when it is over.  Does not wait."""
        with self._lock:
            self.cancelled = True
        if self._process:
            _signal(self._process, signal.SIGTERM)

    def kill(self) -> None:
        """End the child and what it started, at once."""
        if self._process:
            _signal(self._process, getattr(signal, "SIGKILL", signal.SIGTERM))


def _start(arguments: list[str], folder: str, environ: dict[str, str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-I", "-S"]
    if sys.pycache_prefix:
        command += ["-X", "pycache_prefix=" + sys.pycache_prefix]
    return subprocess.Popen(
        command + arguments,
        cwd=folder or None,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, **environ},
    )


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    """To the child's whole group, so that its own children go with it."""
    if process.poll() is not None:
        return
    try:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)  # a group of its own: start_new_session
        else:
            process.send_signal(number)
    except OSError:
        pass  # it was over before


def _last_line(data: bytes) -> str:
    return data.decode("utf-8", "replace").rstrip().rpartition("\n")[2].strip()[:300]
