"""The failure lane in the real clients: what the model was sent, and the exit code it was told,
with and without it.

A handful of sessions per client, played side by side: every case with the lane on; the same without
it; the permission matrix with and without it; zsh; a user's own prefix and a plugin that vanishes
and comes back elsewhere; a store that is full, then read-only.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import sqlite3
import subprocess
import types

import pytest

import failing_runs
import lane as client
import plugin
import run_claude
import session as script
from contextkernel import marks

pytestmark = pytest.mark.e2e
GEN = "python3 gen.py "
LOG = GEN + "log 1500 "
BIG_KB = 50000
TASK_FILE = r"""{{regex:(/[^\s"'\\]*/tasks/\w+\.output)(?![\s\S]*/tasks/)}}"""
WAIT = (
    f"for i in $(seq 80); do grep -q 'ck: exit' '{TASK_FILE}' && break; sleep 0.1; done; head -c "
    f"3000 '{TASK_FILE}'"
)
RUNS = [
    ("pytest", 200),
    ("pytest", 20000),
    ("jest", 2000),
    ("jest", 20000),
    ("cargo", 400),
    ("cargo", 20000),
    ("go", 1200),
    ("go", 20000),
]

# id -> (command, exit code the model is told; None: a success)
LONG = dict(
    {f"{kind}-{size}": (f"{GEN}{kind} {size}", 1) for kind, size in RUNS},
    **{
        "stderr": (LOG + ">&2", 1),
        "no-newline": (LOG + "; printf 'the end'; exit 2", 2),
        "bytes": (LOG + "; printf 'nul \\0 and \\377\\376\\n'; exit 1", 1),
        "exit": (LOG + "; exit 42", 42),
        "set-e": (f"bash -ec '{LOG}; echo never'", 1),
        "pipefail": (f"set -o pipefail; {LOG} | cat", 1),
        "heredoc": (
            "python3 - <<'E'\nimport sys\nprint(\"it's line\\n\" * 2000)\nsys.exit(9)\nE",
            9,
        ),
        "126": (LOG + "; ./gen.py", 126),
        "127": (LOG + "; no-such-command", 127),
        "137": (LOG + "; bash -c 'kill -9 $$'", 137),
        "255": (LOG + "; exit 255", 255),
        "wide": (
            (
                'for i in $(seq 2500); do echo "\U0001f680\U0001f680 case $i \U0001f680 '
                '$((i*i%97)) ok"; done; exit 1'
            ),
            1,
        ),
        "cd": ("cd sub && python3 ../gen.py log 1500", 1),
    },
)
SHORT = {
    "pwd-after-failure": ("pwd", None),
    "cd-only": ("cd sub", None),
    "pwd": ("pwd; cd ..", None),
    "short": ("echo out; echo err >&2; exit 3", 3),
    "143": ("echo out; exit 143", 143),
    "success": ("seq 1 100", None),
    "no-match": ("grep nothing-of-it gen.py", None),
}
RAW = {
    "raw": ("seq 1 20000; exit 5 # ck:raw", 5),
    "explicit": ("sed -n '1,9000p' numbers.txt; exit 4", 4),
    "differ": ("diff numbers.txt /dev/null", None),
}
SIGNALS = {
    "kill-9": ("echo out; kill -9 $$", 9),
    "kill-term": ("echo out; kill $$", 15),
    "kill-int": ("kill -INT $$", 2),
    "kill-hup": ("kill -HUP $$", 1),
    "kill-pipe": ("echo out; kill -PIPE $$", 13),
    "kill-9-long": (LOG + "; kill -9 $$", 9),
    "kill-term-long": (LOG + "; kill $$", 15),
}  # the shell of the command itself; what the model is told of it is the client's matter
CASES = dict(LONG, **dict(SHORT, **dict(RAW, **SIGNALS)))
RULES = {
    "permissions": {
        "allow": ["Bash(python3 gen.py:*)"],
        "deny": ["Bash(rm:*)"],
        "ask": ["Bash(touch asked:*)"],
    }
}
MATRIX = [
    GEN + "log 1500",
    "cd sub && python3 ../gen.py log 1500",
    GEN + "log 5 && rm kept.txt",
    "rm kept.txt",
    "env rm kept.txt",
    "touch asked",
    "touch other",
    "ls kept.txt",
    "ls no-such-file",
    GEN + "log 1500 | cat",
    GEN + "log 5 > kept.txt",
    "bash -c 'rm kept.txt'",
    "echo $(rm kept.txt)",
    "cat kept.txt",
]
FILES = {
    "gen.py": pathlib.Path(failing_runs.__file__).read_text(encoding="utf-8").split("\n", 1)[1],
    "kept.txt": "kept\n",
    "sub/x": "x\n",
    "numbers.txt": "".join(f"{n}\n" for n in range(1, 20001)),
}


def on(root, **env):
    """The setup command that switches the lane on."""
    words = [f"{name}={shlex.quote(value)}" for name, value in env.items()]
    return " ".join(
        words
        + [
            "python3 -I -S",
            shlex.quote(os.path.join(root, "hooks", "ck.py")),
            "failure-lane on --yes >on.txt",
        ]
    )


def turns(cases):
    return [{"tools": [script.bash(use_id, command)]} for use_id, (command, _) in cases.items()]


def every_case(root):
    more = [
        {"tools": [script.bash("big", GEN + f"big {BIG_KB} 9")]},
        {
            "tools": [
                script.bash("p1", GEN + "pytest 1500"),
                script.bash("p2", GEN + "cargo 1500 101"),
                script.bash("p3", GEN + "go 1500"),
            ]
        },
        {
            "tools": [
                script.call(
                    "agent",
                    "Agent",
                    description="look",
                    prompt="SUB-TASK",
                    subagent_type="general-purpose",
                    run_in_background=False,
                )
            ]
        },
        {
            "tools": [
                script.call(
                    "background", "Bash", command=GEN + "pytest 2000 7", run_in_background=True
                )
            ]
        },
        {"tools": [script.bash("background-file", WAIT)]},
        {
            "tools": [
                script.call(
                    "timeout", "Bash", command=GEN + "pytest 2000; sleep 2.5; exit 7", timeout=1500
                )
            ]
        },
        {"tools": [script.bash("timeout-file", WAIT)]},
    ]
    handle = r"{{regex:\[ck: exit 1, [^\n]*?\brecall ([0-9a-f]{12})}}"  # of the first case
    recall = [
        {
            "tools": [
                script.bash("recall-file", f"sha256sum <{script.FOLDER}/ck-{handle}.txt"),
                script.bash(
                    "recall-cli", f'python3 "$CK_ROOT/hooks/ck.py" recall {handle} | sha256sum'
                ),
                script.call("recall-mcp", script.RECALL_TOOL, handle=handle),
            ]
        }
    ]
    return {
        "turns": turns(CASES) + more + ["first"] + recall + ["second"],
        "subagents": {
            "SUB-TASK": [{"tools": [script.bash("sub", GEN + "pytest 2000 4")]}, "sub answer"]
        },
        "args": ["--plugin-dir", root],
        "runs": [{"prompt": "go"}, {"prompt": "on", "resume": True}],
        "setup": [on(root)],
    }


def vanishing(root, folder):
    own = os.path.join(folder, "own-prefix")
    with open(own, "w", encoding="utf-8") as handle:
        handle.write(
            f"#!/bin/sh\necho called >>'{own}.log'\nfor last; do :; done\nexec bash -c \"$last\"\n"
        )
    os.chmod(own, 0o755)
    cache = '"$CLAUDE_CONFIG_DIR"/plugins/cache/market/context-kernel'
    return {
        "user_settings": {"env": {"CLAUDE_CODE_SHELL_PREFIX": own}, "model": "claude-opus-4-5"},
        "setup": [on(root)],
        "turns": [
            {"tools": [script.bash(use_id, command)]}
            for use_id, command in (
                ("chained", LOG),
                ("away", f"mkdir -p {cache} && mv {shlex.quote(root)} {cache}/.hidden"),
                ("gone", LOG),
                ("back", f"mv {cache}/.hidden {cache}/9.9.9"),
                ("moved", LOG),
            )
        ]
        + ["done"],
    }


def cramped(path, folder):
    """A client that sees the state folder on a file system of 256 KB of its own."""
    wrapped = os.path.join(folder, "cramped-client")
    with open(wrapped, "w", encoding="utf-8") as handle:
        handle.write(
            '#!/bin/sh\nexport CK_TEST_STATE="$HOME/.local/state/context-kernel"\n'
            'exec unshare -m /bin/sh -c \'cp -a "$CK_TEST_STATE" "$HOME/state.copy" && '
            'mount -t tmpfs -o size=256k tmpfs "$CK_TEST_STATE" && cp -a "$HOME/state.copy/bin" '
            f'"$HOME/state.copy/lane" "$CK_TEST_STATE" && exec "$@"\' sh {shlex.quote(path)} '
            '"$@"\n'
        )
    os.chmod(wrapped, 0o755)
    return wrapped


def may_mount():
    return (
        shutil.which("unshare") is not None
        and subprocess.run(
            ["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], stderr=subprocess.DEVNULL
        ).returncode
        == 0
    )


@pytest.fixture(scope="module")
def played(claude, tmp_path_factory):
    """All sessions of one client: `.texts[session][id]`, `.errors[session]` (ids),
    `.results[session]`.
    """
    base = str(tmp_path_factory.mktemp("lane"))
    root, vanishing_root = plugin.copy_to(base), plugin.copy_to(base, "vanishing 'plugin'")
    sessions = {
        "lane": every_case(root),
        "plain": {
            "turns": turns({use_id: case for use_id, case in CASES.items() if use_id != "wide"})
            + ["done"],
            "args": ["--plugin-dir", root],
        },
        "rules": {
            "turns": turns({f"m{n:02}": (command, 0) for n, command in enumerate(MATRIX)})
            + ["done"],
            "user_settings": RULES,
            "permissions": "default",
            "setup": [on(root)],
        },
        "rules-plain": {
            "turns": turns({f"m{n:02}": (command, 0) for n, command in enumerate(MATRIX)})
            + ["done"],
            "user_settings": RULES,
            "permissions": "default",
            "record_events": ["PostToolUseFailure"],
        },
        "vanishing": vanishing(vanishing_root, base),
    }
    if client.SHELLS["zsh"]:
        sessions["zsh"] = {
            "turns": turns(
                {
                    "zsh": ("echo $ZSH_VERSION; " + GEN + "pytest 2000", 1),
                    "zsh-short": ("print -r zsh-only; exit 6", 6),
                }
            )
            + ["done"],
            "setup": [on(root)],
            "env": {"SHELL": client.SHELLS["zsh"]},
        }
    if may_mount():
        sessions["cramped"] = {
            "turns": turns(
                {
                    "full": ("head -c 900000 /dev/urandom | base64; " + LOG, 1),
                    "read-only": ('mount -o remount,ro "$CK_TEST_STATE" && ' + LOG, 1),
                }
            )
            + ["done"],
            "setup": [on(root)],
            "client": cramped(claude.path, base),
        }

    def play(name):
        scenario = dict({"files": FILES, "timeout_s": 150}, **sessions[name])
        return name, run_claude.run(
            scenario,
            client=scenario.get("client") or claude.path,
            root=os.path.join(base, "run-" + name),
        )

    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        results = dict(pool.map(play, sessions))
    seen = {
        name: dict(result.tool_results("subagent"), **result.tool_results())
        for name, result in results.items()
    }
    return types.SimpleNamespace(
        results=results,
        root=root,
        errors={
            name: {use_id for use_id, (is_error, _) in rows.items() if is_error}
            for name, rows in seen.items()
        },
        texts={
            name: {
                use_id: script.text_of(content).split("\n\n<system-reminder>")[0]
                for use_id, (_, content) in rows.items()
            }
            for name, rows in seen.items()
        },
    )


def told(text):
    """(what the client put before the output, the output)."""
    found = re.match(
        r"Exit code \d+(?:\n\[Request interrupted[^\n]*|\nCommand timed out[^\n]*)?\n?", text
    )
    return (found.group(0).strip(), text[found.end() :]) if found else ("", text)


def normal(played, session, use_id, code):
    """The text that the model read, after the checks that every rewritten failure must pass."""
    text = played.texts[session][use_id]
    head, body = told(text)
    assert use_id in played.errors[session]
    assert head.split("\n")[0] == f"Exit code {code:d}"
    assert re.match(
        rf"\[ck: exit {code:d}, \d+ lines, \d+ shown[^\n]*\brecall [0-9a-f]{{12}}\]\n", body
    ), body[:300]
    assert "characters truncated" not in text
    assert len(text) <= 10000
    return body


def same_paths(text):
    """The text with what differs between two sessions of the same commands taken out."""
    text = re.sub(r"/[^\s\"']*/tool-results/\w+\.txt", "/RESULTS/ID.txt", text)
    return re.sub(r"\brun-(?:lane|plain|rules-plain|rules)\b", "RUN", text)


def missing(kind, lines, text):
    return [needle for needle in failing_runs.needles(kind, lines) if needle not in text]


def test_every_session_ends_well(played):
    for name, result in played.results.items():
        assert [run["exit"] for run in result.runs] == [0] * len(result.runs), (
            name,
            result.stderr()[-500:],
        )
    assert set(CASES) <= set(played.texts["lane"])


@pytest.mark.parametrize(
    "use_id", [use_id for use_id in CASES if use_id != "wide"]
)  # 2.1.121 alone cuts a pair of surrogates in two there
def test_the_exit_code_told_is_the_same(played, use_id):
    ours, plain = played.texts["lane"][use_id], played.texts["plain"][use_id]
    code = CASES[use_id][1]
    assert (use_id in played.errors["lane"]) == (use_id in played.errors["plain"])
    assert told(ours)[0] == told(plain)[0]
    if use_id in SIGNALS:
        return
    assert (use_id in played.errors["lane"]) == (code is not None)
    assert code is None or told(ours)[0].startswith(f"Exit code {code:d}")


@pytest.mark.parametrize("use_id", list(SHORT) + list(RAW))
def test_what_is_short_or_asked_for_is_untouched(played, use_id):
    ours, plain = (same_paths(played.texts[name][use_id]) for name in ("lane", "plain"))
    assert ours == plain
    assert not marks.carries_mark(ours) or use_id == "differ"


@pytest.mark.parametrize("use_id", LONG)
def test_a_long_failure_is_shown_in_normal_form(played, use_id):
    normal(played, "lane", use_id, LONG[use_id][1])


@pytest.mark.parametrize("use_id", SIGNALS)
def test_a_shell_that_ends_by_a_signal(played, use_id):
    ours, plain = played.texts["lane"][use_id], played.texts["plain"][use_id]
    if use_id.endswith("-long"):
        assert re.match(
            rf"\[ck: ended by signal {SIGNALS[use_id][1]:d}, 1500 lines, ", told(ours)[1]
        )
        assert "characters truncated" in plain
        assert "characters truncated" not in ours
    else:
        assert same_paths(ours) == same_paths(plain)


@pytest.mark.parametrize("kind, lines", RUNS)
def test_the_failing_tests_are_shown_where_the_client_alone_loses_them(played, kind, lines):
    use_id = f"{kind}-{lines:d}"
    assert missing(kind, lines, normal(played, "lane", use_id, 1)) == []
    assert lines < 1000 or len(missing(kind, lines, played.texts["plain"][use_id])) >= 2


def test_fifty_megabytes(played):
    body = normal(played, "lane", "big", 9)
    assert missing("big", BIG_KB, body) == []


def test_a_folder_is_kept_as_without_the_lane(played):
    assert played.texts["lane"]["pwd-after-failure"].endswith("/project")
    assert played.texts["lane"]["pwd"].endswith("/project/sub")


def test_parallel_failures(played):
    for use_id, kind, code in (("p1", "pytest", 1), ("p2", "cargo", 101), ("p3", "go", 1)):
        assert missing(kind, 1500, normal(played, "lane", use_id, code)) == []


def test_a_failure_in_a_sub_agent(played):
    assert missing("pytest", 2000, normal(played, "lane", "sub", 4)) == []


def test_a_background_command_is_rewritten_at_its_end(played):
    assert "background" in played.texts["lane"]["background"]
    assert played.texts["lane"]["background-file"].startswith("[ck: exit 7, ")


def test_a_command_that_meets_its_timeout(played):
    """2.1.121 and 2.1.332 move it to the background, 2.1.200 ends it with SIGTERM: 143."""
    text = played.texts["lane"]["timeout"]
    if "timeout" in played.errors["lane"]:
        assert told(text)[0].startswith("Exit code 143\nCommand timed out")
        assert told(text)[1].startswith("[ck: exit 143, ")
    else:
        assert "background" in text
        assert played.texts["lane"]["timeout-file"].startswith("[ck: exit 7, ")


def test_recall_after_resume_by_every_route(played):
    texts = played.texts["lane"]
    raw = ("\n".join(failing_runs.pytest(200)) + "\n").encode()
    digest = hashlib.sha256(raw).hexdigest()
    assert marks.handles_in(texts["pytest-200"])[0] == digest[:12]
    assert texts["recall-file"].split()[0] == digest
    assert texts["recall-cli"].split()[0] == digest
    assert raw.decode().strip() in texts["recall-mcp"]


def test_each_receipt_knows_its_tool_use(played):
    home = os.path.join(played.results["lane"].root, "home")
    subprocess.run(
        ["python3", "-I", "-S", os.path.join(played.root, "hooks", "savings.py"), "--json"],
        env={"HOME": home, "PATH": os.environ["PATH"]},
        stdout=subprocess.DEVNULL,
        check=True,
        timeout=60,
    )
    rows = (
        sqlite3.connect(os.path.join(home, ".local", "state", "context-kernel", "state.db"))
        .execute("SELECT tool_use_id, agent, raw, shown FROM receipts WHERE lane = 'failure'")
        .fetchall()
    )
    assert {row[0] for row in rows} >= set(LONG) | {"big", "p1", "p2", "p3", "sub"}
    assert [bool(agent) for use_id, agent, _, _ in rows if use_id == "sub"] == [True]
    assert all(raw > shown for _, _, raw, shown in rows)


@pytest.mark.parametrize("number", range(len(MATRIX)), ids=MATRIX)
def test_permission_rules_decide_the_same(played, number):
    use_id = f"m{number:02d}"
    ours, plain = (same_paths(played.texts[name][use_id]) for name in ("rules", "rules-plain"))
    assert (use_id in played.errors["rules"]) == (use_id in played.errors["rules-plain"])
    if "[ck: exit 1, " in ours:
        assert told(ours)[0] == told(plain)[0]
        assert "characters truncated" in plain
    else:
        assert ours == plain


def test_the_matrix_holds_every_decision(played):
    texts = [played.texts["rules"][f"m{number:02d}"] for number in range(len(MATRIX))]
    assert "[ck: exit 1, " in texts[0]
    assert "denied" in texts[3]
    assert any("approval" in text or "permission" in text for text in texts[5:7])
    assert texts[-1] == "kept"
    assert os.path.exists(os.path.join(played.results["rules"].root, "project", "kept.txt"))
    assert not os.path.exists(os.path.join(played.results["rules"].root, "project", "asked"))


def test_what_the_event_holds_is_what_the_model_is_shown(played):
    """The ground of the advice without the wrapper: no client hands a hook more of a failure
    than it shows the model.
    """
    payloads = {
        payload["tool_use_id"]: payload["error"]
        for payload in played.results["rules-plain"].payloads("PostToolUseFailure")
    }
    assert {"m00", "m08"} <= set(payloads)
    for use_id, error in payloads.items():
        assert error.rstrip() == played.texts["rules-plain"][use_id].rstrip()
    assert "characters truncated" in payloads["m00"]
    assert len(payloads["m00"]) < 10200


def test_without_the_wrapper_each_cut_is_spoken_of(played):
    """Once per command; never for what was asked for raw; never with the lane on."""

    def said(name):
        last = [row for row in played.results[name].lane("main")][-1]["body"]
        return json.dumps(last).count("context-kernel: Claude Code left out")

    cut = [
        use_id
        for use_id, text in played.texts["plain"].items()
        if "characters truncated" in text and use_id != "raw"
    ]
    assert len(cut) > 15
    assert said("plain") == len(cut)
    assert said("lane") == 0


def test_zsh(played):
    if "zsh" not in played.results:
        pytest.skip("no zsh")
    body = normal(played, "zsh", "zsh", 1)
    assert missing("pytest", 2000, body) == []
    assert re.search(r"^\d+\.\d+", body, re.M)
    assert played.texts["zsh"]["zsh-short"] == "Exit code 6\nzsh-only"


def test_a_users_own_prefix_and_a_plugin_that_vanishes(played):
    texts, root = played.texts["vanishing"], played.results["vanishing"].root
    normal(played, "vanishing", "chained", 1)
    assert told(texts["gone"])[0] == "Exit code 1"
    assert not marks.carries_mark(texts["gone"])
    assert "characters truncated" in texts["gone"]
    normal(played, "vanishing", "moved", 1)
    with open(os.path.join(os.path.dirname(root), "own-prefix.log"), encoding="utf-8") as handle:
        assert handle.read().count("called") >= 5
    with open(os.path.join(root, "config", "settings.json"), encoding="utf-8") as handle:
        kept = json.load(handle)
    assert list(kept) == ["env", "model"]
    assert kept["env"]["CLAUDE_CODE_SHELL_PREFIX"].endswith("/context-kernel/bin/failure-lane")


@pytest.mark.parametrize("use_id", ["full", "read-only"])
def test_a_store_that_cannot_be_written(played, use_id):
    if "cramped" not in played.results:
        pytest.skip("no mount namespace of our own here")
    text = played.texts["cramped"][use_id]
    assert told(text)[0] == "Exit code 1"
    assert "characters truncated" in text
    assert not marks.carries_mark(text)
