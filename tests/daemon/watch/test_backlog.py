"""The backlog: what settles when, what is taken first, and when a waiter is released."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.clock import Clock
from livedex_daemon.watch.backlog import SETTLE_MAX_S, SETTLE_S, Backlog, Entry, Key, Mark, intersects


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def backlog(clock: Clock) -> Backlog:
    return Backlog(clock, lambda: None)


def take(backlog: Backlog, limit: int = 100) -> list[Entry]:
    return backlog.take(limit, lambda key: False)


def keys(entries: list[Entry]) -> list[Key]:
    return [entry.key for entry in entries]


def test_a_mark_settles_before_it_is_taken(backlog: Backlog, clock: Clock) -> None:
    backlog.mark((1, b"a"))
    assert take(backlog) == []
    clock.now += SETTLE_S
    assert keys(take(backlog)) == [(1, b"a")]


def test_a_path_that_never_holds_still_is_taken_after_the_longest_wait(backlog: Backlog, clock: Clock) -> None:
    began = clock.now
    while clock.now < began + SETTLE_MAX_S - SETTLE_S / 2:
        backlog.mark((1, b"a"))
        assert take(backlog) == []
        clock.now += SETTLE_S / 2
    clock.now = began + SETTLE_MAX_S
    backlog.mark((1, b"a"))
    assert keys(take(backlog)) == [(1, b"a")]


def test_a_mark_that_rests_is_taken_late_unless_it_is_asked_for(backlog: Backlog, clock: Clock) -> None:
    backlog.mark((1, b""), Mark(tree=True, rest_s=5.0))
    backlog.mark((1, b""), Mark(tree=True, rest_s=50.0))
    clock.now += SETTLE_MAX_S
    assert take(backlog) == []
    assert backlog.next_at() == clock.now - SETTLE_MAX_S + 5.0
    clock.now += 5.0
    assert keys(take(backlog)) == [(1, b"")], "the first rest counts: a storm of marks must not put it off for ever"
    backlog.mark((2, b""), Mark(tree=True, rest_s=5.0))
    backlog.wait(None, lambda: None)
    assert keys(take(backlog)) == [(2, b"")], "somebody waits for it"
    backlog.mark((3, b""), Mark(tree=True, rest_s=5.0))
    backlog.mark((3, b""))
    clock.now += SETTLE_MAX_S
    assert keys(take(backlog)) == [(3, b"")]


def test_what_may_be_in_the_middle_of_a_save_is_looked_at_once_it_is_quiet(backlog: Backlog, clock: Clock) -> None:
    backlog.mark((1, b"a"), Mark(from_event=True))
    clock.now += SETTLE_S / 2
    backlog.mark((1, b"a"), Mark(now=True))  # a search saw that it had changed: no sign that it is still changing
    (entry,) = take(backlog)
    assert not backlog.is_quiet(entry)
    assert backlog.defer(entry, entry.key, quiet_since=entry.last_at)
    backlog.done([entry])
    assert take(backlog) == []
    clock.now += SETTLE_S / 2
    (again,) = take(backlog)
    assert backlog.is_quiet(again)


def test_what_is_waited_for_is_not_put_off(backlog: Backlog) -> None:
    backlog.mark((1, b"a"))
    released: list[int] = []
    waiter = backlog.wait(None, lambda: released.append(1))
    (entry,) = take(backlog)
    assert not backlog.defer(entry, entry.key)
    backlog.forget(waiter)
    assert backlog.defer(entry, entry.key)
    backlog.wait(None, lambda: released.append(2))  # waits for both
    backlog.done([entry])
    assert released == []
    backlog.done(take(backlog))
    assert released == [2]


def test_what_is_handed_back_is_taken_again_with_whoever_waits_for_it(backlog: Backlog) -> None:
    called: list[str] = []
    backlog.mark((1, b"a"), Mark(tree=True))
    backlog.mark((1, b"b"))
    backlog.wait([(1, b"a")], lambda: called.append("first"))
    backlog.wait(None, lambda: called.append("all"))
    assert len(take(backlog)) == 2
    backlog.mark((1, b"a"))
    backlog.wait([(1, b"a")], lambda: called.append("both"))
    backlog.requeue_taken()
    again = take(backlog)
    assert sorted(keys(again)) == [(1, b"a"), (1, b"b")]
    assert {entry.key: entry.tree for entry in again} == {(1, b"a"): True, (1, b"b"): False}
    assert not called
    backlog.done([entry for entry in again if entry.key == (1, b"a")])
    assert sorted(called) == ["both", "first"]
    backlog.done([entry for entry in again if entry.key == (1, b"b")])
    assert sorted(called) == ["all", "both", "first"]
    assert backlog.pending() == 0


def test_a_burst_is_one_entry(backlog: Backlog, clock: Clock) -> None:
    for _ in range(1000):
        backlog.mark((1, b"a"))
    clock.now += 1
    assert len(take(backlog)) == 1
    assert backlog.pending() == 1


def test_a_waiter_makes_its_entries_urgent_and_no_others(backlog: Backlog) -> None:
    backlog.mark((1, b"a/x"))
    backlog.mark((1, b"b/y"))
    released: list[int] = []
    backlog.wait([(1, b"a")], lambda: released.append(1))
    taken = take(backlog)
    assert keys(taken) == [(1, b"a/x")]
    assert released == []
    backlog.done(taken)
    assert released == [1]


def test_what_waits_for_the_entry_before_it_is_in_no_queue(backlog: Backlog, clock: Clock) -> None:
    """Else each turn of the worker tries it again: a storm with thousands of them left no time for anything else."""
    backlog.mark((1, b"a"), Mark(now=True))
    backlog.mark((1, b"b"))
    clock.now += SETTLE_S
    before = take(backlog)
    assert keys(before) == [(1, b"a"), (1, b"b")]
    released: list[int] = []
    for _ in range(2):
        backlog.mark((1, b"a"), Mark(now=True))
    backlog.mark((1, b"b"))
    backlog.wait([(1, b"a")], lambda: released.append(1))
    clock.now += SETTLE_MAX_S
    assert take(backlog) == [] and backlog.next_at() is None and backlog.pending() == 2
    backlog.mark((1, b"c"))
    backlog.wait([(1, b"c")], lambda: None)
    backlog.done(before)
    again = take(backlog)
    assert keys(again) == [(1, b"c"), (1, b"a"), (1, b"b")]
    backlog.done(again)
    assert released == [1] and take(backlog) == [] and backlog.next_at() is None


def test_what_waits_for_the_entry_before_it_is_taken_when_that_is_put_back(backlog: Backlog, clock: Clock) -> None:
    backlog.mark((1, b"a"))
    clock.now += SETTLE_S
    take(backlog)
    released: list[int] = []
    backlog.mark((1, b"a"), Mark(now=True))
    assert take(backlog) == []
    backlog.wait(None, lambda: released.append(1))
    backlog.requeue_taken()
    again = take(backlog)
    assert keys(again) == [(1, b"a")]
    backlog.done(again)
    assert released == [1]


def test_a_waiter_with_nothing_before_it_is_released_at_once(backlog: Backlog) -> None:
    backlog.mark((2, b"elsewhere"))
    released: list[int] = []
    backlog.wait([(1, b"")], lambda: released.append(1))
    assert released == [1]


def test_a_mark_after_the_wait_is_not_waited_for(backlog: Backlog) -> None:
    backlog.mark((1, b"a"))
    released: list[int] = []
    backlog.wait(None, lambda: released.append(1))
    taken = take(backlog)
    backlog.mark((1, b"b"))
    backlog.mark((1, b"a"))  # changed again while it is being processed
    backlog.done(taken)
    assert released == [1]
    assert backlog.pending() == 2


def test_what_is_in_hand_is_waited_for(backlog: Backlog) -> None:
    backlog.mark((1, b"a"), Mark(now=True))
    taken = take(backlog)
    released: list[int] = []
    backlog.wait(None, lambda: released.append(1))
    assert released == []
    backlog.done(taken)
    assert released == [1]


def test_a_key_in_hand_is_not_taken_a_second_time(backlog: Backlog, clock: Clock) -> None:
    backlog.mark((1, b"a"), Mark(now=True))
    first = take(backlog)
    backlog.mark((1, b"a"), Mark(now=True))
    clock.now += 5
    assert take(backlog) == []
    backlog.done(first)
    clock.now += SETTLE_S
    assert keys(take(backlog)) == [(1, b"a")]


def test_a_busy_key_waits_until_it_is_free(backlog: Backlog, clock: Clock) -> None:
    backlog.mark((1, b"a"), Mark(now=True))
    assert backlog.take(10, lambda key: True) == []
    assert keys(take(backlog)) == [(1, b"a")]
    backlog.mark((1, b"b"))
    clock.now += 1
    assert backlog.take(10, lambda key: True) == []
    clock.now += 1
    assert keys(take(backlog)) == [(1, b"b")]


def test_background_entries_are_waited_for_only_on_request(backlog: Backlog) -> None:
    backlog.mark((1, b""), Mark(tree=True, background=True))
    released: list[str] = []
    backlog.wait(None, lambda: released.append("search"))
    backlog.wait(None, lambda: released.append("sync"), background=True)
    assert released == ["search"]


def test_a_mark_that_matters_turns_a_background_entry_into_one_that_is_waited_for(backlog: Backlog) -> None:
    backlog.mark((1, b""), Mark(tree=True, background=True))
    backlog.mark((1, b""), Mark(tree=True))
    released: list[str] = []
    backlog.wait(None, lambda: released.append("search"))
    assert released == []


def test_dropping_a_root_releases_whoever_waits_for_it(backlog: Backlog) -> None:
    backlog.mark((1, b"a"))
    released: list[int] = []
    backlog.wait([(1, b"")], lambda: released.append(1))
    backlog.drop_root(1)
    assert released == [1]
    assert backlog.pending() == 0


def test_a_waiter_that_gave_up_is_never_called(backlog: Backlog) -> None:
    backlog.mark((1, b"a"))
    released: list[int] = []
    waiter = backlog.wait(None, lambda: released.append(1))
    backlog.forget(waiter)
    backlog.done(take(backlog))
    assert released == []


def test_searches_that_gave_up_do_not_pile_up(backlog: Backlog) -> None:
    backlog.mark((1, b"a"))
    released: list[int] = []
    backlog.wait(None, lambda: released.append(1))
    for _ in range(1000):
        backlog.forget(backlog.wait(None, lambda: released.append(2)))
    (entry,) = take(backlog)
    assert len(entry.waiters) < 20
    backlog.done([entry])
    assert released == [1]


def test_next_at_says_when_to_look_again(backlog: Backlog, clock: Clock) -> None:
    assert backlog.next_at() is None
    backlog.mark((1, b"a"))
    assert backlog.next_at() == pytest.approx(clock.now + SETTLE_S)


@pytest.mark.parametrize("name", [b".gitignore", b".livedexignore", b".git", b"Cargo.toml", b"CACHEDIR.TAG"])
def test_what_decides_about_a_path_is_waited_for(backlog: Backlog, name: bytes) -> None:
    released: list[str] = []
    backlog.mark((1, b"a/" + name), Mark(from_event=True))
    inside = backlog.wait([(1, b"a/b/c")], lambda: released.append("below"))
    backlog.wait([(1, b"b")], lambda: released.append("elsewhere"))
    backlog.wait([(2, b"a/b")], lambda: released.append("another root"))
    assert released == ["elsewhere", "another root"]
    assert backlog.pending([(1, b"a/b/c")]) == 1
    assert backlog.pending([(1, b"b")]) == 0
    entries = take(backlog)
    assert backlog.left(inside) == entries
    backlog.done(entries)
    assert released[2:] == ["below"]


def test_who_waits_for_a_file_waits_for_its_other_names(backlog: Backlog) -> None:
    released: list[str] = []
    backlog.mark((1, b"a"), Mark(from_event=True))
    backlog.wait(None, lambda: released.append("all"))
    entries = take(backlog)
    backlog.mark_twin((2, b"b"), entries[0])
    backlog.done(entries)
    assert released == []
    backlog.done(take(backlog))
    assert released == ["all"]


def test_what_is_inside_a_scope_and_which_single_paths_are_elsewhere(backlog: Backlog) -> None:
    backlog.mark((1, b"a/x"))
    backlog.mark((1, b"b"), Mark(tree=True))
    backlog.mark((1, b"c/y"))
    backlog.mark((2, b"a/x"))
    take(backlog)
    inside, elsewhere = backlog.parted([(1, b"a")])
    assert [entry.key for entry in inside] == [(1, b"a/x")]
    assert sorted(elsewhere) == [(1, b"c/y"), (2, b"a/x")]


PATHS = st.sampled_from([b"", b"a", b"a/x", b"a/y", b"b", b"b/x"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("mark"), PATHS),
        st.tuples(st.just("wait"), PATHS),
        st.tuples(st.just("take"), st.integers(1, 3)),
        st.tuples(st.just("done"), st.integers(0, 5)),
        st.tuples(st.just("tick"), st.floats(0.01, 0.5)),
    ),
    max_size=60,
)


@given(STEPS)
def test_no_waiter_is_released_early_and_none_is_forgotten(steps: list[tuple[str, object]]) -> None:
    clock = Clock()
    backlog = Backlog(clock, lambda: None)
    open_marks: dict[int, bytes] = {}  # mark number → path, until an entry that covers it is done
    waiting: dict[int, set[int]] = {}
    released: set[int] = set()
    in_hand: list[tuple[Entry, set[int]]] = []

    def finish(entry: Entry, covered: set[int]) -> None:
        for mark in covered:
            open_marks.pop(mark, None)
        backlog.done([entry])

    def take_up(limit: int) -> None:
        for entry in backlog.take(limit, lambda key: False):
            held = {m for _, covered in in_hand for m in covered}
            in_hand.append((entry, {m for m, path in open_marks.items() if path == entry.key[1] and m not in held}))

    for number, (step, value) in enumerate(steps):
        if step == "mark":
            assert isinstance(value, bytes)
            backlog.mark((1, value))
            open_marks[number] = value
        elif step == "wait":
            assert isinstance(value, bytes)
            waiting[number] = {m for m, path in open_marks.items() if intersects((1, path), [(1, value)])}
            backlog.wait([(1, value)], lambda number=number: released.add(number))  # type: ignore[misc]
        elif step == "take":
            assert isinstance(value, int)
            take_up(value)
        elif step == "done" and in_hand:
            assert isinstance(value, int)
            finish(*in_hand.pop(value % len(in_hand)))
        elif step == "tick":
            assert isinstance(value, float)
            clock.now += value
        for waiter, before in waiting.items():
            assert (waiter in released) == (not before & open_marks.keys()), (
                "released exactly when all before it is done"
            )
    while backlog.pending():
        clock.now += 2
        take_up(100)
        while in_hand:
            finish(*in_hand.pop())
    assert released == set(waiting)
