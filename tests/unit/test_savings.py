"""Savings: only verified replacements, against what the client alone would have shown, minus
what came back.
"""

from contextkernel import savings
from contextkernel.commands import savings as entry
from contextkernel.receipt import Receipt
from contextkernel.store import backoff


def receipt(status, raw, host, shown, **more):
    known = {
        "tool": "Bash",
        "rule": "elide",
        "session": "s",
        "handle": "7f3a12bc90de",
        "lane": "resident",
    }
    return Receipt(status=status, raw=raw, host=host, shown=shown, **dict(known, **more))


def test_only_verified_counts():
    rows = [
        receipt("verified", 8000, 4000, 400),
        receipt("refused", 8000, 4000, 400),
        receipt("pending", 8000, 4000, 400),
        receipt("", 400, 400, 400, handle=""),
    ]
    report = savings.summary(rows, [])
    assert report["total"]["saved"] == report["net"] == 900
    assert report["judged"] == {
        "verified": 1,
        "refused": 1,
        "missing": 0,
        "pending": 1,
        "expired": 0,
    }
    assert report["total"]["results"] == 4
    assert report["total"]["rewritten"] == 3


def test_negative_savings_are_shown():
    report = savings.summary([receipt("verified", 400000, 2240, 8000)], [])
    assert report["net"] == -1440
    assert "-1,440" in savings.as_text(report)


def fault(size, lines="", session="s", route="mcp", handle="7f3a12bc90de"):
    return {"handle": handle, "bytes": size, "spans": lines, "session": session, "route": route}


def test_page_faults_are_booked_against():
    rows = [receipt("verified", 8000, 8000, 400)]
    faults = [fault(400, handle="7f3a12bc"), fault(999, handle="ffffffffffff")]
    report = savings.summary(rows, faults)
    assert report["page_faults"] == {"count": 1, "tokens": 100}
    assert report["net"] == 1900 - 100
    assert report["regret"] == 1.0


def test_a_line_that_was_given_back_twice_counts_once():
    rows = [receipt("verified", 80000, 80000, 400)]
    twice = [fault(4000, "1-100"), fault(4000, "51-150"), fault(400, "120-129")]
    assert savings.summary(rows, twice)["page_faults"] == {"count": 3, "tokens": 1500}
    apart = [fault(4000, "1-100"), fault(4000, "1-100", session="later")]
    assert savings.summary(rows, apart)["page_faults"]["tokens"] == 2000


def test_never_more_than_was_hidden_comes_back():
    rows = [receipt("verified", 8000, 4000, 400), receipt("verified", 8, 8, 4, handle="aa" * 6)]
    report = savings.summary(rows, [fault(8000), fault(8000), fault(0), fault(8000)])
    assert report["page_faults"] == {"count": 4, "tokens": 1900}
    assert report["regret"] == 0.5


def test_what_a_person_recalls_at_a_terminal_reached_no_model():
    rows = [receipt("verified", 8000, 4000, 400)]
    report = savings.summary(rows, [fault(8000, session="", route="cli")])
    assert report["page_faults"] == {"count": 0, "tokens": 0}
    assert report["regret"] == 0.0


def test_a_fault_counts_for_the_receipt_of_its_own_session():
    rows = [receipt("verified", 8000, 4000, 400, session=name) for name in ("one", "two")]
    report = savings.summary(rows, [fault(8000, session="one")] * 2)
    assert report["page_faults"] == {"count": 2, "tokens": 1900}
    assert report["regret"] == 0.5


def test_the_own_cost_stands_in_the_report():
    report = savings.summary([], [])
    report["own_cost"] = {"tokens": 812, "parts": {"skills": 207, "agents": 605}}
    text = savings.as_text(report)
    assert "always on, at most 812" in text
    assert "207   skills" in text


def test_the_command_line_saves_nobody_anything():
    assert (
        savings.summary([receipt("verified", 8000, 8000, 4, lane="cli")], [])["total"]["results"]
        == 0
    )


def test_an_empty_ledger_reports_zero():
    text = savings.as_text(savings.summary([], []))
    assert "net saved" in text
    assert "ALARM" not in text


def test_refusals_raise_an_alarm():
    assert "ALARM: 1" in savings.as_text(savings.summary([receipt("refused", 8, 8, 4)], []))


def test_money_and_real_tokens_are_labelled_estimates():
    report = savings.summary(
        [
            receipt("verified", 8000, 4000, 400),
            receipt("verified", 8000, 4000, 400, session="unknown"),
        ],
        [fault(3600)],
    )
    guess = savings.estimates(report, {"s": ("m", 2.0, 10.0)})
    assert guess["model_tokens"] == 900
    assert guess["us_dollars"] == 0.009
    assert guess["sessions_left_out"] == 1
    assert "estimates" in guess["label"]
    assert "estimated" in savings.as_text(dict(report, estimates=guess))


def test_a_reset_ends_the_rests_of_all_sessions(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CK_DATA", str(tmp_path))
    for session in ("one", "two"):
        for _ in range(backoff.REFUSALS_TO_REST):
            backoff.alarm(session, "Bash", "the client kept the original")
    assert backoff.resting("one", "Bash")
    assert backoff.resting("two", "Bash")
    assert entry.main(["--reset-canary"]) == 0
    assert "rests ended in 2 sessions" in capsys.readouterr().out
    assert not backoff.resting("one", "Bash")
    assert not backoff.resting("two", "Bash")
