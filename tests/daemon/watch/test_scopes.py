"""Which changes a search of some places waits for: those at, below and above them."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedex_daemon.watch.backlog import Key, intersects, meeting
from livedex_indexing.relpath import is_within


@pytest.mark.parametrize(
    ("key", "scope", "expected"),
    [
        ((1, b"a/b"), [(1, b"a")], True),
        ((1, b"a"), [(1, b"a/b")], True),
        ((1, b"ab"), [(1, b"a")], False),
        ((1, b""), [(1, b"a")], True),
        ((2, b"a"), [(1, b"a")], False),
        ((1, b"a"), [], False),
        ((1, b"a"), None, True),
    ],
)
def test_intersects(key: Key, scope: list[Key] | None, expected: bool) -> None:
    assert intersects(key, scope) is expected
    assert meeting(scope)(key) is expected


_NAMES = st.lists(st.sampled_from([b"a", b"a-b", b"ab", b"b", b"\xff"]), max_size=4).map(b"/".join)
_KEYS = st.tuples(st.sampled_from([1, 2]), _NAMES)


@given(key=_KEYS, scope=st.lists(_KEYS, max_size=6))
def test_a_scope_meets_what_lies_at_below_or_above_one_of_its_keys(key: Key, scope: list[Key]) -> None:
    path, places = key[1], [place for root, place in scope if root == key[0]]
    assert meeting(scope)(key) is any(is_within(path, place) or is_within(place, path) for place in places)


def test_a_scope_of_many_folders_takes_little_memory() -> None:
    scope = [(1, b"%d" % number + b"/a" * 8000) for number in range(20)]
    tracemalloc.start()
    try:
        meets = meeting(scope)
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()
    assert meets((1, b"3/a/a")) and not meets((1, b"3/b"))
