"""Splits a byte stream into messages and frames messages for it, without I/O: one JSON text per line, or LSP headers.

Invariant: the frames depend on the bytes alone, not on the sizes of the reads; no input raises an exception; and the
buffer of an unfinished frame is bounded.
"""

from __future__ import annotations

import codecs
import json
import math
import re
from typing import Any, Literal, NamedTuple, NoReturn

from livedex_ipc.errors import InvalidRequest, LivedexError, ParseError
from livedex_ipc.limits import Limits

Framing = Literal["lines", "headers"]

MAX_DIGITS = 20  # of an integer, its sign included: 64 bits
NAME_BYTES = 64  # a header's name is shorter than this
_NAME = re.compile(rb"[A-Za-z][A-Za-z0-9-]{0,63}")
_HTTP = re.compile(rb"[A-Z]+ \S+ HTTP/\d")
_LENGTH = re.compile(rb"[0-9]{1,19}")
_CHARSET = re.compile(rb"charset\s*=\s*\"?([^\s;\"]+)", re.IGNORECASE)
_TLS = b"\x16\x03"  # a handshake record of any version
_END = b"\r\n\r\n"
_BLANK = b" \t\r\n"


class Frame(NamedTuple):
    """The bytes of one message, not yet parsed."""

    body: bytes


class FrameError(NamedTuple):
    """Bytes that are not a frame. Nothing after them can be understood: send the error and close."""

    error: LivedexError


