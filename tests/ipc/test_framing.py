"""Bytes to frames: any split gives the same result, nothing raises, and malformed input is refused with its reason."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedex_ipc.errors import InvalidRequest, LivedexError, ParseError
from livedex_ipc.framing import Decoder, Frame, FrameError, encode, parse
from livedex_ipc.limits import Limits

SMALL = Limits(request_bytes=200, header_bytes=100)


def decode(data: bytes, cuts: list[int] | None = None, limits: Limits = SMALL) -> list[Frame | FrameError]:
    decoder = Decoder(limits)
    edges = [0, *sorted({cut % (len(data) + 1) for cut in cuts or []}), len(data)]
    return [frame for start, end in pairwise(edges) for frame in decoder.feed(data[start:end])]


def comparable(frames: list[Frame | FrameError]) -> list[Any]:
    return [frame.body if isinstance(frame, Frame) else (type(frame.error), frame.error.message) for frame in frames]


PIECES = st.sampled_from(
    [
        b"Content-Length: 2\r\n\r\n{}",
        b"content-length:5\r\nX-Other: y\r\n\r\n[1,2]",
        b"Content-Type: application/vscode-jsonrpc; charset=utf8\r\nContent-Length: 2\r\n\r\n{}",
        b"Content-Length: 900\r\n\r\n",
        b"Content-Length: 2\n\n{}",
        b"\r\n",
        b"\r\n\r\n",
        b"\n",
        b"{}\n",
        b'{"a": 1}\r\n',
        b"GET / HTTP/1.1\r\n",
        b"\x16\x03\x01\x02",
        b"\x16",
        b" ",
        b"x" * 150,
        b"A" * 64 + b": 1\r\n",
        b"A" * 63 + b": 1\r\n",
        b"\xff\x00",
    ]
)
STREAMS = st.lists(PIECES | st.binary(max_size=40), max_size=8).map(b"".join)


@given(STREAMS, st.lists(st.integers(0, 2000), max_size=30))
def test_the_cuts_make_no_difference(data: bytes, cuts: list[int]) -> None:
    assert comparable(decode(data, cuts)) == comparable(decode(data))


@given(STREAMS)
def test_byte_by_byte_is_the_same_and_holds_little(data: bytes) -> None:
    decoder = Decoder(SMALL)
    frames: list[Frame | FrameError] = []
    for index in range(len(data)):
        frames += decoder.feed(data[index : index + 1])
        assert decoder.buffered <= SMALL.request_bytes + SMALL.header_bytes
    assert comparable(frames) == comparable(decode(data))


@given(st.lists(st.dictionaries(st.text(max_size=5), st.integers(), max_size=2), max_size=5), st.booleans(), st.data())
def test_what_was_encoded_comes_back(messages: list[dict[str, int]], headers: bool, data: st.DataObject) -> None:
    bodies = [json.dumps(message).encode() for message in messages]
    stream = b"".join(encode(body, "headers" if headers else "lines") for body in bodies)
    cuts = data.draw(st.lists(st.integers(0, 500), max_size=9))
    assert comparable(decode(stream, cuts, Limits())) == bodies


def test_the_first_bytes_decide_the_framing() -> None:
    for start, framing in [(b"Content-L", None), (b"Content-Length:", "headers"), (b"\n", "lines"), (b"{", "lines")]:
        decoder = Decoder(SMALL)
        decoder.feed(start)
        assert decoder.framing == framing


def test_blank_lines_are_skipped() -> None:
    assert comparable(decode(b"\n \r\n{}\r\n\n[]\n")) == [b"{}", b"[]"]


@pytest.mark.parametrize(
    ("data", "kind", "word"),
    [
        (b"Content-Length: -1\r\n\r\n{}", ParseError, "Content-Length"),
        (b"Content-Length: 0\r\n\r\n{}", ParseError, "Content-Length"),
        (b"Content-Length: 10abc\r\n\r\n{}", ParseError, "Content-Length"),
        (b"Content-Length: 1e3\r\n\r\n{}", ParseError, "Content-Length"),
        (b"Content-Length: +2\r\n\r\n{}", ParseError, "Content-Length"),
        (b"Content-Length: 2_0\r\n\r\n{}", ParseError, "Content-Length"),
        (b"Content-Length:\r\n\r\n{}", ParseError, "Content-Length"),
        (b"Content-Length: " + b"9" * 60 + b"\r\n\r\n", ParseError, "Content-Length"),
        ("Content-Length: ٣\r\n\r\n{}".encode(), ParseError, "Content-Length"),
        (b"Content-Type: text/plain\r\n\r\n{}", ParseError, "once"),
        (b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", ParseError, "once"),
        (b"Content-Length: 2\n\n{}", ParseError, "CRLF"),
        (b"Content-Length: 2\r\n\n{}", ParseError, "CRLF"),
        (b"Content-Length: 2\r\nnonsense\r\n\r\n{}", ParseError, "header"),
        (b"Content-Length: 2\r\nContent-Type: a; charset=utf-16\r\n\r\n{}", ParseError, "utf-8"),
        (b"Content-Length: 201\r\n\r\n", InvalidRequest, "200"),
        (b"Content-Length: 1073741824\r\n\r\n", InvalidRequest, "200"),
        (b"A: " + b"x" * 102, InvalidRequest, "100"),
        (b"x" * 201, InvalidRequest, "100"),
        (b"1" * 201, InvalidRequest, "200"),
        (b" " * 201, InvalidRequest, "200"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", InvalidRequest, "HTTP"),
        (b"\x16\x03\x01\x02\x00", ParseError, "TLS"),
    ],
)
def test_what_is_no_frame_is_refused_for_its_reason(data: bytes, kind: type[LivedexError], word: str) -> None:
    *before, last = decode(data + b'\n{"late": 1}\n')
    assert before == []
    assert isinstance(last, FrameError) and type(last.error) is kind
    assert word in last.error.message


def test_a_change_of_framing_is_refused() -> None:
    lines, headers = b"{}\n", b"Content-Length: 2\r\n\r\n{}"
    for stream in (lines + headers, headers + lines):
        first, second = decode(stream + lines)
        assert first == Frame(b"{}") and isinstance(second, FrameError)


def test_exactly_the_limit_passes() -> None:
    body = b'"' + b"x" * 198 + b'"'
    assert comparable(decode(body + b"\n")) == [body]
    assert comparable(decode(b"Content-Length: 200\r\n\r\n" + body)) == [body]
    header = b"Content-Length: 2\r\nA: "
    padded = header + b"x" * (SMALL.header_bytes - len(header))
    assert comparable(decode(padded + b"\r\n\r\n{}")) == [b"{}"]
    assert comparable(decode(padded + b"x\r\n\r\n{}"))[0][0] is InvalidRequest


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a": 1, "a": 2}',
        b'{"b": {"a": 1, "\\u0061": 2}}',
        b"NaN",
        b"[Infinity]",
        b"-Infinity",
        b"1e999",
        b"-1e999",
        b"9" * 5000,
        b'"\xff"',
        b'"\xed\xa0\x80"',
        b'"\xc0\xaf"',
        b"\xef\xbb\xbf{}",
        b"{",
        b"nonsense",
        b"{'a': 1}",
        b"[1,]",
        b"01",
        b'"\x01"',
        b"{} {}",
        b"\x00",
    ],
)
def test_what_is_no_strict_json_is_a_parse_error(body: bytes) -> None:
    with pytest.raises(ParseError) as caught:
        parse(body)
    assert len(caught.value.message) < 200


@given(st.binary(max_size=50))
def test_parsing_raises_nothing_else(body: bytes) -> None:
    try:
        parsed = parse(body)
    except ParseError as error:
        assert error.message.encode()
    else:
        assert parsed == json.loads(body.decode())


def test_what_is_neither_a_header_nor_a_line_may_be_as_long_as_headers() -> None:
    limits = Limits()
    word = b"A" * (limits.header_bytes + 1)
    for size in (1, 63, 64, 1000, len(word)):
        decoder = Decoder(limits)
        found = [frame for at in range(0, len(word), size) for frame in decoder.feed(word[at : at + size])]
        assert [type(frame) for frame in found] == [FrameError], "refused as soon as it is longer"
        assert decoder.feed(b"{}\n") == []
    decoder = Decoder(limits)
    assert decoder.feed(b"A" * 100 + b'\n{"a": 1}\n') == [Frame(b"A" * 100), Frame(b'{"a": 1}')], (
        "a line that ends is one"
    )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"a": "b', "not JSON: Unterminated string starting at character 6"),
        (b"\xef\xbb\xbf{}", "it begins with a byte order mark: send UTF-8 without one"),
        (b"[1 2]", "not JSON: Expecting ',' delimiter at character 3"),
    ],
)
def test_why_it_is_no_json_is_clear(body: bytes, message: str) -> None:
    with pytest.raises(ParseError) as error:
        parse(body)
    assert str(error.value) == message
