"""A child's answer is stored only if its chunks lie in the file, in order, and can be stored."""

from __future__ import annotations

import datetime
from typing import Any

import msgspec
import pytest

from livedex_indexing.chunk.answer_check import is_sound
from livedex_indexing.chunk.chunk_plan import ChunkSettings
from livedex_indexing.chunk.chunker import chunk_content
from livedex_indexing.model import Chunk, ChunkedContent

FILES = {
    "empty.txt": b"",
    "one.txt": b"a",
    "bare.txt": b"\n\n\n",
    "marked.txt": b"\xef\xbb\xbfwords\nand more\n",
    "wide.txt": "Съешь ещё\n".encode("utf-16"),
    "cut.txt": "Съешь".encode("utf-16")[:-1],
    "cyrillic.txt": ("Съешь ещё этих мягких французских булок да выпей чаю\n" * 90).encode("cp1251"),
    "doubtful.txt": b"\x81\xff\x00words" * 900,
    "a.md": b"---\ntitle: words\nwhen: 2020-01-01\nlist: [1, {a: b}]\n---\n"
    b"# T\n\n| a |\n| - |\n\n```c\nint a;\n```\n![x](y.png)\n",
    "a.py": b"class A:\n    def f(self):\n        pass\n" * 200,
    "long.txt": b"word " * 5000,
    "returns.txt": b"a\r\nb\rc\r\n" * 500,
}


def content_of(name: str) -> ChunkedContent:
    made = chunk_content(FILES[name], name.encode(), ChunkSettings())
    assert isinstance(made, ChunkedContent)
    return made


@pytest.mark.parametrize("name", FILES)
def test_an_honest_answer_passes(name: str) -> None:
    assert is_sound(content_of(name), len(FILES[name]))


def changed(content: ChunkedContent, place: int, **changes: Any) -> ChunkedContent:
    chunks = list(content.chunks)
    chunks[place] = msgspec.structs.replace(chunks[place], **changes)
    return msgspec.structs.replace(content, chunks=chunks)


LONG = content_of("long.txt")
LAST = len(LONG.chunks) - 1
SIZE = len(FILES["long.txt"])


@pytest.mark.parametrize(
    "forged",
    [
        changed(LONG, LAST, end_byte=SIZE + 1),
        changed(LONG, 0, start_byte=-1),
        changed(LONG, 0, start_byte=9),
        changed(LONG, 1, start_byte=LONG.chunks[1].start_byte + 1),
        changed(LONG, 1, end_byte=0),
        changed(LONG, 1, ordinal=0),
        changed(LONG, 1, ordinal=1 << 63),
        changed(LONG, 1, start_line=0),
        changed(LONG, 1, end_line=1 << 63),
        changed(LONG, 1, metadata={"fallback": msgspec.msgpack.Ext(5, b"x")}),
        msgspec.structs.replace(LONG, terms=LONG.terms[1:]),
        msgspec.structs.replace(LONG, pipeline="shell"),
        msgspec.structs.replace(LONG, encoding="zip"),
        msgspec.structs.replace(LONG, encoding="no such"),
        msgspec.structs.replace(LONG, encoding="nul\0"),
        msgspec.structs.replace(LONG, frontmatter={"key": msgspec.msgpack.Ext(5, b"x")}),
        msgspec.structs.replace(LONG, frontmatter={"key": {(1, 2): "x"}}),
    ],
)
def test_a_forged_answer_does_not(forged: ChunkedContent) -> None:
    assert is_sound(LONG, SIZE)
    assert not is_sound(forged, SIZE)


def test_a_date_can_be_stored() -> None:
    assert is_sound(msgspec.structs.replace(LONG, frontmatter={"when": datetime.date(2020, 1, 1)}), SIZE)


def test_every_chunk_is_looked_at() -> None:
    assert len(LONG.chunks) > 5
    for place in range(len(LONG.chunks)):
        assert not is_sound(changed(LONG, place, end_byte=SIZE + 1), SIZE)
        assert isinstance(LONG.chunks[place], Chunk)
