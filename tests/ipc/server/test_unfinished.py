"""The one budget of all unfinished requests."""

from __future__ import annotations

from livedex_ipc.server.unfinished import UnfinishedRequests


def test_the_largest_is_named_once_the_budget_is_used_up() -> None:
    unfinished = UnfinishedRequests[str](100)
    assert unfinished.count("a", 60) is None
    assert unfinished.count("b", 40) is None
    assert unfinished.count("b", 41) == "a"
    unfinished.count("a", 0)
    assert unfinished.total == 41
    assert unfinished.count("c", 59) is None


def test_of_two_as_large_the_older_is_named() -> None:
    unfinished = UnfinishedRequests[str](100)
    unfinished.count("a", 50)
    unfinished.count("b", 50)
    assert unfinished.count("c", 1) == "a"
