"""ck slice: the places of a repository that a symptom points to.

    ck.py slice --repo DIR --symptom FILE|- --budget N|auto [--wait] [--json | --text lines]
    [--depth full|2|1] [--importers N] [--from-diff FILE|-]

--budget    tokens; auto, and by default inside a session: what the session's window leaves; by
default elsewhere 8,000
--wait      answer from an index that is up to date; without it a large index is built by a child
process meanwhile
--depth     keep to files so many imports from the places that the symptom names; without it the
whole repository is ranked
--text lines  with the source lines themselves
--build     only bring the index up to date, in at most --build-seconds (by default 600)

Exit 0; a wrong call exits 2 with one line on stderr.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import NamedTuple

from contextkernel.handlers.repo_slice import BUILD_SECONDS, MOST_BYTES, WrongCall, answer, build
from contextkernel.slicing.slice import Request
from contextkernel.store import files as store_files
from contextkernel.store import recorder, settings

DEFAULT_BUDGET = 8000  # tokens
LAST_COMMIT_SECONDS = 60  # that a build may take to keep what it has done
HANDED_OVER = (
    "/dev/fd/",
    "/dev/stdin",
    "/proc/self/fd/",
)  # a stream of the caller's, as `<(command)` makes it: no file of others


class Options(NamedTuple):
    """The command line as values."""

    repo: str
    symptom: str = ""
    diff: str = ""
    request: Request = Request(DEFAULT_BUDGET)
    wait: bool = False
    form: str = "text"
    build: bool = False
    build_seconds: float = BUILD_SECONDS


def _options(argv: list[str]) -> Options:
    values: dict[str, str] = {}
    flags = set()
    rest = list(argv)
    while rest:
        name, _, value = rest.pop(0).partition("=")
        if name in ("--wait", "--json", "--build"):
            flags.add(name)
        elif name in (
            "--repo",
            "--symptom",
            "--symptom-file",
            "--budget",
            "--depth",
            "--importers",
            "--from-diff",
            "--text",
            "--build-seconds",
        ):
            if not value:
                if not rest:
                    raise WrongCall(f"{name} needs a value")
                value = rest.pop(0)
            values[name.replace("symptom-file", "symptom")] = value
        else:
            raise WrongCall(f"unknown argument {name!r:.60}")
    if values.get("--depth", "full") not in ("full", "1", "2", "auto"):
        raise WrongCall("--depth is full, 2 or 1")
    if values.get("--text", "lines") not in ("lines", "places"):
        raise WrongCall("--text is lines or places")
    if "--build" not in flags and not ({"--symptom", "--from-diff"} & set(values)):
        raise WrongCall("--symptom FILE or --from-diff FILE is needed (- reads stdin)")
    depth = values.get("--depth", "").replace("auto", "")
    automatic = None
    in_session = os.environ.get("CK_TRANSCRIPT") or os.environ.get("CLAUDE_CODE_SESSION_ID")
    if values.get("--budget", "auto" if in_session else "") == "auto":
        from contextkernel.clients.claude import (
            context_budget,  # late: reads transcripts, rarely asked for
        )

        automatic = context_budget.auto_budget(dict(os.environ), settings.number("CK_BUDGET_MAX"))
    budget = automatic.tokens if automatic else _number(values, "--budget", DEFAULT_BUDGET)
    request = Request(
        budget,
        depth,
        _number(values, "--importers", 0),
        budget_line=automatic.text if automatic else "",
    )
    form = "json" if "--json" in flags else "lines" if values.get("--text") == "lines" else "text"
    return Options(
        values.get("--repo", "."),
        values.get("--symptom", ""),
        values.get("--from-diff", ""),
        request,
        "--wait" in flags,
        form,
        "--build" in flags,
        float(_number(values, "--build-seconds", int(BUILD_SECONDS))),
    )


def _number(values: dict[str, str], name: str, default: int) -> int:
    text = values.get(name, str(default))
    if not (text.isdecimal() and len(text) < 19) or (name == "--budget" and int(text) == 0):
        raise WrongCall(f"{name} is a whole number{' above 0' if name == '--budget' else ''}")
    return int(text)


def _text_of(name: str) -> str:
    """The text of a file or of stdin ("-")."""
    try:
        if name == "-":
            return sys.stdin.buffer.read().decode("utf-8", "replace")
        if name.startswith(HANDED_OVER):
            with open(name, "rb") as handle:
                return handle.read().decode("utf-8", "replace")
        return store_files.content(name, MOST_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError) as error:
        raise WrongCall(f"{name}: {getattr(error, 'strerror', '') or error}") from error


def _try_reading(text: str, diff: str) -> None:
    """Raises WrongCall for a symptom whose reading would not end soon; one ledger row names the
    rule.
    """
    from contextkernel.clients import cpu_limit
    from contextkernel.handlers import operators

    try:
        cpu_limit.call(operators.read_symptom, (text, diff), len(text) + len(diff))
    except cpu_limit.LimitError as error:
        recorder.record("note", {"event": "ck.py slice", "session": "", "why": str(error)})
        raise WrongCall(
            f"the symptom takes too long to read ({error}); give the part that matters"
        ) from None


def end_by_clock(seconds: float) -> None:
    """End this process after so many seconds, whatever it does then."""
    import signal  # late: only a build has a clock

    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)  # SIGALRM ends a process by default


def main(argv: list[str]) -> int:
    """The exit code of one call."""
    gc.disable()  # the process is short, its garbage small: a tenth of a cold build
    try:
        options = _options(argv)
        if not os.path.isdir(options.repo):
            raise WrongCall(f"not a folder: {options.repo}")
        if options.build:
            end_by_clock(options.build_seconds + LAST_COMMIT_SECONDS)
            build(options.repo, options.build_seconds)
            return 0
        text = _text_of(options.symptom) if options.symptom else ""
        request = options.request._replace(diff=_text_of(options.diff) if options.diff else "")
        _try_reading(text, request.diff)
        found = answer(options.repo, text, request, options.wait, options.form)
    except (WrongCall, OSError) as error:
        sys.stderr.write("ck.py slice: %s\n" % str(error).replace("\n", " "))
        return 2
    sys.stdout.buffer.write(found.encode("utf-8", "surrogateescape"))
    return 0
