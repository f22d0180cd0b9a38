"""Tool shapes: the texts inside, the same shape back, None for anything else."""

import json

import pytest

from contextkernel.clients import events, responses

BASH = {
    "stdout": "out",
    "stderr": "",
    "interrupted": False,
    "isImage": False,
    "noOutputExpected": False,
}
FILE = {
    "type": "text",
    "file": {"filePath": "a", "content": "x", "numLines": 1, "startLine": 7, "totalLines": 1},
}
KNOWN = [
    ("Bash", BASH, ["out"], dict(BASH, stdout="NEW")),
    (
        "Bash",
        dict(BASH, persistedOutputPath="/p", persistedOutputSize=9),
        ["out"],
        dict(BASH, stdout="NEW"),
    ),
    ("Bash", dict(BASH, stdout="", stderr="boom"), ["boom"], dict(BASH, stdout="", stderr="NEW")),
    ("Bash", dict(BASH, later="key"), ["out"], dict(BASH, stdout="NEW", later="key")),
    ("Bash", "codex text", ["codex text"], "NEW"),
    ("Read", FILE, ["x"], {"type": "text", "file": dict(FILE["file"], content="NEW")}),
    (
        "Grep",
        {"mode": "content", "numFiles": 0, "filenames": [], "content": "a:1:x"},
        ["a:1:x"],
        {"mode": "content", "numFiles": 0, "filenames": [], "content": "NEW"},
    ),
    (
        "Grep",
        {"mode": "files_with_matches", "filenames": ["a", "b"], "numFiles": 2},
        ["a\nb"],
        {"mode": "files_with_matches", "filenames": ["NEW"], "numFiles": 2},
    ),
    (
        "Glob",
        {"filenames": ["a"], "durationMs": 1, "numFiles": 1, "truncated": False},
        ["a"],
        {"filenames": ["NEW"], "durationMs": 1, "numFiles": 1, "truncated": False},
    ),
    (
        "WebFetch",
        {"bytes": 1, "code": 200, "result": "r", "url": "u"},
        ["r"],
        {"bytes": 1, "code": 200, "result": "NEW", "url": "u"},
    ),
    (
        "Agent",
        {"status": "completed", "content": [{"type": "text", "text": "t"}], "x": 1},
        ["t"],
        {"status": "completed", "content": [{"type": "text", "text": "NEW"}], "x": 1},
    ),
    ("mcp__a__b", "text", ["text"], "NEW"),
    (
        "mcp__a__b",
        {"content": [{"type": "text", "text": "t"}], "isError": False},
        ["t"],
        {"content": [{"type": "text", "text": "NEW"}], "isError": False},
    ),
]


@pytest.mark.parametrize("tool, response, texts, rebuilt", KNOWN)
def test_known_shapes(tool, response, texts, rebuilt):
    output = responses.read(tool, response)
    assert output.texts == texts
    assert output.rebuild(["NEW"]) == rebuilt
    assert output.rebuild(output.texts) == output.rebuild(texts)


def test_mcp_blocks_keep_their_order():
    image = {"type": "image", "data": "…"}
    blocks = [
        {"type": "text", "text": "one", "annotations": {}},
        image,
        {"type": "text", "text": "two"},
    ]
    output = responses.read("mcp__a__b", blocks)
    assert output.texts == ["one", "two"]
    assert output.rebuild(["1", "2"]) == [
        {"type": "text", "text": "1", "annotations": {}},
        image,
        {"type": "text", "text": "2"},
    ]


@pytest.mark.parametrize(
    "tool, response",
    [
        ("Bash", None),
        ("Bash", []),
        ("Bash", {"stdout": "x"}),
        ("Bash", dict(BASH, stderr=None)),
        ("Bash", dict(BASH, interrupted="no")),
        ("Bash", dict(BASH, isImage=True)),
        ("Bash", dict(BASH, backgroundTaskId="b1")),
        ("Read", {"type": "image"}),
        ("Read", {"type": "file_unchanged", "file": {"filePath": "a"}}),
        ("Read", "x"),
        ("Grep", {"mode": "files_with_matches", "filenames": [1]}),
        ("Glob", "x"),
        ("WebFetch", {}),
        ("Agent", {"status": "async_launched", "content": []}),
        ("mcp__a__b", []),
        ("mcp__a__b", [{"type": "image"}]),
        ("mcp__a__b", [1]),
        ("mcp__a__b", 7),
        ("Edit", {"filePath": "x"}),
        ("", {}),
    ],
)
def test_unknown_shapes(tool, response):
    assert responses.read(tool, response) is None


def test_key_names_hold_no_content():
    assert responses.key_names({"b": "secret", "a": 1}) == "object(a,b)"
    assert responses.key_names([{"k": "secret"}]) == "list of 1 (object(k))"
    assert responses.key_names("secret") == "str"


@pytest.mark.parametrize(
    "arguments, event",
    [
        (
            {"tool_name": "Bash", "tool_input": '{"command": "ls"}', "agent_id": ""},
            {"tool_name": "Bash", "tool_input": {"command": "ls"}},
        ),
        (
            {"tool_name": "mcp__a__b", "tool_response": '[{"type": "text", "text": "x"}]'},
            {"tool_name": "mcp__a__b", "tool_response": [{"type": "text", "text": "x"}]},
        ),
        (
            {"tool_name": "mcp__a__b", "tool_response": '{"a": 1.10}'},
            {"tool_name": "mcp__a__b", "tool_response": '{"a": 1.10}'},
        ),
        (
            {"tool_name": "Bash", "tool_response": "{broken"},
            {"tool_name": "Bash", "tool_response": "{broken"},
        ),
        (
            {"tool_name": "Bash", "tool_response": "[" * 5000},
            {"tool_name": "Bash", "tool_response": "[" * 5000},
        ),
        (
            {"tool_name": "Bash", "tool_response": {"typed": True}},
            {"tool_name": "Bash", "tool_response": {"typed": True}},
        ),
    ],
)
def test_decode_of_resident_arguments(arguments, event):
    assert events.decode(arguments) == event


@pytest.mark.parametrize(
    "size, most, shown", [(100, 30000, 100), (30000, 30000, 30000), (108893, 30000, 2240)]
)
def test_what_the_client_alone_would_show(size, most, shown):
    assert responses.host_bytes("Bash", size, most) == shown


@pytest.mark.parametrize(
    "text",
    [
        '["a", "b"]',
        "[1, 2]",
        '[{"type": "commit", "n": 1}]',
        '[{"n": 1}]',
        '{"a": 1}',
        '"quoted"',
        "[INFO] started",
        '[{"type": []}]',
    ],
)
def test_a_text_of_an_mcp_tool_that_looks_like_json_stays_a_text(text):
    """The script lane gets it as the string it is; both lanes must see the same."""
    assert events.decode({"tool_name": "mcp__x__y", "tool_response": text})["tool_response"] == text


def test_content_blocks_of_an_mcp_tool_are_decoded():
    blocks = [{"type": "text", "text": "a"}, {"type": "image", "data": "b", "mimeType": "c"}]
    assert (
        events.decode({"tool_name": "mcp__x__y", "tool_response": json.dumps(blocks)})[
            "tool_response"
        ]
        == blocks
    )
