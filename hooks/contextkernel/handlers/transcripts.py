"""Session files of either client, read step by step: what they say of tool results."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from contextkernel.clients import appended

# bytes of a session file read in one go, its newest; what lies before was judged, or expires
MOST_FOLLOWED = 512 * 1024 * 1024


def steps(
    state: dict[str, Any], path: str, client: str, only: Sequence[str] = ()
) -> Iterator[tuple[dict[str, Any], Any]]:
    """(state, news) of a session file, step by step from a state to the file's end.

    The news have `calls`, `results` and `refusals`, each by tool use id.  `only`: ids; rows that
    name none of them are passed over unread.
    """
    from contextkernel.clients.claude import transcript
    from contextkernel.clients.codex import rollout

    reader: Any = rollout if client == "codex" else transcript
    for _ in range(MOST_FOLLOWED // appended.STEP):
        state, news = reader.advance(state, path, last=MOST_FOLLOWED, only=only)
        yield state, news
        if not news.more:
            return


def of_receipt(receipt: dict[str, Any], path: str) -> str:
    """The session file that holds a receipt's result, `path` where its row names none: a
    sub-agent's is its own file.
    """
    path = receipt["transcript"] or path
    if receipt["agent"] and path.endswith(".jsonl") and receipt["client"] != "codex":
        return os.path.join(path[: -len(".jsonl")], "subagents", f"agent-{receipt['agent']}.jsonl")
    return path
