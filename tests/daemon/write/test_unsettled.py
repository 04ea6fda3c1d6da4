"""The list of files that could not be read in one state forgets files that are gone."""

from __future__ import annotations

import pytest

from helpers.fakes import online_root
from livedex_daemon.watch.backlog import Key
from livedex_daemon.watch.root_table import Roots
from livedex_daemon.write.changes import Changes
from livedex_daemon.write.unsettled import UnsettledFiles

HOT: set[Key] = {(1, b"a"), (1, b"d/a"), (1, b"d/e/b"), (1, b"da"), (2, b"a")}
ROOTS = Roots([online_root(b"/r", 1), online_root(b"/s", 2)])


@pytest.fixture
def files() -> UnsettledFiles:
    made = UnsettledFiles()
    for key in HOT:
        made.add(key)
    return made


@pytest.mark.parametrize(
    ("removed", "removed_trees", "ignored", "gone"),
    [
        ([(1, b"a")], [], [], {(1, b"a")}),
        ([], [(1, b"d")], [], {(1, b"d/a"), (1, b"d/e/b")}),
        ([], [], [(1, b"d/e")], {(1, b"d/e/b")}),
        ([], [], [(1, b"a")], {(1, b"a")}),
        ([], [(1, b"")], [], {key for key in HOT if key[0] == 1}),
        ([(1, b"d")], [], [], set()),
    ],
)
def test_a_file_that_is_gone_needs_no_settling(
    files: UnsettledFiles, removed: list[Key], removed_trees: list[Key], ignored: list[Key], gone: set[Key]
) -> None:
    changes = Changes()
    changes.removed, changes.removed_trees, changes.ignored = removed, removed_trees, ignored
    files.forget_gone(changes, ROOTS)
    assert files.unsettled == files.unstable == HOT - gone


def test_nor_does_one_of_a_root_that_is_gone(files: UnsettledFiles) -> None:
    files.forget_gone(Changes(), Roots([online_root()]))
    assert files.unsettled == {key for key in HOT if key[0] == 1}


def test_nor_does_one_that_was_read(files: UnsettledFiles) -> None:
    files.discard((1, b"a"))
    assert files.unsettled == files.unstable == HOT - {(1, b"a")}


def test_what_no_child_could_chunk_is_tried_again_once_and_stays_unsettled() -> None:
    files = UnsettledFiles()
    for number in range(5):
        files.add((1, b"%d" % number), unchunked=True)
    files.add((1, b"changing"))
    probes = files.take_unchunked(2)
    assert len(probes) == 2
    assert len(files.take_unchunked(None)) == 3
    assert files.take_unchunked(None) == []
    assert len(files.unsettled) == 6
    files.add((1, b"0"), unchunked=True)
    files.discard((1, b"0"))
    assert files.take_unchunked(None) == []
    assert (1, b"0") not in files.unsettled
