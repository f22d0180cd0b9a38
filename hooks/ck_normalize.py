"""ck.py normalize: a tool output on stdin, what the model would read on stdout. The original is stored first."""
from __future__ import annotations

import re
import sys

from contextkernel.store import blobs, book, handles

FAILURE_MOST = 9900  # characters: the client cuts failing output above 10,000
SUCCESS_MOST = 30000


def _arguments(argv: "list[str]") -> "tuple[str, int]":
    command, code, at = "", 0, 0
    while at < len(argv):
        name, _, value = argv[at].partition("=")
        if name not in ("--command", "--exit-code"):
            raise ValueError("unknown argument %.60r (usage: ck.py normalize --command CMD --exit-code N < raw)" % argv[at])
        if "=" not in argv[at]:
            at += 1
            if at == len(argv):
                raise ValueError("%s needs a value" % name)
            value = argv[at]
        if name == "--command":
            command = value
        elif re.fullmatch(r"-?[0-9]{1,10}", value):
            code = int(value)
        else:
            raise ValueError("--exit-code %.20r is not a number" % value)
        at += 1
    return command, code


def main(argv: "list[str]") -> int:
    """0, or 2 after one line on stderr. The raw bytes pass unchanged where the store cannot hold them."""
    from contextkernel.normalize import Source, normalize

    try:
        command, code = _arguments(argv)
    except ValueError as error:
        sys.stderr.write("ck.py normalize: %s\n" % error)
        return 2
    raw = sys.stdin.buffer.read()
    text = raw.decode("utf-8", "surrogateescape")
    cap = FAILURE_MOST if code else SUCCESS_MOST
    result = normalize(text, Source("Bash", command, code, blobs.handle_of(raw), cap, handles.known_in(text)))
    shown = result.text.encode("utf-8", "surrogateescape") if result.edits else raw
    if result.edits:
        try:
            handle = blobs.put(raw)
        except blobs.StoreError as error:
            sys.stderr.write("ck.py normalize: original passed through: %s\n" % error)
            shown = raw
        else:
            from contextkernel.masking import masked

            book.record("receipt", {"tool": "Bash", "lane": "cli", "rule": "+".join(dict.fromkeys(e.rule for e in result.edits)), "command": masked(command),
                                    "handle": handle, "raw": len(raw), "host": len(raw), "shown": len(shown), "lines": raw.count(b"\n") + 1,
                                    "lines_shown": shown.count(b"\n") + 1, "status": ""})
    sys.stdout.buffer.write(shown)
    sys.stdout.buffer.flush()
    return 0
