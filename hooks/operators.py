"""The operators as the lanes call them under a CPU limit (host/cpu_limit.py): plain values in, plain values out.

Run as a script it is the resident server's worker.
"""
from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # -I leaves it out


def normal_forms(texts: list, sources: list) -> list:
    """(text, rules) of each text; no rules: it stays as it is. A source is the tuple of a normalize.Source."""
    from contextkernel.normalize import Source, normalize

    found = [normalize(text, Source(*source)) for text, source in zip(texts, sources)]
    return [plain(result) for result in found]


def plain(result) -> tuple:
    """A Normalized as (text, rules); what is unchanged costs no copy of its text."""
    rules = tuple(dict.fromkeys(edit.rule for edit in result.edits))
    return (result.text, rules) if rules else ("", ())


def delta(*arguments) -> tuple:
    """(rule, text) of a repeated Read: reread.delta.decide."""
    from contextkernel.reread.delta import decide

    return tuple(decide(*arguments))


def speaks_of_code(error: str) -> bool:
    """Whether a failure's text names frames, exceptions or tests."""
    from contextkernel.project import symptom

    evidence = symptom.read(error)
    return bool(evidence.frames or evidence.raised or evidence.tests)


def read_symptom(text: str, diff: str) -> int:
    """0 when a symptom can be read within the limit: the slice reads it again, beside the repository."""
    from contextkernel.project import symptom

    symptom.read(text, diff)
    return 0


if __name__ == "__main__":
    import contextkernel.normalize.plain  # noqa: F401  before the first call
    from contextkernel.host import cpu_limit

    raise SystemExit(cpu_limit.serve())
