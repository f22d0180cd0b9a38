"""Pure functions under a CPU limit, in a process that the kernel ends when its time is up.

A pattern that runs away cannot be stopped from inside on every Python: `re` looks for signals once
in 4,096 steps, each of which may walk the whole text, and up to 3.10 not between two matches of one
search (100 KB: 10 s after the signal). So the work is done in a child with a timer (ITIMER_PROF)
whose signal prints where it stands and ends it: a worker that waits for more in the resident
server, whose threads go on meanwhile; a fork in a script.  Nothing of the store is ever written in
there.  It is the one place where time decides: past it the original passes, never another short
form.

Windows has neither the timer nor fork: there the worker is ended by the clock, and a script works
without a limit.
"""

from __future__ import annotations

import gc
import importlib
import marshal
import os
import re
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from typing import Any, Callable

# CPU seconds of one call: LEAST and PER_BYTE up to USUAL, BULK a byte up to MOST.  An ordinary
# large text takes 1e-8 seconds a byte (a log, bench/results/throughput.json) to 1e-7 (a run of
# 300,000 tests), a small one 5e-7.
LEAST, PER_BYTE, USUAL, BULK, MOST = 0.4, 5e-6, 1.0, 2e-7, 2.0
WAITED_MOST = 1.5  # seconds behind earlier calls, after which nothing is begun
# Seconds by the clock, or so many times the CPU seconds of a large text, below the shortest timeout
# of a hook.  Nothing an operator does waits, so this is the last resort: with twelve sessions on
# two cores a call of 0.1 CPU seconds took 2.
CLOCK, BUSY = 6.0, 4
TOO_LITTLE = 0.05  # CPU seconds that are not worth a start
HAS_TIMER = hasattr(signal, "setitimer")
HEAD = 9  # bytes: the kind of an answer and its size
VALUE, FAULT = b"=", b"!"  # kinds; whatever else a child says is the trace of one whose time was up
_PLACE = re.compile(rb'contextkernel[/\\](?:\w+[/\\])*?(?:(\w+)[/\\])?(\w+)\.py"')
_CALLERS = (b"clients", b"commands", b"handlers", b"server")

worker: Worker | None = None  # of a resident process


class LimitError(Exception):
    """The time was up; `rule` names the operator that was running, its modules from the outer to
    the inner one.
    """

    def __init__(self, rule: str):
        super().__init__(f"CPU limit reached in {rule}")
        self.rule = rule


class OperatorError(Exception):
    """The function raised, or its process ended: the text says how."""


def seconds_for(size: int, waited: float = 0.0) -> float:
    """CPU seconds for a text of `size` bytes whose caller has waited so many seconds already."""
    alone = min(MOST, max(min(USUAL, LEAST + PER_BYTE * size), BULK * size))
    return min(alone, WAITED_MOST - waited) if waited > TOO_LITTLE else alone


def call(
    function: Callable[..., Any], arguments: tuple[Any, ...], size: int, since: float | None = None
) -> Any:
    """What `function(*arguments)` returns, computed elsewhere: a function of a module's top level,
    values that marshal knows.

    `since`: when the caller began to wait (time.monotonic).  Raises LimitError, OperatorError.
    """
    waited = time.monotonic() - since if since is not None else 0.0
    seconds, clock = seconds_for(size, waited), max(CLOCK - waited, BUSY * min(MOST, BULK * size))
    if seconds < TOO_LITTLE:
        raise LimitError("an earlier call")
    if worker is not None:
        return worker.call(function, arguments, seconds, clock)
    if not hasattr(os, "fork"):
        return function(*arguments)
    return _forked(function, arguments, seconds, 4 * clock)  # nobody waits behind a script


def _forked(
    function: Callable[..., Any], arguments: tuple[Any, ...], seconds: float, clock: float
) -> Any:
    said, saying = os.pipe()
    try:
        child = os.fork()
    except OSError as error:
        os.close(said)
        os.close(saying)
        raise OperatorError(f"no process for the operators: {error}") from None
    if child == 0:
        try:
            gc.disable()  # a collection would copy every page of the parent
            _trace_to(saying)
            if HAS_TIMER:
                signal.setitimer(signal.ITIMER_REAL, clock)
            _answer(saying, function, arguments, seconds)
        finally:  # whatever happened is said, and nothing of the caller's runs twice
            raised = sys.exc_info()[1]
            if raised is not None:
                _say(saying, FAULT, _words(raised))
            os._exit(0)
    os.close(saying)
    parts: list[bytes] = []
    try:
        while not parts or parts[-1]:
            parts.append(os.read(said, 1 << 20))
    finally:
        os.close(said)
        os.waitpid(child, 0)
    return _value(b"".join(parts))


