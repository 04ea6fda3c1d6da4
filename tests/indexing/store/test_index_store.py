"""The store: what is put in comes out, transactions are whole, and what is gone is physically gone."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from helpers.indexed_folder import SIGNATURE, chunked
from helpers.purged_store import purge
from livedex_indexing.model import FileRow, FileState, StatusCounts
from livedex_indexing.store import maintenance
from livedex_indexing.store.database import IndexOlder
from livedex_indexing.store.index_store import IndexDamaged, IndexNewer, IndexUnwritable, Store
from livedex_indexing.store.read_pool import ReadPool

STATE = FileState(5, 1_700_000_000_000_000_000, 1_700_000_000_000_000_001, 7)


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class Rig:
    """A store with one root, and short ways to fill it."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self.clock = Clock()
        self.store = Store.open(self.path, now=self.clock)
        self.root = self.store.put_root(b"/r", 1, 2)

    def content(self, text: str) -> int:
        data = text.encode()
        digest = hashlib.blake2b(data, digest_size=16).digest()
        found = self.store.find_content(digest, SIGNATURE)
        return self.store.add_content(digest, SIGNATURE, len(data), chunked(data)) if found is None else found

    def row(self, path: bytes, text: str) -> FileRow:
        digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
        return FileRow(
            self.root, path, STATE, "indexed", None, self.content(text), digest, SIGNATURE, None, 5.0, settled=True
        )

    def put(self, path: bytes, text: str) -> int:
        with self.store.transaction():
            row = self.row(path, text)
            self.store.put_files([row])
        assert row.content_id is not None
        return row.content_id

    def raw(self) -> bytes:
        return b"".join(file.read_bytes() for file in Path(self.path).parent.iterdir() if file.suffix != ".copy")


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    made = Rig(tmp_path / "index.db")
    yield made
    made.store.close()


def test_rows_come_back_as_they_were_put(rig: Rig) -> None:
    row = rig.row(b"a/\xff\n.txt", "hello")
    skipped = FileRow(rig.root, b"a/pic.png", STATE, "skipped", "binary", None, None, None, None, 6.0, settled=False)
    failed = FileRow(rig.root, b"top", STATE, "failed", "parse", None, b"h" * 16, b"s" * 16, None, 7.0, settled=True)
    rig.store.put_files([row, skipped, failed])
    assert rig.store.file(rig.root, row.path) == row
    assert rig.store.file(rig.root, b"nothing") is None
    assert rig.store.folder(rig.root, b"a") == {b"\xff\n.txt": row, b"pic.png": skipped}
    assert rig.store.folder(rig.root, b"") == {b"top": failed}
    assert rig.store.folders_below(rig.root, b"") == [b"", b"a"]
    assert rig.store.counts().roots == {rig.root: StatusCounts(indexed=1, skipped=1, failed=1)}
    assert rig.store.integrity() == []


def test_a_folder_is_not_confused_with_one_whose_name_begins_alike(rig: Rig) -> None:
    for path in (b"a/x", b"a/b/x", b"a.b/x", b"a0/x", b"ab/x", b"a"):
        rig.put(path, "same")
    assert rig.store.folders_below(rig.root, b"a") == [b"a", b"a/b"]
    assert rig.store.remove_tree(rig.root, b"a") == 2
    assert {bytes(path) for path in rig.store.folders_below(rig.root, b"")} == {b"", b"a.b", b"a0", b"ab"}
    assert rig.store.file(rig.root, b"a") is not None, "the path itself is no part of what lies below it"
    assert rig.store.integrity() == []


def test_inode_numbers_of_64_bits(rig: Rig) -> None:
    row = rig.row(b"x", "t")._replace(state=STATE._replace(ino=2**64 - 3))
    rig.store.put_files([row])
    assert rig.store.by_inode(2**64 - 3) == [row]
    assert rig.store.put_root(b"/big", 2**64 - 1, 2**63) > 0
    assert (rig.store.roots()[0].dev, rig.store.roots()[0].ino) == (2**64 - 1, 2**63)


