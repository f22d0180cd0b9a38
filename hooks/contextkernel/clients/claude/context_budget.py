"""The budget: how many tokens a slice may take of the window that is left. The one resolver of
window and occupancy.
"""

from __future__ import annotations

import glob
import os
from typing import NamedTuple

from contextkernel.clients.claude import models, transcript
from contextkernel.clients.codex import rollout

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

SHARE = 0.4  # of the headroom
LEAST = 4000
WITHOUT_SESSION = 8000  # tokens: the default of a slice whose session is not known
# Claude Code compacts at window - 20,000 (answer) - 13,000 (margin); seen at 167,000 of 200,000 and
# 967,000 of 1,000,000
COMPACTION_RESERVE = 33000
ANSWER_RESERVE = 20000
# with DISABLE_AUTO_COMPACT=1 the client asks no more there: 976,500 of 1,000,000 went on, 978,000
# did not (2.1.332)
REFUSAL_RESERVE = 23000
# of the window that Codex tells; its own default limit is 90 % of the whole window, this is 86 %
CODEX_COMPACTS_AT = 0.9
TAIL = 2 * 1024 * 1024  # bytes of the transcript read for the newest usage


class Budget(NamedTuple):
    """`tokens`: estimated tokens (bytes/4) that a slice may take. `text`: the line that says how
    it came about.
    """

    tokens: int
    text: str


def sent(usage: dict[str, Any]) -> int:
    """Tokens of a request, from cache or not, by the model's own count."""
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return sum(value for value in map(usage.get, names) if isinstance(value, int) and value > 0)


def occupancy(usage: dict[str, Any]) -> int:
    """Tokens in the window after a message: what was sent and what it answered."""
    answer = usage.get("output_tokens")
    return sent(usage) + (answer if isinstance(answer, int) and answer > 0 else 0)


