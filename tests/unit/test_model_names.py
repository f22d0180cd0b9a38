"""Model ids as providers write them; the point of a session that does not compact by itself; a
budget that was meant.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import plugin
from contextkernel import shell
from contextkernel.clients.claude import context_budget, models, settings_file

SPELLINGS = (
    "us.anthropic.%s-v1:0",
    "anthropic.%s-v1",
    "global.anthropic.%s-v1:0[1m]",
    "anthropic/%s",
    "openrouter/anthropic/%s",
    "vertex_ai/%s",
    "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.%s-v1:0",
    "arn:aws:bedrock:eu-west-1::foundation-model/anthropic.%s-v1:0",
    "bedrock/apac.anthropic.%s-v1:0",
    "publishers/anthropic/models/%s",
    " Anthropic/%s ",
)


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(
    "name",
    [
        "claude-opus-5-5",
        "claude-opus-4-1-20250805",
        "claude-sonnet-4-5-20250929",
        "claude-opus-4-8",
        "claude-3-5-sonnet-20241022",
    ],
)
def test_a_prefix_changes_nothing(spelling, name):
    plain = models.facts(name)
    assert plain.known
    assert models.facts(spelling % name) == (
        plain._replace(window=1000000) if "[1m]" in spelling else plain
    )


@pytest.mark.parametrize(
    "written, name",
    [
        ("claude-opus-4-1@20250805", "claude-opus-4-1-20250805"),
        ("claude-opus-4@20250514", "claude-opus-4-20250514"),
        ("anthropic/claude-opus-4.7", "claude-opus-4-7"),
        ("openai/gpt-5.4-mini", "gpt-5.4-mini"),
        ("azure/openai.gpt-5", "gpt-5"),
        ("google/gemini-3-pro", "gemini-3-pro"),
    ],
)
def test_other_spellings(written, name):
    assert models.facts(written) == models.facts(name)
    assert models.facts(name).known


@pytest.mark.parametrize(
    "name",
    [
        "not-claude-opus-5-5",
        "myclaude-opus-5",
        "arn:aws:bedrock:us-east-1:1:application-inference-profile/abc",
        "/",
        "",
        "anthropic/",
        "anthropic/claude",
        "." * 10000,
        "a." * 100000,
        ".claude-" * 100000 + "/",
        "claude" * 10000,
    ],
)
def test_what_is_no_known_model_stays_unknown(name):
    assert models.facts(name)[:2] == (200000, False)


@pytest.mark.parametrize(
    "model, environ, compacted, point",
    [
        ("claude-opus-5-5", {"DISABLE_AUTO_COMPACT": "1"}, 0, 977000),
        ("claude-opus-5-5", {"DISABLE_COMPACT": "true"}, 0, 977000),
        ("claude-opus-4-6", {"DISABLE_AUTO_COMPACT": "1"}, 168000, 177000),
        ("claude-opus-5-5", {"DISABLE_AUTO_COMPACT": "0"}, 0, 967000),
        (
            "claude-opus-5-5",
            {"DISABLE_AUTO_COMPACT": "1", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "50"},
            0,
            977000,
        ),
        ("x", {"DISABLE_COMPACT": "1", "CK_CONTEXT_WINDOW": "10"}, 0, 0),
    ],
)
def test_without_compaction_the_window_ends_where_the_client_refuses(
    model, environ, compacted, point
):
    assert context_budget.compaction_point(model, environ, 1000, compacted)[0] == point


# -- --bud 900 -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "word", ["--b 900", "--bud 900", "--bud=900", "--budge 900", "--budget 900", "--budget=900"]
)
@pytest.mark.parametrize("verb", ["slice --repo . --symptom s", "symbol a.py f"])
def test_a_budget_that_was_meant_is_not_outvoted(verb, word):
    assert shell.with_budget(f"python3 /x/ck.py {verb} {word}") is None


def test_other_options_do_not_stand_for_a_budget():
    assert shell.with_budget("python3 /x/ck.py slice --repo . --symptom s -- --bad") is not None


@pytest.mark.parametrize(
    "words",
    [
        ["symbol", "a.py", "f", "--bud", "900"],
        ["symbol", "a.py", "f", "--js"],
        ["slice", "--repo", ".", "--sympt", "-", "--bud", "900"],
        ["savings", "--js"],
        ["normalize", "--comm", "x"],
        ["recall", "0123456789ab", "--li", "1-2"],
        ["failure-lane", "sta"],
    ],
)
def test_no_option_is_known_by_a_part_of_its_name(words, tmp_path, state):
    (tmp_path / "a.py").write_text("def f():\n    return 1\n")
    done = subprocess.run(
        [sys.executable, "-I", "-S", os.path.join(plugin.ROOT, "hooks", "ck.py")] + words,
        cwd=str(tmp_path),
        input=b"f",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1), done


# -- line ends of a file that another program rewrites ---------------------------------------------
@pytest.mark.parametrize(
    "before, now, after",
    [
        (b"a\r\nb\r\n", b"a\nb\n", b"a\r\nb\r\n"),
        (b"a\r\nb\r\n", b"a\nb\n[c]\nd = 1\n", b"a\r\nb\r\n[c]\r\nd = 1\r\n"),
        (b"a\r\nb\r\n", b"a\r\nb\r\n[c]\n", b"a\r\nb\r\n[c]\r\n"),
        (b"a\r\nb\nc", b"a\nb\nc", b"a\r\nb\nc"),
        (b"a\r\nb\n", b"a\nb\n[c]\n", b"a\nb\n[c]\n"),
        (b"a\nb\n", b"a\nb\n[c]\n", b"a\nb\n[c]\n"),
        (b"", b"a\n", b"a\n"),
        (None, b"a\n", b"a\n"),
        (b"a\r\n", None, None),
    ],
)
def test_line_ends_come_back(before, now, after, tmp_path):
    path = tmp_path / "config.toml"
    if now is not None:
        path.write_bytes(now)
    settings_file.restore_line_ends(str(path), before)
    assert (path.read_bytes() if path.exists() else None) == after
