"""Calls of tools: each by a child process, its progress told where the client asked for it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable

from contextkernel.clients.codex import rollout
from contextkernel.handlers import page_fault
from contextkernel.server import jsonrpc, tools
from contextkernel.server.worker import Child

if TYPE_CHECKING:
    from contextkernel.server.connection import Session


def run(
    session: Session,
    tool: tools.Tool,
    arguments: dict[str, Any],
    child: Child,
    request: jsonrpc.Request,
) -> dict[str, Any] | None:
    """A tool's result by its child process."""
    folder = session.folder if os.path.isdir(session.folder) else tools.own_folder()
    try:
        command = tool.command(tools.checked(tool, arguments), folder, session.client)
        environ = (
            _caller(session, request)
            if tool.gives_back
            else dict(_thread_of(request), **command.environ)
            if command.environ
            else {}
        )
        outcome = child.run(
            command.arguments,
            command.stdin,
            folder,
            environ,
            tool.seconds,
            _reporter(session, request),
        )
    except tools.WrongCall as wrong:
        return content(str(wrong), is_error=True)
    except OSError as error:
        return content(f"{tool.name}: cannot be started: {error}", is_error=True)
    if child.cancelled:
        return None
    if outcome.code is None:
        return content(f"{tool.name}: ended after {tool.seconds} seconds", is_error=True)
    if outcome.code:
        return content(outcome.complaint or f"{tool.name}: exit {outcome.code}", is_error=True)
    if tool.gives_back:
        part = page_fault.part_of(arguments)
        name = environ["CK_SESSION"]
        handle = command.arguments[1]
        session.after.put(lambda: page_fault.record(handle, name, "mcp", outcome.text, *part))
    return content(outcome.text)


def _caller(session: Session, request: jsonrpc.Request) -> dict[str, str]:
    """CK_SESSION for a recall: the session that hooks named, or the thread of the call; ""
    where neither is known.
    """
    meta = request.params.get("_meta")
    thread = meta.get("threadId") if isinstance(meta, dict) else None
    return {
        "CK_SESSION": thread if isinstance(thread, str) and "\0" not in thread else session.name
    }


def _reporter(session: Session, request: jsonrpc.Request) -> Callable[[float, str], None]:
    """Sends notifications/progress where the client asked for them by a token."""
    meta = request.params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None

    def report(seconds: float, text: str) -> None:
        if token is not None:
            said = {"message": text} if text else {}
            session.send(
                "notifications/progress", dict(said, progressToken=token, progress=seconds)
            )

    return report


def _thread_of(request: jsonrpc.Request) -> dict[str, Any]:
    """CK_TRANSCRIPT for a call whose `_meta` names its thread, as Codex's calls do."""
    meta = request.params.get("_meta")
    thread = meta.get("threadId") if isinstance(meta, dict) else None
    path = rollout.of_thread(thread, dict(os.environ)) if isinstance(thread, str) else ""
    return {"CK_TRANSCRIPT": path} if path else {}


def content(text: str, is_error: bool = False) -> dict[str, Any]:
    """A text as the result of a call."""
    return dict(
        {"content": [{"type": "text", "text": text}]}, **({"isError": True} if is_error else {})
    )
