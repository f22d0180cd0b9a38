"""A handle is honoured where it was made: the repository, the project, the session. Elsewhere it
is asked for with --any.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys

import pytest

import plugin
from contextkernel import marks
from contextkernel.store import ledger, repository_keys, schema

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_mcp import post, start  # noqa: E402, F401  (a fixture)

LOG = "".join(
    (
        f"2026-11-30T10:{n // 60 % 60:02}:{n % 60:02}Z INFO  svc-{n % 5} request {n} served in "
        f"{3 + n * 7 % 40} ms\n"
    )
    for n in range(400)
)
ENV = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@x",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@x",
}
git_needed = pytest.mark.skipif(not shutil.which("git"), reason="no git")


def git(folder, *words):
    subprocess.run(
        ["git", "-C", str(folder)] + list(words),
        env=dict(os.environ, **ENV),
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def repository(folder, name="a"):
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    (folder / "f").write_text(name)
    git(folder, "add", "f")
    git(folder, "commit", "-q", "-m", name)
    return folder


@pytest.fixture
def home(tmp_path, monkeypatch):
    for name in ("CLAUDE_CODE_SESSION_ID", "CK_TRANSCRIPT", "CK_SESSION"):
        monkeypatch.delenv(name, raising=False)
    return repository(tmp_path / "home repo")


@pytest.fixture
def hidden(run_hook):
    def hide(folder, session="s-1", text=LOG, use="toolu_1", env=None, **more):
        event = dict(
            {
                "hook_event_name": "PostToolUse",
                "session_id": session,
                "transcript_path": "",
                "cwd": str(folder),
                "tool_name": "Bash",
                "tool_input": {"command": "deploy --customer ACME"},
                "tool_use_id": use,
                "tool_response": {
                    "stdout": text,
                    "stderr": "",
                    "interrupted": False,
                    "isImage": False,
                },
            },
            **more,
        )
        reply, _ = run_hook("post_tool_use.py", event, env=env)
        return marks.handles_in(reply["hookSpecificOutput"]["updatedToolOutput"]["stdout"])[0]

    return hide


@pytest.fixture
def recall(plugin_root, state):
    """(exit code, stdout, stderr) of ck.py recall in a folder."""

    def run(folder, *words, **env):
        done = subprocess.run(
            ["python3", "-I", "-S", os.path.join(plugin_root, "hooks", "ck.py"), "recall"]
            + list(words),
            cwd=str(folder),
            env=plugin.environment(plugin_root, env),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=60,
        )
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    return run


@git_needed
def test_elsewhere_it_asks_for_any(home, hidden, recall, tmp_path):
    handle, other = hidden(home), repository(tmp_path / "other", "b")
    plain = tmp_path / "plain"
    plain.mkdir()
    for folder in (other, plain):
        code, out, err = recall(folder, handle)
        assert code == 2
        assert out == ""
        assert err.count("\n") == 1
        assert "--any" in err
        assert "ACME" not in err
        assert recall(folder, handle, "--any")[:2] == (0, LOG)
        assert recall(folder, handle, "--any", "--lines", "1-1")[1] == LOG.split("\n")[0] + "\n"
        assert recall(folder, handle, "--grep", "request 7 ", "--any")[1].startswith("8:")
        assert recall(folder, handle[:8])[0] == 2
    assert recall(home, handle)[:2] == (0, LOG)


@git_needed
@pytest.mark.slow
def test_subfolders_worktrees_clones_and_forks_are_one(home, hidden, recall, tmp_path):
    git(home, "remote", "add", "origin", "git@host.example:team/app.git")
    handle = hidden(home)
    (home / "src" / "deep").mkdir(parents=True)
    git(home, "worktree", "add", "-q", str(tmp_path / "tree"))
    git(tmp_path, "clone", "-q", str(home), str(tmp_path / "clone"))
    git(tmp_path, "clone", "-q", str(home), str(tmp_path / "fork"))
    git(tmp_path / "fork", "remote", "remove", "origin")
    again = repository(tmp_path / "again", "c")
    git(again, "remote", "add", "upstream", "https://me:pw@HOST.example/team/app/")
    for folder in (
        home / "src" / "deep",
        tmp_path / "tree",
        tmp_path / "clone",
        tmp_path / "fork",
        again,
        home / ".git",
    ):
        assert recall(folder, handle)[:2] == (0, LOG), folder


@git_needed
def test_from_a_worktree_to_the_main_one(home, hidden, recall, tmp_path):
    git(home, "worktree", "add", "-q", str(tmp_path / "tree"))
    assert recall(home, hidden(tmp_path / "tree"))[:2] == (0, LOG)


@git_needed
@pytest.mark.slow
def test_the_session_and_the_project_are_honoured_anywhere(home, hidden, recall, tmp_path):
    """A resumed session has its own id or a new one; a fork has a new one, and its transcript in
    the same folder.
    """
    project = tmp_path / "config" / "projects" / "-home-repo"
    project.mkdir(parents=True)
    handle, other = (
        hidden(home, transcript_path=str(project / "s-1.jsonl")),
        repository(tmp_path / "other", "b"),
    )
    assert recall(other, handle)[0] == 2
    assert recall(other, handle, CLAUDE_CODE_SESSION_ID="s-1")[0] == 0
    assert recall(other, handle, CLAUDE_CODE_SESSION_ID="s-2")[0] == 2
    assert recall(other, handle, CK_TRANSCRIPT=str(project / "forked.jsonl"))[0] == 0
    assert recall(other, handle, CK_TRANSCRIPT=str(project.parent / "-other" / "s-2.jsonl"))[0] == 2


@git_needed
@pytest.mark.slow
def test_one_content_of_several_repositories(home, hidden, recall, tmp_path):
    other, third = repository(tmp_path / "other", "b"), repository(tmp_path / "third", "c")
    assert hidden(home) == hidden(other, "s-2", use="toolu_2")
    handle = hidden(home, use="toolu_3")
    assert recall(home, handle)[0] == recall(other, handle)[0] == 0
    assert recall(third, handle)[0] == 2


@git_needed
@pytest.mark.slow
def test_what_cannot_be_told_is_honoured(home, hidden, recall, tmp_path, state):
    other, plain = repository(tmp_path / "other", "b"), tmp_path / "plain"
    plain.mkdir()
    assert recall(other, hidden(plain, text="1" + LOG))[0] == 0, "made outside of any repository"
    assert recall(other, hidden(home, text="2" + LOG, env={"CK_LOG_OFF": "1"}))[0] == 0, (
        "no receipt"
    )
    handle = hidden(home, text="3" + LOG, use="toolu_3")
    assert recall(other, handle)[0] == 2
    (state / "state.db").write_bytes(b"noise" * 1000)
    for name in ("state.db-wal", "state.db-shm"):
        if (state / name).exists():
            (state / name).unlink()
    assert recall(other, handle)[:2] == (0, "3" + LOG), "no ledger"


@git_needed
def test_old_receipts_are_honoured(home, hidden, recall, tmp_path, state, monkeypatch):
    """A ledger of the schema before, with a receipt in it."""
    handle, other = hidden(home), repository(tmp_path / "other", "b")
    shutil.rmtree(str(state / "spool"))
    with sqlite3.connect(str(state / "state.db")) as db:
        db.executescript(schema.MIGRATIONS[0] + "PRAGMA user_version = 1;")
        db.execute(
            (
                "INSERT INTO receipts (client, session, agent, generation, tool_use_id, handle, "
                "cwd) VALUES ('claude', 's-1', '', 0, 'u', ?, ?)"
            ),
            (handle, str(home)),
        )
    assert recall(other, handle)[:2] == (0, LOG)
    books = ledger.open_ledger()
    assert books.rows("SELECT repo, cwd FROM receipts") == [{"repo": None, "cwd": str(home)}]


@git_needed
@pytest.mark.slow
def test_an_expired_handle_says_nothing_elsewhere(home, hidden, recall, tmp_path, state):
    handle, other = hidden(home), repository(tmp_path / "other", "b")
    shutil.rmtree(str(state / "blobs"))
    assert "ACME" in recall(home, handle)[2]
    assert "ACME" not in recall(other, handle)[2]
    for words in (handle[:1], handle[:7], "%", "", handle[:7] + "%", "zz"):
        code, out, err = recall(home, words)
        assert code == 2, words
        assert "ACME" not in err, words
        assert "it was" not in err, words


# -- the MCP tool ----------------------------------------------------------------------------------
def asked(server, handle, **more):
    result = server.call("recall", {"handle": handle}, **more)
    return bool(result.get("isError")), result["content"][0]["text"]


@git_needed
def test_the_tool_refuses_with_the_reason(home, hidden, start, tmp_path):  # noqa: F811
    handle, other = hidden(home), repository(tmp_path / "other", "b")
    refused, text = asked(start(cwd=str(other)), handle)
    assert refused
    assert "another repository" in text
    assert "ACME" not in text
    assert "\n" not in text
    assert asked(start(cwd=str(home)), handle)[0] is False


@git_needed
@pytest.mark.slow
def test_the_tool_follows_the_session(home, hidden, start, tmp_path):  # noqa: F811
    """The server's folder is the session's; one that moved, is resumed elsewhere or is a thread
    of Codex is still the same.
    """
    handle, other = hidden(home), repository(tmp_path / "other", "b")
    server = start(cwd=str(other))
    server.call("hook", post(session_id="s-1", cwd=str(other)))
    assert asked(server, handle)[0] is False
    codex = start("--client", "codex", cwd=str(other))
    assert asked(codex, handle, _meta={"threadId": "s-1"})[0] is False
    assert asked(codex, handle, _meta={"threadId": "s-9"})[0] is True


@git_needed
@pytest.mark.slow
def test_the_tool_honours_where_nothing_tells(home, hidden, start, plugin_root):  # noqa: F811
    """Codex starts the server of a bundle in the bundle's own folder, which says nothing of the
    user's.
    """
    assert asked(start("--client", "codex", cwd=plugin_root), hidden(home))[0] is False


# -- how a repository is told ----------------------------------------------------------------------
@git_needed
def test_keys_hold_no_path_and_no_password(home, hidden, state):
    git(home, "remote", "add", "origin", "https://me:s3cretWord@host.example/team/app.git")
    hidden(home)
    books = ledger.open_ledger()
    [row] = books.rows("SELECT repo FROM receipts")
    assert len(row["repo"].split()) == 2
    assert set(row["repo"]) <= set("0123456789abcdef ")
    assert "s3cretWord" not in json.dumps(books.rows("SELECT * FROM receipts"))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"gitdir: /nowhere",
        b"gitdir: ",
        b"\xff\xfe",
        b"gitdir: \0",
        b"gitdir: " + b"../" * 5000,
        b"x" * 2000000,
    ],
)
def test_a_git_file_that_leads_nowhere_is_no_repository(tmp_path, content):
    (tmp_path / ".git").write_bytes(content)
    assert repository_keys.repository(str(tmp_path)) == ""


@pytest.mark.parametrize("folder", ["", "relative", "/nowhere/at/all", "/", "\0", "/a\0b"])
def test_no_folder_no_repository(folder):
    assert repository_keys.repository(folder) == ""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
def test_nothing_of_git_that_is_no_file_is_waited_for(tmp_path):
    for name in ("HEAD", "config", "commondir", "packed-refs"):
        (tmp_path / "r" / ".git" / "objects").mkdir(parents=True, exist_ok=True)
        os.mkfifo(str(tmp_path / "r" / ".git" / name))
    assert repository_keys.repository(str(tmp_path / "r")) == ""
    os.unlink(str(tmp_path / "r" / ".git" / "HEAD"))
    (tmp_path / "r" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / "r" / ".git" / "refs").mkdir()
    assert len(repository_keys.repository(str(tmp_path / "r"))) == 16
