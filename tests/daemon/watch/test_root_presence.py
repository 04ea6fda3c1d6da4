"""What becomes of a root's state when it was walked, and when it is there again."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from livedex_daemon.config.settings import RootConfig
from livedex_daemon.watch.backlog import Backlog
from livedex_daemon.watch.root_presence import Presence
from livedex_daemon.watch.root_table import Root, RootState
from livedex_indexing.ignore.rules import RuleTree
from livedex_indexing.model import RootRow


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
    store: Any = SimpleNamespace(set_root=lambda *_args, **_state: None)
    nothing: Any = SimpleNamespace()
    return Presence(store, nothing, nothing)


def test_a_walk_after_a_loss_repairs_it(presence: Presence, root: Root) -> None:
    presence.walked(root)
    assert root.state == "online"


def test_a_loss_during_the_repair_is_not_repaired_by_it(presence: Presence, root: Root) -> None:
    root.overflows += 1
    presence.walked(root)
    assert root.state == "recovering"


def test_a_loss_is_told_from_the_moment_it_is_counted(presence: Presence, root: Root) -> None:
    presence.walked(root)
    assert root.reported_state == "online"
    root.overflows += 1
    assert root.reported_state == "recovering"
    root.state = "missing"
    assert root.reported_state == "missing"


def test_a_walk_of_a_root_that_went_meanwhile_says_nothing(presence: Presence, root: Root) -> None:
    root.state = "missing"
    presence.walked(root)
    assert root.state == "missing"


@pytest.mark.parametrize("before", ["online", "missing"])
def test_a_root_that_is_there_again_is_marked_before_it_is_believed(root: Root, before: RootState) -> None:
    backlog = Backlog(time.monotonic, lambda: None)
    forgotten = []

    def unwatch(root_id: int, path: bytes) -> None:
        assert backlog.pending([(root_id, path)]), "nothing stands for what happens from now on"
        assert (root.state, root.polled) == (before, {b""}), "a search would find nothing to wait for"
        forgotten.append(path)

    root.poll(b"", remote=True)
    root.state, root.dev = before, -1
    store: Any = SimpleNamespace(set_root=lambda *_args, **_state: None, folders_below=lambda *_: [])
    watching: Any = SimpleNamespace(unwatch=unwatch, watcher=object())
    Presence(store, backlog, watching).check(root)
    assert forgotten == [b""]
    assert (root.state, root.polled) == ("recovering", frozenset())
