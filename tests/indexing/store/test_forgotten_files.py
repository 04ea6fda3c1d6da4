"""Records of forgotten files: durable before the answer, bound to a path and a content, separate from the index."""

from __future__ import annotations

import os
import random
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from helpers.fault_injection import files_of_at_most
from helpers.power_loss import STYLES, Style, image, read_record, tracing
from helpers.support import wait_until
from livedex_indexing.store import forgotten_database
from livedex_indexing.store.forgotten_files import ForgottenFiles, ForgottenFilesUnusable

FLIPS = int(os.environ.get("LIVEDEX_FLIPS", "40"))

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
    """Copy the files as they are when `add` has returned, without closing anything."""
    forgotten.add(b"/r", [(b"a", ONE), (b"b", ONE)])
    forgotten.clear(b"/r", b"b")
    (tmp_path / "copy").mkdir()
    for file in tmp_path.glob("forgotten.db*"):
        (tmp_path / "copy" / file.name).write_bytes(file.read_bytes())
    again = ForgottenFiles(str(tmp_path / "copy/forgotten.db"))
    assert again.is_forgotten(b"/r", b"a", ONE)
    assert not again.has_path(b"/r", b"b")
    again.close()


def test_files_are_cleared_at_once(forgotten: ForgottenFiles) -> None:
    """Each change writes the whole record: clearing a thousand files one by one would write it a thousand times."""
    forgotten.add(b"/r", [(b"f%d" % number, ONE) for number in range(1000)])
    files = [(b"/r", b"f%d" % number) for number in range(1, 1000)]
    assert forgotten.clear_files([*files, (b"/r", b"never marked")]) == 999
    assert forgotten.clear_files(files) == 0
    assert forgotten.of_root(b"/r") == [(b"f0", ONE)]


def test_the_files_are_private(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        made = ForgottenFiles(str(tmp_path / "open.db"))
        made.add(b"/r", [(b"a", ONE)])
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.glob("open.db*")}
        made.close()
    finally:
        os.umask(before)
    assert modes == {"open.db": 0o600, "open.db.copy": 0o600}


def _newer(path: Path) -> None:
    db = apsw.Connection(str(path))
    db.pragma("user_version", 9)
    db.close()


def test_a_record_of_a_newer_livedex_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "forgotten.db"
    ForgottenFiles(str(path)).close()
    os.unlink(f"{path}.copy")
    _newer(path)
    before = path.read_bytes()
    with pytest.raises(ForgottenFilesUnusable, match="newer"):
        ForgottenFiles(str(path))
    assert path.read_bytes() == before


def test_a_mark_that_could_not_be_written_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forgotten_database, "BUSY_MS", 1)
    forgotten = ForgottenFiles(str(tmp_path / "forgotten.db"))
    other = apsw.Connection(forgotten.path)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(ForgottenFilesUnusable):
        forgotten.add(b"/r", [(b"a", ONE)])
    assert not forgotten.has_path(b"/r", b"a")
    other.execute("ROLLBACK")
    other.close()
    assert forgotten.add(b"/r", [(b"a", ONE)]) == 1
    forgotten.close()
    again = ForgottenFiles(forgotten.path)
    assert again.of_root(b"/r") == [(b"a", ONE)]
    again.close()


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of the size of files")
def test_a_disk_that_takes_no_more_is_named(tmp_path: Path) -> None:
    """SQLite undoes the change by itself: what is said is why, not that there is nothing left to undo."""
    many = [(b"%04d" % number, ONE) for number in range(300)]
    forgotten = ForgottenFiles(str(tmp_path / "forgotten.db"))
    forgotten.add(b"/r", many)
    with files_of_at_most(8_192), pytest.raises(ForgottenFilesUnusable, match="disk I/O error"):
        forgotten.clear(b"/r", b"")
    assert sorted(forgotten.of_root(b"/r")) == many
    assert forgotten.clear(b"/r", b"") == len(many)
    forgotten.close()


# -- one of the two files is damaged

MARKS = {(b"/r", b"d/f%d.txt" % number): bytes([number]) * 16 for number in range(40)}


def _garbage(path: Path) -> None:
    path.write_bytes(b"garbage" * 1000)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "inside").touch()


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _overwrite(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 64)


def _foreign(path: Path) -> None:
    path.unlink()
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE t (a)")
    db.close()


SPOILS: list[Callable[[Path], None]] = [
    os.unlink, lambda path: os.truncate(path, 0), _cut, _garbage, _overwrite, _folder, _foreign,
]  # fmt: skip


