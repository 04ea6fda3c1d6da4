"""Marks of forgotten files: durable before they are told, bound to a path and a content, apart from the index."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from livedex_indexing.store.forgotten_files import ForgottenFiles, ForgottenFilesUnusable

ONE, TWO = b"1" * 16, b"2" * 16


@pytest.fixture
def forgotten(tmp_path: Path) -> Iterator[ForgottenFiles]:
    made = ForgottenFiles(str(tmp_path / "forgotten.db"))
    yield made
    made.close()


def test_a_mark_holds_for_one_path_and_one_content(forgotten: ForgottenFiles) -> None:
    assert forgotten.add(b"/r", [(b"a/x", ONE), (b"\xff", TWO)]) == 2
    assert forgotten.is_forgotten(b"/r", b"a/x", ONE)
    assert forgotten.is_forgotten(b"/r", b"\xff", TWO)
    assert forgotten.has_path(b"/r", b"a/x")
    assert not forgotten.is_forgotten(b"/r", b"a/x", TWO), "its content changed"
    assert not forgotten.is_forgotten(b"/r", b"a/y", ONE), "its path changed"
    assert not forgotten.has_path(b"/other", b"a/x")
    forgotten.add(b"/r", [(b"a/x", TWO)])
    assert forgotten.is_forgotten(b"/r", b"a/x", TWO)
    assert not forgotten.is_forgotten(b"/r", b"a/x", ONE)


def test_a_file_that_was_removed_is_made_again(forgotten: ForgottenFiles) -> None:
    forgotten.add(b"/r", [(b"a/x", ONE), (b"b", TWO)])
    forgotten.clear(b"/r", b"b")
    assert not forgotten.recreate(), "it is there"
    os.unlink(forgotten.path)
    assert forgotten.recreate()
    forgotten.add(b"/r", [(b"c", TWO)])
    again = ForgottenFiles(forgotten.path)
    assert again.is_forgotten(b"/r", b"a/x", ONE)
    assert again.is_forgotten(b"/r", b"c", TWO)
    assert not again.has_path(b"/r", b"b")
    again.close()


def test_clearing_a_file_a_folder_a_root(forgotten: ForgottenFiles) -> None:
    forgotten.add(b"/r", [(path, ONE) for path in (b"a/x", b"a/b/x", b"ab/x", b"a", b"z")])
    forgotten.add(b"/s", [(b"a/x", ONE)])
    assert forgotten.clear(b"/r", b"z") == 1
    assert forgotten.clear(b"/r", b"z") == 0
    assert forgotten.clear(b"/r", b"a") == 3
    assert forgotten.is_forgotten(b"/r", b"ab/x", ONE)
    assert forgotten.clear(b"/r", b"") == 1
    assert forgotten.is_forgotten(b"/s", b"a/x", ONE)


def test_marks_are_there_after_a_crash(forgotten: ForgottenFiles, tmp_path: Path) -> None:
    """The file and its log as they lie there when `add` has returned: nothing was closed."""
    forgotten.add(b"/r", [(b"a", ONE), (b"b", ONE)])
    forgotten.clear(b"/r", b"b")
    (tmp_path / "copy").mkdir()
    for suffix in ("", "-wal"):
        (tmp_path / f"copy/forgotten.db{suffix}").write_bytes(Path(forgotten.path + suffix).read_bytes())
    again = ForgottenFiles(str(tmp_path / "copy/forgotten.db"))
    assert again.is_forgotten(b"/r", b"a", ONE)
    assert not again.has_path(b"/r", b"b")
    again.close()


def test_the_file_is_private_and_every_commit_is_synced(forgotten: ForgottenFiles, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        made = ForgottenFiles(str(tmp_path / "open.db"))
        made.add(b"/r", [(b"a", ONE)])
        modes = {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.glob("open.db*")}
        made.close()
    finally:
        os.umask(before)
    assert modes == {0o600}
    assert forgotten._db.pragma("synchronous") == 2


def _newer(path: Path) -> None:
    ForgottenFiles(str(path)).close()
    db = apsw.Connection(str(path))
    db.pragma("user_version", 9)
    db.close()


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda path: path.write_bytes(b"garbage" * 1000), id="garbage"),
        pytest.param(lambda path: path.mkdir(), id="folder"),
        pytest.param(_newer, id="newer"),
    ],
)
def test_a_file_that_is_no_file_of_marks_is_refused_and_kept(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    path = tmp_path / "forgotten.db"
    spoil(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(ForgottenFilesUnusable, match=r"forgotten\.db"):
        ForgottenFiles(str(path))
    assert (path.read_bytes() if path.is_file() else None) == before


def test_a_mark_that_could_not_be_written_is_not_held(forgotten: ForgottenFiles) -> None:
    other = apsw.Connection(forgotten.path)
    other.execute("BEGIN IMMEDIATE")
    forgotten._db.set_busy_timeout(1)
    with pytest.raises(ForgottenFilesUnusable):
        forgotten.add(b"/r", [(b"a", ONE)])
    assert not forgotten.has_path(b"/r", b"a")
    other.execute("ROLLBACK")
    other.close()
    assert forgotten.add(b"/r", [(b"a", ONE)]) == 1
