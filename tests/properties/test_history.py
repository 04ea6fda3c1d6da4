"""An index that has seen files come and go answers as one that was made of the files there are."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from helpers.index_history import ROOTS, IndexHistory
from helpers.indexed_folder import Indexed
from helpers.support import examples


def answer(index: Indexed, query: str, **params: Any) -> dict[str, Any]:
    """What an answer says, but for the order of the hits: removed words still count for how rare a word is."""
    found = index.ask(query, limit=1000, group="file", total=True, facets=["languages", "kinds"], **params)
    extras = {**found.extras, "did_you_mean": "did_you_mean" in found.extras}
    paths = sorted(path for hit in found.hits for path in (hit["path"], *hit.get("also_at", ())))
    assert extras["total"]["hits"] == len(found.hits)
    return {"paths": paths, **extras}


@pytest.mark.parametrize("seed", range(examples(12)))
def test_it_leaves_no_trace_in_an_answer(tmp_path: Path, seed: int) -> None:
    history = IndexHistory(tmp_path, random.Random(seed))
    with history.index as old:
        for _ in range(8):
            history.go_on()
        history.remove_most()
        with Indexed(tmp_path, ROOTS, database="new.db") as new:
            new.index(*history.files)
            for _ in range(60):
                query = history.query()
                for params in ({}, {"typing": True}, {"path": str(tmp_path / "one")}):
                    wanted = answer(new, query, mode="keyword", **params)
                    assert answer(old, query, mode="keyword", **params) == wanted, (query, params)
