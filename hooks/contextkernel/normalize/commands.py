"""What a command line says about the output it produced: programs, explicit extraction, files
shown whole.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from contextkernel import shell

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_QUIET = frozenset(
    (
        "cd pushd popd export set unset source . true : sleep mkdir wait ulimit trap alias shopt "
        "umask"
    ).split()
)
_NEUTRAL = _QUIET | frozenset(
    (
        "echo printf pwd date test [ [[ exit for done fi esac } read break continue shift local "
        "declare case"
    ).split()
)
# A line or two: next to an extraction they do not make the output something else
_SMALL = frozenset(
    (
        "wc ls file stat which type basename dirname realpath readlink md5sum sha256sum du df "
        "whoami hostname uname"
    ).split()
)
_SMALL_GIT = frozenset(("rev-parse", "branch", "remote", "config", "describe", "status"))
_PREFIXES = {  # wrapper -> its words to skip, its options that take a value
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
_PAIRS = {
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
_VALUED = {
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
_BEFORE = (
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
_OWN_VALUED = {
    "time": {"-o", "-f"},
    "env": {"-u", "-C"},
    "sudo": {"-u", "-g", "-C", "-D", "-h", "-p", "-r", "-t"},
}
_PYTHON = re.compile(r"(?:.*/)?(?:python|pypy)[\d.]*$")
# our command, and what it laid down for a recall
_OURS = r"(?:^|[/\\])(?:ck\.py|ck-[0-9a-f]{8,64}\.txt)$"
_SHELLS = frozenset(("bash", "sh", "zsh", "dash"))
_PAGERS = frozenset(("cat", "less", "more", "bat", "batcat", "nl", "most", "view", "type", "gc"))
_PASSING = _PAGERS | frozenset(("tr", "expand", "iconv", "dos2unix"))  # filters that keep the lines
# Patterns as text: most commands need none of these, and compiling them costs a hook 1 ms
_SED_PRINT = r"-[a-mo-zA-Z]*n[a-zA-Z]*$|--quiet$|--silent$"
_SED_LINES = r"\d+(?:,(?:\d+|\$))?!d$|\d+q$"  # lines by number without -n
_AWK_LINES = r"\bF?NR\s*(?:[<=]=?|>=?)\s*\d|\d\s*[<>]=?\s*F?NR\b"
_AWK_HEADER = r"\bF?NR\s*(?:>\s*1|>=\s*2|!=\s*1)\b(?!\d)"  # all but the head of a table
_RAW = r"#\s*ck:raw\b"
_RAW_BEHIND = r"(?:^|\s)#\s*ck:raw\b"
LONGEST = 8000  # characters of a command line that are read
MOST_PIPELINES = 20  # of a line, before `bash -c` in it is read no more
_INSIDE = frozenset(("docker", "podman", "nerdctl"))


class Command(NamedTuple):
    """`stages`: the argument vectors of all simple commands, wrappers stripped, in order;
    `names`: "program subcommand" of each.
    """

    stages: tuple[tuple[str, ...], ...] = ()
    names: tuple[str, ...] = ()
    explicit: bool = False  # the agent asked for exactly these lines
    files: tuple[str, ...] = ()  # files that the command prints whole


def facts(command: str) -> Command:
    """The facts of a command line; what cannot be read gives fewer facts, never wrong ones."""
    reader = _Reader()
    reader.read(command)
    pipelines, comments = reader.pipelines, reader.comments
    stages = tuple(stage for pipeline, _ in pipelines for stage in pipeline)
    talking = [
        pipeline
        for pipeline, silent in pipelines
        if not silent and pipeline[-1][0] not in _NEUTRAL and not _is_small(pipeline)
    ]
    if ("<<" in command or len(command) > LONGEST) and re.search(
        _RAW_BEHIND, command
    ):  # behind what is not read
        comments.append("# ck:raw")
    explicit = (
        any(re.match(_RAW, comment) for comment in comments)
        or bool(talking)
        and all(_extracts(pipeline) for pipeline in talking)
    )
    printed = [_printed(pipeline) for pipeline in talking]
    files = [path for paths in printed for path in paths] if all(printed) else []
    return Command(stages, tuple(_name(stage) for stage in stages), explicit, tuple(files))


class _Reader:
    """The pipelines of a command line, put together lexeme by lexeme. A pipeline is its stripped
    argument vectors, and whether its output goes into a file.
    """

    def __init__(self) -> None:
        self.pipelines: list[tuple[list[tuple[str, ...]], bool]] = []
        self.comments: list[str] = []
        self.stages: list[tuple[str, ...]] = []
        self.words: list[str] = []
        self.silent = False
        self.redirect = ""  # whose target comes next
        self.was_silent = False  # before that redirect

    def read(self, command: str) -> None:
        """Here-documents are dropped with what follows them."""
        for lexeme in shell.lexemes(command[:LONGEST]):
            if lexeme.kind == "comment":
                self.comments.append(lexeme.text)
            elif lexeme.kind in ("separator", "paren"):
                self._end_stage(lexeme.text)
            elif lexeme.kind == "word":
                self._take_word(shell.unquoted(lexeme.text))
            elif lexeme.kind == "redirect":
                if "<<" in lexeme.text and "<<<" not in lexeme.text:
                    break
                self._redirect(lexeme.text)
        self._end_stage("")

    def _redirect(self, operator: str) -> None:
        self.redirect, self.was_silent = operator, self.silent
        if operator.startswith((">", "1>", "&>")):
            self.silent = True

    def _take_word(self, word: str) -> None:
        if not self.redirect:
            self.words.append(word)
        elif self.redirect.endswith(">&") and word in ("1", "2"):  # the output is still shown
            self.silent = self.was_silent
        self.redirect = ""

    def _end_stage(self, by: str) -> None:
        """Ends a command, and its pipeline unless a pipe follows."""
        if by == "(" and self.redirect:  # a process is the target, no file
            self.silent = self.was_silent
        self._add(strip(self.words))
        self.words, self.redirect = [], ""
        if by in ("|", "|&"):
            self.silent = False
            return
        if self.stages:
            self.pipelines.append((self.stages, self.silent))
        self.stages, self.silent = [], False

    def _add(self, stage: tuple[str, ...]) -> None:
        """A stage; instead of a shell with its command line, what is in that line."""
        script = _script_of(stage)
        if not script or len(self.pipelines) >= MOST_PIPELINES:
            self.stages += [stage] if stage else []
            return
        inner = _Reader()
        inner.read(script)
        self.comments.extend(inner.comments)
        if inner.pipelines and not self.stages and not self.silent:
            self.pipelines.extend(inner.pipelines[:-1])
            self.stages, self.silent = list(inner.pipelines[-1][0]), inner.pipelines[-1][1]
        else:
            self.stages += [one for pipeline, _ in inner.pipelines for one in pipeline]


def _script_of(stage: tuple[str, ...]) -> str:
    """The command line that a shell, or ssh, is given as one word; "" when it is given none."""
    if stage[:1] == ("ssh",):
        return stage[-1] if len(stage) > 2 and " " in stage[-1] else ""
    if not stage or stage[0] not in _SHELLS:
        return ""
    asked = False
    for at, word in enumerate(stage[1:], 1):
        if word.startswith(("-", "+")):
            asked = asked or word[0] == "-" and word[1:2] != "-" and "c" in word
        elif stage[at - 1] not in ("-o", "+o", "-O", "+O") and not (
            stage[at - 1].endswith("o") and "c" not in stage[at - 1] and stage[at - 1][0] == "-"
        ):
            return word if asked else ""
    return ""


def _is_small(pipeline: list[tuple[str, ...]]) -> bool:
    stage = pipeline[-1]
    if stage[0] == "git":
        words = _name(stage).split(" ")[1:]
        return words[:1] != [] and (
            words[0] in _SMALL_GIT
            or words[0] == "diff"
            and any(word in ("--stat", "--shortstat", "--name-only") for word in stage)
        )
    return stage[0] in _SMALL and not any(
        word.startswith("-") and not word.startswith("--") and "R" in word for word in stage[1:]
    )


def strip(words: list[str] | tuple[str, ...]) -> tuple[str, ...]:
    """An argument vector without assignments and wrappers: ["FOO=1", "uv", "run", "pytest"]
    gives ("pytest",).
    """
    words = list(words)
    for _ in range(8):
        at = 0
        while at < len(words) and (_ASSIGNMENT.match(words[at]) or words[at] in _BEFORE):
            at += 1
        words = words[at:]
        if not words:
            break
        program = words[0].rsplit("/", 1)[-1]
        skip = 2 if len(words) > 1 and (program, words[1]) in _PAIRS else _PREFIXES.get(program, 0)
        if _PYTHON.match(words[0]) and "-m" in words[1:6]:
            skip = words.index("-m") + 1
            words = words[skip:]
            break
        inside = _inside(program, words)
        if inside:
            words = inside
            continue
        if program in ("conda", "micromamba", "mamba") and words[1:2] == ["run"]:
            skip = 2
        if not skip:
            words[0] = program
            break
        words = _past_options(words[1:], _OWN_VALUED.get(program, _VALUED))
        if (
            program in ("timeout", "gtimeout", "pipx")
            or skip == 2
            and words
            and program not in ("timeout", "gtimeout")
        ):
            words = _past_options(words[1:])
    return tuple(words)


def _inside(program: str, words: list[str]) -> list[str]:
    """What a command runs inside a container: `docker exec -it web cat a`, `kubectl exec pod --
    cat a`; [] for others.
    """
    if program in ("kubectl", "oc") and "exec" in words[1:5] and "--" in words:
        return words[words.index("--") + 1 :]
    if program in _INSIDE and words[1:2] == ["compose"]:
        words = words[1:]
    if (program in _INSIDE or program in ("docker-compose", "compose")) and words[1:2] == ["exec"]:
        return _past_options(words[2:])[1:]
    return []


def _past_options(words: list[str], valued: set[str] = _VALUED) -> list[str]:
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in valued and at + 1 < len(words) else 1
    return words[at:]


def _name(stage: tuple[str, ...]) -> str:
    """ "git diff" for ("git", "-C", "x", "diff", "--stat")."""
    for index in range(1, len(stage)):
        word = stage[index]
        if not word.startswith("-") and stage[index - 1] not in (
            "-C",
            "-c",
            "--git-dir",
            "--work-tree",
            "-n",
            "--namespace",
            "-f",
            "-p",
        ):
            return stage[0] + " " + word
    return stage[0]


def _extracts(pipeline: list[tuple[str, ...]]) -> bool:
    """Whether a pipeline prints exactly the lines its writer chose, or what our own tools gave
    back.
    """
    stages = list(pipeline)
    while len(stages) > 1 and stages[-1][0] in _PASSING:
        stages.pop()
    stage = stages[-1]
    program, rest = stage[0], stage[1:]
    if program == "xargs":
        return _extracts([strip(_past_options(list(rest))) or ("",)])
    if program == "find" and "-exec" in rest:
        return _extracts([strip(rest[rest.index("-exec") + 1 :]) or ("",)])
    if program in ("head", "tail"):
        return not any(word in ("-f", "-F") or word.startswith("--follow") for word in rest)
    if any("ck" in word and re.search(_OURS, word) for word in stage):
        return True
    if program == "sed":
        return any(re.match(_SED_PRINT, word) or re.match(_SED_LINES, word) for word in rest)
    if program in ("awk", "gawk", "mawk"):
        return any(
            re.search(_AWK_LINES, word) and not re.search(_AWK_HEADER, word) for word in rest
        )
    return program == "git" and "blame" in rest and any(word.startswith("-L") for word in rest)


def _printed(pipeline: list[tuple[str, ...]]) -> list[str]:
    """The files a pipeline prints whole: `cat a.py`, `cat a.py | tr -d x`, `git show HEAD:a.py`."""
    stage = pipeline[0]
    if any(other[0] not in _PASSING for other in pipeline[1:]):
        return []
    if stage[0] in _PAGERS:
        return [word for word in stage[1:] if not word.startswith("-")]
    if stage[0] == "git" and _name(stage) in ("git show", "git cat-file"):
        return [
            word.split(":", 1)[1]
            for word in stage[1:]
            if ":" in word and not word.startswith("-") and not word.startswith(":")
        ]
    return []
