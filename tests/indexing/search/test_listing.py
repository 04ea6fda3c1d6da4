"""The list of files and the chunks of one: rows in the wire's shape, text from the live file."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from helpers.indexed_folder import Indexed
from livedex_indexing.model import FileRow, FileState, Place
from livedex_indexing.query.scope import places, root_at
from livedex_indexing.search.listing import FileList, ListRequest, find_row, list_files, retrieve, twins
from livedex_ipc.errors import InvalidParams, NotFound, OutsideRoots
from livedex_ipc.methods import path_bytes


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Indexed]:
    with Indexed(tmp_path, ("one", "two")) as made:
        made.write("one/b.py", "x = 1\n" * 25)
        made.write("one/sub/a.md", "# head\n")
        made.write("two/c.txt", "")
        yield made


def page(index: Indexed, **params: Any) -> FileList:
    root, path = path_bytes(params, "root"), path_bytes(params)
    root_id = None if root is None else root_at(root, index.roots)
    inside = None if path is None else tuple(places(path, index.roots))
    filters = {name: value for name, value in params.items() if name in ListRequest.__struct_fields__}
    with index.pool.connection() as reader:
        return list_files(reader, ListRequest(root_id, inside, **filters), index.roots)


def listed(index: Indexed, **params: Any) -> tuple[list[str], int]:
    found = page(index, **params)
    return [str(Path(row.path).relative_to(index.folder)) for row in found.files], found.total


def chunks(index: Indexed, path: str, **params: Any) -> list[dict[str, Any]]:
    with index.pool.connection() as reader:
        answer, stale = retrieve(reader, Place(*index.root_of(path)), index.roots, **params)
    assert answer is not None and stale == {}
    return list(msgspec.to_builtins(answer.chunks))


def test_a_row_of_the_list(index: Indexed) -> None:
    row = index.row("one/b.py")
    assert row.content_hash is not None
    index.store.put_files([row._replace(indexed_at=1_700_000_000.5)])
    found = page(index, path=str(index.folder / "one/b.py"))
    assert {"total": found.total, "files": msgspec.to_builtins(found.files)} == {
        "total": 1,
        "files": [{
            "path": str(index.folder / "one/b.py"), "status": "indexed", "size": 150, "chunks": 3, "language": "python",
            "content_hash": row.content_hash.hex(), "indexed_at": "2023-11-14T22:13:20.500Z",
        }],
    }  # fmt: skip


def test_filters_order_and_pages(index: Indexed) -> None:
    everything = ["one/b.py", "one/sub/a.md", "two/c.txt"]
    assert listed(index) == (everything, 3)
    assert listed(index, limit=1, offset=1) == (["one/sub/a.md"], 3)
    assert listed(index, root=str(index.folder / "one")) == (everything[:2], 2)
    assert listed(index, path=str(index.folder)) == (everything, 3)
    assert listed(index, path=str(index.folder / "one/sub")) == (["one/sub/a.md"], 1)
    assert listed(index, glob="*.{py,txt}") == (["one/b.py", "two/c.txt"], 2)
    with pytest.raises(OutsideRoots):
        listed(index, path="/nowhere")
    with pytest.raises(InvalidParams, match="glob"):
        listed(index, glob="a\0b")


def test_files_that_are_not_indexed_are_listed_with_their_reason(index: Indexed) -> None:
    state = FileState(9, 1, 2, 3)
    row = FileRow(1, b"sub/p.png", state, "skipped", "binary", None, None, None, None, 5.0, settled=True)
    index.store.put_files([row])
    assert listed(index, status="skipped") == (["one/sub/p.png"], 1)
    (record,) = page(index, status="skipped").files
    assert (record.reason, record.chunks, record.content_hash) == ("binary", 0, None)
    with pytest.raises(NotFound, match=r"skipped \(binary\)"):
        chunks(index, "one/sub/p.png")
    with index.pool.connection() as reader:
        assert find_row(reader, Place(1, b"sub/p.png")) == row
        assert find_row(reader, Place(1, b"nowhere")) is None


def test_chunks_tile_the_file(index: Indexed) -> None:
    text = "".join(f"línea {number} 日本\r\n" for number in range(35)) + "end"
    index.write("one/t.txt", "\ufeff" + text)
    found = chunks(index, "one/t.txt")
    assert "".join(chunk["text"] for chunk in found) == text
    assert [chunk["ordinal"] for chunk in found] == list(range(4))
    assert found[0]["start_byte"] == 3
    for before, chunk in pairwise(found):
        assert before["end_byte"] == chunk["start_byte"]
        assert text.split(chunk["text"])[0].endswith(chunk["context"])
        assert len(chunk["context"]) == 40
    assert set(found[0]) == {
        "ordinal", "text", "context", "kind", "language", "heading", "symbol", "start_line", "end_line", "start_byte",
        "end_byte", "metadata",
    }  # fmt: skip


def test_chunks_of_some_lines(index: Indexed) -> None:
    assert [chunk["ordinal"] for chunk in chunks(index, "one/b.py", start_line=10, end_line=11)] == [0, 1]
    assert [chunk["ordinal"] for chunk in chunks(index, "one/b.py", start_line=21)] == [2]
    assert chunks(index, "one/b.py", start_line=99) == []
    assert chunks(index, "two/c.txt") == []


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_chunks_in_other_encodings(index: Indexed, encoding: str) -> None:
    text = "".join(f"größe {number} né à côté du café\n" for number in range(40))
    index.write("one/t.txt", text.encode(encoding))
    assert "".join(chunk["text"] for chunk in chunks(index, "one/t.txt")) == text
    (hit,) = index.search("größe", path=str(index.folder / "one/t.txt"), limit=1)
    assert hit["snippet"] in text
    assert {hit["snippet"][start:end] for start, end in hit["highlights"]} == {"größe"}
    data = text.encode(encoding)
    assert data[hit["snippet_byte"] :].startswith(hit["snippet"].encode(f"{encoding}-le"))
    assert hit["start_column"] == 1


def test_chunks_of_a_file_with_bytes_of_no_character(index: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("livedex_indexing.text.decoder.detect", lambda data: None)
    data = b"".join(b"caf\xe9 \x81\x8d %d walrus\n" % number for number in range(40))
    index.write("one/t.txt", data)
    found = chunks(index, "one/t.txt")
    assert "".join(chunk["text"] for chunk in found).encode("cp1252", "ignore") == data.replace(b"\x81\x8d", b"")
    hit = index.search("walrus")[0]
    assert hit["metadata"] == {"encoding": "cp1252", "lossy": True}
    assert data[hit["snippet_byte"] :].startswith(hit["snippet"].encode("cp1252", "ignore")[:4])


def test_a_changed_file_is_not_retrieved(index: Indexed) -> None:
    (index.folder / "one/b.py").write_text("changed\n")
    with index.pool.connection() as reader:
        answer, stale = retrieve(reader, Place(*index.root_of("one/b.py")), index.roots)
    assert answer is None
    assert [path for _, path in stale] == [b"b.py"]
    with pytest.raises(NotFound, match="not in the index"):
        chunks(index, "one/none.py")


def test_names_that_are_not_utf_8(index: Indexed) -> None:
    path = os.fsencode(index.folder / "one") + b"/bad\xff\nname.txt"
    index.write(os.fsdecode(path[len(os.fsencode(index.folder)) + 1 :]), "walrus\n")
    (hit,) = index.search("walrus")
    assert hit["relative_path"] == "bad\ufffd\nname.txt"
    assert base64.b64decode(hit["path_b64"]) == path
    (record,) = page(index, path_b64=hit["path_b64"]).files
    with index.pool.connection() as reader:
        answer, _ = retrieve(reader, Place(1, os.path.basename(path)), index.roots)
    assert record.path_b64 == hit["path_b64"]
    assert answer is not None and answer.chunks[0].text == "walrus\n"
    assert index.search("walrus", path_b64=hit["path_b64"]) == [hit]
    assert "path_b64" not in index.search("head")[0]


def test_a_path_without_a_file_is_named(index: Indexed) -> None:
    """As one that is misspelt, or that a rule leaves out. The other filters leave out what is there."""
    wanted = {name: str(index.folder / name) for name in ("one", "one/sub", "one/b.py", "one/su", "two/c.txt.md")}
    for name in ("one", "one/sub", "one/b.py"):
        assert page(index, path=wanted[name], glob="*.nothing").warnings == []
    inside = tuple(place for path in wanted.values() for place in places(os.fsencode(path), index.roots))
    with index.pool.connection() as reader:
        found = list_files(reader, ListRequest(places=inside, limit=1), index.roots)
    assert (len(found.files), found.total) == (1, 2)
    assert [(warning["code"], warning["message"]) for warning in found.warnings] == [
        ("query_unknown", f"no file is at or below {wanted[name]}") for name in ("one/su", "two/c.txt.md")
    ]


def test_other_names_of_an_inode_with_64_bits(index: Indexed) -> None:
    """SQLite has signed numbers only."""
    ino = 2**64 - 3
    row = FileRow(1, b"far.txt", FileState(1, 2, 3, ino), "skipped", "binary", None, None, None, None, 0.0, True)
    with index.store.transaction():
        index.store.put_files([row])
    with index.pool.connection() as reader:
        assert twins(reader, Place(1, b"b.py"), ino) == [(1, b"far.txt")]
