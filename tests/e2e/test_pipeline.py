"""The whole path in the real client: traceback, slice, the places, symbol slice, charter, edit,
adversarial check.
"""

from __future__ import annotations

import pytest

import session as script

pytestmark = pytest.mark.e2e
SERVER = "mcp__plugin_context-kernel_kernel__"
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
            "from shop.cart import total\n\nassert total([1, 2]) == 295\n"
            "assert total([0]) == 0, total([0])\nprint('all good')\n"
        ),
    },
)
TRACE = (
    'Traceback (most recent call last):\n  File "{{project}}/check.py", line 4, in <module>\n'
    "    assert total([0]) == 0, total([0])\n"
    '  File "{{project}}/shop/cart.py", line 7, in total\n    return sum(cents(price) for price '
    "in prices) - DISCOUNT\nAssertionError: -5\n"
)


@pytest.fixture(scope="module")
def played(claude, plugin_root):
    turns = [
        {"tools": [script.bash("toolu_fails", "python3 check.py")]},
        {"tools": [script.call("toolu_slice", SERVER + "kernel_repo_slice", symptom=TRACE)]},
        {"tools": [script.call("toolu_read", "Read", file_path="{{project}}/shop/cart.py")]},
        {
            "tools": [
                script.call(
                    "toolu_symbol", SERVER + "kernel_slice", file="shop/cart.py", symbol="total"
                )
            ]
        },
        {
            "text": "Charter: 1. cents stays whole (shop/money.py:5).",
            "tools": [
                script.call(
                    "toolu_edit",
                    "Edit",
                    file_path="{{project}}/shop/cart.py",
                    old_string="for price in prices) - DISCOUNT",
                    new_string="for price in prices) - (DISCOUNT if any(prices) else 0)",
                )
            ],
        },
        {"tools": [script.bash("toolu_run", "python3 check.py")]},
        {
            "tools": [
                script.call(
                    "toolu_verify",
                    "Agent",
                    prompt="VERIFY the charter",
                    description="verify",
                    subagent_type="context-kernel:kernel-verifier",
                    run_in_background=False,
                )
            ]
        },
        "done",
    ]
    checks = {
        "VERIFY": [
            {"tools": [script.bash("toolu_ground", "sed -n '1,7p' shop/cart.py; seq 1 2500")]},
            "charter holds",
        ]
    }
    scenario = script.installed_plugin_scenario(plugin_root, turns, files=FILES, subagents=checks)
    result = claude.run(scenario)
    seen = dict(result.tool_results("subagent"), **result.tool_results())
    return {use_id: script.text_of(content) for use_id, (_, content) in seen.items()}, {
        use_id for use_id, (wrong, _) in seen.items() if wrong
    }


def test_the_slice_names_the_frames_and_what_they_import(played):
    text = played[0]["toolu_slice"]
    assert text.startswith("T2@")
    assert all(name in text for name in ("shop/cart.py", "check.py", "shop/money.py"))
    assert "budget: auto: " in text
    assert text.count(".py:") < 20, "the budget is a ceiling"
    assert "noise_30.py" not in text, "files that tell nothing stay out"


def test_places_are_read_whole(played):
    assert (
        "7\t    return sum(cents(price) for price in prices) - DISCOUNT" in played[0]["toolu_read"]
    )


def test_the_symbol_slice_has_what_the_function_needs_by_true_lines(played):
    text = played[0]["toolu_symbol"]
    assert text.startswith("T2b@")
    assert "DISCOUNT = 5" in text
    assert "from shop.money import cents" in text
    assert "def unused" not in text
    assert "7\t    return sum(" in text


def test_the_edit_repairs_and_the_check_runs(played):
    texts, errors = played
    assert errors == {"toolu_fails"}
    assert texts["toolu_run"] == "all good"


def test_the_verifier_reads_ground_truth(played):
    texts, _ = played
    # older clients put hook context behind a result
    ground = texts["toolu_ground"].split("<system-reminder>")[0]
    assert "1\n2\n3\n" in ground
    assert "\n2499\n2500" in ground
    assert "[ck:" not in ground
    assert "charter holds" in texts["toolu_verify"]
