"""One client's connection: its messages, its running calls, and the hooks it asks."""

from __future__ import annotations

import json
import os
import queue
import signal
import threading
import time
from typing import Any, Callable

from contextkernel import VERSION, paths
from contextkernel.clients import cpu_limit, events
from contextkernel.clients.claude.session_files import transcript_of
from contextkernel.handlers import handler_of
from contextkernel.server import calls, jsonrpc, lifetime, streams, tools
from contextkernel.server.after_replies import AfterReplies
from contextkernel.server.worker import Child
from contextkernel.store import recorder, settings

PROTOCOLS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # newest first
# What a hook without an opinion answers.  Seen on Claude Code 2.1.121 and 2.1.332: after an empty
# text the model reads
# "UserPromptSubmit hook success: UserPromptSubmit completed" (SessionStart likewise); after {}
# nothing.  The text of the
# two events around a compaction is echoed to the model whatever it is, so there the empty one is
# shortest.
NO_OPINION = "{}"
NO_OPINION_ECHOED = ""
ECHOED = ("PreCompact", "PostCompact")

# seconds that another message waits for a hook before it, so that answers keep the order of the
# requests
PATIENCE = 0.25
# seconds that running calls and the work after replies may take when the client leaves
LAST_WORK = 2.0
LAST_HOOKS = 30.0  # seconds that hooks which came before the end of input may take
ENDING = 0.3  # seconds between asking a child to end and ending it, when we leave ourselves


