"""Decisions and chunks become rows in one transaction: all of them or none."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from helpers.fakes import FakeForgottenFiles, online_root
from helpers.pool_parts import real_root, works
from livedex_daemon.watch.backlog import Entry
from livedex_daemon.watch.former_names import FormerNames
from livedex_daemon.watch.root_table import Roots
from livedex_daemon.write.changes import Changes
from livedex_daemon.write.commit import Applied, Committer
from livedex_daemon.write.outcomes import Failed, Gone, Hidden, Known, Outcome, Result, Skipped
from livedex_daemon.write.search_priority import SearchPriority
from livedex_daemon.write.walk import Work
from livedex_indexing.child.code_version import failure_signature
from livedex_indexing.chunk import chunk_plan
from livedex_indexing.chunk.chunk_plan import ChunkSettings
from livedex_indexing.disk.settled import RACY_S
from livedex_indexing.model import ChunkedContent, FileRow, FileState, Stat
from livedex_indexing.store.forgotten_files import ForgottenFiles
from livedex_indexing.store.index_store import IndexUnwritable, Store

STATE = FileState(1, 2, 3, 4)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store.open(str(tmp_path / "index.db"))
    made.put_root(b"/r", 1, 1)
    yield made
    made.close()


def row(path: bytes) -> FileRow:
    return FileRow(1, path, STATE, "skipped", "binary", None, None, None, None, 0.0, True)


@pytest.fixture
def storing(store: Store) -> Committer:
    return Committer(store, FakeForgottenFiles().real, Roots([online_root()]), SearchPriority())


def renamed() -> Changes:
    changes = Changes()
    changes.removed, changes.rows = [(1, b"old")], [row(b"new")]
    return changes


def test_a_rename_is_one_change(store: Store, storing: Committer) -> None:
    store.put_files([row(b"old")])
    before = store.generation
    storing.apply(renamed(), [], FormerNames())
    assert (store.file(1, b"old"), store.file(1, b"new")) == (None, row(b"new"))
    assert store.generation == before + 1


def test_a_rename_that_cannot_be_stored_whole_changes_nothing(
    store: Store, storing: Committer, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put_files([row(b"old")])
    before = store.generation

    def refuse(_rows: Iterable[FileRow]) -> None:
        raise IndexUnwritable("the disk is full")

    monkeypatch.setattr(store, "put_files", refuse)
    with pytest.raises(IndexUnwritable):
        storing.apply(renamed(), [], FormerNames())
    assert store.file(1, b"old") == row(b"old")
    assert store.generation == before


def test_what_was_known_and_is_collected_is_read_again(store: Store, storing: Committer) -> None:
    work = Work(online_root(), b"a", 1, None, Entry((1, b"a"), 1, 0.0))
    plan = chunk_plan.choose(b"a", b"words", ChunkSettings())
    outcome = Outcome(work, Known(), Stat("file", 1, 2, 3, 4, 1, 0o644), b"h" * 16, plan)
    assert storing.apply(Changes(), [outcome], FormerNames()) == Applied([], [work], [])
    assert store.file(1, b"a") is None


def test_a_file_in_a_closed_folder_has_no_row_and_its_path_is_looked_at(store: Store, tmp_path: Path) -> None:
    root = real_root(tmp_path)
    (work,) = works(root, "a.txt")
    store.put_files([row(b"a.txt")])
    committer = Committer(store, FakeForgottenFiles().real, Roots([root]), SearchPriority())
    assert committer.apply(Changes(), [Outcome(work, Hidden())], FormerNames()) == Applied([], [], [work])
    assert store.file(1, b"a.txt") is None


@pytest.mark.parametrize("now", ["nothing", "a folder", "a file"])
def test_a_file_that_was_gone_is_read_again_if_a_file_is_there(store: Store, tmp_path: Path, now: str) -> None:
    """Of a folder, the file could be read again for ever."""
    root = real_root(tmp_path)
    if now == "a folder":
        (tmp_path / "a.txt").mkdir()
    elif now == "a file":
        (tmp_path / "a.txt").touch()
    (work,) = works(root, "a.txt")
    committer = Committer(store, FakeForgottenFiles().real, Roots([root]), SearchPriority())
    applied = committer.apply(Changes(), [Outcome(work, Gone())], FormerNames())
    assert applied.unread == ([work] if now == "a file" else [])


@pytest.mark.parametrize("force", [False, True])
def test_a_file_that_is_forgotten_after_it_was_read_stays_so(store: Store, tmp_path: Path, force: bool) -> None:
    """A new file is read twice, since it may change within the clock's step: the second look may be under way."""
    forgotten, root = ForgottenFiles(str(tmp_path / "forgotten.db")), online_root()
    committer = Committer(store, forgotten, Roots([root]), SearchPriority())
    plan = chunk_plan.choose(b"a", b"words", ChunkSettings())
    store.add_content(b"h" * 16, plan.signature, 1, ChunkedContent("plain", None, "utf-8", False, [], []))
    stat = Stat("file", 1, 2, 3, 4, 1, 0o644)
    first, again = (Work(root, b"a", 1, None, Entry((1, b"a"), 1, 0.0)) for _ in range(2))
    again.force = force
    committer.apply(Changes(), [Outcome(first, Known(), stat, b"h" * 16, plan)], FormerNames())
    assert committer.forget(root, b"a") == 1
    committer.apply(Changes(), [Outcome(again, Known(), stat, b"h" * 16, plan)], FormerNames())
    kept = store.file(1, b"a")
    assert kept is not None
    assert (kept.status, forgotten.has_path(root.path, b"a")) == (("indexed", False) if force else ("skipped", True))
    forgotten.close()


@pytest.mark.parametrize("result", [Skipped("binary"), Failed("chunk", ""), Known()])
@pytest.mark.parametrize(("waited_s", "settled"), [(0.1, False), (RACY_S + 1, True)])
def test_what_was_read_just_after_a_change_is_not_settled_however_late_its_commit(
    store: Store, storing: Committer, result: Result, waited_s: float, settled: bool
) -> None:
    changed_at = time.time() - 60
    stat = Stat("file", 1, int(changed_at * 1e9), int(changed_at * 1e9), 4, 1, 0o644)
    plan = chunk_plan.choose(b"a", b"words", ChunkSettings())
    work = Work(online_root(), b"a", 1, None, Entry((1, b"a"), 1, 0.0))
    work.read_at = changed_at + waited_s
    store.add_content(b"h" * 16, plan.signature, 1, ChunkedContent("plain", None, "utf-8", False, [], []))
    storing.apply(Changes(), [Outcome(work, result, stat, b"h" * 16, plan)], FormerNames())
    kept = store.file(1, b"a")
    assert kept is not None
    assert kept.settled == settled


def test_a_failure_is_kept_with_what_failed(store: Store, storing: Committer) -> None:
    work = Work(online_root(), b"a", 1, None, Entry((1, b"a"), 1, 0.0))
    plan = chunk_plan.choose(b"a", b"words", ChunkSettings())
    outcome = Outcome(work, Failed("quarantined", "twice"), Stat("file", 1, 2, 3, 4, 1, 0o644), b"h" * 16, plan)
    storing.apply(Changes(), [outcome], FormerNames())
    kept = store.file(1, b"a")
    assert kept is not None
    assert (kept.status, kept.signature) == ("failed", failure_signature(plan.signature))
