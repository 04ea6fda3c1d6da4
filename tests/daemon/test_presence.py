"""What becomes of a root's state when it was walked."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from livedex_daemon.config import RootConfig
from livedex_daemon.presence import Presence
from livedex_daemon.roots import Root
from livedex_indexing.backend import RootRow
from livedex_indexing.ignore import RuleTree


@pytest.fixture
def root(tmp_path: Path) -> Root:
    path = os.fsencode(tmp_path.resolve())
    made = Root(
        RootRow(1, path, 1, 1, None, True, None), RootConfig(str(tmp_path), str(tmp_path), (), 1), RuleTree(path)
    )
    made.state = "recovering"
    made.overflows = made.walked_losses = 1
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
    assert root.told_state == "online"
    root.overflows += 1
    assert root.told_state == "recovering"
    root.state = "missing"
    assert root.told_state == "missing"


def test_a_walk_of_a_root_that_went_meanwhile_says_nothing(presence: Presence, root: Root) -> None:
    root.state = "missing"
    presence.walked(root)
    assert root.state == "missing"
