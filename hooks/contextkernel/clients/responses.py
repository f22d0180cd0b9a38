"""Tool responses: the texts inside each tool's own shape, and the same shape with new texts.

`updatedToolOutput` is refused, silently for the model, unless it has the tool's shape.  An unknown
shape gives None: the
original passes and only its key names are noted.
"""

from __future__ import annotations

from collections import namedtuple

from contextkernel.clients import limits

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any, Callable


_IS_NAME = r"[$@_]{0,2}[A-Za-z]{1,24}\d{0,3}(?:[_.-]{1,2}[A-Za-z]{1,24}\d{0,3}){0,6}"
_HUMP = r"(?<=[a-z])[A-Z]"


class Output(namedtuple("Output", "texts most rebuild whole", defaults=("",))):
    """The texts of a response. `whole` names the file that holds the entire first text where the
    client cut it.

    `most` is the number of characters the client shows inline; `rebuild(texts)` gives the response
    with new texts.
    """

    __slots__ = ()
    texts: list[str]
    most: int
    rebuild: Callable[[list[str]], Any]
    whole: str


def read(tool: str, response: Any) -> Output | None:
    """The texts of a response in a shape we know, else None."""
    reader = _mcp if tool.startswith("mcp__") else _READERS.get(tool)
    return reader(response) if reader else None


def host_bytes(tool: str, size: int, most: int) -> int:
    """Bytes that the client alone would show of a result of `size` bytes, given its inline limit
    (characters ~ bytes).
    """
    return size if size <= most else min(size, limits.PREVIEW_BYTES)


def is_other(tool: str, response: Any) -> bool:
    """Whether a response that `read` leaves alone has a shape we know: images, stubs, background
    tasks, tools without long output.
    """
    if tool not in _READERS and not tool.startswith("mcp__"):
        return True
    if not isinstance(response, dict):
        return (
            isinstance(response, list)
            and bool(response)
            and all(isinstance(block, dict) and "type" in block for block in response)
        )
    kind = response.get("type") if tool == "Read" else response.get("status")
    return kind in ("image", "notebook", "pdf", "parts", "file_unchanged", "async_launched") or any(
        response.get(key) for key in ("isImage", "backgroundTaskId", "structuredContent")
    )


def raw_cell(path: str, text: str) -> dict[str, Any]:
    """A Read result that reaches the model as it stands, without line numbers (seen on 2.1.121,
    2.1.200, 2.1.332).
    """
    return {
        "type": "notebook",
        "file": {"filePath": path, "cells": [{"cellType": "raw", "source": text, "cell_id": "ck"}]},
    }


class ReadFile(namedtuple("ReadFile", "path start_line num_lines total_lines is_cut")):
    """What a Read says of its file: 1-based line of the text's start, lines shown, lines there are
    (None: not said); whether the client cut it by tokens.
    """

    __slots__ = ()
    path: str
    start_line: object
    num_lines: object
    total_lines: object
    is_cut: bool

    @property
    def is_whole(self) -> bool:
        """Whether the text is the whole file."""
        return (
            self.start_line == 1
            and isinstance(self.num_lines, int)
            and self.num_lines == self.total_lines
            and not self.is_cut
        )


def read_file(response: dict[str, Any]) -> ReadFile:
    """The facts of a Read whose texts `read` gave."""
    file = response["file"]
    path = file.get("filePath")
    return ReadFile(
        path if isinstance(path, str) else "",
        file.get("startLine"),
        file.get("numLines"),
        file.get("totalLines"),
        bool(response.get("truncatedByTokenCap") or file.get("truncatedByTokenCap")),
    )


def key_names(response: object) -> str:
    """What an unknown shape is, by type and key names only: never content. A key that is no name
    of words stands as ***.
    """
    import re  # late: rare

    if isinstance(response, dict):
        names = [
            key
            if len(key) <= 40
            and re.fullmatch(_IS_NAME, key)
            and len(key) >= 3 * len(re.findall(_HUMP, key)) - 3
            else "***"
            for key in map(str, response)
        ]
        return f"object({','.join(sorted(names)[:20])})"
    if isinstance(response, list):
        return f"list of {len(response)} ({key_names(response[0]) if response else ''})"
    return type(response).__name__


