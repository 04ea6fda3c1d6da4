"""Agent memory by meaning: entries get vectors, words and vectors are put together, and without vectors words count."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from helpers.made_model import DIMENSIONS, MeaningEmbedder
from livedex_daemon.answer.memory_request import MemoryAnswer, MemoryRequest, searched
from livedex_daemon.knowledge.agent_memory import NewEntry
from livedex_daemon.knowledge.entry_ranking import ranked
from livedex_daemon.knowledge.entry_vectors import EntryFiller, has_entries
from livedex_daemon.knowledge.knowledge_store import KnowledgeStore
from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable
from livedex_indexing.search.meaning import Fusion, Vectors
from livedex_indexing.vectors import vector_database
from livedex_indexing.vectors.vector_store import VectorStore

DAY_S = 86_400.0


class Semantics:
    """The vectors of agent memory, as a daemon would give them."""

    pending = 0

    def __init__(self, vectors: VectorStore) -> None:
        self.given = [vectors]  # to one search after another; the last one stays
        self._embedder = MeaningEmbedder()
        self.fusion: Fusion = "score"
        self.fault: str | None = None

    def vectors(self, text: str, seconds: float) -> Vectors | None:
        if self.fault is not None:
            raise EmbedderUnavailable(self.fault)
        of_chunks = (self.given.pop(0) if len(self.given) > 1 else self.given[0]).index
        return Vectors(of_chunks, self._embedder.embed(text), 1.0, self.fusion)


class Memory(NamedTuple):
    """A store with its vectors."""

    store: KnowledgeStore
    vectors: VectorStore
    embedder: MeaningEmbedder
    filler: EntryFiller
    semantics: Semantics

    def fill(self) -> None:
        self.filler.look()
        while self.filler.step():
            pass

    def ask(self, query: str, mode: str = "auto", domains: tuple[str, ...] | None = None) -> MemoryAnswer:
        return searched(self.store, MemoryRequest(query, 3, domains, mode), self.semantics, 1.0)

    def found(self, query: str, mode: str = "auto", domains: tuple[str, ...] | None = None) -> list[str]:
        return [entry["content"] for entry in self.ask(query, mode, domains).entries]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    path = str(tmp_path / "knowledge.db")
    assert not has_entries(path)
    store, embedder, clock = KnowledgeStore(path), MeaningEmbedder(), [0.0]
    vectors = VectorStore(str(tmp_path / "vectors.db"), "meanings-1", DIMENSIONS, now=lambda: clock[0])
    for content, domain in (("the vessel left the harbour", "sea"), ("a loaf in the oven", "food"), ("rain", "sky")):
        store.add(NewEntry(content, domain))
    made = Memory(store, vectors, embedder, EntryFiller(path, vectors, embedder, 2), Semantics(vectors))
    made.fill()
    yield made
    assert has_entries(path)
    store.close()
    vectors.close()


def test_entries_are_found_by_what_they_mean(memory: Memory) -> None:
    answer = memory.ask("sailing boat")
    assert (answer.mode, answer.entries[0]["content"], answer.pending) == ("hybrid", "the vessel left the harbour", 0)
    assert [entry["uses"] for entry in memory.store.page("sea", None, 9, 0).entries] == [1]
    assert memory.ask("sailing boat", "keyword") == ([], "keyword", (), None)
    assert memory.ask("boat").mode == "keyword" and memory.ask('"sailing boat" rain').mode == "keyword"
    assert memory.found("sailing boat", "semantic", ("food", "sky")) != []
    assert "the vessel left the harbour" not in memory.found("sailing boat", "semantic", ("food", "sky"))
    assert "the vessel left the harbour" not in memory.found("sailing boat -harbour", "hybrid")
    assert memory.found('"the oven" sailing boat', "hybrid") == ["a loaf in the oven"]


def test_an_entry_without_a_vector_is_found_by_its_words(memory: Memory) -> None:
    memory.store.add(NewEntry("thunder and a vessel"))
    answer = memory.ask("a vessel sailing", "hybrid")
    assert answer.pending == 1 and "thunder and a vessel" in [entry["content"] for entry in answer.entries]
    assert "thunder and a vessel" not in memory.found("a vessel sailing", "semantic")
    memory.fill()
    assert memory.ask("a vessel sailing", "hybrid").pending == 0


def test_each_text_is_embedded_once_and_with_its_heading(memory: Memory) -> None:
    memory.store.add(NewEntry("rain", "other"))
    memory.store.add(NewEntry("left at noon", heading="driving"))
    memory.filler.compare()
    memory.fill()
    assert memory.embedder.asked[3:] == ["driving\nleft at noon"]
    assert memory.found("automobile motor", "semantic")[0] == "left at noon"


def test_a_vector_is_kept_while_its_entry_is(memory: Memory, tmp_path: Path) -> None:
    now = [0.0]
    vectors = VectorStore(str(tmp_path / "kept.db"), "meanings-1", DIMENSIONS, now=lambda: now[0])
    filler = EntryFiller(str(tmp_path / "knowledge.db"), vectors, memory.embedder, 2)
    while filler.step():
        pass
    vectors.sweep()
    memory.store.remove(3)
    now[0] = 29 * DAY_S
    filler.compare()
    while filler.step():
        pass
    for now[0] in (29 * DAY_S, 31 * DAY_S):
        vectors.sweep()
    assert vectors.counts() == (0, 2)
    vectors.close()


@pytest.mark.parametrize("mode", ["auto", "hybrid", "semantic"])
def test_a_dead_embedder_costs_a_warning(memory: Memory, mode: str) -> None:
    memory.semantics.fault = "the gateway localhost does not answer"
    answer = memory.ask("vessel harbour", mode)
    assert (answer.mode, [entry["domain"] for entry in answer.entries]) == ("keyword", ["sea"])
    assert [(w["code"], w["message"]) for w in answer.warnings] == [("embedder_unavailable", memory.semantics.fault)]


def test_vectors_that_cannot_be_read_cost_a_warning(memory: Memory) -> None:
    vector_database.remove(memory.vectors.path)
    answer = memory.ask("vessel harbour", "semantic")
    assert (answer.mode, [entry["domain"] for entry in answer.entries]) == ("keyword", ["sea"])
    assert [w["code"] for w in answer.warnings] == ["embedder_unavailable"]


@pytest.mark.parametrize(("query", "mode"), [("sailing boat", "semantic"), ("sailing vessel", "hybrid")])
def test_vectors_that_others_replace_in_the_middle_cost_no_entry(
    query: str, mode: str, memory: Memory, tmp_path: Path
) -> None:
    """A search got the vectors just before they were closed, and their file removed."""
    former = VectorStore(str(tmp_path / "former.db"), "former-1", DIMENSIONS)
    former.close()
    vector_database.remove(former.path)
    present = memory.semantics.given
    memory.semantics.given = [former, *present]
    answer = memory.ask(query, mode)
    assert memory.semantics.given == present
    assert (answer.mode, answer.entries[0]["content"]) == (mode, "the vessel left the harbour")
    assert answer.pending == 0, "all entries were compared"
    assert [entry["uses"] for entry in memory.store.page("sea", None, 9, 0).entries] == [1], "it was used once"


def test_reciprocal_ranks_are_a_fusion_too(memory: Memory) -> None:
    memory.semantics.fusion = "rrf"
    best = memory.ask("harbour baking", "hybrid").entries[0]
    assert best["domain"] == "sea" and best["score"] == pytest.approx(1 / 61 + 1 / 62)


def test_scores_are_put_together() -> None:
    words, cosines = {1: 0.5, 2: 0.4}, {2: 0.8, 3: 0.9}
    assert ranked(words, cosines, 0.5, "score", 9) == [(1, pytest.approx(0.9)), (2, pytest.approx(0.8)), (3, 0.45)]
    assert ranked(words, cosines, 0.5, "none", 1) == [(3, 0.9)]
    assert ranked({}, {}, 0.5, "rrf", 9) == []
