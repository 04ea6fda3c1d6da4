"""What a search made is freed with its answer: in a reference cycle it would last until a garbage collection, and the
lists of a long answer take tens of MiB."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from helpers.indexed_folder import Indexed

SEARCHES: list[dict[str, Any]] = [
    {"query": "lift crane"},
    {"query": "crane_lift"},
    {"query": "how does the crane lift"},
    {"query": '"the lift" -brake'},
    {"query": "crne lift", "facets": ["languages"], "total": True},
    {"query": "crane li", "typing": True},
    {"query": "crane", "group": "file", "explain": True, "limit": 1},
    {"query": "crane", "sort": "modified"},
    {"query": "crane_", "mode": "exact"},
    {"query": "cr[a-z]+e", "mode": "regex"},
    {"query": "crane.h:2"},
    {"query": "a lift of nothing at all"},
    {"query": ""},
]


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: " ".join(map(str, search.values())))
def test_nothing_is_left_of_a_search(index: Indexed, search: dict[str, Any]) -> None:
    index.write("root/crane.h", "".join(f"/* The lift of a crane. */\nint crane_lift{n}(void);\n" for n in range(9)))
    index.write("root/note.md", "# Cranes\n\nThe lift of a crane, and its brake.\n")
    index.ask(**search)  # fills the caches
    gc.collect()
    gc.disable()
    try:
        index.ask(**search)
        assert gc.collect() == 0
    finally:
        gc.enable()
