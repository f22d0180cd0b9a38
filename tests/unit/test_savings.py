"""Savings: only verified replacements, against what the client alone would have shown, minus
what came back.
"""

from contextkernel import savings
from contextkernel.commands import savings as entry
from contextkernel.store import backoff


def receipt(status, raw, host, shown, **more):
    return dict(
        {
            "status": status,
            "raw": raw,
            "host": host,
            "shown": shown,
            "tool": "Bash",
            "rule": "elide",
            "session": "s",
            "handle": "7f3a12bc90de",
            "lane": "resident",
        },
        **more,
    )


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


def test_page_faults_are_booked_against():
    rows = [receipt("verified", 8000, 8000, 400)]
    faults = [
        {"handle": "7f3a12bc90de", "bytes": 400},
        {"handle": "7f3a12bc", "bytes": 0},
        {"handle": "ffffffffffff", "bytes": 999},
    ]
    report = savings.summary(rows, faults)
    assert report["page_faults"] == {"count": 2, "tokens": 100 + 2000}
    assert report["net"] == 1900 - 2100
    assert report["regret"] == 2.0


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
        [{"handle": "7f3a12bc90de", "bytes": 3600}],
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
