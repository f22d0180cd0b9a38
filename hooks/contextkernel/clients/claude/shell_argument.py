"""The argument that the client hands to a shell prefix: which command of the model's stands in
it.
"""

from __future__ import annotations

import hashlib
import re

from contextkernel import shell

RAW = re.compile(r"(?:^|\s)#\s*ck:raw\b")
RECALL = re.compile(r"\bck\.py[\"']?\s+recall\b|/tool-results/ck-[0-9a-f]{8,64}\.txt\b")
_NOT_SAID = re.compile(
    r"<\s*/dev/null|[\s'\"\\]+"
)  # what the client adds, and what quoting may change
_ESCAPED = shell.ESCAPED_IN_QUOTES + "!"  # the client puts a backslash before these

# Programs whose exit 1 is an answer: the client shows such a result as a success, up to 30,000
# characters, and PostToolUse
# has it.  Seen on 2.1.332; 2.1.121 and 2.1.200 know neither egrep and fgrep nor git.
ANSWERING = frozenset(("grep", "egrep", "fgrep", "rg", "find", "diff", "test", "["))
ANSWERING_GIT = frozenset(("diff", "grep"))


def is_answer(code: int, words: tuple[str, ...]) -> bool:
    """Whether an exit code of the last simple command (its words) means no failure to the
    client.
    """
    return (
        code == 1
        and bool(words)
        and (
            words[0] in ANSWERING
            or words[0] == "git"
            and words[1:2] != ()
            and words[1] in ANSWERING_GIT
        )
    )


def command_in(argument: str) -> str:
    """The command that the argument evaluates: the word after `eval`, unquoted; the whole
    argument where there is none.
    """
    at = argument.find("eval ")
    if at >= 0:
        for lexeme in shell.lexemes(argument, at + len("eval ")):
            if lexeme.kind == "word":
                return shell.unquoted(lexeme.text, _ESCAPED)
            if lexeme.kind != "blank":
                break
    return argument


def wants_raw(command: str) -> bool:
    """Whether the agent asked for this output as it is: marked `# ck:raw`, or itself a recall."""
    return RAW.search(command) is not None or RECALL.search(command) is not None


def key_of(command: str, session: str) -> str:
    """16 hex digits that name a command of a session, however the client quotes it and wherever
    it adds `< /dev/null`.
    """
    told = session + "\0" + _NOT_SAID.sub("", command)
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16]
