"""What a command line says about the output it produced: programs, explicit extraction, files shown whole."""
from __future__ import annotations

import re
from typing import List, NamedTuple, Tuple

_TOKEN = re.compile(r"""(?:'[^']*'|"(?:\\.|[^"\\])*"|\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`|\\.|[^\s'"\\|&;<>()`])+|&&|\|\||\|&|[|;&()\n]|[0-9]*>>?&?[0-9-]*|<<<?-?|<|\s""", re.S)
_QUOTED = re.compile(r"""'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)""", re.S)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_QUIET = frozenset("cd pushd popd export set unset source . true : sleep mkdir wait ulimit trap alias shopt umask".split())
_NEUTRAL = _QUIET | frozenset(("echo", "printf", "pwd", "date", "test", "[", "exit"))
_PREFIXES = {  # wrapper -> its words to skip, its options that take a value
    "time": 1, "nohup": 1, "command": 1, "exec": 1, "builtin": 1, "sudo": 1, "doas": 1, "env": 1, "nice": 1, "stdbuf": 1, "xvfb-run": 1, "unbuffer": 1,
    "npx": 1, "bunx": 1, "timeout": 2, "gtimeout": 2, "uvx": 1, "pipx": 2, "rtk": 1, "caffeinate": 1,
}
_PAIRS = {("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("pdm", "run"), ("hatch", "run"), ("rye", "run"), ("bundle", "exec"), ("pnpm", "exec"),
          ("pnpm", "dlx"), ("npm", "exec"), ("yarn", "exec"), ("yarn", "dlx"), ("bun", "x"), ("mise", "exec"), ("direnv", "exec")}
_VALUED = {"-n", "-u", "-i", "-o", "-e", "-g", "-C", "--with", "--python", "--group", "--extra", "--directory", "--project", "--package", "-p", "-s", "-k", "--signal"}
_PYTHON = re.compile(r"(?:.*/)?(?:python|pypy)[\d.]*$")
_OURS = re.compile(r"(?:^|[/\\])(?:ck\.py|ck-[0-9a-f]{8,64}\.txt)$")  # our command, and what it laid down for a recall
_SHELLS = frozenset(("bash", "sh", "zsh", "dash"))
_PAGERS = frozenset(("cat", "less", "more", "bat", "batcat", "nl", "most", "view", "type", "gc"))
_SED_PRINT = re.compile(r"-[a-zA-Z]*n[a-zA-Z]*$|--quiet$|--silent$")


class Command(NamedTuple):
    """`stages`: the argument vectors of all simple commands, wrappers stripped, in order; `names`: "program subcommand" of each."""

    stages: Tuple[Tuple[str, ...], ...] = ()
    names: Tuple[str, ...] = ()
    explicit: bool = False  # the agent asked for exactly these lines
    files: Tuple[str, ...] = ()  # files that the command prints whole


def facts(command: str) -> Command:
    """The facts of a command line; what cannot be read gives fewer facts, never wrong ones."""
    pipelines = _pipelines(command)
    stages = tuple(stage for pipeline in pipelines for stage in pipeline)
    talking = [pipeline for pipeline in pipelines if pipeline and pipeline[-1] and pipeline[-1][0] not in _NEUTRAL]
    explicit = "# ck:raw" in command or "#ck:raw" in command or bool(talking) and all(_extracts(pipeline) for pipeline in talking)
    files: List[str] = []
    for pipeline in talking:
        if len(pipeline) == 1:
            files += _printed(pipeline[0])
    return Command(stages, tuple(_name(stage) for stage in stages), explicit, tuple(files))


def _pipelines(command: str) -> List[List[Tuple[str, ...]]]:
    """The pipelines of a command line, each a list of stripped argument vectors.  Redirections and here-documents are dropped."""
    pipelines: List[List[Tuple[str, ...]]] = [[]]
    words: List[str] = []
    drop_next = False

    def close(new_pipeline: bool) -> None:
        nonlocal words
        stage = strip(words)
        words = []
        if stage and stage[0] in _SHELLS and len(stage) > 2 and stage[1] in ("-c", "-lc", "-ec", "-euc") and len(pipelines) < 20:
            inner = _pipelines(stage[2])
            pipelines[-1] += inner[0]
            pipelines.extend(inner[1:])
        elif stage:
            pipelines[-1].append(stage)
        if new_pipeline and pipelines[-1]:
            pipelines.append([])

    for token in _TOKEN.findall(command[:8000]):
        if token in ("|", "|&"):
            close(False)
        elif token in ("&&", "||", ";", "&", "\n", "(", ")"):
            close(True)
        elif token.isspace():
            continue
        elif token.startswith("<<") and not token.startswith("<<<"):
            break  # a here-document: the rest is data
        elif token[0] in "<>" or token.rstrip("&-0123456789").endswith(">"):
            drop_next = not token[-1].isdigit() and token[-1] != "-"
        elif drop_next:
            drop_next = False
        elif token.startswith("#") and not words:
            break
        else:
            words.append(_QUOTED.sub(lambda m: m.group(1) or m.group(2) or m.group(3) or "", token))
    close(False)
    return [pipeline for pipeline in pipelines if pipeline]


def strip(words: "List[str] | Tuple[str, ...]") -> Tuple[str, ...]:
    """An argument vector without assignments and wrappers: ["FOO=1", "uv", "run", "pytest"] gives ("pytest",)."""
    words = list(words)
    for _ in range(8):
        while words and (_ASSIGNMENT.match(words[0]) or words[0] in ("!", "{", "then", "do", "else", "if", "while")):
            words.pop(0)
        if not words:
            break
        program = words[0].rsplit("/", 1)[-1]
        skip = 2 if len(words) > 1 and (program, words[1]) in _PAIRS else _PREFIXES.get(program, 0)
        if _PYTHON.match(words[0]) and "-m" in words[1:6]:
            skip = words.index("-m") + 1
            words = words[skip:]
            break
        if program in ("conda", "micromamba", "mamba") and words[1:2] == ["run"]:
            skip = 2
        if not skip:
            words[0] = program
            break
        words = _past_options(words[1:]) if skip == 1 else _past_options(words[1:] if program not in ("timeout", "gtimeout") else words[1:])
        if program in ("timeout", "gtimeout", "pipx") or skip == 2 and words and program not in ("timeout", "gtimeout"):
            words = _past_options(words[1:])
    return tuple(words)


def _past_options(words: List[str]) -> List[str]:
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in _VALUED and len(words) > 1 else words[1:]
    return words


def _name(stage: Tuple[str, ...]) -> str:
    """ "git diff" for ("git", "-C", "x", "diff", "--stat")."""
    for index in range(1, len(stage)):
        word = stage[index]
        if not word.startswith("-") and stage[index - 1] not in ("-C", "-c", "--git-dir", "--work-tree", "-n", "--namespace", "-f", "-p"):
            return stage[0] + " " + word
    return stage[0]


def _extracts(pipeline: List[Tuple[str, ...]]) -> bool:
    """Whether a pipeline prints exactly the lines its writer chose, or what our own tools gave back."""
    stage = pipeline[-1]
    program, rest = stage[0], stage[1:]
    if program in ("head", "tail"):
        return "-f" not in rest
    if any(_OURS.search(word) for word in stage):
        return True
    if program == "sed":
        return any(_SED_PRINT.match(word) for word in rest)
    if program in ("awk", "gawk", "mawk"):
        return any(re.search(r"\bF?NR\b", word) for word in rest)
    if program in ("cut", "jq", "yq") and len(pipeline) == 1 and program == "cut":
        return True
    return False


def _printed(stage: Tuple[str, ...]) -> List[str]:
    """The files a single command prints whole: `cat a.py`, `git show HEAD:a.py`."""
    if stage[0] in _PAGERS:
        return [word for word in stage[1:] if not word.startswith("-")]
    if stage[0] == "git" and _name(stage) in ("git show", "git cat-file"):
        return [word.split(":", 1)[1] for word in stage[1:] if ":" in word and not word.startswith("-") and not word.startswith(":")]
    return []
