"""What a command line says about the output it produced: programs, explicit extraction, files
shown whole.
"""

from __future__ import annotations

import re

from contextkernel import shell
from contextkernel.normalize import command_words as known
from contextkernel.records import NamedTuple

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
LONGEST = 8000  # characters of a command line that are read
MOST_PIPELINES = 20  # of a line, before `bash -c` in it is read no more


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
        if not silent and pipeline[-1][0] not in known.NEUTRAL and not _is_small(pipeline)
    ]
    if ("<<" in command or len(command) > LONGEST) and re.search(
        known.RAW_BEHIND, command
    ):  # behind what is not read
        comments.append("# ck:raw")
    explicit = (
        any(re.match(known.RAW, comment) for comment in comments)
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
    if not stage or stage[0] not in known.SHELLS:
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
            words[0] in known.SMALL_GIT
            or words[0] == "diff"
            and any(word in ("--stat", "--shortstat", "--name-only") for word in stage)
        )
    return stage[0] in known.SMALL and not any(
        word.startswith("-") and not word.startswith("--") and "R" in word for word in stage[1:]
    )


def strip(words: list[str] | tuple[str, ...]) -> tuple[str, ...]:
    """An argument vector without assignments and wrappers: ["FOO=1", "uv", "run", "pytest"]
    gives ("pytest",).
    """
    words = list(words)
    for _ in range(8):
        at = 0
        while at < len(words) and (_ASSIGNMENT.match(words[at]) or words[at] in known.BEFORE):
            at += 1
        words = words[at:]
        if not words:
            break
        program = words[0].rsplit("/", 1)[-1]
        skip = (
            2
            if len(words) > 1 and (program, words[1]) in known.PAIRS
            else known.PREFIXES.get(program, 0)
        )
        if known.PYTHON.match(words[0]) and "-m" in words[1:6]:
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
        words = _past_options(words[1:], known.OWN_VALUED.get(program, known.VALUED))
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
    if program in known.INSIDE and words[1:2] == ["compose"]:
        words = words[1:]
    if (program in known.INSIDE or program in ("docker-compose", "compose")) and words[1:2] == [
        "exec"
    ]:
        return _past_options(words[2:])[1:]
    return []


def _past_options(words: list[str], valued: set[str] = known.VALUED) -> list[str]:
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
    while len(stages) > 1 and stages[-1][0] in known.PASSING:
        stages.pop()
    stage = stages[-1]
    program, rest = stage[0], stage[1:]
    if program == "xargs":
        return _extracts([strip(_past_options(list(rest))) or ("",)])
    if program == "find" and "-exec" in rest:
        return _extracts([strip(rest[rest.index("-exec") + 1 :]) or ("",)])
    if program in ("head", "tail"):
        return not any(word in ("-f", "-F") or word.startswith("--follow") for word in rest)
    if any("ck" in word and re.search(known.OURS, word) for word in stage):
        return True
    if program == "sed":
        return any(
            re.match(known.SED_PRINT, word) or re.match(known.SED_LINES, word) for word in rest
        )
    if program in ("awk", "gawk", "mawk"):
        return any(
            re.search(known.AWK_LINES, word) and not re.search(known.AWK_HEADER, word)
            for word in rest
        )
    return program == "git" and "blame" in rest and any(word.startswith("-L") for word in rest)


def _printed(pipeline: list[tuple[str, ...]]) -> list[str]:
    """The files a pipeline prints whole: `cat a.py`, `cat a.py | tr -d x`, `git show HEAD:a.py`."""
    stage = pipeline[0]
    if any(other[0] not in known.PASSING for other in pipeline[1:]):
        return []
    if stage[0] in known.PAGERS:
        return [word for word in stage[1:] if not word.startswith("-")]
    if stage[0] == "git" and _name(stage) in ("git show", "git cat-file"):
        return [
            word.split(":", 1)[1]
            for word in stage[1:]
            if ":" in word and not word.startswith("-") and not word.startswith(":")
        ]
    return []
