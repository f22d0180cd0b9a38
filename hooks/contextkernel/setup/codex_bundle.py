"""Codex's side of an installation: the small bundle that it copies, and trust in the bundle's
hooks.

Trust is the person's decision: whoever calls `trust` has shown the commands and asked. The protocol
is that of
`codex app-server`, JSON-RPC with one document a line (Codex 0.142 to 0.171); it keeps comments and
layout of config.toml.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import NamedTuple

from contextkernel.store import files
from contextkernel.store.settings import make

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

OLDEST = (0, 142)  # `plugin add` of a plugin at the marketplace's root fails before
ANSWER_S = 60  # for one answer of the app server; a cold start on a loaded machine took 6
MOST = 1024 * 1024  # bytes of a file that describes the plugin
# what sessions need; tests, bench and history stay out of the copy
SHIPPED = ("hooks", "mcp", "skills")
LEFT_OUT = shutil.ignore_patterns(
    "__pycache__", "*.pyc", "install.py", "setup", "hooks.json", ".git*"
)


class Failed(Exception):
    """Codex refused, or answered what is not understood; says what was asked."""


class Hook(NamedTuple):
    """One hook as Codex lists it. `status`: trusted, untrusted, modified or managed."""

    key: str
    event: str
    command: str
    status: str
    digest: str


def version(text: str) -> tuple[int, ...]:
    """(0, 171, 0) for `codex-cli 0.171.0`; () when there is no number in it."""
    for word in text.split():
        parts = word.split("-")[0].split(".")
        if len(parts) >= 2 and all(part.isdigit() for part in parts):
            return tuple(int(part) for part in parts)
    return ()


def build(root: str, target: str, python: str, hooks: dict[str, Any]) -> None:
    """Makes the bundle anew at `target`: a marketplace that holds the one plugin. Raises OSError.

    `python` is the interpreter's full path: the name alone may be a version manager's shim, which
    costs more than the hook.
    """
    fresh = target + ".new"
    shutil.rmtree(fresh, ignore_errors=True)
    make(fresh)
    for name in SHIPPED:
        shutil.copytree(os.path.join(root, name), os.path.join(fresh, name), ignore=LEFT_OUT)
    servers = _document(root, "codex", "mcp.json")
    servers["mcpServers"]["kernel"]["command"] = python
    manifest = _document(root, "codex", "plugin.json")
    market = _document(root, ".claude-plugin", "marketplace.json")
    for place, content in (
        (("hooks", "hooks.json"), hooks),
        (("mcp.json",), servers),
        ((".codex-plugin", "plugin.json"), manifest),
        ((".claude-plugin", "marketplace.json"), market),
    ):
        path = os.path.join(fresh, *place)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as handle:
            handle.write(json.dumps(content, indent=1) + "\n")
    # the source may be read-only; its copy is replaced at the next run
    for folder, _, names in os.walk(fresh):
        for path in [folder] + [os.path.join(folder, name) for name in names]:
            os.chmod(path, os.stat(path).st_mode & 0o700 | 0o600 | (0o100 if path == folder else 0))
    shutil.rmtree(target, ignore_errors=True)
    os.replace(fresh, target)


def _document(root: str, *names: str) -> dict[str, Any]:
    """A JSON file of the plugin's own."""
    document: dict[str, Any] = json.loads(files.content(os.path.join(root, *names), MOST))
    return document


def discard(target: str) -> None:
    """Removes the bundle, if there is one."""
    shutil.rmtree(target, ignore_errors=True)


class AppServer:
    """A running `codex app-server`. Use as a context manager; raises Failed when it is gone or
    refuses.
    """

    def __init__(self, codex: str, folder: str) -> None:
        self.folder = folder
        self.asked = 0
        self.process = subprocess.Popen(
            [codex, "app-server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._asking, self._said = self.process.stdin, self.process.stdout

    def __enter__(self) -> AppServer:
        self.call(
            "initialize",
            {"clientInfo": {"name": "context-kernel", "title": "context-kernel", "version": "0"}},
        )
        self._send({"method": "initialized"})
        return self

    def __exit__(self, *_: object) -> None:
        # 0.171 leaves at the end of its input; 0.150 does not
        for stop in (self._asking.close, self.process.terminate, self.process.kill):
            try:
                stop()
            except OSError:
                pass  # it is gone already, with our last words unread
            try:
                self.process.wait(2)
                break
            except subprocess.TimeoutExpired:
                continue
        self._said.close()

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self._asking.write(json.dumps(message).encode("ascii") + b"\n")
            self._asking.flush()
        except OSError as error:
            raise Failed(f"codex app-server went away ({error})") from error

    def call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of one request."""
        self.asked += 1
        self._send({"id": self.asked, "method": method, "params": params})
        for line in self._said:
            try:
                answer = json.loads(line)
            except ValueError:
                continue
            if (
                isinstance(answer, dict)
                and answer.get("id") == self.asked
                and "method" not in answer
            ):
                if "error" in answer:
                    raise Failed(f"{method}: {json.dumps(answer['error'])[:300]}")
                result: dict[str, Any] = answer["result"]
                return result
        raise Failed(f"codex app-server ended before it answered {method}")

    def hooks(self, prefix: str) -> list[Hook]:
        """The hooks whose key starts with `prefix`, e.g. "plugin@marketplace:"."""
        entries = self.call("hooks/list", {"cwds": [self.folder]})["data"]
        found = [
            row for entry in entries for row in entry["hooks"] if row["key"].startswith(prefix)
        ]
        return [
            Hook(
                row["key"],
                str(row.get("eventName", "")),
                str(row.get("command") or row.get("tool") or ""),
                str(row["trustStatus"]),
                str(row["currentHash"]),
            )
            for row in found
        ]

    def trust(self, hooks: list[Hook]) -> None:
        """Stores the given hooks as trusted, as the client's own /hooks screen does."""
        state = {hook.key: {"trusted_hash": hook.digest} for hook in hooks}
        self.call(
            "config/batchWrite",
            {"edits": [{"keyPath": "hooks.state", "mergeStrategy": "upsert", "value": state}]},
        )

    def forget(self, prefix: str) -> list[str]:
        """Keys of hooks whose trust was taken back. To be called before the plugin is removed:
        afterwards they stay behind.
        """
        config = self.call("config/read", {"includeLayers": False})["config"]
        held = config.get("hooks") or {}
        state = held.get("state") or {}
        ours = [key for key in state if key.startswith(prefix)]
        edits = [
            {"keyPath": f"hooks.state.{json.dumps(key)}", "mergeStrategy": "replace", "value": None}
            for key in ours
        ]
        if ours and len(ours) == len(state):  # an empty table would be left
            others = [name for name in held if name != "state" and held[name]]
            edits = [
                {
                    "keyPath": "hooks.state" if others else "hooks",
                    "mergeStrategy": "replace",
                    "value": None,
                }
            ]
        if edits:
            self.call("config/batchWrite", {"edits": edits})
        return ours
