"""Work that no reply waits for: recording, judging, sweeping, on a thread of its own.

After a tool's event it is gathered and done once a second: a session has many of them, and doing it
after each cost three milliseconds of CPU beside the client. Nothing is lost by waiting: the row of
an event is on disk, in the spool, before its reply goes out. Other events (a prompt, the end of a
turn) have their work done at once, and that of the tools before them.
"""

from __future__ import annotations

import queue
import threading
import time
from typing import Any, Callable

from contextkernel.clients import cpu_limit

EVERY = 1.0  # seconds
GATHERED = ("PreToolUse", "PostToolUse", "PostToolUseFailure")


class AfterReplies:
    """`attempt` runs what may fail in unforeseen ways."""

    def __init__(self, attempt: Callable[..., Any]):
        self._attempt = attempt
        self._queue: Any = queue.SimpleQueue()  # work; None ends the thread
        self._lock = threading.Lock()
        # the latest event of each session since last time
        self._events: dict[str, dict[str, Any]] = {}
        self._known: set[str] = set()  # sessions that have their mark
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def put(self, work: Callable[[], Any]) -> None:
        """Have something done soon."""
        self._queue.put(work)

    def follow(self, event: dict[str, Any]) -> None:
        """Have the work after an event done, in a second or at once."""
        session = str(event.get("session_id") or "")
        with self._lock:
            is_first = not self._events
            self._events[session] = event
        if event.get("hook_event_name") not in GATHERED or session not in self._known:
            self._known.add(session)
            self._queue.put(self._catch_up)
        elif is_first:
            self._queue.put(_wait)

    def end(self, last: Callable[[], Any], seconds: float) -> None:
        """Do what is left, `last` after it, in so many seconds at most."""
        for work in (self._catch_up, last, None):
            self._queue.put(work)
        self._thread.join(seconds)

    def _run(self) -> None:
        due = None
        while True:
            try:
                work = self._queue.get(timeout=due and max(0.0, due - time.monotonic()))
            except queue.Empty:
                due = None
                self._attempt(self._catch_up)
                continue
            if work is None:
                return
            if work is _wait:
                due = due or time.monotonic() + EVERY
            else:
                self._attempt(work)

    def _catch_up(self) -> None:
        """The work after the events since last time; another worker where the last one's time was
        up.
        """
        with self._lock:
            events, self._events = self._events, {}
        if not events:
            return
        from contextkernel.handlers import verification

        if cpu_limit.worker:
            cpu_limit.worker.start()
        verification.take_in()
        for event in events.values():
            verification.run(event)


def _wait() -> None:
    """Stands in the queue for events that are gathered from now on."""
