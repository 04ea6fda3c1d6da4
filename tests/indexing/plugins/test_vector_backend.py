"""A backend that keeps vectors: one of under 100 lines conforms, and each fault in it is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from helpers.vector_backend import PLUGIN
from livedex_indexing.conformance import check_backend
from livedex_indexing.plugins import VectorBackend

BROKEN = [
    ("key > after)[:limit]", "key > after)", "ignores after or limit"),
    ("key > after)", "True)", "ignores after or limit"),
    ("if chunk.vector_key in vectors:", "if not kept and chunk.vector_key in vectors:", "leaves a chunk without"),
    ("/ (length(one) * length(two))", "/ 1", "does not return the cosines"),
    ("for place in places]", "for place in places[:1]]", "does not return the cosines"),
    ("self.vectors.setdefault(model, {})", "self.vectors.setdefault(None, {})", "leaves a chunk without"),
    ("self.vectors = {model: self.vectors.get(model, {})}", "pass", "leaves those of another model"),
    ("               del kept[place]\n    def delete", "               pass\n    def delete", "keeps its vector|all"),
]


def factory(text: str) -> Callable[[], Any]:
    names: dict[str, Any] = {}
    exec(text, names)
    return lambda: names["Vectors"]("/nowhere")


def test_one_of_under_100_lines_conforms() -> None:
    assert len(PLUGIN.splitlines()) < 100
    assert isinstance(factory(PLUGIN)(), VectorBackend)
    assert check_backend(factory(PLUGIN)) == []


@pytest.mark.parametrize(("old", "new", "fault"), BROKEN)
def test_a_fault_is_named(old: str, new: str, fault: str) -> None:
    assert PLUGIN.count(old) >= 1
    faults = check_backend(factory(PLUGIN.replace(old, new)))
    assert any(part in found for found in faults for part in fault.split("|")), faults