class Worker:
    """A process that computes for this one; started at its first call, and again after its time
    was up.  Threads may share it.
    """

    def __init__(self, script: str):
        import threading

        self.script = script  # calls `serve`
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._timer = threading.Timer

    def start(self) -> None:
        """Start the process unless it runs.  Raises OSError."""
        with self._lock:
            self._running()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            import subprocess  # late: the server has it

            self.end()
            prefix = ["-X", "pycache_prefix=" + sys.pycache_prefix] if sys.pycache_prefix else []
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S"] + prefix + [self.script],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        return self._process

    def call(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], seconds: float, clock: float
    ) -> Any:
        """As the module's `call`."""
        task = marshal.dumps((function.__module__, function.__name__, arguments, seconds))
        with self._lock:
            try:
                process = self._running()
            except OSError as error:
                raise OperatorError(f"no worker: {error}") from None
            asking, said_by = process.stdin, process.stdout
            assert asking is not None
            assert said_by is not None
            timer = self._timer(
                clock, process.send_signal, (signal.SIGPROF if HAS_TIMER else signal.SIGTERM,)
            )
            timer.daemon = True
            timer.start()
            try:
                asking.write(len(task).to_bytes(8, "little") + task)
                asking.flush()
                said = said_by.read(HEAD)
                answers = said[:1] in (VALUE, FAULT)
                said += said_by.read(_size(said) if answers else -1)
            except OSError as error:
                self.end()
                raise OperatorError(f"worker: {error}") from None
            finally:
                timer.cancel()
            if said[:1] != VALUE:
                self.end()  # the next call starts another
        return _value(said)

    def end(self) -> None:
        """End the process; harmless when it is over."""
        if self._process is not None:
            process, self._process = self._process, None
            process.kill()
            process.wait()
            for pipe in (process.stdout, process.stdin):
                try:
                    if pipe is not None:
                        pipe.close()
                except OSError:
                    pass  # what it did not read goes nowhere


def serve() -> int:
    """0 when the other end has gone: answers calls on stdin, as a Worker's process."""
    calls, saying = sys.stdin.buffer, os.dup(1)
    os.dup2(2, 1)  # a stray print is no answer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the end of stdin ends us
    _trace_to(saying)
    sys.excepthook = lambda kind, error, trace: _say(saying, FAULT, _words(error))
    while True:
        head = calls.read(8)
        if len(head) < 8:
            return 0
        module, name, arguments, seconds = marshal.loads(calls.read(int.from_bytes(head, "little")))
        _answer(saying, getattr(importlib.import_module(module), name), arguments, seconds)


def _answer(
    saying: int, function: Callable[..., Any], arguments: tuple[Any, ...], seconds: float
) -> None:
    if HAS_TIMER:
        signal.setitimer(signal.ITIMER_PROF, seconds)
    value = function(*arguments)
    if HAS_TIMER:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    _say(saying, VALUE, marshal.dumps(value))


def _trace_to(descriptor: int) -> None:
    """From now on a timer's signal prints where this process stands, and ends it: in the middle
    of a pattern, too.
    """
    if not HAS_TIMER:
        return
    import faulthandler

    for number in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(number, signal.SIG_DFL)  # it may have been ignored by who started us
        faulthandler.register(number, file=descriptor, all_threads=False, chain=True)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGPROF, signal.SIGALRM))


def _say(descriptor: int, kind: bytes, data: bytes) -> None:
    rest = memoryview(kind + len(data).to_bytes(HEAD - 1, "little") + data)
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except OSError:
        pass  # nobody waits for it any more


def _words(error: BaseException) -> bytes:
    words = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return words.encode("utf-8", "backslashreplace")


def _size(said: bytes) -> int:
    return int.from_bytes(said[1:HEAD], "little")


def _value(said: bytes) -> Any:
    """The value in what a child said before it ended or went on.  Raises as `call`."""
    kind, data = said[:1], said[HEAD:]
    if not said or kind in (VALUE, FAULT) and (len(said) < HEAD or len(data) != _size(said)):
        raise OperatorError("the process of the operators ended")
    if kind == FAULT:
        raise OperatorError(data.decode("utf-8", "replace"))
    if kind != VALUE:
        raise LimitError(_rule_in(said))
    return marshal.loads(data)


def _rule_in(trace: bytes) -> str:
    """The modules of a trace, outer first: "normalize > plain > templates"; "an operator" where
    it names none.
    """
    places = [
        package if module in (b"__init__", b"text") else module
        for package, module in reversed(_PLACE.findall(trace))
        if package not in _CALLERS
    ]
    return " > ".join(dict.fromkeys(place.decode() for place in places)) or "an operator"
