"""Re-reads: short only for what is proved to be held; diffs that apply exactly; whole in every
doubt.
"""

import json
import subprocess

import pytest

from contextkernel import reread as delta
from contextkernel.clients.claude import context_check
from rounds import drawing

TEXT = "".join(f"line {n} of the file, with some words in it\n" for n in range(1, 201))
CHANGED = TEXT.replace("line 100 of", "line one hundred of")
HANDLE = "7f3a12bc90de"


def decide(now, held, given_mark=False, least=200):
    return delta.decide("/w/a.py", now, held, given_mark, HANDLE, least)


def test_unchanged_is_a_mark_of_three_lines():
    decision = decide(TEXT, TEXT)
    assert decision.rule == "reread"
    assert decision.text.count("\n") == 2
    assert "recall " + HANDLE in decision.text
    assert "lines 1-200 " in decision.text


def test_changed_is_a_diff_with_true_numbers():
    decision = decide(CHANGED, TEXT)
    assert decision.rule == "delta"
    assert "@@ -97,7 +97,7 @@" in decision.text
    assert "-line 100 of the file" in decision.text
    assert "recall " + HANDLE in decision.text


@pytest.mark.parametrize(
    "now, held, given_mark, least",
    [
        (TEXT, None, False, 200),
        (TEXT, TEXT, True, 200),
        (TEXT, TEXT, False, 100000),
        ("short\n", "short\n", False, 200),
        (TEXT, "other\n" * 300, False, 200),
        (CHANGED, None, True, 200),
        ("".join(reversed(TEXT.splitlines(True))), TEXT, False, 200),
    ],
)
def test_whole(now, held, given_mark, least):
    assert decide(now, held, given_mark, least) == delta.WHOLE


def test_a_change_after_a_mark_is_still_a_diff():
    assert decide(CHANGED, TEXT, given_mark=True).rule == "delta"


def test_too_much_work_is_refused():
    assert delta.unified("a\n" * 3000, "b\n" * 3000) is None


def test_random_diffs_apply_exactly(tmp_path, record_property):
    draw, count = drawing(record_property, 30, 4000)
    for _ in range(count):
        old = [
            draw.choice("abcdefgh") + draw.choice(["", "\r", " é", "\x0c", "\u2028"])
            for _ in range(draw.randrange(1, 40))
        ]
        new = list(old)
        for _ in range(draw.randrange(1, 5)):
            at = draw.randrange(len(new) + 1)
            new[at : at + draw.randrange(3)] = [draw.choice("xyz")] * draw.randrange(3)
        before, after = (
            "\n".join(lines) + draw.choice(["", "\n"]) if lines else "" for lines in (old, new)
        )
        if before == after:
            continue
        (tmp_path / "f").write_bytes(before.encode())
        done = subprocess.run(
            ["patch", "-s", "--binary", "-p0", str(tmp_path / "f")],
            input=(delta.unified(before, after) + "\n").encode(),
            stdout=subprocess.PIPE,
        )
        # patch removes an emptied file
        result = (tmp_path / "f").read_bytes() if (tmp_path / "f").exists() else b""
        assert done.returncode == 0, (before, after)
        assert result == after.encode(), (before, after)


def rows(*given):
    """A transcript: (uuid, parent, kind, use id, text)."""
    lines = []
    for uuid, parent, kind, use, text in given:
        block = {
            "tool_use": {"type": "tool_use", "id": use, "name": "Read"},
            "tool_result": {"type": "tool_result", "tool_use_id": use, "content": text},
        }.get(kind)
        row = {
            "uuid": uuid,
            "parentUuid": parent,
            "type": "user" if kind == "tool_result" else "assistant",
            "message": {"content": [block] if block else text},
        }
        if kind == "boundary":
            row.update(type="system", subtype="compact_boundary")
        lines.append(json.dumps(row))
    return "\n".join(lines) + "\n"


NUMBERED = "1\tone\n2\ttwo\n3\t"
STORY = [
    ("a", None, "tool_use", "r1", ""),
    ("b", "a", "tool_result", "r1", NUMBERED),
    ("c", "b", "text", "", "thinking"),
    ("d", "c", "tool_use", "r2", ""),
]


@pytest.mark.parametrize(
    "story, proved",
    [
        (STORY, True),
        (STORY[:3], False),  # the current call is not written yet
        ([STORY[0], STORY[2], STORY[3]], False),  # no result
        (STORY[:3] + [("d", "a0", "tool_use", "r2", "")], False),  # rewound: another branch
        (
            STORY[:2] + [("x", "b", "boundary", "", "")] + [("d", "x", "tool_use", "r2", "")],
            False,
        ),  # compacted between
        (
            [
                STORY[0],
                ("e", "a", "tool_use", "p", ""),
                ("b", "a", "tool_result", "r1", NUMBERED),
                ("f", "e", "tool_result", "p", "x"),
                ("d", "f", "tool_use", "r2", ""),
            ],
            True,
        ),  # a parallel batch
    ],
)
def test_proof(tmp_path, story, proved):
    path = tmp_path / "t.jsonl"
    path.write_text(rows(*story))
    assert (context_check.shown_texts(str(path), "r2", ["r1"]) == [NUMBERED]) == proved