class Decoder:
    """Decodes one connection's incoming bytes. ``framing`` is None until the first bytes decide it."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._buffer = bytearray()
        self._searched = 0  # leading bytes known to contain no line end, so that each byte is searched once
        self._length: int | None = None  # of the body, once its headers are read
        self._broken = False
        self.framing: Framing | None = None

    @property
    def partial(self) -> bool:
        """Whether the buffer has an unfinished frame."""
        return bool(self._buffer) or self._length is not None

    @property
    def buffered(self) -> int:
        """Bytes kept of an unfinished frame."""
        return len(self._buffer)

    def discard(self) -> None:
        """Drop the unfinished frame, and all that follows."""
        self._broken = True
        self._buffer.clear()
        self._length = None

    def feed(self, data: bytes) -> list[Frame | FrameError]:
        """Return the frames that ``data`` completes, in order. After a FrameError, return none."""
        found: list[Frame | FrameError] = []
        if self._broken or not data:
            return found
        self._buffer += data
        try:
            if self.framing is None:
                self.framing = self._detect_framing()
            if self.framing is not None:
                take = self._line if self.framing == "lines" else self._message
                while (body := take()) is not None:
                    if body:
                        found.append(Frame(body))
        except LivedexError as error:
            self.discard()
            found.append(FrameError(error))
        return found

    def _detect_framing(self) -> Framing | None:
        """Return the framing of the first bytes; None if there are too few. No JSON text begins like a header."""
        if self._buffer.startswith(_TLS):
            raise ParseError("this server does not speak TLS: send plain JSON-RPC")
        if self._buffer == _TLS[:1]:
            return None
        name = _NAME.match(self._buffer)
        if name is None:
            return "lines"
        if name.end() == NAME_BYTES:  # neither: a line that is not JSON does not get the larger limit of a request
            most = self._limits.header_bytes
            if self._buffer.find(b"\n", 0, most + 1) < 0:
                if len(self._buffer) > most:
                    raise InvalidRequest(f"a block of headers may have {most} bytes at most")
                return None
            return "lines"
        if name.end() == len(self._buffer):
            return None
        return "headers" if self._buffer[name.end()] == ord(":") else "lines"

    def _line(self) -> bytes | None:
        """Return the next line without its line end, empty if blank; None if the line is unfinished."""
        end = self._buffer.find(b"\n", self._searched)
        limit = self._limits.request_bytes
        if (end if end >= 0 else len(self._buffer)) > limit:
            raise InvalidRequest(f"a request may have {limit} bytes at most")
        if end < 0:
            self._searched = len(self._buffer)
            return None
        line = bytes(self._buffer[:end]).strip(_BLANK)
        del self._buffer[: end + 1]
        self._searched = 0
        if line[:15].lower() == b"content-length:":
            raise InvalidRequest("this connection began with one JSON text a line: it cannot change to headers")
        if _HTTP.match(line):
            raise InvalidRequest("this server does not speak HTTP: send JSON-RPC, one JSON text a line")
        return line

    def _message(self) -> bytes | None:
        """Return the next body, never empty; None if it is unfinished."""
        if self._length is None:
            self._length = self._headers()
        if self._length is None or len(self._buffer) < self._length:
            return None
        body = bytes(self._buffer[: self._length])
        del self._buffer[: self._length]
        self._length = None
        return body

    def _headers(self) -> int | None:
        """Return the body length given by the next block of headers; None if the block is unfinished."""
        most = self._limits.header_bytes + len(_END)
        self._refuse_bare_line_end(most)
        end = self._buffer.find(_END, max(0, self._searched - len(_END) + 1), most)
        if end < 0:
            if len(self._buffer) >= most:
                raise InvalidRequest(f"a block of headers may have {self._limits.header_bytes} bytes at most")
            self._searched = len(self._buffer)
            return None
        block = bytes(self._buffer[:end])
        del self._buffer[: end + len(_END)]
        self._searched = 0
        return _content_length(block.split(b"\r\n"), self._limits.request_bytes)

    def _refuse_bare_line_end(self, most: int) -> None:
        # Without this check a client that ends headers in LF would wait until the deadline, and not learn why.
        at = self._searched
        while (at := self._buffer.find(b"\n", at, most)) >= 0:
            if self._buffer[max(0, at - 1)] != ord("\r"):
                raise ParseError("a header ends in CRLF")
            if self._buffer[max(0, at - 3) : at + 1] == _END:
                return
            at += 1


def parse(body: bytes) -> Any:
    """Parse a JSON text strictly. Raises ParseError: not UTF-8, not JSON, a repeated key, or nested too deeply."""
    try:
        return _decoder.decode(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ParseError(f"byte {error.start} is not UTF-8") from None
    except RecursionError:
        raise ParseError("nested too deep") from None
    except json.JSONDecodeError as error:
        if body.startswith(codecs.BOM_UTF8):
            raise ParseError("it begins with a byte order mark: send UTF-8 without one") from None
        raise ParseError(f"not JSON: {error.msg.removesuffix(' at')} at character {error.pos}") from None


def encode(body: bytes, framing: Framing | None) -> bytes:
    """Frame a message that is already JSON on one line. ``framing`` None (not yet decided) gives a line."""
    if framing == "headers":
        return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    return body + b"\n"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ParseError("an object contains the same key twice")
    return members


def _constant(name: str) -> NoReturn:
    raise ParseError(f"not JSON: {name} is not a number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ParseError("a number is too large")
    return number


def _integer(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise ParseError("an integer has too many digits")
    return int(text)


# Python functions as hooks let other threads run; json's own C loop over a list of numbers does not.
_decoder = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_constant, parse_float=_finite, parse_int=_integer
)


def _content_length(lines: list[bytes], limit: int) -> int:
    lengths = []
    for line in lines:
        name, colon, value = line.partition(b":")
        if not colon or not _NAME.fullmatch(name):
            raise ParseError("a header must be `Name: value`")
        value = value.strip(b" \t")
        if name.lower() == b"content-length":
            lengths.append(value)
        elif name.lower() == b"content-type":
            charset = _CHARSET.search(value)
            if charset is not None and charset[1].lower() not in (b"utf-8", b"utf8"):
                raise ParseError("the charset must be utf-8")
    if len(lengths) != 1:
        raise ParseError("Content-Length must occur once in a block of headers")
    if not _LENGTH.fullmatch(lengths[0]) or int(lengths[0]) == 0:
        raise ParseError("Content-Length must be a number of bytes above 0")
    if int(lengths[0]) > limit:
        raise InvalidRequest(f"a request may have {limit} bytes at most")
    return int(lengths[0])
