"""The state of a root after a walk, and after it returned."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

import pytest

from helpers.fakes import FakeStore, FakeWatching
from livedex_daemon.config.settings import RootConfig
from livedex_daemon.watch.absence import Absences
from livedex_daemon.watch.backlog import Backlog, Key
from livedex_daemon.watch.root_presence import Presence
from livedex_daemon.watch.root_table import Root, RootState
from livedex_daemon.watch.store_health import StoreHealth
from livedex_indexing.ignore.rules import RuleTree
from livedex_indexing.model import FileRow, FileState, RootRow
from livedex_indexing.store.index_store import KEEP_S, Store


@pytest.fixture
def root(tmp_path: Path) -> Root:
    path = os.fsencode(tmp_path.resolve())
    made = Root(
        RootRow(1, path, 1, 1, None, True, None), RootConfig(str(tmp_path), str(tmp_path), (), 1), RuleTree(path)
    )
    made.state = "recovering"
    made.overflows = made.overflows_at_walk = 1
    return made


@pytest.fixture
def presence() -> Presence:
    return Presence(FakeStore().real, StoreHealth(), Backlog(time.monotonic, lambda: None), FakeWatching().real)


def test_a_walk_after_a_loss_repairs_it(presence: Presence, root: Root) -> None:
    presence.walked(root)
    assert root.state == "online"


def test_a_loss_during_the_repair_is_not_repaired_by_it(presence: Presence, root: Root) -> None:
    root.overflows += 1
    presence.walked(root)
    assert root.state == "recovering"


def test_a_loss_is_reported_from_the_moment_it_is_counted(presence: Presence, root: Root) -> None:
    presence.walked(root)
    assert root.reported_state == "online"
    root.overflows += 1
    assert root.reported_state == "recovering"
    root.state, root.missing_since = "missing", 1.0
    assert root.reported_state == "missing"


def test_a_root_is_not_called_missing_before_a_look_at_it(root: Root) -> None:
    root.state, root.missing_since = "missing", None
    assert root.reported_state == "recovering"


def test_a_walk_of_a_root_that_went_meanwhile_says_nothing(presence: Presence, root: Root) -> None:
    root.state = "missing"
    presence.walked(root)
    assert root.state == "missing"


@pytest.mark.parametrize("before", ["online", "missing"])
def test_a_root_that_is_there_again_is_marked_before_it_is_believed(root: Root, before: RootState) -> None:
    backlog = Backlog(time.monotonic, lambda: None)

    def unwatch(key: Key) -> None:
        assert backlog.pending([key]), "nothing stands for what happens from now on"
        assert (root.state, root.polled) == (before, {b""}), "a search would find nothing to wait for"

    root.poll(b"", remote=True)
    root.state, root.dev = before, -1
    watching = FakeWatching(object(), unwatch)
    Presence(FakeStore().real, StoreHealth(), backlog, watching.real).check(root)
    assert watching.unwatched == [b""]
    assert (root.state, root.polled) == ("recovering", frozenset())


@pytest.mark.parametrize("code", [errno.EIO, errno.EMFILE, errno.ENOMEM, errno.ENOTCONN, errno.ENAMETOOLONG])
def test_an_error_does_not_mean_that_a_root_is_missing(
    presence: Presence, root: Root, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    presence.check(root)
    assert root.present

    def fail(*_args: object, **_named: object) -> int:
        raise OSError(code, os.strerror(code))

    for name in ("open", "lstat"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, fail)
            presence.check(root)
        assert root.present and (1, b"") in presence.unreadable.open
        presence.unreadable.read((1, b""))
    with monkeypatch.context() as patch:
        patch.setattr(os, "lstat", fail)
        assert not presence.is_same(root) and (1, b"") in presence.unreadable.open, "what is dropped now is tried again"


def test_the_entries_of_a_missing_root_go_after_a_day_that_passed(tmp_path: Path, root: Root) -> None:
    store = Store.open(str(tmp_path / "index.db"))
    store.put_root(root.path, 1, 1)
    row = FileRow(1, b"a.txt", FileState(1, 2, 3, 4), "skipped", "binary", None, None, None, None, 0.0, True)
    with store.transaction():
        store.put_files([row])
    now = [1_700_000_000.0, 0.0]  # the wall clock, and the monotonic one
    absences = Absences(lambda: now[0], lambda: now[1])
    backlog = Backlog(time.monotonic, lambda: None)
    presence = Presence(store, StoreHealth(), backlog, FakeWatching().real, absences)
    presence.emptied(root)
    presence.drop_expired(root)
    now[0] += 2 * KEEP_S  # the clock is set
    presence.drop_expired(root)
    assert store.file(1, b"a.txt") is not None
    now[0] += KEEP_S + 1
    now[1] += KEEP_S + 1
    presence.drop_expired(root)
    assert store.file(1, b"a.txt") is None
    store.close()
