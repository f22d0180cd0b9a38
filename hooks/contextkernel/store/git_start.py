"""The one way to start git, for what cannot be read from files: no program, no fetch, no prompt, no settings of others."""
from __future__ import annotations

import os
import shutil
from typing import List, NamedTuple, Optional

from contextkernel.store import git, git_index

SECONDS = 60
SETTINGS = (
    "core.fsmonitor=false", "core.hooksPath=" + os.devnull, "core.pager=cat", "core.editor=false", "core.askPass=", "core.sshCommand=false", "core.gitProxy=",
    "core.alternateRefsCommand=false", "core.attributesFile=" + os.devnull, "credential.helper=", "diff.external=", "diff.submodule=short", "log.showSignature=false",
    "log.mailmap=false", "log.diffMerges=off", "protocol.allow=never", "safe.bareRepository=explicit", "gc.auto=0", "maintenance.auto=false",
)
ENVIRONMENT = {  # GIT_NO_LAZY_FETCH counts from 2.45 on: with an older git nothing but the look at the configuration keeps it from fetching
    "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "", "GIT_PROTOCOL_FROM_USER": "0", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "SSH_ASKPASS": "", "GIT_PAGER": "cat",
    "GIT_EDITOR": "false", "GIT_ATTR_NOSYSTEM": "1", "LC_ALL": "C",
}
# `log` is the one command: it reads objects alone. Others look at the files of the tree, and for that run filters of any name
COMMAND = ("log", "--no-ext-diff", "--no-textconv", "--submodule=short", "--ignore-submodules=all", "--no-show-signature")


class Ran(NamedTuple):
    """How git ended and what it printed, both streams."""

    exit_code: int
    output: bytes


def history(root: str, arguments: List[str], seconds: float = SECONDS) -> Optional[Ran]:
    """What `git log ARGUMENTS` says of a checkout; None where git is not started.

    It is not for a checkout of somebody else, for a partial clone or a sparse index (an object that is missing would be fetched), for an index
    that cannot be read, and where there is no git on an absolute PATH.  The git folder is named, so that no other is looked for.
    """
    program = shutil.which("git", path=os.pathsep.join(filter(os.path.isabs, os.environ.get("PATH", os.defpath).split(os.pathsep))))
    checkout = git.checkout_of(os.path.realpath(root))
    if not program or not checkout or git.settings_of(checkout).partial:
        return None
    try:
        if git_index.read(checkout.index).folders:
            return None
    except (OSError, git_index.IndexFormatError):
        return None
    import subprocess  # late: 5 ms

    command = [program, "--git-dir=" + checkout.folder, "--work-tree=" + checkout.top, "--no-pager"]
    command += [word for setting in SETTINGS for word in ("-c", setting)]
    environ = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    try:
        done = subprocess.run(command + [*COMMAND, *arguments], cwd=checkout.top, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=dict(environ, **ENVIRONMENT), timeout=seconds)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return Ran(done.returncode, done.stdout)