class Session:
    """`attempt` runs what may fail in unforeseen ways (serve.py); `leaving` is set by a signal."""

    def __init__(self, writer: streams.Writer, client: str, attempt: Callable[..., Any]):
        self.writer = writer
        self.client = client
        self.attempt = attempt
        self.leaving = False
        # the user's working folder, as the last hook event or the client's roots had it
        self.folder = ""
        self.has_roots = False
        self.since = None  # time.monotonic when the hook in work came
        self.name = ""  # the client's name of the session, as the last hook event had it
        self.calls: dict[str, Child] = {}  # running calls by id: their children
        # (work, message, when it came) of hook events; None ends their thread
        self.hooks: Any = queue.SimpleQueue()
        self.latest = 0.0  # time.monotonic when the last hook event came
        self.unanswered = 0  # hook events
        self.answered = threading.Condition()
        self.hooking = threading.Thread(target=self._work_hooks, daemon=True)
        self.after = AfterReplies(attempt)
        self.hooking.start()

    # -- messages -------------------------------------------------------------------------------
    def take(self, line: bytes) -> None:
        """Deal with one line: answer it, or start the thread that will.  Raises BrokenPipeError."""
        if not line.strip():
            return
        try:
            message = jsonrpc.decode(line)
        except jsonrpc.Refusal as refusal:
            self._let_hooks_answer()
            self.writer.send(jsonrpc.error(streams.id_in(line), refusal.code, str(refusal)))
            note = {
                "event": "message",
                "session": self.name,
                "why": f"a message was not understood, or too long: {refusal}",
            }
            self.after.put(lambda: recorder.record("note", note))  # it may have been a hook's
            return
        work: Callable[[Any], None]
        if isinstance(message, list) and message:
            work, batch = self._take_batch, message
        else:
            work, batch = self._take_one, [message]
        announced = any([self._announce(one) for one in batch])
        if not announced and any(map(_is_hook, batch)):
            self.latest = time.monotonic()
            with self.answered:
                self.unanswered += 1
            self.hooks.put((work, message, self.latest))
            return
        self._let_hooks_answer()
        if not announced:
            work(message)
        else:
            threading.Thread(target=self.attempt, args=(work, message), daemon=True).start()

    def _let_hooks_answer(self) -> None:
        with self.answered:
            self.answered.wait_for(
                lambda: not self.unanswered, max(0.0, self.latest + PATIENCE - time.monotonic())
            )

    def _announce(self, message: Any) -> bool:
        """Whether a message is a call of a tool: then its child is known from now on, and can be
        cancelled.
        """
        params = message.get("params") if isinstance(message, dict) else None
        if not isinstance(params, dict) or message.get("method") != "tools/call":
            return False
        name = params.get("name")
        if not isinstance(name, str) or name not in tools.BY_NAME or jsonrpc.id_of(message) is None:
            return False
        self.calls[_key(message["id"])] = Child()
        return True

    def _take_one(self, message: Any) -> None:
        reply = self.reply(message)
        if reply is not None:
            self.writer.send(reply)

    def _take_batch(self, messages: list[Any]) -> None:
        replies = [reply for reply in map(self.reply, messages) if reply is not None]
        if replies:
            self.writer.send(replies)

    def reply(self, message: Any) -> dict[str, Any] | None:
        """The answer to a decoded message; None for a notification, an answer to us, and a
        cancelled call.
        """
        try:
            request = jsonrpc.request(message)
            if not request.method:
                self._take_roots(request.result)
                return None
            method = METHODS.get(request.method)
            if request.id is None:
                method = NOTIFICATIONS.get(request.method)
            elif not method:
                raise jsonrpc.Refusal(jsonrpc.METHOD_NOT_FOUND, f"no method {request.method[:100]}")
            failed = {"isError": True}
            result = (
                self.attempt(
                    method,
                    self,
                    request,
                    otherwise=failed,
                    passing=(jsonrpc.Refusal, BrokenPipeError),
                )
                if method
                else None
            )
            if result is failed:
                raise jsonrpc.Refusal(
                    jsonrpc.INTERNAL_ERROR, "failed: the server's stderr says why"
                )
            return (
                None if result is None or request.id is None else jsonrpc.answer(request.id, result)
            )
        except jsonrpc.Refusal as refusal:
            return (
                None
                if jsonrpc.is_notification(message)
                else jsonrpc.error(jsonrpc.id_of(message), refusal.code, str(refusal))
            )

    def send(self, method: str, params: dict[str, Any], identity: str | None = None) -> None:
        """Send a notification, or a request of ours when it has an id."""
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        self.writer.send(message if identity is None else dict(message, id=identity))

    # -- methods --------------------------------------------------------------------------------
    def initialize(self, request: jsonrpc.Request) -> dict[str, Any]:
        """Who we are; the client's protocol version where we speak it, else our newest."""
        wanted, able = request.params.get("protocolVersion"), request.params.get("capabilities")
        if not self.client:
            self.client = (
                "codex" if "codex" in str(request.params.get("clientInfo")).lower() else "claude"
            )
        self.has_roots = isinstance(able, dict) and isinstance(able.get("roots"), dict)
        return {
            "protocolVersion": wanted if wanted in PROTOCOLS else PROTOCOLS[0],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "context-kernel", "version": VERSION},
            "instructions": tools.INSTRUCTIONS,
        }

    def initialized(self, request: jsonrpc.Request) -> None:
        """Ask for the working folder; make ready what the first hook needs."""
        self.ask_roots(request)
        self.after.put(lifetime.make_ready)

    def ask_roots(self, request: jsonrpc.Request) -> None:
        """Ask the client for its folders, if it said that it has any to tell."""
        if self.has_roots:
            self.send("roots/list", {}, identity="roots")

    def _take_roots(self, result: Any) -> None:
        roots = result.get("roots") if isinstance(result, dict) else None
        first = (
            roots[0].get("uri")
            if isinstance(roots, list) and roots and isinstance(roots[0], dict)
            else None
        )
        if isinstance(first, str) and first.startswith("file://") and not self.folder:
            from urllib.parse import unquote, urlsplit  # late: needed once a session

            self.folder = unquote(urlsplit(first).path)

    def ping(self, request: jsonrpc.Request) -> dict[str, Any]:
        """Nothing, in time."""
        return {}

    def list_tools(self, request: jsonrpc.Request) -> dict[str, Any]:
        """The tools for the model; the one for hooks is not among them, and costs no context."""
        return {"tools": [tools.listed(tool) for tool in tools.TOOLS]}

    def cancelled(self, request: jsonrpc.Request) -> None:
        """End the child of a call; its thread then leaves without an answer."""
        child = self.calls.get(_key(request.params.get("requestId")))
        if child:
            child.cancel()

    def call_tool(self, request: jsonrpc.Request) -> dict[str, Any] | None:
        """The answer of a tool, or of the hidden one for hooks; None when the call was cancelled
        meanwhile.
        """
        try:
            return self._called(request)
        finally:
            self.calls.pop(_key(request.id), None)

    def _called(self, request: jsonrpc.Request) -> dict[str, Any] | None:
        name, arguments = request.params.get("name"), request.params.get("arguments")
        if arguments is None:
            arguments = {}
        if not isinstance(arguments, dict):
            raise jsonrpc.Refusal(jsonrpc.INVALID_PARAMS, "arguments must be an object")
        if name == events.HOOK_TOOL:
            reply = self.attempt(self._hook, arguments, note=_booked(arguments))
            nothing = (
                NO_OPINION_ECHOED if arguments.get("hook_event_name") in ECHOED else NO_OPINION
            )
            return calls.content(reply or nothing)
        tool = tools.BY_NAME.get(name) if isinstance(name, str) else None
        if not tool:
            raise jsonrpc.Refusal(jsonrpc.INVALID_PARAMS, f"no tool {str(name)[:100]}")
        return calls.run(self, tool, arguments, self.calls[_key(request.id)], request)

    def _hook(self, arguments: dict[str, Any]) -> str:
        """What a hook script would print for the event in `arguments`: JSON, or "" for no
        opinion.
        """
        settings.guard()
        event = events.decode(arguments)
        event.setdefault("ck_client", self.client or "claude")
        event.update(ck_lane="resident", ck_since=self.since)
        if isinstance(event.get("cwd"), str):
            self.folder = event["cwd"]
        if paths.names_a_file(event.get("transcript_path")):
            # what `--budget auto` of a child reads: the event before a call is the caller's
            os.environ["CK_TRANSCRIPT"] = transcript_of(event)
        self.name = str(event.get("session_id") or self.name)
        handle = handler_of(str(event.get("hook_event_name", "")))
        reply = handle(event) if handle else {}
        self.after.follow(event)
        return json.dumps(reply) if reply else ""

    # -- hooks ----------------------------------------------------------------------------------
    def _work_hooks(self) -> None:
        """Answer hook events, one after another, while the main thread takes what else comes: a
        ping, a cancellation.
        """
        while not self.leaving:
            task = self.hooks.get()
            if task is None:
                return
            work, message, self.since = task
            try:
                self.attempt(work, message, passing=(BrokenPipeError,))
            except BrokenPipeError:
                # the client went away without closing our input
                os.kill(os.getpid(), signal.SIGTERM)
            with self.answered:
                self.unanswered -= 1
                self.answered.notify()

    def end(self) -> None:
        """Let running calls finish, unless a signal says to leave, then end them; finish the
        booking.
        """
        self.hooks.put(None)
        self.hooking.join(LAST_HOOKS)
        self._wait_for_calls(0.0 if self.leaving else LAST_WORK)
        for child in list(self.calls.values()):
            child.cancel()
        self.after.end(lifetime.leave, LAST_WORK)
        self._wait_for_calls(ENDING)
        for child in list(self.calls.values()):
            child.kill()
        if cpu_limit.worker:
            cpu_limit.worker.end()

    def _wait_for_calls(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while self.calls and time.monotonic() < until:
            time.sleep(0.01)


METHODS = {
    "initialize": Session.initialize,
    "ping": Session.ping,
    "tools/list": Session.list_tools,
    "tools/call": Session.call_tool,
}
NOTIFICATIONS = {
    "notifications/initialized": Session.initialized,
    "notifications/cancelled": Session.cancelled,
    "notifications/roots/list_changed": Session.ask_roots,
}


def _key(identity: Any) -> str:
    """1 and "1" are different ids."""
    return repr(identity)


def _is_hook(message: Any) -> bool:
    params = message.get("params") if isinstance(message, dict) else None
    return (
        isinstance(params, dict)
        and message.get("method") == "tools/call"
        and params.get("name") == events.HOOK_TOOL
    )


def _booked(arguments: dict[str, Any]) -> Callable[[str], None]:
    """Books why an event passed through."""
    name, session = (
        str(arguments.get("hook_event_name"))[:60],
        str(arguments.get("session_id", ""))[:80],
    )
    return lambda why: recorder.record("note", {"event": name, "session": session, "why": why})
