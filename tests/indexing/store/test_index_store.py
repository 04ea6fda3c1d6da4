"""The store: stored data comes back, transactions are atomic, and removed data is physically gone."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from helpers.purged_store import purge
from helpers.store_rig import STATE, Opened, Rig
from livedex_indexing.model import FileRow, StatusCounts
from livedex_indexing.store import file_rows, maintenance
from livedex_indexing.store.index_store import IndexDamaged
from livedex_indexing.store.read_pool import ReadPool

INODES = {b"a": 2**64 - 3, b"d/b": 2, b"d/c": 3, b"e": 4, b"f": 2}


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


@pytest.mark.parametrize("sql", [file_rows.FOLDERS, file_rows.BELOW])
def test_what_lies_below_a_path_is_found_without_a_pass_through_all_files(rig: Rig, sql: str) -> None:
    """Each file that comes or goes is looked for as a folder, too."""
    with closing(apsw.Connection(rig.path)) as other:
        plan = [row[3] for row in other.execute(f"EXPLAIN QUERY PLAN {sql}", (rig.root, b"a", b"a/", b"a0"))]
    looks = [step for step in plan if "files" in step]
    assert len(looks) == 2
    assert all("(root_id=? AND folder" in step for step in looks), plan


def test_inode_numbers_of_64_bits(rig: Rig) -> None:
    row = rig.row(b"x", "t")._replace(state=STATE._replace(ino=2**64 - 3))
    rig.store.put_files([row])
    assert rig.store.by_inode(2**64 - 3) == [row]
    assert rig.store.put_root(b"/big", 2**64 - 1, 2**63) > 0
    assert (rig.store.roots()[0].dev, rig.store.roots()[0].ino) == (2**64 - 1, 2**63)


def test_a_transaction_knows_the_names_that_its_inodes_lose(rig: Rig) -> None:
    rows = {path: rig.row(path, "t")._replace(state=STATE._replace(ino=ino)) for path, ino in INODES.items()}
    rig.store.put_files(rows.values())
    with rig.store.transaction():
        rig.store.remove_files(rig.root, [b"a"])
        rig.store.remove_tree(rig.root, b"d")
        rig.store.put_files([rows[b"e"]._replace(state=rows[b"a"].state), rows[b"f"]])
        lost = {(rig.root, path): INODES[path] for path in (b"a", b"d/b", b"d/c", b"e")}
        assert dict(rig.store.lost_names(4)) == lost
        assert dict(rig.store.lost_names(3)) == {(rig.root, b"a"): 2**64 - 3, (rig.root, b"d/b"): 2}, "have others"
    with rig.store.transaction():
        assert rig.store.lost_names(4) == []


def test_generation_grows_by_one_with_each_visible_transaction(rig: Rig) -> None:
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
        rig.store.set_root(rig.root, colour=1)  # type: ignore[call-arg]


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
    assert rig.store.collect() == 0, "back in use, the day has begun again"
    rig.put(b"c", "other text")
    rig.clock.now += 24 * 3600 + 1
    assert rig.store.collect() == 1
    assert rig.store.integrity() == []


def test_what_was_left_while_the_clock_was_ahead_is_kept_a_day_too(rig: Rig) -> None:
    rig.put(b"a", "some text")
    rig.clock.now += 3650 * 24 * 3600
    rig.store.remove_files(rig.root, [b"a"])
    rig.clock.now -= 3650 * 24 * 3600
    assert rig.store.collect() == 0
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
    """A merge runs in steps; rows removed between two steps may have been written already."""
    monkeypatch.setattr(maintenance, "MERGE_PAGES", 10)
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
    for _ in range(2):  # the content is kept for a day, its words at most a day longer
        assert rig.store.maintain(10.0)
        assert b"qjxkvb" in rig.raw()
        rig.clock.now += day - 10
    rig.clock.now += 30
    while not rig.store.maintain(10.0):
        pass
    assert b"qjxkvb" not in rig.raw()
    assert rig.store.integrity() == []


def test_maintenance_after_a_few_changes_does_not_rewrite_the_whole_index(rig: Rig) -> None:
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
    for number in range(14):  # as edits do: what is small compared to the rest need not be merged for each of them
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


def test_words_are_held_as_they_are_written_until_their_content_goes(rig: Rig) -> None:
    content_id = rig.put(b"a", "Indexing the Wörds\n")
    with closing(ReadPool(rig.path)) as pool, pool.connection() as reader:
        written = {row[0] for row in reader.rows("SELECT term FROM temp.written")}
        assert written == {"indexing", "the", "words"}
        assert reader.rows("SELECT rowid FROM exact WHERE exact MATCH 'indexing'") == [(content_id,)]
        rig.store.remove_files(rig.root, [b"a"], forget=True)
        purge(rig.store)
        assert reader.rows("SELECT term FROM temp.written") == []


def test_a_lost_file_has_no_pages(rig: Rig) -> None:
    assert rig.store.pages() > 0
    os.unlink(rig.path)
    with pytest.raises(IndexDamaged, match="lost"):
        rig.store.pages()


def test_a_reader_of_a_folder_meets_damage(tmp_path: Path) -> None:
    (tmp_path / "index.db").mkdir()
    with pytest.raises(IndexDamaged, match="not a regular file"), ReadPool(str(tmp_path / "index.db")).connection():
        pass


def test_pending_rows_are_found_by_an_index(rig: Rig) -> None:
    """Finding them costs as much as is pending, not as much as is indexed."""
    rig.put(b"a/indexed.txt", "words")
    pending = FileRow(rig.root, b"a/p\xff.txt", STATE, "pending", None, None, None, None, None, 6.0, settled=False)
    rig.store.put_files([pending, pending._replace(path=b"q.txt")])
    assert sorted(rig.store.pending(9)) == [(rig.root, b"a/p\xff.txt"), (rig.root, b"q.txt")]
    assert len(rig.store.pending(1)) == 1
    with closing(apsw.Connection(rig.path)) as other:
        plan = [row[3] for row in other.execute(f"EXPLAIN QUERY PLAN {file_rows.PENDING}", (9,))]
    assert plan == ["SCAN files USING INDEX files_pending"]
