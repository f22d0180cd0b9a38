"""No repository runs a program: not by a slice, not by a build of the index, not by the server's
tool, not where git is started.

Each repository is planted with a canary, a script that writes a file, wherever git would take a
program from it; some of them are shown to run it when git is started there without care.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import plugin

SYMPTOM = "ValueError: boom in foo1"
CARELESS_S = 20
LIST = ["ls-files", "-co", "--exclude-standard"]

# Every key of git's configuration that names a program, with the section it needs; %s is the canary
KEYS = {
    "core.fsmonitor": "[core]\nfsmonitor = %s",
    "core.hooksPath": "[core]\nhooksPath = HOOKS",
    "core.sshCommand": "[core]\nsshCommand = %s",
    "core.pager": "[core]\npager = %s",
    "core.editor": "[core]\neditor = %s",
    "core.askPass": "[core]\naskPass = %s",
    "core.gitProxy": "[core]\ngitProxy = %s",
    "core.alternateRefsCommand": "[core]\nalternateRefsCommand = %s",
    "sequence.editor": "[sequence]\neditor = %s",
    "diff.external": "[diff]\nexternal = %s",
    "diff.command": '[diff "d"]\ncommand = %s',
    "diff.textconv": '[diff "d"]\ntextconv = %s\ncachetextconv = true',
    "filter.clean": '[filter "f"]\nclean = %s\nrequired = true',
    "filter.smudge": '[filter "f"]\nsmudge = %s',
    "filter.process": '[filter "f"]\nprocess = %s',
    "merge.driver": '[merge "m"]\ndriver = %s',
    "mergetool.cmd": '[merge]\ntool = t\n[mergetool "t"]\ncmd = %s',
    "mergetool.path": '[mergetool "vimdiff"]\npath = %s',
    "difftool.cmd": '[diff]\ntool = t\n[difftool "t"]\ncmd = %s',
    "guitool.cmd": '[guitool "g"]\ncmd = %s',
    "alias": "[alias]\nls-files = !%s\nstatus = !%s\nzz = !%s",
    "pager.ls-files": "[pager]\nls-files = %s\nstatus = %s",
    "credential.helper": "[credential]\nhelper = !%s",
    "gpg.program": "[gpg]\nprogram = %s\n[commit]\ngpgSign = true",
    "gpg.ssh": '[gpg]\nformat = ssh\n[gpg "ssh"]\nprogram = %s\ndefaultKeyCommand = %s',
    "interactive.diffFilter": "[interactive]\ndiffFilter = %s",
    "trailer.command": '[trailer "t"]\ncommand = %s\ncmd = %s',
    "sendemail": "[sendemail]\nsmtpServer = %s\nsendmailCmd = %s",
    "uploadpack.packObjectsHook": "[uploadpack]\npackObjectsHook = %s",
    "remote.uploadpack": '[remote "origin"]\nurl = /nowhere\nuploadpack = %s\nreceivepack = %s',
    "remote.vcs": '[remote "origin"]\nurl = x\nvcs = ext',
    "submodule.update": '[submodule "s"]\npath = s\nupdate = !%s\nactive = true',
    "browser.cmd": '[web]\nbrowser = b\n[browser "b"]\ncmd = %s',
    "man.cmd": '[man]\nviewer = m\n[man "m"]\ncmd = %s',
    "instaweb": "[instaweb]\nhttpd = %s\nbrowser = %s",
    "tar.command": '[tar "tar.x"]\ncommand = %s',
    "init.templateDir": "[init]\ntemplateDir = HOOKS",
    "protocol.ext": (
        '[protocol]\nallow = always\n[protocol "ext"]\nallow = always\n[remote "origin"]\n'
        "url = ext::%s\npromisor = true"
    ),
    "imap.tunnel": "[imap]\ntunnel = %s",
    "fetch.bundleURI": "[fetch]\nbundleURI = ext::%s",
    "url.insteadOf": '[url "ext::%s"]\ninsteadOf = ssh://x',
    "maintenance": (
        "[gc]\nauto = 1\n[maintenance]\nauto = true\n[core]\nfsmonitorHookVersion = 1\n"
        "fsmonitor = %s"
    ),
}
PROMISOR = (
    "[core]\nrepositoryformatversion = 1\n%s\n[extensions]\npartialClone = origin\n"
    '[remote "origin"]\nurl = %s\npromisor = true\npartialclonefilter = blob:none\n%s'
)
# how the missing object would be fetched: (more for [core], the URL, more for the remote)
FETCHES = {
    "ssh": ("sshCommand = %s", "ssh://x/y", ""),
    "ssh by scp form": ("sshCommand = %s", "x:y", ""),
    "ext": ("", "ext::%s", '[protocol "ext"]\nallow = always'),
    "uploadpack": ("", "/nowhere", "uploadpack = %s"),
    "git proxy": ("gitProxy = %s", "git://127.0.0.1:1/y", ""),
    "vcs": ("", "ext::%s", "vcs = ext\n[protocol]\nallow = always"),
    "credential": ("", "http://127.0.0.1:1/y", "[credential]\nhelper = !%s\n[core]\naskPass = %s"),
}


class Planted:
    """A hostile repository: `root`, the folders to ask for, and the commands that run the canary
    when git is started carelessly.
    """

    def __init__(self, base):
        self.base, self.root, self.canary, self.ran = (
            base,
            os.path.join(base, "r"),
            os.path.join(base, "canary"),
            os.path.join(base, "RAN"),
        )
        self.asked, self.careless, self.environ = [self.root], [LIST, ["status"]], {}
        with open(self.canary, "w") as handle:
            handle.write(f'#!/bin/sh\necho "$0 $*" > "{self.ran}"\nexit 1\n')
        os.chmod(self.canary, 0o755)

    def git(self, *arguments, folder=None):
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": self.base,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "a",
            "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "a",
            "GIT_COMMITTER_EMAIL": "a@example.org",
        }
        return subprocess.run(
            ["git", "-C", folder or self.root, "-c", "protocol.file.allow=always"]
            + list(arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environ, **self.environ),
            timeout=CARELESS_S,
        )

    def write(self, name, text, executable=False, folder=None):
        path = os.path.join(folder or self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "a") as handle:
            handle.write(text)
        if executable:
            os.chmod(path, 0o755)

    def fill(self, folder):
        """An ordinary small repository."""
        os.makedirs(folder)
        self.git("init", "-q", ".", folder=folder)
        for number in range(3):
            self.write(
                f"src/f{number}.py",
                f"def foo{number}():\n    raise ValueError('boom')\n",
                folder=folder,
            )
        self.write(".gitignore", "*.log\n", folder=folder)
        self.write(".gitattributes", "*.py filter=f diff=d merge=m\n", folder=folder)
        self.git("add", "-A", folder=folder)
        self.git("commit", "-qm", "x", folder=folder)

    def hooks(self):
        folder = os.path.join(self.base, "hooks")
        for name in (
            "fsmonitor-watchman",
            "post-index-change",
            "post-checkout",
            "pre-commit",
            "query-watchman",
            "reference-transaction",
        ):
            shutil.copy(self.canary, os.path.join(folder, name)) if os.path.isdir(folder) else (
                os.makedirs(folder),
                shutil.copy(self.canary, os.path.join(folder, name)),
            )
        return folder

    def settings(self, key):
        """The configuration text of a key that runs the canary."""
        return KEYS[key].replace("%s", self.canary).replace("HOOKS", self.hooks()) + "\n"

    def lacking(self, folder, fetch="ssh"):
        """A partial clone: the blob of .gitignore is wanted (it is not in the tree) and missing."""
        self.git("update-index", "--skip-worktree", ".gitignore", folder=folder)
        os.unlink(os.path.join(folder, ".gitignore"))
        self.lose(folder, "HEAD:.gitignore")
        self.write(".git/config", self.promising(fetch), folder=folder)

    def promising(self, fetch):
        core, url, remote = (part.replace("%s", self.canary) for part in FETCHES[fetch])
        return PROMISOR % (core, url, remote) + "\n"

    def lose(self, folder, name):
        digest = self.git("rev-parse", name, folder=folder).stdout.decode().strip()
        os.unlink(os.path.join(folder, ".git", "objects", digest[:2], digest[2:]))


def changed(it):
    for number in range(3):
        it.write(f"src/f{number}.py", "# changed\n")


def by_key(key):
    def plant(it):
        it.fill(it.root)
        it.write(".git/config", it.settings(key))
        changed(it)
        it.careless = [
            LIST,
            ["status"],
            ["-p", "log"],
            ["diff"],
            ["log", "-p"],
            ["add", "."],
            ["zz"],
            ["fetch", "origin"],
            ["commit", "-qam", "x"],
            ["rebase", "-i", "HEAD"],
            ["submodule", "update"],
        ]

    return plant


def by_fetch(fetch):
    def plant(it):
        it.fill(it.root)
        it.lacking(it.root, fetch)
        if fetch == "credential":
            it.careless = []  # needs a server that asks

    return plant


def planted_by(text_of, place):
    """A repository with the configuration `text_of(it)` in a place other than its own
    .git/config.
    """

    def plant(it):
        it.fill(it.root)
        PLACES[place](it, text_of(it))
        changed(it)

    return plant


def included(it, text):
    it.write("evil.cfg", text)
    it.write(".git/config", "[include]\npath = ../evil.cfg\n")


def included_absolutely(it, text):
    it.write("evil.cfg", text, folder=it.base)
    it.write(".git/config", f"[include]\npath = {it.base}/evil.cfg\n")


def included_for_this_folder(it, text):
    it.write("evil.cfg", text)
    it.write(".git/config", '[includeIf "gitdir:**"]\npath = ../evil.cfg\n')


def included_for_this_branch(it, text):
    it.write("evil.cfg", text)
    it.write(".git/config", '[includeIf "onbranch:**"]\npath = ../evil.cfg\n')


def of_the_worktree(it, text):
    it.write(
        ".git/config", "[core]\nrepositoryformatversion = 1\n[extensions]\nworktreeConfig = true\n"
    )
    it.write(".git/config.worktree", text)


def behind_a_git_file(it, text):
    os.rename(os.path.join(it.root, ".git"), os.path.join(it.base, "elsewhere"))
    it.write(".git", "gitdir: ../elsewhere\n")
    it.write("elsewhere/config", text, folder=it.base)


def in_the_tree(it, text):
    os.rename(os.path.join(it.root, ".git"), os.path.join(it.root, "vendor.d"))
    it.write(".git", "gitdir: vendor.d\n")
    it.write("vendor.d/config", text)


def by_common_folder(it, text):
    os.makedirs(os.path.join(it.root, "gd"))
    for name in ("HEAD", "index"):
        shutil.copy(os.path.join(it.root, ".git", name), os.path.join(it.root, "gd", name))
    os.rename(os.path.join(it.root, ".git"), os.path.join(it.root, "cd"))
    it.write("gd/commondir", "../cd\n")
    it.write(".git", "gitdir: gd\n")
    it.write("cd/config", text)


def in_a_submodule(it, text):
    it.fill(os.path.join(it.base, "sub"))
    it.git("submodule", "add", "-q", os.path.join(it.base, "sub"), "sub")
    it.git("commit", "-qm", "sub")
    it.write(".git/modules/sub/config", text)
    it.write("sub/src/f1.py", "# changed\n")
    it.asked.append(os.path.join(it.root, "sub"))


def in_a_nested_repository(it, text):
    it.fill(os.path.join(it.root, "nested"))
    it.write("nested/.git/config", text)
    it.write("nested/src/f1.py", "# changed\n")
    it.asked.append(os.path.join(it.root, "nested"))


def in_a_linked_worktree(it, text):
    it.git("worktree", "add", "-q", "wt")
    it.write(".git/config", text)
    it.write("wt/src/f1.py", "# changed\n")
    it.asked.append(os.path.join(it.root, "wt"))


def bare_in_a_folder(it, text):
    shutil.copytree(os.path.join(it.root, ".git"), os.path.join(it.root, "sub"))
    it.write("sub/config", text + "[core]\nbare = false\nworktree = .\n")
    it.write("sub/a.py", "def foo1(): raise ValueError('boom')\n")
    it.asked.append(os.path.join(it.root, "sub"))


def for_another_tree(it, text):
    it.write(".git/config", text + f"[core]\nworktree = {it.root}\n")


def of_the_home(it, text):
    it.write(".git/config", "")
    it.environ = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "include.path",
        "GIT_CONFIG_VALUE_0": os.path.join(it.base, "evil.cfg"),
    }
    it.write("evil.cfg", text, folder=it.base)


def named_by_the_environment(it, text):
    os.rename(os.path.join(it.root, ".git"), os.path.join(it.base, "elsewhere"))
    it.write("elsewhere/config", text, folder=it.base)
    it.environ = {"GIT_DIR": os.path.join(it.base, "elsewhere"), "GIT_WORK_TREE": it.root}


PLACES = {
    one.__name__: one
    for one in (
        included,
        included_absolutely,
        included_for_this_folder,
        included_for_this_branch,
        of_the_worktree,
        behind_a_git_file,
        in_the_tree,
        by_common_folder,
        in_a_submodule,
        in_a_nested_repository,
        in_a_linked_worktree,
        bare_in_a_folder,
        for_another_tree,
        of_the_home,
        named_by_the_environment,
    )
}


def fetch_from(place):
    """A partial clone with a missing blob whose promisor stands in another place."""

    def plant(it):
        it.fill(it.root)
        it.git("update-index", "--skip-worktree", ".gitignore")
        os.unlink(os.path.join(it.root, ".gitignore"))
        it.lose(it.root, "HEAD:.gitignore")
        it.write(".git/config", "[core]\nrepositoryformatversion = 1\n")
        PLACES[place](it, it.promising("ssh"))

    return plant


def sparse_index(it):
    it.fill(it.root)
    it.git("sparse-checkout", "set", "--cone", "src")
    it.write("lib/a/m.py", "x = 1\n")
    it.git("add", "--sparse", "-A")
    it.git("commit", "-qm", "lib")
    it.git("config", "index.sparse", "true")
    it.git("sparse-checkout", "reapply", "--sparse-index")
    it.lose(it.root, "HEAD:lib")
    it.write(".git/config", it.promising("ssh"))


def split_index(it):
    it.fill(it.root)
    it.git("update-index", "--split-index")
    it.lacking(it.root)


def alternates(it):
    it.fill(it.root)
    it.write(".git/objects/info/alternates", it.canary + "\n../../../elsewhere\n")
    it.lacking(it.root)


def cloned_with_a_bare_repository(it):
    """An ordinary clone: no .git of it was tampered with, the hostile repository came as files."""
    inner = os.path.join(it.base, "inner")
    it.fill(inner)
    it.lacking(inner)
    it.write(".git/config", "[core]\nbare = false\nworktree = .\n", folder=inner)
    origin = os.path.join(it.base, "origin")
    it.fill(origin)
    shutil.copytree(os.path.join(inner, ".git"), os.path.join(origin, "sub"))
    it.write("sub/refs/keep", "", folder=origin)
    it.write("sub/a.py", "def foo1(): raise ValueError('boom')\n", folder=origin)
    it.git("add", "-A", folder=origin)
    it.git("commit", "-qm", "sub", folder=origin)
    it.git("clone", "-q", origin, it.root, folder=it.base)
    it.asked.append(os.path.join(it.root, "sub"))


def hooks_of_its_own(it):
    it.fill(it.root)
    for name in ("post-index-change", "fsmonitor-watchman", "pre-commit"):
        shutil.copy(it.canary, os.path.join(it.root, ".git", "hooks", name))
    changed(it)
    it.careless = [["add", "."]]


def programs_in_its_folder(it):
    it.fill(it.root)
    for name in ("git", "git.exe", "python3", "sh", "src/git"):
        shutil.copy(it.canary, os.path.join(it.root, name))
    it.careless, it.environ = [], {"PATH": ".:" + os.environ["PATH"]}


def modules_in_its_folder(it):
    it.fill(it.root)
    for name in ("json", "os", "sqlite3", "contextkernel", "sitecustomize", "usercustomize"):
        it.write(name + ".py", f"open({it.ran!r}, 'w').close()\n")
    it.careless, it.environ = [], {"PYTHONPATH": it.root}


REPOSITORIES = dict(
    [("key " + key, by_key(key)) for key in KEYS]
    + [("fetch by " + one, by_fetch(one)) for one in FETCHES]
    + [
        ("monitor " + place, planted_by(lambda it: it.settings("core.fsmonitor"), place))
        for place in PLACES
    ]
    + [
        ("filter " + place, planted_by(lambda it: it.settings("filter.clean"), place))
        for place in PLACES
    ]
    + [("fetch " + place, fetch_from(place)) for place in PLACES]
    + [
        (one.__name__, one)
        for one in (
            sparse_index,
            split_index,
            alternates,
            cloned_with_a_bare_repository,
            hooks_of_its_own,
            programs_in_its_folder,
            modules_in_its_folder,
        )
    ]
)
RUNS_WHEN_CARELESS = [
    "key core.fsmonitor",
    "key core.hooksPath",
    "key alias",
    "key filter.clean",
    "key diff.external",
    "key diff.textconv",
    "key gpg.program",
    "fetch by ssh",
    "fetch by ext",
    "fetch by uploadpack",
    "monitor included",
    "monitor included_for_this_folder",
    "monitor of_the_worktree",
    "monitor behind_a_git_file",
    "monitor in_a_submodule",
    "monitor bare_in_a_folder",
    "fetch in_the_tree",
    "fetch of_the_home",
    "sparse_index",
    "split_index",
    "cloned_with_a_bare_repository",
    "hooks_of_its_own",
]


def test_there_are_repositories_enough():
    assert len(REPOSITORIES) >= 90
    assert len(set(RUNS_WHEN_CARELESS) & set(REPOSITORIES)) >= 20


@pytest.fixture(scope="module")
def server(plugin_root, tmp_path_factory):
    environ = plugin.environment(plugin_root, {"CK_DATA": str(tmp_path_factory.mktemp("server"))})
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", os.path.join(plugin_root, "mcp", "server.py")],
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )

    def call(name, arguments):
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": name, "arguments": arguments},
        }
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        while True:
            answer = json.loads(process.stdout.readline())
            if answer.get("id") == 1 and "method" not in answer:
                return answer["result"]

    yield call
    process.kill()
    process.wait()


def started(root, arguments, environ, stdin=b""):
    command = [sys.executable, "-I", "-S", os.path.join(root, "hooks", arguments[0])] + arguments[
        1:
    ]
    return subprocess.run(
        command,
        input=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd="/",
        env=plugin.environment(root, environ),
        timeout=60,
    )


@pytest.mark.parametrize("name", REPOSITORIES)
@pytest.mark.loop(2)
def test_no_repository_runs_a_program(name, tmp_path, plugin_root, state, server):
    it = Planted(str(tmp_path))
    REPOSITORIES[name](it)
    if os.path.exists(it.ran):
        os.unlink(it.ran)  # making it went through git
    for folder in it.asked:
        slice_ = started(
            plugin_root,
            ["ck.py", "slice", "--repo", folder, "--symptom", "-", "--wait"],
            it.environ,
            SYMPTOM.encode(),
        )
        assert slice_.returncode == 0, slice_.stderr
        assert b"f1.py" in slice_.stdout or folder != it.root, slice_.stderr
        assert not server("kernel_repo_slice", {"symptom": SYMPTOM, "repo": folder}).get("isError")
    built = started(
        plugin_root,
        ["ck.py", "slice", "--repo", it.root, "--build"],
        dict(it.environ, CK_DATA=str(tmp_path / "anew")),
    )
    assert built.returncode == 0, built.stderr
    assert not os.path.exists(it.ran), pathlib.Path(it.ran).read_text()


@pytest.mark.parametrize("name", RUNS_WHEN_CARELESS)
@pytest.mark.loop(2)
def test_the_canary_runs_when_git_is_started_without_care(name, tmp_path):
    it = Planted(str(tmp_path))
    REPOSITORIES[name](it)
    if os.path.exists(it.ran):
        os.unlink(it.ran)
    for folder in it.asked:
        for command in it.careless:
            it.git(*command, folder=folder)
            if os.path.exists(it.ran):
                return
    pytest.fail("the repository is harmless: the test above shows nothing")


def test_git_is_not_even_looked_for(tmp_path, plugin_root, state):
    it = Planted(str(tmp_path))
    it.fill(it.root)
    os.mkdir(os.path.join(it.base, "bin"))
    shutil.copy(it.canary, os.path.join(it.base, "bin", "git"))
    environ = {"PATH": os.path.join(it.base, "bin") + os.pathsep + os.environ["PATH"]}
    shown = started(
        plugin_root,
        ["ck.py", "slice", "--repo", it.root, "--symptom", "-"],
        environ,
        SYMPTOM.encode(),
    )
    assert shown.returncode == 0
    assert b"f1.py" in shown.stdout
    assert not os.path.exists(it.ran)


@pytest.mark.parametrize(
    "name, note",
    [
        ("fetch by ssh", "a partial clone: git is not started"),
        ("fetch of_the_worktree", "a partial clone: git is not started"),
        ("fetch included", "a partial clone: git is not started"),
        ("sparse_index", "a sparse index: git is not started"),
    ],
)
@pytest.mark.loop(1)
def test_the_manifest_says_that_the_tree_was_walked(name, note, tmp_path, plugin_root, state):
    it = Planted(str(tmp_path))
    REPOSITORIES[name](it)
    shown = started(
        plugin_root, ["ck.py", "slice", "--repo", it.root, "--symptom", "-"], {}, SYMPTOM.encode()
    ).stdout.decode()
    assert note in shown.partition("blind spots:")[2]
