"""The operators as the lanes call them under a CPU limit (clients/cpu_limit.py): plain values
in, plain values out.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing costs 3 ms of a hook
if TYPE_CHECKING:
    from typing import Any

    from contextkernel.normalize.edits import Normalized

    Form = tuple[str, tuple[str, ...]]


def normal_forms(texts: list[str], sources: list[Any]) -> list[Form]:
    """(text, rules) of each text; no rules: it stays as it is. A source is the tuple of a
    normalize.Source.
    """
    from contextkernel.normalize import Source, normalize

    found = [normalize(text, Source(*source)) for text, source in zip(texts, sources)]
    return [plain(result) for result in found]


def failure_forms(texts: list[str], sources: list[Any]) -> list[Form]:
    """(text, rules) of each output of a failing command, as `normal_forms`."""
    from contextkernel.handlers.failure_form import failure_form
    from contextkernel.normalize import Source

    found = [failure_form(text, Source(*source)) for text, source in zip(texts, sources)]
    return [plain(result) if result else ("", ()) for result in found]


def plain(result: Normalized) -> Form:
    """A Normalized as (text, rules); what is unchanged costs no copy of its text."""
    rules = tuple(dict.fromkeys(edit.rule for edit in result.edits))
    return (result.text, rules) if rules else ("", ())


def delta(*arguments: Any) -> tuple[str, str]:
    """(rule, text) of a repeated Read: reread.decide."""
    from contextkernel.reread import decide

    decision = decide(*arguments)
    return decision.rule, decision.text


def speaks_of_code(error: str) -> bool:
    """Whether a failure's text names frames, exceptions or tests."""
    from contextkernel.slicing.symptom import text as symptom

    evidence = symptom.read(error)
    return bool(evidence.frames or evidence.raised or evidence.tests)


def read_symptom(text: str, diff: str) -> int:
    """0 when a symptom can be read within the limit: the slice reads it again, beside the
    repository.
    """
    from contextkernel.slicing.symptom import text as symptom

    symptom.read(text, diff)
    return 0