def test_generation_grows_by_one_with_each_visible_transaction(rig: Rig, tmp_path: Path) -> None:
    start = rig.store.generation
    with rig.store.transaction():
        rig.store.put_files([rig.row(b"a", "one")])
        rig.store.put_files([rig.row(b"b", "two")])
    assert rig.store.generation == start + 1
    rig.store.set_root(rig.root, last_reconciled=5.0)
    rig.store.remove_files(rig.root, [b"nothing"])
    assert rig.store.generation == start + 1, "nothing that a search can see"
    rig.store.set_root(rig.root, missing_since=5.0)
    assert rig.store.generation == start + 2
    with Opened(rig.path) as other:
        assert other.generation == start + 2
    with pytest.raises(ValueError, match="colour"):
        rig.store.set_root(rig.root, colour=1)


def test_a_transaction_that_fails_leaves_nothing(rig: Rig) -> None:
    rig.put(b"a", "one")
    before = rig.store.generation
    with pytest.raises(ZeroDivisionError), rig.store.transaction():
        rig.store.put_files([rig.row(b"b", "two words")])
        rig.store.remove_files(rig.root, [b"a"])
        raise ZeroDivisionError
    assert rig.store.generation == before
    assert rig.store.file(rig.root, b"a") is not None
    assert rig.store.file(rig.root, b"b") is None
    assert rig.put(b"b", "two words") > 0, "what was remembered of the failed transaction is forgotten"
    assert rig.store.integrity() == []


def test_a_wish_to_forget_is_undone_with_its_transaction(rig: Rig) -> None:
    rig.put(b"a", "one")
    with pytest.raises(ZeroDivisionError), rig.store.transaction():
        rig.store.remove_files(rig.root, [b"a"], forget=True)
        raise ZeroDivisionError
    rig.store.remove_files(rig.root, [b"a"])
    assert rig.store.collect() == 0, "removed in the ordinary way, it waits its day"


def test_a_content_is_stored_once_and_kept_a_day_for_its_return(rig: Rig) -> None:
    first = rig.put(b"a", "shared text")
    assert rig.put(b"b", "shared text") == first
    rig.store.remove_files(rig.root, [b"a"])
    assert rig.store.collect(0.0) == 0, "still in use"
    rig.store.remove_files(rig.root, [b"b"])
    assert rig.store.counts().chunks == 0
    rig.clock.now += 24 * 3600 - 1
    assert rig.store.collect() == 0
    assert rig.put(b"c", "shared text") == first
    assert rig.store.counts().chunks == 1
    rig.clock.now += 24 * 3600
    assert rig.store.collect() == 0, "back in use, the day has begun anew"
    rig.put(b"c", "other text")
    rig.clock.now += 24 * 3600 + 1
    assert rig.store.collect() == 1
    assert rig.store.integrity() == []


def test_what_is_forgotten_does_not_wait(rig: Rig) -> None:
    rig.put(b"a", "one")
    rig.put(b"b/c", "two")
    rig.put(b"d", "three")
    rig.store.remove_files(rig.root, [b"a"], forget=True)
    rig.store.remove_tree(rig.root, b"b", forget=True)
    assert rig.store.collect() == 2
    rig.store.drop_root(rig.root)
    assert rig.store.roots() == []
    assert rig.store.collect() == 1
    assert rig.store.integrity() == []


def test_forgotten_text_is_physically_gone(rig: Rig) -> None:
    # First in their alphabet and not stemmed: a term that follows another is stored without the beginning they share.
    canaries = [f"{letter}qjxkvb{letter}w" for letter in "bdfhk"]
    for number in range(60):
        rig.put(b"keep/%d" % number, f"word{number} filler text\n" * 30)
    for number, canary in enumerate(canaries):
        rig.put(b"go/%s" % canary.encode(), f"{canary} {canary}zz secret{number}\n")
    rig.store.checkpoint()
    assert any(canary.encode() in rig.raw() for canary in canaries)
    rig.store.remove_tree(rig.root, b"go", forget=True)
    while not rig.store.maintain(10.0):
        pass
    raw = rig.raw()
    assert [canary for canary in canaries if canary.encode() in raw or canary[1:].encode() in raw] == []
    assert rig.store.integrity() == []