@pytest.mark.parametrize("written_before_the_prompt, proved", [(2, True), (3, False)])
def test_a_late_row_is_replaced_by_one_written_since_the_prompt(
    tmp_path, written_before_the_prompt, proved
):
    path = tmp_path / "t.jsonl"
    path.write_text(rows(*STORY[:3]))
    since = len(rows(*STORY[:written_before_the_prompt]))
    assert (context_check.shown_texts(str(path), "r2", ["r1"], since) is not None) == proved
    assert context_check.shown_texts(str(path), "r2", ["r1"]) is None


@pytest.mark.parametrize(
    "file, wrong, proved",
    [("/w/a.py", True, False), ("/w/b.py", True, True), ("/w/a.py", False, True)],
)
def test_after_a_failed_edit_nothing_is_held(tmp_path, file, wrong, proved):
    path = tmp_path / "t.jsonl"
    edit = {
        "uuid": "e",
        "parentUuid": "b",
        "type": "assistant",
        "message": {
            "content": [
                {"type": "tool_use", "id": "e1", "name": "Edit", "input": {"file_path": "/w/a.py"}}
            ]
        },
    }
    failed = {
        "uuid": "f",
        "parentUuid": "e",
        "type": "user",
        "message": {
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "e1",
                    "is_error": wrong,
                    "content": "not found",
                }
            ]
        },
    }
    lines = [json.dumps(row, separators=(",", ":")) for row in (edit, failed)]
    path.write_text(
        rows(*STORY[:2]) + "\n".join(lines) + "\n" + rows(("d", "f", "tool_use", "r2", ""))
    )
    assert (context_check.shown_texts(str(path), "r2", ["r1"], None, file) is not None) == proved


def test_no_proof_from_damage(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'\xff{"tool_use_id": "r1" "tool_result"}\n"r2" "tool_use"\n')
    assert context_check.shown_texts(str(path), "r2", ["r1"]) is None
    assert context_check.shown_texts(str(tmp_path / "no"), "r2", ["r1"]) is None


@pytest.mark.parametrize(
    "shown, lines, text",
    [
        (NUMBERED, 3, "one\ntwo\n"),
        (NUMBERED + "\n\n<system-reminder>x</system-reminder>", 3, "one\ntwo\n"),
        ("     1\u2192one", 1, "one"),
        ("1\tone\n3\tthree", 2, None),
        ("1\tone", 2, None),
        ("one", 1, None),
        ("2\tone", 1, None),
    ],
)
def test_numbers_are_taken_off_only_when_they_are_right(shown, lines, text):
    assert context_check.unnumbered(shown, lines) == text


def with_usage(row_uuid, tokens):
    """STORY up to the current call, with the sizes of the requests behind its two assistant
    rows.
    """
    lines = [json.loads(line) for line in rows(*STORY).split("\n")[:-1]]
    for uuid, size in zip(row_uuid, tokens):
        next(row for row in lines if row["uuid"] == uuid)["message"]["usage"] = {
            "input_tokens": 0,
            "cache_read_input_tokens": size,
            "output_tokens": 9000,
        }
    return lines


@pytest.mark.parametrize(
    "sizes, proved",
    [((30000, 31000), True), ((30000, 29000), True), ((30000, 8000), False), ((30000, 0), True)],
)
def test_a_context_that_fell_holds_nothing_for_certain(tmp_path, sizes, proved):
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in with_usage(("c", "d"), sizes)))
    assert (context_check.shown_texts(str(path), "r2", ["r1"]) is not None) == proved


def test_the_size_of_another_branch_does_not_count(tmp_path):
    path = tmp_path / "t.jsonl"
    lines = with_usage(("c", "d"), (30000, 31000))
    lines.insert(
        3,
        {
            "uuid": "z",
            "parentUuid": "b",
            "type": "assistant",
            "message": {"usage": {"input_tokens": 90000}},
        },
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in lines))
    assert context_check.shown_texts(str(path), "r2", ["r1"]) == [NUMBERED]


