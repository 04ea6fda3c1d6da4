"""When those who wait for a message look into the exchange: after a change of its log, and now and then without one."""

from __future__ import annotations

from pathlib import Path

from helpers.clock import Clock
from livedex_daemon.exchange.log_watch import FULL_RECHECK_S, RECHECK_S, VISIBLE_S, LogWatch


def test_a_commit_that_others_see_later_than_its_change_of_the_log_is_noticed(tmp_path: Path) -> None:
    """It is written into the log, then to the disk; a look in between sees the state before it."""
    log, clock = tmp_path / "exchange.db-wal", Clock()
    watch = LogWatch(str(tmp_path / "exchange.db"), clock)
    assert watch.may_have_changed()
    clock.now += FULL_RECHECK_S - RECHECK_S
    assert not watch.may_have_changed()
    log.write_bytes(b"a commit")
    began = clock.now
    while clock.now < began + VISIBLE_S:
        assert watch.may_have_changed()
        clock.now += RECHECK_S
    assert not watch.may_have_changed()
    clock.now += FULL_RECHECK_S
    assert watch.may_have_changed()
    assert not watch.may_have_changed()
