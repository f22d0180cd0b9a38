"""ck.py slice: the places of a repository that a symptom points to."""

from __future__ import annotations

import gc
import json
import os
import sys
from typing import NamedTuple

from contextkernel.commands import cli
from contextkernel.handlers.repo_slice import (
    MOST_BYTES,
    SCANNERS,
    WrongCall,
    _from_sound,
    answer,
    operator_hash,
)
from contextkernel.paths import why_too_wide
from contextkernel.slicing.languages import language_of
from contextkernel.slicing.scan import scan_file
from contextkernel.slicing.slice import Request
from contextkernel.store import files as store_files
from contextkernel.store import index as indexes
from contextkernel.store import recorder, settings, tree

EXAMPLES = (
    "pytest -x 2>&1 | ck.py slice --repo . --symptom - --budget 4000",
    "git diff main | ck.py slice --repo . --from-diff - --text lines",
)
DEFAULT_BUDGET = 8000  # tokens
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
    budget_line: str = ""  # how `--budget auto` came about


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
        from contextkernel.clients.claude import (
            context_budget,  # late: reads transcripts, rarely asked for
        )

        automatic = context_budget.auto_budget(dict(os.environ), settings.number("CK_BUDGET_MAX"))
        budget = automatic.tokens
    depth = given.depth if given.depth in ("1", "2") else ""
    return Options(
        given.repo,
        given.symptom,
        given.from_diff,
        Request(budget, depth, given.importers),
        given.wait,
        "json" if given.json else "lines" if given.text == "lines" else "text",
        given.build,
        automatic.text if automatic else "",
    )


def _with_line(found: str, options: Options) -> str:
    """An answer with the line that says how its budget came about."""
    if not options.budget_line:
        return found
    if options.form == "json":
        return json.dumps(dict(json.loads(found), budget_line=options.budget_line)) + "\n"
    return "%s\n%s\n" % (found.rstrip("\n"), options.budget_line)


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


def main(argv: list[str]) -> int:
    """The exit code of one call."""
    gc.disable()  # the process is short, its garbage small: a tenth of a cold build
    try:
        options = _options(argv)
        if not os.path.isdir(options.repo):
            raise WrongCall(f"not a folder: {options.repo}")
        if options.build:
            root = os.path.realpath(options.repo)
            kept = indexes.Index(indexes.file_of(root), operator_hash(SCANNERS))
            sources = {
                path: facts for path, facts in tree.listing(root).files.items() if language_of(path)
            }
            _from_sound(kept, lambda: str(kept.refresh(root, sources, scan_file.scan)))
            kept.close()
            return 0
        text = _text_of(options.symptom) if options.symptom else ""
        request = options.request._replace(diff=_text_of(options.diff) if options.diff else "")
        _try_reading(text, request.diff)
        found = _with_line(answer(options.repo, text, request, options.wait, options.form), options)
    except (WrongCall, OSError) as error:
        sys.stderr.write(f"ck.py slice: {' '.join(str(error).split())}\n")
        return 2
    sys.stdout.buffer.write(found.encode("utf-8", "surrogateescape"))
    return 0
