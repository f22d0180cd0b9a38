"""The least an MCP server can be that answers `mcp_tool` hooks with no opinion: the baseline of
latency.py.
"""

from __future__ import annotations

import json
import sys


def answer(message: dict) -> dict | None:
    """The result of a call; None for a method that it does not know."""
    method = message.get("method")
    if method == "initialize":
        return {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "noop", "version": "0"},
        }
    return {
        "tools/list": {"tools": []},
        "tools/call": {"content": [{"type": "text", "text": ""}]},
        "ping": {},
    }.get(method)


for line in sys.stdin.buffer:
    request = json.loads(line)
    if "id" in request and "method" in request:
        result = answer(request)
        reply = (
            {"result": result}
            if result is not None
            else {"error": {"code": -32601, "message": "no such method"}}
        )
        sys.stdout.write(json.dumps(dict(reply, jsonrpc="2.0", id=request["id"])) + "\n")
        sys.stdout.flush()
