"""What every step of the installer has at hand: the folders, the flags, consent, and programs to
run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import NamedTuple

from contextkernel.setup.codex_bundle import Failed

PLUGIN = "context-kernel"
MARKET = "context-kernel-marketplace"
NAMED = f"{PLUGIN}@{MARKET}"
PROGRAM_S = 120  # for one call of a client; a first start on a loaded machine took 20


class Setup(NamedTuple):
    """One run of install.sh: the plugin's root, the state folder, and the flags."""

    root: str
    state: str
    flags: frozenset[str]

    @property
    def python(self) -> str:
        """The interpreter's own path, as the hooks are to start it."""
        return sys.executable

    @property
    def dry(self) -> bool:
        """Whether to say only."""
        return "dry-run" in self.flags

    @property
    def journals(self) -> str:
        """Where the installer keeps what it did."""
        return os.path.join(self.state, "install")

    def say(self, text: str) -> None:
        """One line to the person, at once."""
        print(("would: " if self.dry else "") + text, flush=True)

    def note(self, text: str) -> None:
        """One line to the person that is no step."""
        print(text, flush=True)

    def agreed(self, question: str) -> bool:
        """The person's consent: --yes, or a typed y. Nobody there to answer means no."""
        if "yes" in self.flags:
            return True
        if self.dry or not sys.stdin.isatty():
            return False
        print(question + " [y/N] ", end="", flush=True)
        return sys.stdin.readline().strip().lower() in ("y", "yes")


def program(variable: str, name: str) -> str:
    """The path of a client: the one its variable names, else the first on PATH; "" for none.
    Raises Failed.
    """
    named = os.environ.get(variable)
    if not named:
        return shutil.which(name) or ""
    if not shutil.which(named):
        raise Failed(f"{variable}={named} is no program")
    return os.path.abspath(named) if os.path.dirname(named) else str(shutil.which(named))


def run(argv: list[str]) -> str:
    """What a program printed. Raises Failed with its last words when it leaves with another code
    than 0.
    """
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=PROGRAM_S,
        )
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{' '.join(argv)} did not end within {PROGRAM_S} s") from error
    if done.returncode:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
        raise Failed(f"{' '.join(argv)}: exit {done.returncode}: {said[-400:]}")
    return done.stdout.decode("utf-8", "replace")
