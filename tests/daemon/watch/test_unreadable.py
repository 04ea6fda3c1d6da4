"""When an unreadable path is tried again, and how long it keeps searches from being fresh."""

from __future__ import annotations

import errno

import pytest

from livedex_daemon.watch.backlog import Key
from livedex_daemon.watch.unreadable import AT_ONCE, PAUSE_MOST_S, TRIES, UnreadablePaths

KEY: Key = (1, b"d/f.txt")


class World:
    """Unreadable paths on a clock that the test sets."""

    def __init__(self) -> None:
        self.now = 100.0
        self.paths = UnreadablePaths(lambda: self.now)

    def wait(self) -> list[Key]:
        """Advance the clock until something is due, and return it."""
        self.now = self.paths.next_at()
        return [key for key, _tree, _background in self.paths.take_due()]

    def fail_until_settled(self, key: Key, code: int) -> int:
        tries = 1
        while not self.paths.failed(key, code):
            assert self.wait() == [key] and tries < 50
            tries += 1
        return tries


@pytest.fixture
def world() -> World:
    return World()


def test_an_error_keeps_searches_from_being_fresh_until_the_path_is_read(world: World) -> None:
    assert not world.paths.failed(KEY, errno.EIO)
    assert world.paths.open == {KEY} and KEY in world.paths
    world.paths.read(KEY)
    assert not world.paths.open and KEY not in world.paths and not world.paths.troubles()


def test_the_pauses_grow_up_to_the_longest(world: World) -> None:
    pauses = []
    for _ in range(8):
        world.paths.failed(KEY, errno.EMFILE)
        began = world.now
        assert world.wait() == [KEY]
        pauses.append(round(world.now - began, 3))
    assert pauses == [0.5, 1.0, 2.0, 4.0, 5.0, 5.0, 5.0, 5.0] and pauses[-1] == PAUSE_MOST_S


def test_an_error_of_the_path_settles_after_some_tries_and_is_tried_on(world: World) -> None:
    assert world.fail_until_settled(KEY, errno.EIO) == TRIES
    assert not world.paths.open and KEY in world.paths
    world.now = world.paths.next_at()
    assert world.paths.take_due() == [(KEY, False, True)], "searches do not wait for it"


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.ETIMEDOUT])
def test_a_shortage_is_never_the_fault_of_a_path(world: World, code: int) -> None:
    for _ in range(3 * TRIES):
        assert not world.paths.failed(KEY, code) and world.paths.open == {KEY}
        world.wait()


def test_many_failures_between_two_tries_are_one(world: World) -> None:
    for _ in range(3 * TRIES):
        assert not world.paths.failed(KEY, errno.EIO)


def test_a_success_brings_all_others_forward(world: World) -> None:
    other = (1, b"other")
    world.paths.failed(KEY, errno.EIO)
    world.paths.failed(other, errno.EIO)
    world.paths.read(KEY)
    assert world.paths.take_due() == [(other, False, False)], "at once"


def test_a_try_whose_end_nobody_reports_is_not_the_last(world: World) -> None:
    world.paths.failed(KEY, errno.EIO)
    assert world.wait() == [KEY] and world.wait() == [KEY]


def test_of_very_many_only_some_are_tried_at_once(world: World) -> None:
    for number in range(3 * AT_ONCE):
        world.paths.failed((1, b"%d" % number), errno.EIO)
    first, second = world.wait(), world.wait()
    assert len(first) == len(second) == AT_ONCE and not set(first) & set(second)


def test_what_is_said(world: World) -> None:
    world.paths.failed(KEY, errno.EIO)
    world.paths.failed((1, b"other"), errno.EMFILE)
    world.paths.failed((2, b"third"), errno.EIO)
    said = [(trouble.paths, trouble.first, trouble.text) for trouble in world.paths.troubles()]
    assert said == [(2, KEY, "Input/output error"), (1, (1, b"other"), "Too many open files")]


def test_the_denied_are_looked_at_in_turn(world: World) -> None:
    for name in (b"a", b"b", b"c"):
        world.paths.deny((1, name))
    assert [world.paths.take_denied(2) for _ in range(2)] == [[(1, b"a"), (1, b"b")], [(1, b"c"), (1, b"a")]]
    assert not world.paths.open and not world.paths.troubles()
    world.paths.forget(lambda key: key[1] == b"b")
    assert set(world.paths.denied) == {(1, b"a"), (1, b"c")}
