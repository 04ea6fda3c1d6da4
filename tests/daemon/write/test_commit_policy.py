"""When the outcomes of read files are committed."""

from __future__ import annotations

from math import inf

import pytest

from livedex_daemon.watch.backlog import Entry, Waiter
from livedex_daemon.write.commit_policy import COLLECT, UNASKED, CommitPolicy, Undecided

NOW = 100.0  # an arbitrary time


class Desk:
    """The outcomes before a worker that has just committed, and when it commits next: ``at once``, ``soon`` (apart from
    the last commit), ``gathered`` (with more of the same) or ``never``.
    """

    def __init__(self) -> None:
        self.policy = CommitPolicy()
        self.policy.committed(NOW)
        self.policy.wanted_outcomes(NOW + 3600, searched=True)
        self.finished: list[Entry] = []
        self.has_changes = False
        self.reading = True

    def outcome(self, *waiters: Waiter, tree: bool = False, works: int = 1) -> Entry:
        """A file was read; ``works``: how many works of its entry are still to be stored."""
        entry = Entry((1, b"f"), 1, NOW)
        entry.tree, entry.works, entry.waiters = tree, works, list(waiters)
        self.policy.gather(entry)
        return entry

    def due(self, *, must_commit: bool = False) -> str:
        at = self.policy.due(Undecided(self.has_changes, must_commit, self.finished, self.reading))
        if at == inf:
            return "never"
        return "at once" if at < NOW else "soon" if at < NOW + 60 else "gathered"


@pytest.fixture
def desk() -> Desk:
    return Desk()


def waiter(left: int) -> Waiter:
    made = Waiter(lambda: None)
    made.left = left
    return made


def test_edits_that_nobody_waits_for_are_stored_together(desk: Desk) -> None:
    assert desk.due() == "never"
    desk.outcome()
    assert desk.due() == "soon"
    desk.policy.committed(0.0)
    assert desk.due() == "at once", "the first for a while"


def test_what_is_waited_for_is_stored_once_it_is_complete(desk: Desk) -> None:
    asks = waiter(2)
    desk.outcome(asks)
    assert desk.due() == "soon", "another one is missing"
    desk.outcome(asks)
    assert desk.due() == "at once"


def test_a_part_of_what_is_waited_for_releases_nobody(desk: Desk) -> None:
    entry = desk.outcome(waiter(1), tree=True, works=2)
    assert desk.due() == "gathered"
    desk.policy.gather(entry)
    assert desk.due() == "at once"


def test_bulk_work_is_gathered_until_there_is_much_of_it_or_no_more(desk: Desk) -> None:
    for _ in range(COLLECT):
        assert desk.due() != "at once"
        desk.outcome(tree=True, works=10_000)
    assert desk.due() == "at once"
    desk.policy.drop()
    desk.outcome(tree=True, works=10_000)
    assert desk.due() == "gathered"
    desk.reading = False
    assert desk.due() == "soon"


def test_more_is_gathered_for_longer_while_nobody_searches() -> None:
    due = {}
    for searched in (False, True):
        policy = CommitPolicy()
        assert policy.wanted_outcomes(NOW, searched=searched) == COLLECT * (1 if searched else UNASKED)
        entry = Entry((1, b"f"), 1, NOW)
        entry.tree, entry.works = True, 10_000
        policy.gather(entry)
        due[searched] = policy.due(Undecided(False, False, [], True))
    assert due[True] < due[False]


def test_what_was_gathered_takes_of_the_room(desk: Desk) -> None:
    desk.outcome()
    assert desk.policy.wanted_outcomes(NOW, searched=False) == COLLECT - 1, "the room is that of the first outcome"


def test_what_is_gone_is_stored_like_an_edit(desk: Desk) -> None:
    entry = Entry((1, b"f"), 1, NOW)
    desk.finished.append(entry)
    assert desk.due() == "at once", "nothing is to be stored on its account"
    desk.has_changes = True
    assert desk.due() == "soon"
    entry.waiters.append(waiter(1))
    assert desk.due() == "at once"


def test_a_look_that_waits_for_the_commit_is_not_kept_waiting(desk: Desk) -> None:
    desk.has_changes = True
    desk.outcome(tree=True, works=10_000)
    assert desk.due() == "gathered"
    assert desk.due(must_commit=True) == "at once"
