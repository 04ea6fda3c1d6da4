"""The file is private, is refused if it is foreign or damaged, is never replaced, and never confused with another."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from helpers.exchange_file import Queue
from helpers.exchange_programs import command, environment
from helpers.fault_injection import files_of_at_most
from livedex_daemon.config.settings import StandingConfig
from livedex_daemon.exchange.exchange_store import SCHEMA
from livedex_daemon.exchange.standing_reports import Left, StandingReports
from livedex_daemon.precious import precious_database
from livedex_daemon.precious.precious_database import DatabaseDamaged, DatabaseUnusable, PreciousDatabase


def test_it_is_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with closing(Queue(tmp_path / "exchange.db")) as queue:
            queue.publish("a", "")
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert modes == {"exchange.db": 0o600, "exchange.db-wal": 0o600, "exchange.db-shm": 0o600}


@pytest.mark.parametrize("content", [b"not a database" * 100, b"SQLite format 3\0" + b"\xff" * 4080])
def test_a_damaged_file_is_refused_and_kept(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "exchange.db"
    path.write_bytes(content)
    with pytest.raises(DatabaseUnusable, match="damaged"):
        Queue(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE messages SET body = CAST(x'ff' AS TEXT)",
        "UPDATE messages SET metadata = '{'",
        "UPDATE sqlite_sequence SET seq = 0",
        "DROP TABLE waiting",
    ],
)
def test_damage_inside_is_named(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "exchange.db"
    with closing(Queue(path)) as queue:
        queue.publish("a", "")
        with closing(apsw.Connection(str(path))) as other:
            other.execute(damage)
        with pytest.raises(DatabaseDamaged):
            queue.claim("a")
            queue.publish("a", "")


@pytest.mark.parametrize("left", [0, 1, 9_000])
def test_a_log_cut_short_is_named_and_nothing_is_acknowledged_into_it(tmp_path: Path, left: int) -> None:
    path = tmp_path / "exchange.db"
    with closing(Queue(path)) as queue:
        for number in range(5):
            queue.publish("a", f"before{number}")
        os.truncate(f"{path}-wal", left)
        with pytest.raises(DatabaseUnusable, match="-wal short") as refused:
            queue.publish("a", "refused")
        assert "what is left" in refused.value.remedy
        queue.publish("a", "after")
    with closing(Queue(path)) as queue:
        bodies = [message["body"] for message in queue.read("a")]
    assert bodies[-1] == "after"
    assert bodies[:-1] == [f"before{number}" for number in range(len(bodies) - 1)], "the first ones, as they were"


@pytest.mark.parametrize("share", [0, 0.5, 0.99])
def test_a_log_cut_short_is_not_copied_at_the_end(tmp_path: Path, share: float) -> None:
    path = tmp_path / "exchange.db"
    with closing(Queue(path)) as queue:
        for number in range(9):
            queue.publish("a", f"before{number}" * 400)
        before = path.read_bytes()
        os.truncate(f"{path}-wal", int(os.stat(f"{path}-wal").st_size * share))
    assert path.read_bytes() == before


def test_a_log_cut_short_is_refused_while_another_process_counts_on_it(tmp_path: Path) -> None:
    path = tmp_path / "exchange.db"
    with closing(Queue(path)) as queue:
        other = Queue(path)
        queue.publish("a", "lost")
        os.truncate(f"{path}-wal", 0)
        for _ in range(2):
            with pytest.raises(DatabaseUnusable):
                queue.publish("a", "refused")
        with pytest.raises(DatabaseUnusable, match="short"):
            other.read("a")
        queue.publish("a", "after")
        other.publish("a", "later")
        other.close()
    with closing(Queue(path)) as queue:
        assert [message["body"] for message in queue.read("a")] == ["after", "later"]


def test_the_file_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "exchange.db"
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE theirs (a)")
    db.close()
    with pytest.raises(DatabaseUnusable, match="another program"):
        Queue(path)


def test_the_file_of_a_newer_livedex_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "exchange.db"
    PreciousDatabase(str(path), SCHEMA._replace(version=SCHEMA.version + 1)).close()
    with pytest.raises(DatabaseUnusable, match="newer livedex"):
        Queue(path)


def test_a_file_of_the_first_version_gets_the_tables_that_it_lacks(tmp_path: Path) -> None:
    path = tmp_path / "exchange.db"
    with closing(Queue(path)) as queue:
        queue.publish("a", "before", idempotency_key="k")
    with closing(apsw.Connection(str(path))) as db:
        for table in ("standing_queries", "standing_roots", "standing_contents"):
            db.execute(f"DROP TABLE {table}")
        db.pragma("user_version", 1)
    with closing(StandingReports(str(path))) as reports:
        query = StandingConfig("alpha", "b")
        assert reports.keep([query], None, Left()) == {query: 1}
    with closing(Queue(path)) as queue:
        assert queue.publish("a", "again", idempotency_key="k")["created"] is False
        assert [message["body"] for message in queue.read("a")] == ["before"]


def test_a_folder_that_may_not_be_written_is_not_taken_for_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(DatabaseUnusable, match="Permission denied") as refused:
        Queue(tmp_path / "exchange.db")
    assert "this user may write to it and its folder" in refused.value.remedy


@pytest.mark.parametrize("make", [Path.mkdir, lambda path: path.symlink_to("elsewhere")])
def test_what_is_no_file_is_refused(tmp_path: Path, make: object) -> None:
    assert callable(make)
    make(tmp_path / "exchange.db")
    with pytest.raises(DatabaseUnusable, match="not a regular file") as refused:
        Queue(tmp_path / "exchange.db")
    assert "move away what is there" in refused.value.remedy, "its disk has nothing to do with it"


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("elsewhere")])
def test_what_is_no_file_in_the_place_of_the_log_is_named(
    tmp_path: Path, make: Callable[[Path], object], suffix: str
) -> None:
    path = tmp_path / "exchange.db"
    with closing(Queue(path)) as queue:
        queue.publish("a", "kept")
    make(Path(f"{path}{suffix}"))
    with pytest.raises(DatabaseUnusable, match=f"exchange.db{suffix} is not a regular file") as refused:
        Queue(path)
    assert "keep the file itself" in refused.value.remedy
    Path(f"{path}{suffix}").rename(tmp_path / "away")
    with closing(Queue(path)) as queue:
        assert [message["body"] for message in queue.read("a")] == ["kept"]


@pytest.mark.parametrize("suffix", ["", "-wal"])
def test_a_removed_file_is_not_written_to(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "exchange.db"
    with closing(Queue(path)) as queue:
        queue.publish("a", "before")
        Path(f"{path}{suffix}").unlink()
        queue.publish("a", "after")
        with closing(Queue(path)) as other:
            assert [message["body"] for message in other.read("a")][-1] == "after"


def test_the_file_that_returns_is_used(tmp_path: Path) -> None:
    """Nothing is written to the one that stood in for it, though no call came in between."""
    path, aside, stand_in = tmp_path / "exchange.db", tmp_path / "aside", tmp_path / "stand-in"
    with closing(Queue(path)) as queue:
        queue.publish("a", "one")
        move(path, aside)
        assert queue.read("a") == [], "a new file stands in for it"
        move(path, stand_in)
        move(aside, path)
        assert [message["body"] for message in queue.read("a")] == ["one"]
        queue.publish("a", "two")
    with closing(Queue(path)) as queue:
        assert [message["body"] for message in queue.read("a")] == ["one", "two"]


def test_a_log_that_was_made_again_may_be_removed_again(tmp_path: Path) -> None:
    """`rm exchange.db*` removes them one by one, and a call may come in between."""
    path = tmp_path / "exchange.db"
    with closing(Queue(path)) as queue:
        queue.publish("a", "before")
        path.unlink()
        assert queue.read("a") == []
        Path(f"{path}-wal").unlink()
        queue.publish("a", "after")
        with closing(Queue(path)) as other:
            assert [message["body"] for message in other.read("a")] == ["after"]
            other.publish("a", "other")
        assert [message["body"] for message in queue.read("a")] == ["after", "other"]


def move(database: Path, to: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        os.rename(f"{database}{suffix}", f"{to}{suffix}")


def test_a_removed_index_of_the_log_divides_nobody(tmp_path: Path) -> None:
    """Each process would have an index and locks of its own, give the same numbers, and write over the others."""
    path = tmp_path / "exchange.db"
    with closing(Queue(path, real=True)) as queue:
        queue.publish("a", "")
        Path(f"{path}-shm").unlink()
        process = subprocess.Popen(
            command("typist", path), env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        with process:
            assert process.stdin is not None and process.stdout is not None
            for number in (2, 4, 6):
                process.stdin.write("x\n")
                process.stdin.flush()
                assert int(process.stdout.readline()) == number
                assert queue.publish("a", "")["id"] == number + 1
        assert len(queue.read("a")) == 7


@pytest.mark.parametrize("is_read", [True, False])
def test_a_file_that_was_unusable_for_a_while_is_used_again(tmp_path: Path, is_read: bool) -> None:
    path, aside = tmp_path / "exchange.db", tmp_path / "aside"
    with closing(Queue(path)) as queue:
        queue.publish("a", "before")
    with closing(Queue(path)) as queue:
        assert len(queue.read("a")) == 1
        path.rename(aside)
        path.write_bytes(b"not a database" * 100)
        for _ in range(3):
            with pytest.raises(DatabaseUnusable, match="it is damaged"):
                queue.read("a") if is_read else queue.publish("a", "lost")
        aside.rename(path)
        assert [message["body"] for message in queue.read("a")] == ["before"]


def test_a_failed_block_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "exchange.db"
    with closing(Queue(path)) as queue, closing(PreciousDatabase(str(path), SCHEMA)) as database:
        queue.publish("a", "")
        with pytest.raises(ZeroDivisionError), database.transaction(durable=True) as db:
            db.execute("DELETE FROM messages")
            raise ZeroDivisionError
        assert len(queue.read("a")) == 1


@pytest.mark.parametrize(("durable", "level"), [(True, 2), (False, 1)])
def test_what_is_durable_waits_for_the_disk(tmp_path: Path, durable: bool, level: int) -> None:
    with closing(PreciousDatabase(str(tmp_path / "exchange.db"), SCHEMA)) as database:
        for each in (True, False, durable):
            with database.transaction(durable=each) as db:
                found = db.pragma("synchronous")
        assert found == level


def test_a_lock_that_stays_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precious_database, "BUSY_S", 0.05)
    path = tmp_path / "exchange.db"
    with closing(PreciousDatabase(str(path), SCHEMA)) as database, closing(Queue(path)) as other:
        with database.transaction(durable=True):
            with pytest.raises(DatabaseUnusable, match="locked"):
                other.publish("a", "")
            assert other.read("a") == []
        assert other.publish("a", "")["id"] == 1


def _fill(queue: Queue) -> None:
    with files_of_at_most(1 << 20), pytest.raises(DatabaseUnusable):
        for _ in range(100):
            queue.publish("a", "x" * 100_000)


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="needs a disk of its own")
def test_a_full_disk_is_an_error_and_loses_nothing(tmp_path: Path) -> None:
    with closing(Queue(tmp_path / "exchange.db")) as queue:
        queue.publish("a", "before")
        _fill(queue)
        last = queue.publish("a", "after")["id"]
        found = [message["id"] for message in queue.read("a", limit=1000)]
        assert found == list(range(1, last + 1))


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of the size of files")
def test_a_disk_without_room_for_a_new_file_is_no_damage(tmp_path: Path) -> None:
    with files_of_at_most(40_000), pytest.raises(DatabaseUnusable, match="disk I/O error") as refused:
        Queue(tmp_path / "exchange.db")
    assert not isinstance(refused.value, DatabaseDamaged)
    with closing(Queue(tmp_path / "exchange.db")) as queue:
        assert queue.publish("a", "")["id"] == 1


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of the size of files")
def test_after_a_write_that_failed_the_log_is_copied_before_it_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "exchange.db"
    with closing(Queue(path)) as queue, closing(PreciousDatabase(str(path), SCHEMA)) as other:
        _fill(queue)
        monkeypatch.setattr(precious_database, "BUSY_S", 0.05)
        with other.reading() as db:
            assert db.execute("SELECT count(*) FROM messages").get > 0
            with pytest.raises(DatabaseUnusable, match="locked"):
                queue.publish("a", "on top of what may not be on the disk")
        before = Path(f"{path}-wal").stat().st_size
        queue.publish("a", "after")
        assert Path(f"{path}-wal").stat().st_size < before / 2
