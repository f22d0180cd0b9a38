"""The edge of the command line: a stream that is closed, full or left by its reader costs a line
and exit 2, never a traceback.
"""

from __future__ import annotations

import os
import sys
from typing import Callable


def run(main: Callable[[list[str]], int], argv: list[str], name: str) -> int:
    """The exit code of `main(argv)`, its output written out; 0 where the reader left early, 2
    after one line where it cannot be written.
    """
    for stream, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, stream) is None:  # its descriptor was closed from the start
            setattr(sys, stream, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    try:
        code = _code_of(main, argv)
        sys.stdout.flush()
    except BrokenPipeError:  # `ck.py recall … | head`
        silence(1)
        code = 0
    except OSError as error:
        silence(1)
        code = _said(f"{name}: {error}")
    try:
        sys.stderr.flush()
    except OSError:
        silence(2)
    return code


def _code_of(main: Callable[[list[str]], int], argv: list[str]) -> int:
    """What `main` returns, or leaves with, as argparse does after its help and a wrong call."""
    try:
        return main(argv)
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 2


def _said(words: str) -> int:
    try:
        sys.stderr.write(words + "\n")
    except OSError:
        pass  # nobody reads it
    return 2


def silence(descriptor: int) -> None:
    """Point an unusable descriptor at nothing: otherwise the flush at exit fails again, and the
    exit code is 120.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
