"""JSON-RPC streams: any bytes in, whole messages out."""

from __future__ import annotations

import json
import os
import threading

import pytest

from contextkernel.server import jsonrpc, streams


def lines_of(data: bytes, longest: int = streams.LONGEST_LINE, chunks: int = 1 << 14):
    """Every line that a Reader finds in the bytes, which a thread writes in small pieces."""
    out, into = os.pipe()

    def write():
        for at in range(0, len(data), chunks):
            os.write(into, data[at : at + chunks])
        os.close(into)

    writer = threading.Thread(target=write)
    writer.start()
    reader, lines = streams.Reader(out, longest), []
    while True:
        line = reader.line()
        if line is None:
            break
        lines.append(line)
    writer.join()
    os.close(out)
    return lines


@pytest.mark.parametrize(
    "data, lines",
    [
        (b"", []),
        (b"a\nb\n", [b"a", b"b"]),
        (b"a\nb", [b"a", b"b"]),
        (b"\n\n", [b"", b""]),
        (b"a\r\nb\x0cc\x85d\xe2\x80\xa8e\n", [b"a\r", b"b\x0cc\x85d\xe2\x80\xa8e"]),
        (b"\0\n\xff\xfe\n", [b"\0", b"\xff\xfe"]),
    ],
    ids=["empty", "two", "unended", "blank", "other separators", "no text"],
)
@pytest.mark.parametrize("chunks", [1, 1 << 14])
def test_lines(data, lines, chunks):
    assert lines_of(data, chunks=chunks) == lines


def test_line_above_the_limit_keeps_its_ends_only():
    longest = 50000
    body = b'{"method":"x","params":{"t":"' + b"y" * 300000 + b'"},"jsonrpc":"2.0","id":41}'
    short, cut, last = lines_of(b'{"a":1}\n' + body + b'\n{"b":2}\n', longest)
    assert (short, last) == (b'{"a":1}', b'{"b":2}')
    assert len(cut) < 10000
    assert b"\0" in cut
    assert streams.id_in(cut) == 41
    with pytest.raises(jsonrpc.Refusal):
        jsonrpc.decode(cut)


def test_line_at_the_limit_passes():
    line = b"z" * 100000
    assert lines_of(line + b"\n", longest=100000) == [line]


def test_unended_line_above_the_limit_is_cut_too():
    (cut,) = lines_of(b'{"jsonrpc":"2.0","id":"k",' + b"y" * 300000, 50000)
    assert len(cut) < 10000
    assert streams.id_in(cut) == "k"


@pytest.mark.parametrize(
    "line, identity",
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"x","params":{', 7),
        (b'{"id":"a-b","method":', "a-b"),
        (b'xx,"jsonrpc":"2.0","id":-3}', -3),
        (b'{"method":"x","params":{"jsonrpc":"2.0","id":5}}', None),
        (b'{"method":"x","params":{"id":5},', None),
        (b'{"jsonrpc":"2.0","id":1.5,', None),
        (b'{"jsonrpc":"2.0","id":"\xff",', None),
        (b"garbage", None),
        (b"", None),
    ],
)
def test_id_in(line, identity):
    assert streams.id_in(line) == identity


@pytest.mark.parametrize(
    "line", [b"x", b"", b"{", b"\0", b'"\xff"', b"\xef\xbb\xbf{}", b"[" * 200000]
)
def test_no_json_is_refused(line):
    with pytest.raises(jsonrpc.Refusal) as refused:
        jsonrpc.decode(line)
    assert refused.value.code == jsonrpc.PARSE_ERROR


@pytest.mark.parametrize(
    "message, code",
    [
        ([], jsonrpc.INVALID_REQUEST),
        (1, jsonrpc.INVALID_REQUEST),
        ("x", jsonrpc.INVALID_REQUEST),
        (None, jsonrpc.INVALID_REQUEST),
        ({}, jsonrpc.INVALID_REQUEST),
        ({"id": 1}, jsonrpc.INVALID_REQUEST),
        ({"id": 1, "method": 5}, jsonrpc.INVALID_REQUEST),
        ({"id": 1, "method": ""}, jsonrpc.INVALID_REQUEST),
        ({"id": None, "method": "ping"}, jsonrpc.INVALID_REQUEST),
        ({"id": True, "method": "ping"}, jsonrpc.INVALID_REQUEST),
        ({"id": {}, "method": "ping"}, jsonrpc.INVALID_REQUEST),
        ({"id": 1.5, "method": "ping"}, jsonrpc.INVALID_REQUEST),
        ({"id": 1, "method": "ping", "params": []}, jsonrpc.INVALID_PARAMS),
        ({"id": 1, "method": "ping", "params": "x"}, jsonrpc.INVALID_PARAMS),
    ],
)
def test_what_is_no_request(message, code):
    with pytest.raises(jsonrpc.Refusal) as refused:
        jsonrpc.request(message)
    assert refused.value.code == code


@pytest.mark.parametrize(
    "message, request_",
    [
        ({"id": 1, "method": "ping"}, jsonrpc.Request(1, "ping", {})),
        ({"id": "a", "method": "ping", "params": None}, jsonrpc.Request("a", "ping", {})),
        (
            {"id": 0, "method": "m", "params": {"x": 1}, "extra": 2},
            jsonrpc.Request(0, "m", {"x": 1}),
        ),
        ({"method": "notifications/x"}, jsonrpc.Request(None, "notifications/x", {})),
        ({"id": 9, "result": {"roots": []}}, jsonrpc.Request(9, "", {}, {"roots": []})),
        ({"id": 9, "error": {"code": 1}}, jsonrpc.Request(9, "", {}, None)),
    ],
)
def test_requests(message, request_):
    assert jsonrpc.request(message) == request_


def test_messages_of_many_threads_stay_whole():
    out, into = os.pipe()
    writer = streams.Writer(into)
    text = "é" * 60000  # more than a pipe holds: each message takes several writes

    def send(number):
        for _ in range(5):
            writer.send({"id": number, "text": text})

    threads = [threading.Thread(target=send, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    reader = streams.Reader(out)
    found = [json.loads(reader.line()) for _ in range(20)]
    for thread in threads:
        thread.join()
    assert sorted(message["id"] for message in found) == sorted(list(range(4)) * 5)
    assert all(message["text"] == text for message in found)


def test_writer_says_when_nobody_reads():
    out, into = os.pipe()
    os.close(out)
    with pytest.raises(BrokenPipeError):
        streams.Writer(into).send({})


def test_a_reader_of_a_high_descriptor_is_woken():
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2000:
        pytest.skip("no descriptor above 1,023 may be opened here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2000), hard))
    lines, into = os.pipe()
    woken, waking = os.pipe()
    high = 1500
    os.dup2(lines, high)
    reader = streams.Reader(high, wake=woken)
    os.write(into, b"one\ntwo\nthr")
    assert [reader.line(), reader.line()] == [b"one", b"two"]
    os.write(waking, b"\0")
    assert reader.line() is None  # what is not ended is no line when the server leaves
    for one in (lines, into, woken, waking, high):
        os.close(one)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
