"""ck slice: the places of a repository that a symptom points to.

    ck.py slice --repo DIR --symptom FILE|- --budget N|auto [--wait] [--json | --text lines] [--depth full|2|1] [--importers N] [--from-diff FILE|-]

--budget    tokens; auto, and by default inside a session: what the session's window leaves; by default elsewhere 8,000
--wait      answer from an index that is up to date; without it a large index is built by a child process meanwhile
--depth     keep to files so many imports from the places that the symptom names; without it the whole repository is ranked
--text lines  with the source lines themselves
--build     only bring the index up to date

Exit 0; a wrong call exits 2 with one line on stderr.
"""
from __future__ import annotations

import gc
import hashlib
import json
import os
import sqlite3
import sys
from typing import Callable, Dict, List, NamedTuple, Tuple

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # -I leaves it out

from contextkernel.project import manifest, scanning, subtokens, symptom as symptoms
from contextkernel.project.languages import language_of
from contextkernel.project.places import Repository
from contextkernel.project.slicing import Request, slice_repository
from contextkernel.store import book, files as store_files, index as indexes, settings, tree

DEFAULT_BUDGET = 8000  # tokens
INLINE_BYTES = 4 << 20  # of changed source: as much is scanned at once even without --wait (about half a CPU second)
FIRST_FILES = 200  # scanned before the first answer of a repository that has no index yet
HANDED_OVER = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")  # a stream of the caller's, as `<(command)` makes it: no file of others
MOST_BYTES = 64 << 20  # of one file that is read whole
SCANNERS = ("scanning", "subtokens", "blanking", "definitions", "roles", "languages", "tongues")


class WrongCall(Exception):
    """A call that cannot be answered; the message is the one line for stderr."""


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


def operator_hash(names: "Tuple[str, ...]" = ()) -> str:
    """A hash over the sources of the operator (or of those of its modules): what an answer (or an index) depends on."""
    folder = os.path.join(os.path.dirname(os.path.realpath(__file__)), "contextkernel", "project")
    whole = []
    for base, folders, files in os.walk(folder):
        folders[:] = sorted(one for one in folders if one != "__pycache__")
        for name in sorted(files):
            stem = os.path.relpath(os.path.join(base, name), folder).partition(os.sep)[0].partition(".")[0]
            if name.endswith(".py") and (not names or stem in names):
                whole.append(name.encode() + b"\0" + store_files.content(os.path.join(base, name), MOST_BYTES))
    return hashlib.sha256(b"".join(whole)).hexdigest()[:16]


def answer(root: str, text: str, request: Request, wait: bool = True, form: str = "text") -> str:
    """The slice of a repository for a symptom text; `form`: "text", "lines" or "json".  Raises WrongCall, OSError."""
    root = os.path.realpath(root)
    if not os.path.isdir(root):
        raise WrongCall("no such folder: %s" % root)
    listing = tree.listing(root)
    sources = {path: facts for path, facts in listing.files.items() if language_of(path)}
    kept = indexes.Index(indexes.file_of(root), operator_hash(SCANNERS))
    try:
        return _from_sound(kept, lambda: _from_index(root, listing, sources, kept, text, request, wait, form))
    finally:
        kept.close()


def _from_sound(kept: indexes.Index, work: Callable[[], str]) -> str:
    """What `work` gives; where the index shows itself as damaged meanwhile, it is begun anew and asked once more.  Raises OSError."""
    try:
        try:
            return work()
        except indexes.DAMAGE as error:
            if not indexes.is_damage(error):
                raise
            kept.begin_anew()
            return work()
    except sqlite3.Error as error:
        raise OSError("index %s: %s" % (kept.path, error)) from error


def _from_index(root: str, listing: tree.Listing, sources: Dict[str, Tuple[int, int]], kept: indexes.Index, text: str, request: Request,
                wait: bool, form: str) -> str:
    age = _brought_up(root, sources, kept, text, wait)
    unread = [(one.path, one.why) for one in listing.unread if not one.special or language_of(one.path)]
    age = age._replace(notes=listing.notes, unread=tuple(sorted(unread + list(age.unread))))
    key = _key(sources, text, request, form, age) if settings.flag("CK_SLICE_CACHE", True) else ""
    found = kept.answer(key) if key else ""
    if not found:
        found = _sliced(root, list(listing.files), kept, text, request, form, age)
        if key and not age.changed:
            kept.keep_answer(key, found)
    return found


def repository_of(root: str, paths: List[str], kept: indexes.Index, keeps_edge=None) -> Repository:
    """The repository as operators see it, from its listing and its open index."""
    def read(path: str) -> bytes:
        return store_files.content(os.path.join(root, path), MOST_BYTES, follow=False)
    return Repository(root, paths, kept.files(), read, kept.facts, kept.postings, keeps_edge)


def _sliced(root: str, paths: List[str], kept: indexes.Index, text: str, request: Request, form: str, age: manifest.Age) -> str:
    repository = repository_of(root, paths, kept)
    cut = slice_repository(repository, text, request)
    if form == "json":
        return json.dumps(manifest.as_values(repository, cut, request, age)) + "\n"
    return manifest.as_text(repository, cut, request, age, form == "lines")