@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_what_is_forgotten_while_all_is_merged_does_not_stay_in_what_is_merged(
    rig: Rig, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A merge goes in steps, and what goes between two of them may be written already."""
    monkeypatch.setattr(maintenance, "_MERGE_PAGES", 10)
    for number in range(20):
        rig.put(b"keep/%d" % number, " ".join(f"word{number}x{place}" for place in range(3_000)))
    for canary in ("bqjxkvbw", "dqjxkvbw"):
        rig.put(canary.encode(), f"{canary}\n")
    rig.store.remove_files(rig.root, [b"bqjxkvbw"], forget=True)
    for _ in range(steps):
        assert not rig.store.maintain(0.0), "it is under way"
    rig.store.remove_files(rig.root, [b"dqjxkvbw"], forget=True)
    while not rig.store.maintain(10.0):
        pass
    assert b"qjxkvb" not in rig.raw()
    assert rig.store.integrity() == []


def test_words_of_what_was_merely_removed_go_once_a_day(rig: Rig) -> None:
    day = 24 * 3600.0
    for number in range(60):
        rig.put(b"keep/%d" % number, f"word{number} filler text\n" * 30)
    rig.put(b"bqjxkvbn", "bqjxkvbw secret\n")
    while not rig.store.maintain(10.0):
        pass
    rig.store.remove_files(rig.root, [b"bqjxkvbn"])
    for _ in range(2):  # the content is kept for a day, then its words stay as long at most
        assert rig.store.maintain(10.0)
        assert b"qjxkvb" in rig.raw()
        rig.clock.now += day - 10
    rig.clock.now += 30
    while not rig.store.maintain(10.0):
        pass
    assert b"qjxkvb" not in rig.raw()
    assert rig.store.integrity() == []


def test_maintenance_after_a_few_changes_does_not_write_the_whole_index_anew(rig: Rig) -> None:
    for number in range(200):
        rig.put(b"keep/%d" % number, " ".join(f"word{number}x{place}" for place in range(500)))
    rig.store.remove_files(rig.root, [b"keep/0"], forget=True)
    while not rig.store.maintain(10.0):
        pass
    rig.store.checkpoint()
    size = os.path.getsize(rig.path)
    for minute in range(30):
        for number in range(15):  # a file that is edited and renamed
            rig.put(b"edited%d" % number, f"edit{minute}x{number}\n")
            rig.store.remove_files(rig.root, [b"edited%d" % (number - 1)])
        assert rig.store.checkpoint()
        written = 0
        while not rig.store.maintain(0.0):
            written = max(written, os.path.getsize(rig.path + "-wal"))
        assert written < size / 5
        rig.clock.now += 60.0
    with closing(apsw.Connection(rig.path, flags=apsw.SQLITE_OPEN_READONLY)) as db:
        assert db.execute("SELECT count(DISTINCT segid) FROM postings_idx").get < 12
    assert rig.store.integrity() == []


def test_what_many_commits_left_in_pieces_is_merged(rig: Rig) -> None:
    assert not rig.store.is_scattered()
    for number in range(14):
        rig.put(b"f%d" % number, " ".join(f"word{number}x{place}" for place in range(2_000)))
    assert rig.store.is_scattered()
    while not rig.store.merge(10.0):
        pass
    assert not rig.store.is_scattered()
    for number in range(14):  # as edits do: what is small beside the rest need not be merged for every one of them
        rig.put(b"edited", f"edit{number}\n")
    assert not rig.store.is_scattered()
    assert rig.store.integrity() == []


def test_maintenance_leaves_what_waits_and_purge_does_not(rig: Rig) -> None:
    content = rig.put(b"a", "one")
    rig.store.remove_files(rig.root, [b"a"])
    assert rig.store.maintain(10.0)
    assert rig.put(b"a", "one") == content
    rig.store.remove_files(rig.root, [b"a"])
    purge(rig.store)
    assert rig.put(b"a", "one") != content, "an id is never given twice"


def test_maintenance_with_a_reader_does_not_wait_for_it(rig: Rig) -> None:
    rig.put(b"a", "one")
    reader = apsw.Connection(rig.path, flags=apsw.SQLITE_OPEN_READONLY)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM files").get == 1
    rig.put(b"b", "two")
    assert not rig.store.checkpoint()
    reader.close()
    assert rig.store.checkpoint()


def test_files_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        rig = Rig(tmp_path / "index.db")
        rig.put(b"a", "one")
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
        assert modes == {"index.db": 0o600, "index.db-wal": 0o600, "index.db-shm": 0o600}
        rig.store.close()
        (tmp_path / "index.db").chmod(0o644)
        Opened(rig.path).close()
        assert stat.S_IMODE((tmp_path / "index.db").stat().st_mode) == 0o600
    finally:
        os.umask(before)


def _foreign(path: Path) -> None:
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE mine (x)")
    db.close()


def _truncated(path: Path) -> None:
    with Opened(str(path)) as store, store.transaction():
        store.put_root(b"/r", 1, 1)
    os.truncate(path, path.stat().st_size // 2)


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda path: path.write_bytes(b"garbage" * 1000), id="garbage"),
        pytest.param(lambda path: path.write_bytes(b"SQLite format 3\0" + b"\xff" * 9000), id="header alone"),
        pytest.param(_foreign, id="foreign"),
        pytest.param(_truncated, id="truncated"),
        pytest.param(lambda path: path.mkdir(), id="folder"),
        pytest.param(os.mkfifo, id="pipe"),
    ],
)
def test_what_is_no_index_is_refused_and_left_as_it_was(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    path = tmp_path / "index.db"
    spoil(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(IndexDamaged, match=r"index\.db"):
        Store.open(str(path))
    assert (path.read_bytes() if path.is_file() else None) == before


def test_an_index_of_a_newer_schema_is_refused_byte_for_byte(rig: Rig, tmp_path: Path) -> None:
    rig.put(b"a", "one")
    rig.store.close()
    db = apsw.Connection(rig.path)
    db.pragma("user_version", 99)
    db.close()
    before = Path(rig.path).read_bytes()
    with pytest.raises(IndexNewer, match="99"):
        Store.open(rig.path)
    assert Path(rig.path).read_bytes() == before


def test_an_index_of_an_older_schema_is_to_be_rebuilt(rig: Rig) -> None:
    rig.store.close()
    db = apsw.Connection(rig.path)
    db.pragma("user_version", 1)
    db.close()
    with pytest.raises(IndexOlder, match="older"):
        Store.open(rig.path)


def test_words_are_held_as_they_are_written_until_their_content_goes(rig: Rig) -> None:
    content_id = rig.put(b"a", "Indexing the Wörds\n")
    with closing(ReadPool(rig.path)) as pool, pool.connection() as reader:
        written = {row[0] for row in reader.rows("SELECT term FROM temp.written")}
        assert written == {"indexing", "the", "words"}
        assert reader.rows("SELECT rowid FROM exact WHERE exact MATCH 'indexing'") == [(content_id,)]
        rig.store.remove_files(rig.root, [b"a"], forget=True)
        purge(rig.store)
        assert reader.rows("SELECT term FROM temp.written") == []


def test_an_empty_file_becomes_an_index(tmp_path: Path) -> None:
    (tmp_path / "index.db").touch()
    with Opened(str(tmp_path / "index.db")) as store:
        assert store.integrity() == []


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(IndexUnwritable, match=r"none/index\.db"):
        Store.open(str(tmp_path / "none" / "index.db"))


def test_a_lock_of_another_program_is_said(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.store._db.set_busy_timeout(1)
    other = apsw.Connection(rig.path)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(IndexUnwritable, match="locked"):
        rig.put(b"a", "one")
    other.execute("ROLLBACK")
    other.close()
    assert rig.put(b"a", "one") > 0


def test_a_copy_taken_at_any_moment_opens_sound(rig: Rig, tmp_path: Path) -> None:
    """As after kill -9: the file and its log as they lie there, without a clean close."""
    for number in range(20):
        rig.put(b"f%d" % number, f"text {number}")
        copy = tmp_path / f"at{number}"
        copy.mkdir()
        for suffix in ("", "-wal"):
            shutil.copy(rig.path + suffix, copy / f"index.db{suffix}")
        with Opened(str(copy / "index.db")) as store:
            assert store.integrity() == []
            assert len(store.folder(rig.root, b"")) == number + 1


def test_integrity_tells_what_is_wrong(rig: Rig) -> None:
    rig.put(b"a", "one")
    rig.put(b"b", "two")
    rig.store._db.execute("DELETE FROM postings WHERE rowid = 1")
    rig.store._db.execute("DELETE FROM paths WHERE rowid = 2")
    rig.store._db.execute("INSERT INTO dead VALUES (2)")
    rig.store._db.execute("DELETE FROM exact WHERE rowid = 1")
    faults = " / ".join(rig.store.integrity())
    assert "chunks without postings: 1" in faults
    assert "files without words of their path: 2" in faults
    assert "contents without their words: 1" in faults
    assert "chunks wrongly alive or dead: 2" in faults


class Opened:
    """A store for the length of a ``with``."""

    def __init__(self, path: str) -> None:
        self.store = Store.open(path)

    def __enter__(self) -> Store:
        return self.store

    def __exit__(self, *_: object) -> None:
        self.store.close()

    def close(self) -> None:
        self.store.close()
