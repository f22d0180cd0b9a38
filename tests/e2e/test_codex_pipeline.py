"""The whole path in the real Codex, one session: traceback, slice, the places, symbol slice,
charter, edit, adversarial check.
"""

from __future__ import annotations

import json

import pytest

import codex_session
from codex_session import body_of, call

pytestmark = pytest.mark.e2e
NOISE = {f"shop/noise_{n}.py": f"def unrelated_{n}(x):\n    return x\n" * 30 for n in range(40)}
FILES = dict(
    NOISE,
    **{
        "shop/__init__.py": "",
        "shop/money.py": (
            'RATE = 100\n\n\ndef cents(amount):\n    """Whole cents."""\n    if amount < 0:\n'
            "        raise ValueError('negative amount')\n    return int(amount * RATE)\n"
        ),
        "shop/cart.py": (
            "from shop.money import cents\n\nDISCOUNT = 5\n\n\ndef total(prices):\n"
            "    return sum(cents(price) for price in prices) - DISCOUNT\n\n\ndef unused():\n"
            "    return 1\n"
        ),
        "check.py": (
            "from shop.cart import total\n\nfor n in range(2500):\n"
            "    print('case %d of 2500 in %d us' % (n, n * 7919 % 997))\n"
            "assert total([1, 2]) == 295\nassert total([0]) == 0, total([0])\nprint('all good')\n"
        ),
        ".gitignore": "__pycache__/\n.context-kernel/\n",
    },
)
CHARTER = (
    "# Charter\nC1 cents stays whole: `shop/money.py:8`\nC2 an empty cart costs nothing: "
    "`check.py:6` CHANGES `shop/cart.py:7`\n"
)
PATCH = (
    "*** Begin Patch\n*** Update File: shop/cart.py\n@@\n def total(prices):\n"
    "-    return sum(cents(price) for price in prices) - DISCOUNT\n"
    "+    return sum(cents(price) for price in prices) - (DISCOUNT if any(prices) else 0)\n"
    "*** End Patch\n"
)
WITHOUT = (
    "git worktree add -q --detach ../base HEAD && (cd ../base && python3 check.py >/dev/null "
    "2>&1); echo without $?; git worktree remove --force ../base; git worktree list | wc -l"
)


@pytest.fixture(scope="module")
def played(tmp_path_factory, plugin_root):
    codex_session.needed()
    base = tmp_path_factory.mktemp("codex")
    work = str(base / "work")
    trace = (
        f'Traceback (most recent call last):\n  File "{work}/check.py", line 6, in <module>\n'
        "    assert total([0]) == 0, total([0])\n"
        f'  File "{work}/shop/cart.py", line 7, in total\n    return sum(cents(price) for price '
        "in prices) - DISCOUNT\nAssertionError: -5\n"
    )
    edit = {
        "text": "The charter is written; now the fix.",
        "calls": [{"type": "custom", "name": "apply_patch", "call_id": "edit", "input": PATCH}],
    }
    turns = [
        # one stream, unbuffered: Codex reads two in any order, then cuts the middle
        call("fails", "exec_command", cmd="python3 -u check.py 2>&1"),
        call("slice", "kernel_repo_slice", "mcp__kernel", symptom=trace, repo=work),
        call("read", "exec_command", cmd="cat -n shop/cart.py; sed -n '1,8p' shop/money.py"),
        call("symbol", "kernel_slice", "mcp__kernel", file=work + "/shop/cart.py", symbol="total"),
        call(
            "charter",
            "exec_command",
            cmd=f"mkdir -p .context-kernel && cat >.context-kernel/charter.md <<'E'\n{CHARTER}E",
        ),
        edit,
        call("passes", "exec_command", cmd="python3 check.py"),
        call("verify", "exec_command", cmd="git diff HEAD -- shop/cart.py # ck:raw"),
        call(
            "ground",
            "exec_command",
            cmd="grep -n '' shop/cart.py | sed -n '1,11p'; cat .context-kernel/charter.md",
        ),
        call("without", "exec_command", cmd=WITHOUT),
        {"text": "| C1 | holds |\n\nVerdict: STANDS"},
    ]
    commit = "git -c user.name=t -c user.email=t@example.org -c init.defaultBranch=main %s"
    return codex_session.played(
        base,
        plugin_root,
        turns,
        model="gpt-5.5",
        files=FILES,
        git=True,
        prompt="$context-kernel:kernel-pipeline check.py fails, mend it",
        more_setup=["git add -A", commit % "commit -qm start"],
    )


def test_the_session_ends_with_the_verdict_and_leaves_the_configuration_to_the_byte(played):
    assert played["rc"] == [0]
    assert "Verdict: STANDS" in json.dumps(played["events"])
    assert [row["rc"] == 0 for row in played["after"]] == [True, True, False, False], played[
        "after"
    ]


def test_the_skill_is_loaded(played):
    assert "# Symptom, slice, charter, fix, verdict" in json.dumps(played["requests"][0]["body"])


def test_the_failure_is_shown_short_with_its_exit_code_and_traceback(played):
    text = played["texts"]["fails"]
    assert text.startswith("Process exited with code 1\nOutput:\n")
    assert "[ck: " in text
    assert len(text) < 5000
    assert 'check.py", line 6, in <module>' in text
    assert text.rstrip().endswith("AssertionError: -5")


def test_the_slice_names_the_frames_and_what_they_import(played):
    text = body_of(played["texts"]["slice"])
    assert text.startswith("T2@")
    assert all(name in text for name in ("shop/cart.py", "check.py", "shop/money.py"))
    assert "budget: auto: session " in text
    assert "model gpt-5.5, window ~232k, in use ~110" in text
    assert text.count(".py:") < 20
    assert "noise_30.py" not in text


def test_places_are_read_whole(played):
    text = body_of(played["texts"]["read"])
    assert "     7\t    return sum(cents(price) for price in prices) - DISCOUNT\n" in text
    assert text.rstrip().endswith("return int(amount * RATE)")
    assert "[ck: " not in text


def test_the_symbol_slice_has_what_the_function_needs_by_true_lines(played):
    text = body_of(played["texts"]["symbol"])
    assert text.startswith("T2b@")
    assert "DISCOUNT = 5" in text
    assert "from shop.money import cents" in text
    assert "def unused" not in text
    assert "7\t    return sum(" in text


def test_the_edit_repairs_and_the_check_runs(played):
    assert "Success" in played["texts"]["edit"]
    assert "shop/cart.py" in played["texts"]["edit"]
    text = played["texts"]["passes"]
    assert text.startswith("Process exited with code 0\n")
    assert text.rstrip().endswith("all good")
    assert "[ck: " in text


def test_the_verifier_reads_ground_truth(played):
    assert body_of(played["texts"]["verify"]).count("\n-") == 2
    assert (
        "+    return sum(cents(price) for price in prices) - (DISCOUNT if any(prices) else 0)\n"
        in played["texts"]["verify"]
    )
    ground = body_of(played["texts"]["ground"])
    assert (
        "7:    return sum(cents(price) for price in prices) - (DISCOUNT if any(prices) else 0)\n"
        in ground
    )
    assert ground.rstrip("\n").endswith(CHARTER.rstrip("\n"))
    assert body_of(played["texts"]["without"]).split() == ["without", "1", "1"]
    assert "[ck: " not in played["texts"]["verify"] + ground