def _key(sources: Dict[str, Tuple[int, int]], text: str, request: Request, form: str, age: manifest.Age) -> str:
    asked = (operator_hash(), sys.version_info[:2], text, request, form, age)
    return hashlib.sha256(("%r%r" % (sources, asked)).encode("utf-8", "surrogatepass")).hexdigest()


def _brought_up(root: str, sources: Dict[str, Tuple[int, int]], kept: indexes.Index, text: str, wait: bool) -> manifest.Age:
    """The index up to date, or as far as one may wait; a child then does the rest."""
    changed, gone = kept.stale(sources)
    if wait or sum(sources[path][0] for path in changed) <= INLINE_BYTES:
        unread = kept.bring_up(root, sources, changed, gone, scanning.scan) if changed or gone else []
        return manifest.Age(len(sources), unread=tuple(unread))
    if len(changed) == len(sources):
        first = _best_named(changed, text)
        kept.add(root, {path: sources[path] for path in first}, scanning.scan)
        changed = sorted(set(changed) - set(first))
    import subprocess  # late: 5 ms, and most calls need none

    subprocess.Popen([sys.executable, "-I", "-S", os.path.realpath(__file__), "--repo", root, "--build"], stdin=subprocess.DEVNULL,
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, close_fds=True)
    return manifest.Age(len(sources) - len(changed), tuple(changed), True)


def _best_named(paths: List[str], text: str) -> List[str]:
    """The files whose paths have most words of the symptom in them."""
    weights = symptoms.read(text).weights
    score = {path: sum(weights.get(piece, 0.0) for word in set(subtokens.WORD.findall(path)) for piece in subtokens.pieces_of(word)) for path in paths}
    return sorted(sorted(paths, key=lambda path: (-score[path], path))[:FIRST_FILES])


def _options(argv: List[str]) -> Options:
    values: Dict[str, str] = {}
    flags = set()
    rest = list(argv)
    while rest:
        name, _, value = rest.pop(0).partition("=")
        if name in ("--wait", "--json", "--build"):
            flags.add(name)
        elif name in ("--repo", "--symptom", "--symptom-file", "--budget", "--depth", "--importers", "--from-diff", "--text"):
            if not value:
                if not rest:
                    raise WrongCall("%s needs a value" % name)
                value = rest.pop(0)
            values[name.replace("symptom-file", "symptom")] = value
        else:
            raise WrongCall("unknown argument %.60r" % name)
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
        from contextkernel.host import window  # late: reads transcripts, rarely asked for
        automatic = window.auto_budget(dict(os.environ), settings.number("CK_BUDGET_MAX"))
    budget = automatic.tokens if automatic else _number(values, "--budget", DEFAULT_BUDGET)
    request = Request(budget, depth, _number(values, "--importers", 0))
    form = "json" if "--json" in flags else "lines" if values.get("--text") == "lines" else "text"
    return Options(values.get("--repo", "."), values.get("--symptom", ""), values.get("--from-diff", ""), request, "--wait" in flags, form, "--build" in flags, automatic.text if automatic else "")


def _number(values: Dict[str, str], name: str, default: int) -> int:
    text = values.get(name, str(default))
    if not (text.isdecimal() and len(text) < 19) or (name == "--budget" and int(text) == 0):
        raise WrongCall("%s is a whole number%s" % (name, " above 0" if name == "--budget" else ""))
    return int(text)


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
        raise WrongCall("%s: %s" % (name, getattr(error, "strerror", "") or error)) from error


def _try_reading(text: str, diff: str) -> None:
    """Raises WrongCall for a symptom whose reading would not end soon; one ledger row names the rule."""
    from contextkernel.host import cpu_limit
    import operators

    try:
        cpu_limit.call(operators.read_symptom, (text, diff), len(text) + len(diff))
    except cpu_limit.LimitError as error:
        book.record("note", {"event": "ck.py slice", "session": "", "why": str(error)})
        raise WrongCall("the symptom takes too long to read (%s); give the part that matters" % error) from None


def main(argv: List[str]) -> int:
    """The exit code of one call."""
    gc.disable()  # the process is short, its garbage small: a tenth of a cold build
    try:
        options = _options(argv)
        if not os.path.isdir(options.repo):
            raise WrongCall("not a folder: %s" % options.repo)
        if options.build:
            root = os.path.realpath(options.repo)
            kept = indexes.Index(indexes.file_of(root), operator_hash(SCANNERS))
            sources = {path: facts for path, facts in tree.listing(root).files.items() if language_of(path)}
            _from_sound(kept, lambda: str(kept.refresh(root, sources, scanning.scan)))
            kept.close()
            return 0
        text = _text_of(options.symptom) if options.symptom else ""
        request = options.request._replace(diff=_text_of(options.diff) if options.diff else "")
        _try_reading(text, request.diff)
        found = _with_line(answer(options.repo, text, request, options.wait, options.form), options)
    except (WrongCall, OSError) as error:
        sys.stderr.write("ck.py slice: %s\n" % str(error).replace("\n", " "))
        return 2
    sys.stdout.buffer.write(found.encode("utf-8", "surrogateescape"))
    return 0


if __name__ == "__main__":
    from contextkernel.host import terminal

    os._exit(terminal.run(main, sys.argv[1:], "ck_slice.py"))  # freeing the garbage of a build costs 100 ms
