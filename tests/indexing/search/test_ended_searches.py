"""A search may be ended at any step of its statements: it then fails as cancelled, and the next ones find all."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import pytest

from helpers.indexed_folder import Indexed
from helpers.support import SHARE
from livedex_ipc.errors import Cancelled

FILES = 8
EACH = math.ceil(2 / SHARE) - 1  # a search ends at each call of so many: what an end leaves behind, several calls do


def at_call(number: int) -> Callable[[], bool]:
    """Return a function that is true from its call ``number`` on."""
    calls = itertools.count()
    return lambda: next(calls) >= number


@pytest.mark.parametrize(("query", "steps"), [('"apple pie"', 7), ('"apple pie"', 13), ("pie -cherry", 23)])
def test_what_an_ended_search_leaves_behind(index: Indexed, query: str, steps: int) -> None:
    for number in range(FILES):
        for folder in ("one", "two"):
            index.write(f"root/{folder}/{number}.txt", f"apple pie {folder} {number}\n")
    one, two = ({"path": str(index.folder / "root" / folder)} for folder in ("one", "two"))
    with index.pool.connection() as reader:  # the one that all searches get
        reader.db.set_progress_handler(reader.ends_statement, steps)
    for number in itertools.count(step=EACH):
        assert len(index.search("apple", **one)) == FILES  # the other scope, to which an undone search returns
        try:
            index.ask(query, **two, cancelled=at_call(number))
        except Cancelled:
            found = index.found("apple", **two)
            assert sorted(found) == [f"two/{place}.txt" for place in range(FILES)], f"ended at call {number}"
        else:
            assert number > FILES
            return
