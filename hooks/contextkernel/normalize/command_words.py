"""Programs and options that tell what a command line printed, by what they do to its output."""

from __future__ import annotations

import re

QUIET = frozenset(
    (
        "cd pushd popd export set unset source . true : sleep mkdir wait ulimit trap alias shopt "
        "umask"
    ).split()
)
NEUTRAL = QUIET | frozenset(
    (
        "echo printf pwd date test [ [[ exit for done fi esac } read break continue shift local "
        "declare case"
    ).split()
)
# A line or two: next to an extraction they do not make the output something else
SMALL = frozenset(
    (
        "wc ls file stat which type basename dirname realpath readlink md5sum sha256sum du df "
        "whoami hostname uname"
    ).split()
)
SMALL_GIT = frozenset(("rev-parse", "branch", "remote", "config", "describe", "status"))
PREFIXES = {  # wrapper -> its words to skip, its options that take a value
    "time": 1,
    "nohup": 1,
    "command": 1,
    "exec": 1,
    "builtin": 1,
    "sudo": 1,
    "doas": 1,
    "env": 1,
    "nice": 1,
    "stdbuf": 1,
    "xvfb-run": 1,
    "unbuffer": 1,
    "npx": 1,
    "bunx": 1,
    "timeout": 2,
    "gtimeout": 2,
    "uvx": 1,
    "pipx": 2,
    "rtk": 1,
    "caffeinate": 1,
}
PAIRS = {
    ("uv", "run"),
    ("poetry", "run"),
    ("pipenv", "run"),
    ("pdm", "run"),
    ("hatch", "run"),
    ("rye", "run"),
    ("bundle", "exec"),
    ("pnpm", "exec"),
    ("pnpm", "dlx"),
    ("npm", "exec"),
    ("yarn", "exec"),
    ("yarn", "dlx"),
    ("bun", "x"),
    ("mise", "exec"),
    ("direnv", "exec"),
}
VALUED = {
    "-n",
    "-u",
    "-i",
    "-o",
    "-e",
    "-g",
    "-C",
    "--with",
    "--python",
    "--group",
    "--extra",
    "--directory",
    "--project",
    "--package",
    "-p",
    "-s",
    "-k",
    "--signal",
}
BEFORE = (
    "!",
    "{",
    "then",
    "do",
    "else",
    "if",
    "elif",
    "while",
    "until",
)  # words that stand before a program
OWN_VALUED = {
    "time": {"-o", "-f"},
    "env": {"-u", "-C"},
    "sudo": {"-u", "-g", "-C", "-D", "-h", "-p", "-r", "-t"},
}
PYTHON = re.compile(r"(?:.*/)?(?:python|pypy)[\d.]*$")
# our command, and what it laid down for a recall
OURS = r"(?:^|[/\\])(?:ck\.py|ck-[0-9a-f]{8,64}\.txt)$"
SHELLS = frozenset(("bash", "sh", "zsh", "dash"))
PAGERS = frozenset(("cat", "less", "more", "bat", "batcat", "nl", "most", "view", "type", "gc"))
PASSING = PAGERS | frozenset(("tr", "expand", "iconv", "dos2unix"))  # filters that keep the lines
# Patterns as text: most commands need none of these, and compiling them costs a hook 1 ms
SED_PRINT = r"-[a-mo-zA-Z]*n[a-zA-Z]*$|--quiet$|--silent$"
SED_LINES = r"\d+(?:,(?:\d+|\$))?!d$|\d+q$"  # lines by number without -n
AWK_LINES = r"\bF?NR\s*(?:[<=]=?|>=?)\s*\d|\d\s*[<>]=?\s*F?NR\b"
AWK_HEADER = r"\bF?NR\s*(?:>\s*1|>=\s*2|!=\s*1)\b(?!\d)"  # all but the head of a table
RAW = r"#\s*ck:raw\b"
RAW_BEHIND = r"(?:^|\s)#\s*ck:raw\b"
INSIDE = frozenset(("docker", "podman", "nerdctl"))
