"""The demonstration: outputs made on the spot, shown by the client alone and with us, recalled."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from typing import NamedTuple

from contextkernel import marks
from contextkernel.clients import limits, responses
from contextkernel.setup.codex_bundle import Failed
from contextkernel.setup.context import Setup
from contextkernel.tokens import estimate

TESTS = 240  # methods of the test runs; in the failing one every 40th fails
JOBS = 4000  # lines of the worker's log
ODD_JOB = 2718  # the one that goes wrong
ROW = "  {:<31} {:>6} {:>12} {:>11} {:>6}  {}"

WORKER = f"""
for n in range(1, {JOBS} + 1):
    said = "INFO  worker-%d job %d done in %d ms" % (n % 4, n, n * 7919 % 90 + 10)
    if n == {ODD_JOB}:
        said = "ERROR worker-2 job %d lost its lease: checksum mismatch on shard 17" % n
    print("2026-11-30T%02d:%02d:%02dZ %s" % (10 + n // 3600, n // 60 % 60, n % 60, said))
"""


class Sample(NamedTuple):
    """One output. `command` made it, as the model would have typed it; `fact`: see Shown."""

    command: str
    exit_code: int
    raw: bytes
    fact: str = ""


class Shown(NamedTuple):
    """What becomes of an output: the client's own text and ours, and whether all came back."""

    sample: Sample
    alone: str
    ours: str
    is_same: bool

    def name(self) -> str:
        """The command, with a word on how it ended."""
        return self.sample.command + (", failing" if self.sample.exit_code else "")

    def only_ours(self) -> bool:
        """Whether the sample's fact is in our text and not in the client's."""
        return (
            bool(self.sample.fact)
            and self.sample.fact in self.ours
            and self.sample.fact not in self.alone
        )


def produced(argv: list[str], command: str, folder: str, fact: str = "") -> Sample:
    """The output of a program, both streams, as the shell tool would hand it over."""
    env = dict(os.environ, LC_ALL="C")
    done = subprocess.run(
        argv,
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return Sample(command, done.returncode, done.stdout, fact)


def samples(scratch: str) -> list[Sample]:
    """A worker's log, a test run that passes, one that fails, a listing of Python's library."""
    sources = {"worker.py": WORKER, "test_totals.py": suite(TESTS + 1), "test_bad.py": suite(40)}
    for name, text in sources.items():
        with open(os.path.join(scratch, name), "w", encoding="ascii") as handle:
            handle.write(text)
    python, library = [sys.executable, "-I", "-B"], os.path.dirname(os.__file__)
    tests = [sys.executable, "-B", "-m", "unittest", "-v"]
    made = [
        produced(
            [*python, "worker.py"], "python3 worker.py", scratch, f"job {ODD_JOB} lost its lease"
        ),
        produced([*tests, "test_totals"], "python3 -m unittest -v", scratch),
        produced([*tests, "test_bad"], "python3 -m unittest -v", scratch),
    ]
    if shutil.which("ls"):
        listing = produced(["ls", "-l", library], f"ls -l {os.path.basename(library)}", scratch)
        # of a longer one the client shows too little to compare
        if len(listing.raw) <= limits.BASH_MAX_CHARS:
            made.append(listing)
    return [sample for sample in made if sample.raw]


def suite(every: int) -> str:
    """The source of a test file in which every so many cases fail."""
    lines = [
        "import unittest",
        "",
        "",
        "def total(prices, discount):",
        "    return sum(prices) * (100 - discount) // 100",
        "",
        "",
        "class Totals(unittest.TestCase):",
    ]
    for n in range(1, TESTS + 1):
        wrong = " + 1" if n % every == 0 else ""
        lines += [
            f"    def test_total_of_{n:03d}_items(self):",
            f"        self.assertEqual(total([{n}] * {n}, 10), {n * n * 90 // 100}{wrong})",
            "",
        ]
    return "\n".join(lines)


def ck(setup: Setup, words: list[str], fed: bytes) -> bytes:
    """What ck.py prints. Raises Failed."""
    argv = [setup.python, "-I", "-S", "-B", os.path.join(setup.root, "hooks", "ck.py")] + words
    done = subprocess.run(argv, input=fed, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()[-300:]
        raise Failed(f"ck.py {words[0]}: exit {done.returncode}: {said}")
    return done.stdout


def alone(sample: Sample) -> str:
    """What the client would show of an output without us."""
    text = sample.raw.decode("utf-8", "replace")
    if sample.exit_code:
        return (
            text
            if len(text) <= limits.FAILURE_MAX_CHARS
            else text[: limits.FAILURE_END_CHARS] + text[-limits.FAILURE_END_CHARS :]
        )
    return text if len(text) <= limits.BASH_MAX_CHARS else text[: limits.PREVIEW_CHARS]


def shown(setup: Setup, sample: Sample) -> Shown:
    """An output in both forms, and whether what we hid comes back byte for byte. Raises Failed."""
    call = ["normalize", "--command", sample.command, "--exit-code", str(sample.exit_code)]
    ours = ck(setup, call, sample.raw)
    text = ours.decode("utf-8", "replace")
    handles = marks.handles_in(text)
    recalled = [ck(setup, ["recall", handle], b"") for handle in handles]
    is_same = all(one == sample.raw for one in recalled) if handles else ours == sample.raw
    return Shown(sample, alone(sample), text, is_same)


def alone_tokens(sample: Sample) -> int:
    """Tokens of the client's text with what it writes around a cut, as the report counts them."""
    size = len(sample.raw)
    if sample.exit_code:
        return estimate(b"x" * min(size, limits.FAILURE_CUT_CHARS))
    return estimate(b"x" * responses.host_bytes("Bash", size, limits.BASH_MAX_CHARS))


def percent_saved(before: int, after: int) -> str:
    """Tokens saved of what the client alone shows, with their sign where they are none."""
    return f"{round(100 * (before - after) / before)} %" if before else "-"


def tell(results: list[Shown]) -> None:
    """Prints the table."""
    total_alone = total_ours = 0
    for one in results:
        raw, before, after = estimate(one.sample.raw), alone_tokens(one.sample), estimate(one.ours)
        total_alone, total_ours = total_alone + before, total_ours + after
        back = f"identical, {len(one.sample.raw)} bytes" if one.is_same else "DIFFERENT"
        print(ROW.format(one.name(), raw, before, after, percent_saved(before, after), back))
    whole = percent_saved(total_alone, total_ours)
    print(ROW.format("together", "", total_alone, total_ours, whole, "").rstrip())
    print("  saved: of what the client alone would show: outputs of up to 30,000 characters, a")
    print("  preview of 2,000 of a longer one, 5,000 of each end of a failing one.", flush=True)


def tell_fact(one: Shown) -> None:
    """Prints the line of an output that the client alone does not show."""
    lines = one.sample.raw.decode("utf-8", "replace").split("\n")
    where = next(number for number, line in enumerate(lines, 1) if one.sample.fact in line)
    print(
        f"\nOnly with the plugin does the model see this line, {where:,} of {len(lines) - 1:,} in"
    )
    print(f'the output of "{one.sample.command}":\n  {lines[where - 1].strip()}', flush=True)


def tell_next(setup: Setup) -> None:
    """Prints what to do now."""
    report = os.path.join(setup.root, "hooks", "savings.py")
    print("\nNext: start a new session of your client; long outputs are shortened from then on.")
    print("  failing commands too, in Claude Code: type /context-kernel:ck-failure-lane on")
    print(f"  what it saved in your sessions: python3 {shlex.quote(report)}", flush=True)


def show(setup: Setup) -> None:
    """Prints the demonstration. Raises Failed when something does not come back as it was."""
    if setup.dry:
        setup.say("shorten a log, two test runs and a listing, recall each and compare")
        return
    scratch = tempfile.mkdtemp(prefix="context-kernel-")
    try:
        print("\nOutputs made just now, in tokens (bytes/4):")
        heads = ("command", "raw", "client alone", "with plugin", "saved", "recalled and compared")
        print(ROW.format(*heads), flush=True)
        results = [shown(setup, sample) for sample in samples(scratch)]
        tell(results)
        for one in filter(Shown.only_ours, results):
            tell_fact(one)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if not results or not all(one.is_same for one in results):
        raise Failed("a recalled output is not what was stored")
    tell_next(setup)
