"""The resident server as a client starts it, and the events that it is handed."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time

import plugin

TIMEOUT = 20  # seconds: the machine may be busy
QUIET = "{}"


class Server:
    """A running server: `send` writes a message or raw bytes, `answer` waits for the answer to
    an id.
    """

    def __init__(self, root, arguments=(), env=None, python=sys.executable, cwd=None):
        self.process = subprocess.Popen(
            [python, "-I", "-S", os.path.join(root, "mcp", "server.py"), *arguments],
            cwd=cwd,
            env=plugin.environment(root, env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.messages, self.said = [], queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.said.put(json.loads(line))  # whatever is no JSON fails the test here

    def send(self, message):
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def next(self, timeout=TIMEOUT):
        message = self.said.get(timeout=timeout)
        self.messages.append(message)
        return message

    def answer(self, identity, timeout=TIMEOUT):
        until = time.monotonic() + timeout
        while True:
            message = self.next(max(0.01, until - time.monotonic()))
            if (
                isinstance(message, dict)
                and message.get("id") == identity
                and "method" not in message
            ):
                return message

    def ask(self, method, params=None, identity=1, timeout=TIMEOUT):
        self.send(
            dict(
                {"jsonrpc": "2.0", "id": identity, "method": method},
                **({} if params is None else {"params": params}),
            )
        )
        return self.answer(identity, timeout)

    def call(self, name, arguments, identity=1, timeout=TIMEOUT, **more):
        return self.ask(
            "tools/call", dict({"name": name, "arguments": arguments}, **more), identity, timeout
        )["result"]

    def text(self, name, arguments, identity=1):
        result = self.call(name, arguments, identity)
        assert not result.get("isError"), result
        return result["content"][0]["text"]

    def alive(self):
        return self.ask("ping", identity="alive")["result"] == {}

    def end(self):
        self.process.stdin.close()
        code = self.process.wait(TIMEOUT)
        self.reader.join(TIMEOUT)
        self.stderr = self.process.stderr.read().decode("utf-8", "replace")
        return code


def post(**fields):
    """PostToolUse as Claude Code hands it to an mcp_tool hook: objects as JSON text, absent
    fields as "".
    """
    event = {
        "hook_event_name": "PostToolUse",
        "session_id": "s-1",
        "transcript_path": "",
        "cwd": "",
        "agent_id": "",
        "ck_client": "claude",
        "ck_lane": "resident",
        "tool_name": "Bash",
        "tool_use_id": "toolu_1",
        "tool_input": {"command": "make"},
        "tool_response": {"stdout": "hi", "stderr": "", "interrupted": False, "isImage": False},
    }
    event.update(fields)
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in event.items()
    }


@contextlib.contextmanager
def serving():
    """A list for servers; at the end those that still run are ended."""
    begun = []
    try:
        yield begun
    finally:
        for server in begun:
            if server.process.poll() is None:
                server.process.kill()
                server.process.wait()