def compaction_point(
    model: str, environ: dict[str, Any], used: int = 0, compacted_at: int = 0
) -> tuple[int, bool]:
    """(tokens at which the client compacts, whether the window is known). CK_CONTEXT_WINDOW
    overrides the table.

    CLAUDE_CODE_AUTO_COMPACT_WINDOW narrows the window (the client takes at least 100,000),
    CLAUDE_AUTOCOMPACT_PCT_OVERRIDE
    lowers the point, CLAUDE_CODE_DISABLE_1M_CONTEXT takes the large window away (all seen on
    2.1.121 and 2.1.332).  Under
    DISABLE_AUTO_COMPACT or DISABLE_COMPACT the point is where the client refuses to go on, whatever
    was compacted by hand.  A session
    that already holds more than the table allows has the large window; one that was compacted at
    `compacted_at` has no later point.
    """
    given = _number(environ, "CK_CONTEXT_WINDOW")
    facts = models.facts(model)
    window = given or (
        min(facts.window, models.UNKNOWN_WINDOW)
        if _is_set(environ, "CLAUDE_CODE_DISABLE_1M_CONTEXT")
        else facts.window
    )
    if not given and used > window:
        window = models.LARGE_WINDOW
    narrowed = _number(environ, "CLAUDE_CODE_AUTO_COMPACT_WINDOW")
    if narrowed:
        window = min(window, max(100000, narrowed))
    if _is_set(environ, "DISABLE_AUTO_COMPACT") or _is_set(environ, "DISABLE_COMPACT"):
        return max(0, window - REFUSAL_RESERVE), bool(given) or facts.known
    point = window - COMPACTION_RESERVE
    percent = _number(environ, "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE")
    if 0 < percent < 100:
        point = min(point, (window - ANSWER_RESERVE) * percent // 100)
    if compacted_at >= used and not given:
        point = min(point, compacted_at or point)
    return max(0, point), bool(given) or facts.known


def resolve(
    session: str,
    model: str,
    usage: dict[str, Any],
    environ: dict[str, Any],
    most: int,
    compacted_at: int = 0,
) -> Budget:
    """The budget of a session (its short name): 40 % of the headroom to compaction, at least 4,000,
    at most `most` (CK_BUDGET_MAX).

    Why 40 %: the budget counts bytes/4, the window the model's own tokens, which hold 2.3 to 2.8
    bytes; 40 % of the headroom in the first unit is 57 to 70 % in the second, so a slice filled to
    the brim still leaves room to read, edit and answer before the client compacts.  It is a
    ceiling: packing stops where a further place adds little.
    """
    used = occupancy(usage)
    point, known = compaction_point(model, environ, used, compacted_at)
    return _share(
        session,
        model or "unknown",
        "" if known else " (unknown model: the smallest window is assumed)",
        point,
        used,
        most,
    )


def _share(session: str, model: str, note: str, point: int, used: int, most: int) -> Budget:
    headroom = max(0, point - used)
    tokens = min(max(LEAST, int(headroom * SHARE)), max(LEAST, most))
    return Budget(
        tokens,
        (
            f"budget: auto: session {session}, model {model}{note}, window ~{_k(point)}, in use "
            f"~{_k(used)}, headroom ~{_k(headroom)} -> budget {_k(tokens)}"
        ),
    )


def auto_budget(environ: dict[str, Any], most: int) -> Budget:
    """The budget of the agent that the environment names (CK_TRANSCRIPT, which may be Codex's
    rollout, or CLAUDE_CODE_SESSION_ID), else 8,000 tokens, said so.

    A sub-agent that has said nothing yet gets the budget of its session.
    """
    paths = find_transcripts(environ)
    for path in paths:
        if os.path.basename(path).startswith("rollout-"):
            state = rollout.occupancy(path)
            if state:
                point = _number(environ, "CK_CONTEXT_WINDOW") or int(
                    state.window * CODEX_COMPACTS_AT
                )
                return _share(
                    _thread(path)[:8], state.model or "unknown", "", point, state.used, most
                )
            continue
        # the newest row counts, so a rewind further up does not matter
        news = transcript.advance({}, path, TAIL, from_start=False)[1]
        if news.usage:
            return resolve(_name(path), news.model, news.usage, environ, most, news.compacted_at)
    tokens = min(WITHOUT_SESSION, max(LEAST, most))
    return Budget(
        tokens,
        (
            f"budget: auto: {'no usage in the session yet' if paths else 'no session found'} -> "
            f"budget {_k(tokens)}"
        ),
    )


def find_transcripts(environ: dict[str, Any]) -> list[str]:
    """The transcripts to ask, the agent's own first, then its session's; those that exist."""
    named = environ.get("CK_TRANSCRIPT") or ""
    if named:
        folder = os.path.dirname(named)
        session = (
            [os.path.dirname(folder) + ".jsonl"] if os.path.basename(folder) == "subagents" else []
        )
        return [path for path in [named] + session if os.path.isfile(path)]
    session_id = environ.get("CLAUDE_CODE_SESSION_ID") or ""
    if not session_id or os.sep in session_id:
        return []
    config = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")
    return sorted(
        glob.glob(
            os.path.join(glob.escape(config), "projects", "*", glob.escape(session_id) + ".jsonl")
        )
    )[:1]


def _thread(path: str) -> str:
    """The thread's id in a name such as
    rollout-2026-11-30T08-38-19-01a22b9a-de0e-78e3-b801-7569ec7473bb.jsonl.
    """
    return "-".join(os.path.basename(path)[: -len(".jsonl")].split("-")[-5:])


def _name(path: str) -> str:
    """What the budget line calls a transcript: the start of the session's id, and of the
    sub-agent's.
    """
    own, folder = os.path.basename(path)[: -len(".jsonl")], os.path.dirname(path)
    return (
        f"{os.path.basename(os.path.dirname(folder))[:8]} agent {own[len('agent-') :][:8]}"
        if os.path.basename(folder) == "subagents"
        else own[:8]
    )


def _number(environ: dict[str, Any], name: str) -> int:
    text = str(environ.get(name) or "").strip()
    return int(text) if text.isdecimal() else 0


def _is_set(environ: dict[str, Any], name: str) -> bool:
    return str(environ.get(name) or "").strip().lower() in ("1", "true", "yes", "on")


def _k(tokens: int) -> str:
    """Thousands, rounded down, below a thousand the number itself: 41600 gives 41k."""
    return f"{tokens // 1000}k" if tokens >= 1000 else str(tokens)