def _bash(response: Any) -> Output | None:
    if isinstance(response, str):  # Codex hands over the plain text
        return Output([response], limits.BASH_MAX_CHARS, lambda texts: texts[0])
    if not isinstance(response, dict) or not all(
        isinstance(response.get(key), str) for key in ("stdout", "stderr")
    ):
        return None
    if (
        response.get("isImage")
        or response.get("backgroundTaskId")
        or response.get("structuredContent")
        or not isinstance(response.get("interrupted"), bool)
    ):
        return None
    field = "stderr" if response["stderr"] and not response["stdout"] else "stdout"
    kept = {
        key: value
        for key, value in response.items()
        if key not in ("persistedOutputPath", "persistedOutputSize")
    }
    whole = response.get("persistedOutputPath")
    return Output(
        [response[field]],
        limits.BASH_MAX_CHARS,
        lambda texts: dict(kept, **{field: texts[0]}),
        whole if isinstance(whole, str) and field == "stdout" else "",
    )


def _read(response: Any) -> Output | None:
    file = (
        response.get("file")
        if isinstance(response, dict) and response.get("type") == "text"
        else None
    )
    if not isinstance(file, dict) or not isinstance(file.get("content"), str):
        return None
    return Output(
        [file["content"]],
        limits.READ_MAX_CHARS,
        lambda texts: dict(response, file=dict(file, content=texts[0])),
    )


def _grep(response: Any) -> Output | None:
    if not isinstance(response, dict) or not isinstance(response.get("mode"), str):
        return None
    if isinstance(response.get("content"), str):
        return Output(
            [response["content"]],
            limits.GREP_MAX_CHARS,
            lambda texts: dict(response, content=texts[0]),
        )
    return _names(response, limits.GREP_MAX_CHARS)


def _glob(response: Any) -> Output | None:
    return _names(response, limits.OTHER_MAX_CHARS) if isinstance(response, dict) else None


def _names(response: dict[str, Any], most: int) -> Output | None:
    names = response.get("filenames")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return None
    return Output(
        ["\n".join(names)], most, lambda texts: dict(response, filenames=texts[0].split("\n"))
    )


def _fetch(response: Any) -> Output | None:
    if not isinstance(response, dict) or not isinstance(response.get("result"), str):
        return None
    return Output(
        [response["result"]], limits.OTHER_MAX_CHARS, lambda texts: dict(response, result=texts[0])
    )


def _agent(response: Any) -> Output | None:
    if (
        not isinstance(response, dict)
        or response.get("status") != "completed"
        or not isinstance(response.get("content"), list)
    ):
        return None
    blocks = _blocks(response["content"], limits.OTHER_MAX_CHARS)
    return blocks and Output(
        blocks.texts,
        limits.OTHER_MAX_CHARS,
        lambda texts: dict(response, content=blocks.rebuild(texts)),
    )


def _mcp(response: Any) -> Output | None:
    if isinstance(response, str):
        return Output([response], limits.MCP_MAX_CHARS, lambda texts: texts[0])
    # Codex hands over the whole result
    if isinstance(response, dict) and isinstance(response.get("content"), list):
        blocks = _blocks(response["content"], limits.MCP_MAX_CHARS)
        return blocks and Output(
            blocks.texts,
            limits.MCP_MAX_CHARS,
            lambda texts: dict(response, content=blocks.rebuild(texts)),
        )
    return _blocks(response, limits.MCP_MAX_CHARS) if isinstance(response, list) else None


def _blocks(content: list[Any], most: int) -> Output | None:
    """Text blocks of a content list; other blocks keep their place and form."""
    if not content or not all(
        isinstance(block, dict) and isinstance(block.get("type"), str) for block in content
    ):
        return None
    at = [
        n
        for n, block in enumerate(content)
        if block["type"] == "text" and isinstance(block.get("text"), str)
    ]

    def rebuild(texts: list[str]) -> list[Any]:
        new = list(content)
        for n, text in zip(at, texts):
            new[n] = dict(content[n], text=text)
        return new

    return Output([content[n]["text"] for n in at], most, rebuild) if at else None


_READERS = {
    "Bash": _bash,
    "Read": _read,
    "Grep": _grep,
    "Glob": _glob,
    "WebFetch": _fetch,
    "Agent": _agent,
    "Task": _agent,
}