def _made(folder: Path) -> Path:
    """The record of ``MARKS`` by a daemon that was stopped."""
    made = ForgottenFiles(str(folder / "forgotten.db"))
    made.settle()
    made.add(b"/r", [(path, digest) for (_, path), digest in MARKS.items()])
    made.close()
    return folder / "forgotten.db"


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("elsewhere")])
def test_what_is_no_file_in_the_place_of_the_journal_is_kept(tmp_path: Path, make: Callable[[Path], object]) -> None:
    path = _made(tmp_path)
    make(tmp_path / "forgotten.db-journal")
    forgotten = ForgottenFiles(str(path))
    assert _all_there(forgotten) and not forgotten.is_incomplete
    forgotten.add(b"/s", [(b"x", ONE)])
    forgotten.close()
    assert os.path.lexists(tmp_path / "forgotten.db.aside")


def _all_there(forgotten: ForgottenFiles) -> bool:
    return all(forgotten.is_forgotten(root, path, digest) for (root, path), digest in MARKS.items())


@pytest.mark.parametrize("name", ["forgotten.db", "forgotten.db.copy"])
@pytest.mark.parametrize("spoil", SPOILS)
def test_each_file_is_restored_from_the_other(tmp_path: Path, name: str, spoil: Callable[[Path], None]) -> None:
    path = _made(tmp_path)
    spoil(tmp_path / name)
    forgotten = ForgottenFiles(str(path))
    assert _all_there(forgotten)
    assert not forgotten.is_incomplete
    forgotten.add(b"/s", [(b"x", ONE)])
    forgotten.close()
    (tmp_path / "forgotten.db.copy" if name == "forgotten.db" else path).unlink()  # the other one
    again = ForgottenFiles(str(path))
    assert _all_there(again) and again.has_path(b"/s", b"x")
    assert not again.is_incomplete
    again.close()
    assert spoil is not _folder or [*tmp_path.glob(f"{name}.aside/inside")], "what somebody put there is kept"


@pytest.mark.parametrize("name", ["forgotten.db", "forgotten.db.copy"])
@pytest.mark.parametrize("spoil", SPOILS)
def test_each_file_is_restored_from_memory(tmp_path: Path, name: str, spoil: Callable[[Path], None]) -> None:
    path = _made(tmp_path)
    forgotten = ForgottenFiles(str(path))
    assert not forgotten.recreate(), "nothing has changed"
    spoil(tmp_path / name)
    forgotten.add(b"/s", [(b"x", ONE)])
    assert not forgotten.recreate(), "the change before has repaired it"
    spoil(tmp_path / name)
    assert forgotten.recreate()
    forgotten.close()
    (tmp_path / "forgotten.db.copy" if name == "forgotten.db" else path).unlink()
    again = ForgottenFiles(str(path))
    assert _all_there(again) and again.has_path(b"/s", b"x")
    again.close()


@pytest.mark.parametrize("name", ["forgotten.db", "forgotten.db.copy"])
def test_flipped_bits_lose_no_mark(tmp_path: Path, name: str) -> None:
    path = _made(tmp_path)
    sound = {file.name: file.read_bytes() for file in (path, tmp_path / "forgotten.db.copy")}
    chance = random.Random(7)
    for number in range(FLIPS):
        for file in tmp_path.iterdir():
            file.unlink()
        for other, content in sound.items():
            (tmp_path / other).write_bytes(content)
        damaged = bytearray(sound[name])
        for _ in range(chance.choice((1, 1, 8, 300))):
            damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        (tmp_path / name).write_bytes(damaged)
        forgotten = ForgottenFiles(str(path))
        assert _all_there(forgotten), number
        assert not forgotten.is_incomplete, number
        forgotten.close()


def test_a_record_of_an_earlier_livedex_gets_its_copy(tmp_path: Path) -> None:
    path = tmp_path / "forgotten.db"
    _made(tmp_path)
    os.unlink(f"{path}.copy")
    db = apsw.Connection(str(path))
    db.pragma("journal_mode", "wal")
    db.close()
    forgotten = ForgottenFiles(str(path))
    assert _all_there(forgotten) and not forgotten.is_incomplete
    assert sorted(os.listdir(tmp_path)) == ["forgotten.db", "forgotten.db.copy"], "no log and no shared memory"
    path.unlink()
    assert forgotten.recreate()
    forgotten.close()


# -- both are


def _crash(forgotten: ForgottenFiles, tmp_path: Path) -> str:
    """Return the path of the files as they are now, while the daemon still runs."""
    folder = tmp_path / "crashed"
    shutil.copytree(Path(forgotten.path).parent, folder, ignore=lambda *_: ["crashed"])
    return str(folder / "forgotten.db")


