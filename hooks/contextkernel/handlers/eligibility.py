"""Why an output passes as it is: named reasons, the first of which goes into the ledger.

The tables ask about a call and its result; the single reasons are what shortening may run into.
"""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from contextkernel.clients.responses import Output
    from contextkernel.clients.tool_call import ToolCall

# of our own server; `kernel` alone may be another's
OURS = (
    "mcp__plugin_context-kernel_kernel__",
    "mcp__kernel__recall",
    "mcp__kernel__kernel_repo_slice",
    "mcp__kernel__kernel_slice",
)


class Reason(namedtuple("Reason", "text is_telling")):
    """`text` is what the ledger says.  `is_telling`: worth a row in the script lane, too, where
    each costs a file.
    """

    __slots__ = ()
    text: str
    is_telling: bool


TOO_LARGE = Reason("too large", True)
NO_EXIT_CODE = Reason("exit code unknown", True)
NOTHING_TO_HIDE = Reason("nothing to hide", False)
ASKED_RAW = Reason("asked for as it is", False)
RESTING = Reason("resting", True)  # the client refused replacements of this tool
TOO_LONG = Reason("too long for the client", True)
READ_WHOLE = Reason("a Read that no copy in the context stands for", False)
STILL_WRITTEN = Reason("still written to", False)


def why_not_ours(call: ToolCall) -> str:
    """Why a result is none of our business, and gets no row at all; "" for one that counts."""
    return next((why for why, holds in NOT_OURS if holds(call)), "")


def why_passed(call: ToolCall, output: Output, size: int) -> Reason | None:
    """The first reason why a result that counts passes; None for one that is worth a look.
    `size`: bytes of all its texts.
    """
    return next((reason for reason, holds in PASSES if holds(call, output, size)), None)


def _is_unlisted(call: ToolCall) -> bool:
    from contextkernel.store import settings

    names = settings.words("CK_TOOLS")
    if call.tool in names:
        return False
    import fnmatch  # late: most tools need no pattern

    return not any("*" in name and fnmatch.fnmatchcase(call.tool, name) for name in names)


def _is_fixed(call: ToolCall) -> bool:
    """Whether Codex lets no text stand for this result: what a script of code mode is given, and
    where more than text would go.
    """
    if call.client != "codex":
        return False
    if call.use.startswith("exec-"):
        return True
    if not isinstance(call.response, dict):
        return False
    # of an MCP result; with structuredContent, the model reads that and not the blocks
    blocks = call.response.get("content")
    return bool(
        call.response.get("structuredContent")
        or not isinstance(blocks, list)
        or not all(isinstance(block, dict) and block.get("type") == "text" for block in blocks)
    )


def _is_our_tool(call: ToolCall) -> bool:
    return bool(call.tool.startswith(OURS))


def _is_answered_elsewhere(call: ToolCall) -> bool:
    from contextkernel.store import presence

    return call.lane == "script" and presence.served(call.session)


NOT_OURS = (
    ("the tool is not in CK_TOOLS", _is_unlisted),
    ("Codex cannot replace it", _is_fixed),
    ("a tool of our own", _is_our_tool),
    ("the resident lane answers", _is_answered_elsewhere),
)


def _is_below_minimum(call: ToolCall, output: Output, size: int) -> bool:
    from contextkernel.store import settings

    return size < 4 * settings.number("CK_DELTA_MIN" if call.tool == "Read" else "CK_MIN_TOKENS")


def _reads_raw(call: ToolCall, output: Output, size: int) -> bool:
    from contextkernel.clients import replies
    from contextkernel.store import settings

    return replies.reads_raw(call.agent_type, settings.words("CK_AGENT_SKIP"))


def _is_first_look(call: ToolCall, output: Output, size: int) -> bool:
    """Whether it is a Read where no ledger is at hand that could tell a repeated one."""
    return bool(call.tool == "Read" and call.lane != "resident")


PASSES = (
    (Reason("below CK_MIN_TOKENS or CK_DELTA_MIN", False), _is_below_minimum),
    (Reason("the agent is in CK_AGENT_SKIP", False), _reads_raw),
    (Reason("a Read in the script lane", False), _is_first_look),
)
