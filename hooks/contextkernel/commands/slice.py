"""ck.py slice: the places of a repository that a symptom points to."""

from __future__ import annotations

import gc
import os
import sys
from typing import NamedTuple

from contextkernel.commands import cli
from contextkernel.handlers.repo_slice import BUILD_SECONDS, MOST_BYTES, WrongCall, answer, build
from contextkernel.paths import why_too_wide
from contextkernel.slicing.parts import Request
from contextkernel.store import files as store_files
from contextkernel.store import recorder, settings

EXAMPLES = (
    "pytest -x 2>&1 | ck.py slice --repo . --symptom - --budget 4000",
    "git diff main | ck.py slice --repo . --from-diff - --text lines",
)
DEFAULT_BUDGET = 8000  # tokens
LAST_COMMIT_SECONDS = 60  # that a build may take to keep what it has done
# a stream of the caller's, as `<(command)` makes it: no file of others
HANDED_OVER = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")


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


def _arguments() -> cli.Parser:
    parser = cli.command_parser("slice", EXAMPLES)
    parser.add_argument(
        "--repo", metavar="DIR", default=".", help="the repository (default: this folder)"
    )
    parser.add_argument(
        "--symptom",
        "--symptom-file",
        metavar="FILE",
        default="",
        help="a traceback, the output of a failing test, or an issue; - reads stdin",
    )
    parser.add_argument("--from-diff", metavar="FILE", default="", help="a diff; - reads stdin")
    cli.add_budget(parser, f"auto inside a session, elsewhere {DEFAULT_BUDGET:,}")
    parser.add_argument(
        "--depth",
        choices=("full", "2", "1", "auto"),
        metavar="full|2|1",
        default="full",
        help="only files so many imports away from what the symptom names (default: full)",
    )
    parser.add_argument(
        "--importers",
        metavar="N",
        type=cli.whole_number,
        default=0,
        help="of a changed file also so many files that import it",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument(
        "--text",
        choices=("lines", "places"),
        metavar="lines|places",
        default="places",
        help="print the source lines themselves, or only where they are (default)",
    )
    parser.add_argument(
        "--wait",
        action="store_true",
        help="answer from an index that is up to date; else a large one is built meanwhile",
    )
    parser.add_argument("--build", action="store_true", help="only bring the index up to date")
    parser.add_argument(
        "--build-seconds",
        metavar="N",
        type=cli.whole_number,
        default=int(BUILD_SECONDS),
        help=f"seconds that such a build may take (default: {int(BUILD_SECONDS)})",
    )
    parser.add_argument(
        "--yes", action="store_true", help="also for /, your home folder or one above it"
    )
    return parser


def _options(argv: list[str]) -> Options:
    parser = _arguments()
    given = parser.options(argv)
    if not (given.build or given.symptom or given.from_diff):
        parser.error("--symptom FILE or --from-diff FILE is needed (- reads stdin)")
    too_wide = "" if given.yes else why_too_wide(given.repo)
    if too_wide:
        parser.refuse(f"--repo {given.repo}: {too_wide}; --yes slices it all the same")
    budget, automatic = given.budget, None
    in_session = os.environ.get("CK_TRANSCRIPT") or os.environ.get("CLAUDE_CODE_SESSION_ID")
    if budget is None:
        budget = cli.AUTO if in_session else DEFAULT_BUDGET
    if budget == cli.AUTO:
        # late: reads transcripts, rarely asked for
        from contextkernel.clients.claude import context_budget

        automatic = context_budget.auto_budget(dict(os.environ), settings.number("CK_BUDGET_MAX"))
        budget = automatic.tokens
    depth = given.depth if given.depth in ("1", "2") else ""
    line = automatic.text if automatic else ""
    return Options(
        given.repo,
        given.symptom,
        given.from_diff,
        Request(budget, depth, given.importers, budget_line=line),
        given.wait,
        "json" if given.json else "lines" if given.text == "lines" else "text",
        given.build,
        float(given.build_seconds),
    )


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
        sys.stderr.write(f"ck.py slice: {' '.join(str(error).split())}\n")
        return 2
    sys.stdout.buffer.write(found.encode("utf-8", "surrogateescape"))
    return 0
