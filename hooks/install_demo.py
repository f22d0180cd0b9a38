"""The demonstration: real outputs made on the spot, what the model would read of them, and each recalled and compared."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from typing import List, NamedTuple

from contextkernel import marks
from contextkernel.host import shapes
from contextkernel.host.install_codex import Failed
from contextkernel.store import git_start
from contextkernel.tokens import estimate
from install_step import Setup

FAILED_MOST = 10040  # characters the client shows of a failing command: 5,000 of each end and a line between
HISTORY = ["-p", "-30", "--", "hooks/contextkernel/project", "hooks/contextkernel/store"]  # parts that quote no mark of ours: such text passes as it is
TESTS = 240  # methods of the failing run; every 40th fails
ROW = "  %-34s %8s %8s %8s %7s   %s"


class Sample(NamedTuple):
    """One real output. `command` is what produced it, as the model would have typed it."""

    command: str
    exit_code: int
    raw: bytes


def produced(argv: List[str], command: str, folder: str) -> Sample:
    """The output of a program, both streams, as the shell tool would hand it over."""
    env = dict(os.environ, LC_ALL="C")
    done = subprocess.run(argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env)
    return Sample(command, done.returncode, done.stdout)


def samples(root: str, scratch: str) -> List[Sample]:
    """A history with patches, a failing test run, a long listing; what cannot be made here is left out."""
    made = []
    history = git_start.history(root, HISTORY)
    if history:
        made.append(Sample("git log " + " ".join(HISTORY), history.exit_code, history.output))
    with open(os.path.join(scratch, "test_totals.py"), "w", encoding="ascii") as handle:
        handle.write(suite())
    made.append(produced([sys.executable, "-B", "-m", "unittest", "-v"], "python3 -m unittest -v", scratch))
    made.append(produced(["ls", "-lR", os.path.dirname(os.__file__)], "ls -lR lib/python%d.%d" % sys.version_info[:2], scratch))
    return [sample for sample in made if sample.raw]


def suite() -> str:
    """The source of a test file of which a few cases fail."""
    lines = ["import unittest", "", "", "def total(prices, discount):", "    return sum(prices) * (100 - discount) // 100", "", "",
             "class Totals(unittest.TestCase):"]
    for n in range(1, TESTS + 1):
        wrong = " + 1" if n % 40 == 0 else ""
        lines += ["    def test_total_of_%03d_items(self):" % n, "        self.assertEqual(total([%d] * %d, 10), %d%s)" % (n, n, n * n * 90 // 100, wrong), ""]
    return "\n".join(lines)


def ck(setup: Setup, words: List[str], fed: bytes) -> bytes:
    """What ck.py prints. Raises Failed."""
    argv = [setup.python, "-I", "-S", "-B", os.path.join(setup.root, "hooks", "ck.py")] + words
    done = subprocess.run(argv, input=fed, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise Failed("ck.py %s: exit %d: %s" % (words[0], done.returncode, done.stderr.decode("utf-8", "replace").strip()[-300:]))
    return done.stdout


def alone(sample: Sample) -> int:
    """Bytes the client would show of an output without us."""
    size = len(sample.raw)
    return min(size, FAILED_MOST) if sample.exit_code else shapes.host_bytes("Bash", size, shapes.BASH_MOST)


def row(setup: Setup, sample: Sample) -> bool:
    """Prints one line of the table; whether what was hidden came back byte for byte."""
    shown = ck(setup, ["normalize", "--command", sample.command, "--exit-code", str(sample.exit_code)], sample.raw)
    handles = marks.handles_in(shown.decode("utf-8", "replace"))
    before, after = estimate(sample.raw), estimate(shown)
    if shown == sample.raw:
        same, said = True, "nothing was hidden"
    else:
        same = bool(handles) and all(ck(setup, ["recall", handle], b"") == sample.raw for handle in handles)
        said = "%s, %d bytes" % ("identical" if same else "DIFFERENT", len(sample.raw))
    print(ROW % (marks.clip(sample.command, 34), before, estimate(b"x" * alone(sample)), after, "%d %%" % round(100 * (before - after) / before), said), flush=True)
    return same


def show(setup: Setup) -> None:
    """Prints the table. Raises Failed when something does not come back as it was."""
    if setup.dry:
        setup.say("shorten a git history, a failing test run and a long listing, recall each and compare")
        return
    scratch = tempfile.mkdtemp(prefix="context-kernel-")
    try:
        print("\nReal outputs made just now, in tokens (bytes/4):")
        print(ROW % ("command", "raw", "alone", "shown", "saved", "recalled and compared"))
        same = [row(setup, sample) for sample in samples(setup.root, scratch)]
        print("  alone: what the client shows by itself, a 2 KB preview or the two ends; shown: with context-kernel; saved: of raw.")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if not same or not all(same):
        raise Failed("a recalled output is not what was stored")