@pytest.mark.parametrize("spoil", SPOILS[1:])
def test_what_the_index_knows_is_adopted(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    path = _made(tmp_path)
    spoil(path)
    spoil(tmp_path / "forgotten.db.copy")
    forgotten = ForgottenFiles(str(path))
    assert forgotten.is_incomplete
    forgotten.adopt(b"/r", [(path, digest) for (_, path), digest in MARKS.items()])
    forgotten.settle()
    assert _all_there(forgotten) and forgotten.is_lost
    crashed = ForgottenFiles(_crash(forgotten, tmp_path))
    assert _all_there(crashed) and crashed.is_lost, "the report outlives a crash"
    crashed.close()
    forgotten.close()
    again = ForgottenFiles(str(path))
    assert _all_there(again) and not again.is_incomplete, "and ends with the daemon"
    again.close()


def test_what_can_be_read_of_either_counts(tmp_path: Path) -> None:
    path = _made(tmp_path)
    copy = tmp_path / "forgotten.db.copy"
    path.unlink()
    lines = copy.read_bytes().splitlines(keepends=True)
    copy.write_bytes(b"".join([*lines[:10], b"00000000 not a line\n", *lines[20:]]))
    forgotten = ForgottenFiles(str(path))
    assert forgotten.is_lost
    assert len(forgotten.of_root(b"/r")) == len(MARKS) - 10
    forgotten.close()


def test_a_first_start_has_lost_nothing(tmp_path: Path) -> None:
    forgotten = ForgottenFiles(str(tmp_path / "forgotten.db"))
    assert forgotten.is_incomplete and not forgotten.is_lost
    crashed = ForgottenFiles(_crash(forgotten, tmp_path))
    assert crashed.is_incomplete and not crashed.is_lost, "the index has not been asked yet"
    crashed.close()
    forgotten.adopt(b"/r", [])
    forgotten.settle()
    assert not forgotten.is_incomplete
    forgotten.close()


# -- kill -9 and power loss at each write

CHANGES = """
import os, sys
from livedex_indexing.store.forgotten_files import ForgottenFiles
record = os.open("reported", os.O_WRONLY | os.O_CREAT)
forgotten = ForgottenFiles(sys.argv[1])
forgotten.settle()
for number in range(6):
    forgotten.add(b"/r", [(b"f%d" % number, b"%d" % number * 16)])
    os.write(record, b"+%d" % number)
    if number % 3 == 2:
        os.write(record, b"?%d" % (number - 1))
        forgotten.clear(b"/r", b"f%d" % (number - 1))
        os.write(record, b"-%d" % (number - 1))
"""


@pytest.mark.needs("strace")
@pytest.mark.skipif(sys.platform != "linux", reason="strace is Linux's")
def test_what_was_acknowledged_survives_a_crash_at_each_write(tmp_path: Path) -> None:
    record, home = tmp_path / "record", tmp_path / "home"
    home.mkdir()
    words = [*tracing(record), sys.executable, "-c", CHANGES, str(home / "forgotten.db")]
    subprocess.run(words, cwd=tmp_path, check=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    wait_until(lambda: b"+++ exited" in record.read_bytes()[-200:], what="the end of the record")
    ops = read_record(record)
    reported = [(op.ended, op.data) for op in ops if op.path.endswith(b"/reported") and op.kind == "write"]
    assert len(reported) == 10
    ours = [op for op in ops if op.path.startswith(os.fsencode(home))]
    assert len(ours) > 50
    chance = random.Random(3)
    places: list[tuple[int, Style]] = [(op.ended, "most") for op in ours]
    places += [(op.ended, STYLES[number % len(STYLES)]) for number, op in enumerate(ours[::3])]
    for cut, style in places:
        _hold_against(image(ours, cut, style, chance), [what for at, what in reported if at < cut], tmp_path / "disk")
    for at, _ in reported:
        for style in STYLES:
            files = image(ours, at, style, chance)
            for alone in (b"forgotten.db.copy", b"forgotten.db"):  # each of the two has every acknowledged file
                left = {
                    path: files[path] for path in files if os.path.basename(path).removesuffix(b"-journal") == alone
                }
                _hold_against(left, [what for before, what in reported if before <= at], tmp_path / "disk")


def _hold_against(files: dict[bytes, bytes], reported: list[bytes], disk: Path) -> None:
    """Compare the contents of a disk with what was acknowledged before the crash."""
    disk.mkdir()
    for path, content in files.items():
        (disk / os.path.basename(os.fsdecode(path))).write_bytes(content)
    forgotten = ForgottenFiles(str(disk / "forgotten.db"))
    for what in reported:
        name, digest = b"f" + what[1:], what[1:] * 16
        if what[:1] == b"-":
            assert not forgotten.has_path(b"/r", name)
        elif what[:1] == b"+" and b"?" + what[1:] not in reported:  # else it is being cleared
            assert forgotten.is_forgotten(b"/r", name, digest)
    assert not forgotten.is_lost
    forgotten.close()
    shutil.rmtree(disk)
