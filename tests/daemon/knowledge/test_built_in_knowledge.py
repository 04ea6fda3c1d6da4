"""The built-in store by the plugins' Protocol."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from livedex_daemon.knowledge.built_in_knowledge import BuiltInKnowledge
from livedex_indexing.conformance import check_knowledge
from livedex_indexing.plugins import KnowledgeBackend


@pytest.fixture
def store(tmp_path: Path) -> Iterator[BuiltInKnowledge]:
    opened = BuiltInKnowledge(str(tmp_path / "knowledge.db"))
    yield opened
    opened.close()


def test_it_conforms(tmp_path: Path) -> None:
    numbers = count()
    assert check_knowledge(lambda: BuiltInKnowledge(str(tmp_path / f"{next(numbers)}.db"))) == []


def test_it_is_a_backend(store: BuiltInKnowledge) -> None:
    assert isinstance(store, KnowledgeBackend)


def test_a_finding_keeps_its_source_and_its_confidence(store: BuiltInKnowledge) -> None:
    number = store.add_finding("The cache is never emptied", "src/cache.py", 0.9)
    (entry,) = store.search("cache", 1)
    wanted = {"id": number, "domain": "findings", "kind": "finding", "source": "src/cache.py"}
    assert {name: entry[name] for name in wanted} == wanted
    assert entry["metadata"] == {"confidence": 0.9}
