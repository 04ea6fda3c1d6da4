"""Every damage that a SQL tool can do is found: by the checks of the index, or by verifying a file's content."""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from helpers.index_damage import DAMAGES
from helpers.indexed_folder import LANGUAGES, Indexed, chunked
from helpers.purged_store import purge
from livedex_indexing.store import counts, page_checksums
from livedex_indexing.store.database import APPLICATION_ID, SCHEMA_VERSION, open_writer
from livedex_indexing.store.index_store import IndexDamaged, Store
from livedex_indexing.store.row_verifier import RowVerifier

FILES = 12


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Indexed]:
    with Indexed(tmp_path) as made:
        for number in range(FILES):
            made.write(f"root/d{number % 3}/f{number}.txt", f"some words and number{number}\n" * 15)
        made.write("root/code.py", "def firstFunction():\n    return 1\n")
        made.write("root/notes.md", "# Heading\n\nwords of prose\n")
        with closing(open_writer(made.database)) as db:
            db.execute("UPDATE contents SET frontmatter = '{\"a\": 1}' WHERE id = ?", (FILES + 2,))
        yield made


def tool(index: Indexed, *statements: str) -> int:
    """Change the index as another program; return how many rows changed."""
    with closing(apsw.Connection(index.database)) as db:
        for statement in statements:
            db.execute(statement)
        return db.total_changes()


def faults(index: Indexed) -> list[str]:
    """Return what the checks of the file and the verification of each of its contents report."""
    said = counts.faults(index.pool)
    proof = RowVerifier()
    root = index.folder / "root"
    try:
        for path in sorted(file for file in root.rglob("*") if file.is_file() and file.suffix != ".md"):
            root_id, rel = index.root_of(str(path.relative_to(index.folder)))
            row, data = index.store.file(root_id, rel), path.read_bytes()
            if row is None or row.content_hash != hashlib.blake2b(data, digest_size=16).digest():
                said.append(f"row of {rel!r}")
                continue
            with index.pool.connection() as reader:
                if not proof.path_matches(reader, row):
                    said.append(f"path of {rel!r}")
                content = chunked(data, LANGUAGES.get(path.suffix[1:]))
                if not proof.content_matches(reader, row, len(data), content):
                    said.append(f"content of {rel!r}")
    finally:
        proof.close()
    return said


@pytest.mark.parametrize("damage", [name for name in DAMAGES if name != "frontmatter"])
def test_a_damage_is_found(index: Indexed, damage: str) -> None:
    assert faults(index) == []
    assert tool(index, DAMAGES[damage]) > 0
    assert faults(index) != []


def test_a_content_written_again_is_whole(index: Indexed) -> None:
    assert tool(index, DAMAGES["a chunk ends elsewhere"], DAMAGES["a content has another encoding"]) == 2
    data = (index.folder / "root/d1/f7.txt").read_bytes()
    row = index.store.file(1, b"d1/f7.txt")
    assert row is not None and row.content_hash is not None and row.signature is not None
    again = index.store.add_content(row.content_hash, row.signature, len(data), chunked(data), rewrite=True)
    assert again == row.content_id, "whoever points at it still does"
    assert faults(index) == []
    assert index.found("number7") == ["d1/f7.txt"]
    purge(index.store)
    assert faults(index) == []


def test_a_changed_byte_is_found_wherever_it_is(index: Indexed) -> None:
    assert index.store.checkpoint()
    size = os.path.getsize(index.database)
    assert index.store.damaged_pages(1, index.store.pages()) == []
    chance = random.Random(7)
    for _ in range(200):
        at = chance.randrange(size)
        with open(index.database, "r+b", buffering=0) as file:
            before = os.pread(file.fileno(), 1, at)
            os.pwrite(file.fileno(), bytes([before[0] ^ 1 << chance.randrange(8)]), at)
            assert index.store.damaged_pages(1, index.store.pages()) == [at // page_checksums.PAGE_BYTES + 1]
            os.pwrite(file.fileno(), before, at)
    assert index.store.damaged_pages(1, index.store.pages()) == []


def test_a_page_written_in_another_place_is_found(index: Indexed) -> None:
    assert index.store.checkpoint()
    with open(index.database, "r+b", buffering=0) as file:
        page = os.pread(file.fileno(), page_checksums.PAGE_BYTES, 2 * page_checksums.PAGE_BYTES)
        os.pwrite(file.fileno(), page, 4 * page_checksums.PAGE_BYTES)
    assert index.store.damaged_pages(1, 100) == [5]


def test_pages_are_not_judged_before_the_log_is_in_the_file(index: Indexed) -> None:
    """A crash may have torn a page whose whole text is still in the log."""
    with index.pool.connection() as reader, reader.snapshot():
        reader.one("SELECT count(*) FROM files")
        index.write("root/more.txt", "text\n")
        assert index.store.damaged_pages(1, 100) is None
    assert index.store.damaged_pages(1, 100) == []


def test_a_file_without_room_for_checksums_is_not_ours(tmp_path: Path) -> None:
    other = apsw.Connection(str(tmp_path / "index.db"))
    other.execute("CREATE TABLE state (name, value)")
    other.pragma("application_id", APPLICATION_ID)
    other.pragma("user_version", SCHEMA_VERSION)
    other.close()
    with pytest.raises(IndexDamaged, match="checksums"):
        Store.open(str(tmp_path / "index.db"))
