"""The real client, both lanes, one long session each: asserted on what the fake API recorded,
never on what a hook said of itself.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import types

import pytest

import plugin
import session as script
from contextkernel import marks

pytestmark = pytest.mark.e2e

WANTED, WANTED_BY_READ = (
    "\n".join(map(script.build_line, range(first, first + 4))) for first in (15000, 16000)
)
WARNING = script.build_line(13579)
FAILED_HOOK = (
    "hook_error_during_execution",
    "hook_non_blocking_error",
    "hook_blocking_error",
    "hook_cancelled",
)
NORMALIZED = ["toolu_long", "toolu_mcp", "toolu_p1", "toolu_p2"]


def without_reminders(text):
    """A result without what older clients add behind it now and then."""
    return re.sub(r"\n+<system-reminder>.*?</system-reminder>\s*$", "", text, flags=re.S)


@pytest.fixture(scope="module", params=["resident", "script"])
def lane(request):
    return request.param


@pytest.fixture(scope="module")
def played(claude, lane, tmp_path_factory):
    """One session, played once per client and lane: `.result`, `.texts` (tool use id -> what the
    model read), `.errors`.
    """
    base = str(tmp_path_factory.mktemp("played"))
    root = plugin.copy_to(base)
    before = plugin.files_of(root)
    scenario = script.long_session(root, lane)
    if lane == "resident":
        scenario["runs"] = script.install_runs(root) + scenario["runs"]
    else:
        folders = [os.path.join(base, name) for name in ("config-before", "home-before")]
        for folder in folders:
            os.mkdir(folder)
        written = script.script_lane_settings(root, *folders)
        scenario["user_settings"] = dict(
            scenario["user_settings"],
            **{key: written[key] for key in written if key != "permissions"},
        )
    result = claude.run(scenario, root=os.path.join(base, "run"))
    seen = dict(result.tool_results("subagent"), **result.tool_results())
    return types.SimpleNamespace(
        restarts=claude.version
        not in (
            "2.1.121",
            "2.1.200",
        ),  # a dead server: these clients start it again with the next session only
        result=result,
        root=root,
        before=before,
        home=os.path.join(result.root, "home"),
        lane=lane,
        texts={
            use_id: without_reminders(script.text_of(content))
            for use_id, (_, content) in seen.items()
        },
        errors={use_id for use_id, (is_error, _) in seen.items() if is_error},
    )


# the script lane has no server
RESIDENT = pytest.mark.parametrize("lane", ["resident"], indirect=True, scope="module")


def test_every_run_ends_well(played):
    assert [run["exit"] for run in played.result.runs] == [0] * len(played.result.runs), (
        played.result.stderr()
    )
    assert played.errors == {"toolu_fails"}, {
        use_id: played.texts[use_id][:300] for use_id in played.errors
    }


@RESIDENT
def test_the_plugin_loads(played):
    [listed] = [
        entry for entry in json.loads(played.result.stdout(2)) if entry["id"] == script.PLUGIN
    ]
    assert listed["enabled"]
    assert not listed.get("errors")


def test_the_model_learns_once_where_hidden_text_is(played):
    first = [
        text
        for number, _, text in played.result.injected("/tool-results/ck-HANDLE.txt")
        if number == 0
    ]
    assert len(first) == 1


@pytest.mark.parametrize("use_id", NORMALIZED)
def test_a_long_output_arrives_in_normal_form(played, use_id):
    text = played.texts[use_id]
    assert marks.carries_mark(text), text[:300]
    assert "<persisted-output>" not in text
    assert len(text) < 12000


def test_the_rare_line_of_a_persisted_output_is_shown(played):
    # line 13,579: far behind the 30,000 characters that the hook is handed
    assert WARNING in played.texts["toolu_long"]
    assert script.build_line(1) in played.texts["toolu_long"]


def test_each_parallel_call_has_its_own_handle(played):
    handles = [set(marks.handles_in(played.texts[use_id])) for use_id in ("toolu_p1", "toolu_p2")]
    assert all(handles)
    assert not handles[0] & handles[1]
    assert played.texts["toolu_p3"] == "short"


def test_grep_is_hoisted_without_loss(played):
    text = played.texts["toolu_grep"]
    assert all(f"handler_{number:d}_{line:d}(" in text for number in range(6) for line in range(40))
    assert marks.carries_mark(text)
    assert len(text) < 0.8 * script.grep_size()


def test_a_first_read_is_whole(played):
    lines = script.read_file().split("\n")
    shown = played.texts["toolu_read"].rstrip("\n").split("\n")
    assert shown == [f"{number:d}\t{line}" for number, line in enumerate(lines, 1)][: len(shown)]
    assert len(shown) >= len(lines) - 1


def test_a_repeated_read_is_the_same_or_says_what_it_is(played):
    text = played.texts["toolu_reread"]
    assert (
        text == played.texts["toolu_read"]
        or marks.carries_mark(text)
        or "file unchanged" in text.lower()
    )


def test_what_was_asked_for_passes_raw(played):
    assert played.texts["toolu_fails"].startswith("Exit code 2\nls: cannot access 'no-such-file'")
    assert played.texts["toolu_raw"].startswith("<persisted-output>")
    assert not marks.carries_mark(played.texts["toolu_raw"])


@pytest.mark.parametrize(
    "use_id", ["toolu_sed", "toolu_resumed", "toolu_compacted", "toolu_sub_sed"]
)
def test_recall_by_sed_in_the_default_permission_mode(played, use_id):
    assert played.texts[use_id] == WANTED


@pytest.mark.parametrize("use_id", ["toolu_read_copy", "toolu_sub_read"])
def test_recall_by_read(played, use_id):
    assert (
        "\n".join(line.split("\t", 1)[-1] for line in played.texts[use_id].split("\n")[:4])
        == WANTED_BY_READ
    )


def test_recall_by_grep(played):
    assert played.texts["toolu_grep_copy"] == "13579:" + WARNING


@RESIDENT
def test_recall_by_the_mcp_tool_that_a_rule_allows(played):
    assert WANTED in played.texts["toolu_recall_tool"]
    assert WARNING in played.texts["toolu_recall_compacted"]


def test_a_sub_agent_reads_the_normal_form_too(played):
    assert marks.carries_mark(played.texts["toolu_sub"])
    assert WARNING in played.texts["toolu_sub"]


@RESIDENT
def test_a_server_killed_in_mid_call_loses_nothing(played):
    assert played.texts["toolu_between"] == "\n".join(
        f"unprotected line {n} of the call in between" for n in range(1, 401)
    )
    after = played.texts["toolu_after_kill"]
    assert marks.carries_mark(after) if played.restarts else after.startswith("<persisted-output>")


def test_the_transcript_holds_what_the_model_was_sent(played):
    kept = {}
    for row in played.result.transcript():
        content = (row.get("message") or {}).get("content")
        for block in content if isinstance(content, list) else []:
            if block.get("type") == "tool_result":
                kept[block["tool_use_id"]] = script.text_of(block["content"])
    assert kept["toolu_long"] == played.texts["toolu_long"]


def test_no_hook_failed_and_none_decided_on_a_permission(played):
    bad = [
        (kind, row.get("hookName"), row.get("toolUseID"), row.get("stderr"))
        for kind in FAILED_HOOK
        for row in played.result.attachments(kind)
        if row.get("toolUseID") != "toolu_between"
        and (played.restarts or row.get("stderr") != "Not connected")
    ]
    assert not bad
    assert not [
        row
        for row in played.result.attachments("hook_success")
        if "permissionDecision" in (row.get("stdout") or "")
    ]


def test_the_plugin_folder_is_never_written(played):
    assert plugin.files_of(played.root) == played.before


def test_the_canary_saw_every_replacement_and_the_report_says_so(played):
    env = {"HOME": played.home, "PATH": os.environ["PATH"]}
    done = subprocess.run(
        ["python3", "-I", "-S", os.path.join(played.root, "hooks", "savings.py"), "--json"],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    judged = report["judged"]
    assert judged["refused"] == judged["missing"] == judged["pending"] == 0, judged
    assert judged["verified"] >= len(NORMALIZED) + 2, judged
    assert report["total"]["saved"] > 0, report
    assert report["net"] < report["total"]["saved"], report
    assert report["page_faults"]["count"] >= 5, report