@pytest.mark.parametrize(
    "row, proved",
    [
        (
            {
                "type": "api-request-blob",
                "message": {
                    "role": "user",
                    "content": [{"type": "tool_result", "tool_use_id": "r1", "content": "other"}],
                },
            },
            True,
        ),  # a copy of a request
        (
            {
                "type": "api-request-blob",
                "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "r1"}]},
            },
            True,
        ),
        ({"type": "content-replacement", "replacements": [{"toolUseId": "r1"}]}, False),
        (
            {"type": "system", "subtype": "microcompact_boundary", "uuid": "q", "parentUuid": "c"},
            False,
        ),
    ],
)
def test_rows_beside_the_conversation(tmp_path, row, proved):
    path = tmp_path / "t.jsonl"
    story = rows(*STORY).split("\n")
    path.write_text("\n".join(story[:3] + [json.dumps(row)] + story[3:]))
    assert (context_check.shown_texts(str(path), "r2", ["r1"]) == [NUMBERED]) == proved


@pytest.mark.parametrize("mib, proved", [(0, True), (2, True), (6, True), (25, False)])
def test_how_far_back_a_copy_is_looked_for(tmp_path, mib, proved):
    path = tmp_path / "t.jsonl"
    chain = [
        json.dumps(
            {
                "uuid": "c" if n == 63 else f"c{n}",
                "parentUuid": "b" if n == 0 else f"c{n - 1}",
                "type": "user",
                "message": {"content": "x" * (mib << 14)},
            }
        )
        for n in range(64)
    ]
    story = rows(*STORY).split("\n")
    path.write_text("\n".join(story[:2] + chain + story[3:]))
    assert (context_check.shown_texts(str(path), "r2", ["r1"]) == [NUMBERED]) == proved


# -- what a Read does not show ---------------------------------------------------------------------
LF = TEXT.encode()
CRLF = LF.replace(b"\n", b"\r\n")
BOM = b"\xef\xbb\xbf"


@pytest.fixture
def read_twice(tmp_path, own_ledger):
    """read_twice(before, after): what a second Read of a file shows whose bytes were `before` at
    the first one and are `after` now; None is a file that cannot be read. The client takes line
    ends and BOM away.
    """
    from contextkernel.clients import responses
    from contextkernel.clients.tool_call import ToolCall
    from contextkernel.handlers import reread, verification
    from contextkernel.store import recorder

    path, transcript = tmp_path / "a.py", tmp_path / "s.jsonl"

    def read(use, data):
        path.write_bytes(data) if data is not None else path.exists() and path.unlink()
        text = TEXT
        file = {"filePath": str(path), "content": text, "startLine": 1}
        file.update(numLines=201, totalLines=201)
        event = {"session_id": "s", "transcript_path": str(transcript), "tool_use_id": use}
        event.update(tool_name="Read", tool_input={"file_path": str(path)})
        event.update(ck_client="claude", ck_lane="resident")
        call = ToolCall.from_event(dict(event, tool_response={"type": "text", "file": file}))
        return reread.short_form(call, responses.read_file(call.response), text)

    def twice(before, after):
        assert read("t1", before).rule == "whole"
        shown = "\n".join(f"{n}\t{line}" for n, line in enumerate(TEXT.split("\n"), 1))
        transcript.write_text(
            rows(
                ("1", None, "tool_use", "t1", ""),
                ("2", "1", "tool_result", "t1", shown),
                ("3", "2", "tool_use", "t2", ""),
            )
        )
        return read("t2", after).text

    verification.open_book()
    assert recorder.ledger is not None
    return twice


@pytest.mark.parametrize("data", [LF, CRLF, BOM + LF, None], ids=["LF", "CRLF", "BOM", "gone"])
def test_a_file_whose_bytes_are_the_same_is_unchanged(read_twice, data):
    assert "a.py unchanged; recall " in read_twice(data, data)


@pytest.mark.parametrize(
    "before, after, words",
    [
        (LF, CRLF, "LF -> CRLF"),
        (CRLF, LF, "CRLF -> LF"),
        (LF, BOM + LF, "LF -> LF, BOM"),
        (BOM + CRLF, CRLF, "CRLF, BOM -> CRLF"),
        (LF, LF.replace(b"\n", b"\r\n", 3), "LF -> mixed line ends"),
        (LF.replace(b"\n", b"\r\n", 3), LF.replace(b"\n", b"\r\n", 4), "does not show"),
    ],
)
def test_a_change_that_a_read_does_not_show_is_called_a_change(read_twice, before, after, words):
    said = read_twice(before, after)
    assert "a.py changed on disk: " in said
    assert words in said
    assert "unchanged" not in said
    assert "are on disk" not in said
    assert "recall " in said


@pytest.mark.parametrize("before, after", [(None, LF), (LF, None)])
def test_nothing_is_said_of_a_file_that_could_be_read_only_once(read_twice, before, after):
    assert read_twice(before, after) == ""
