"""Searches by words and by meaning: what is found, in which order, and what happens without an embedder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from helpers.indexed_folder import Indexed
from helpers.made_model import DIMENSIONS, MeaningEmbedder
from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable
from livedex_indexing.plugins import Hit, Query, VectorModel
from livedex_indexing.rank import results
from livedex_indexing.search.meaning import Fusion, Vectors, is_prose
from livedex_indexing.vectors import vector_database
from livedex_indexing.vectors.filler import Filler
from livedex_indexing.vectors.vector_store import VectorStore

FILES = {
    "root/travel.md": "# Travel\nthe automobile needs a new motor\n",
    "root/sea.md": "# Sea\nthe vessel left the harbour\n",
    "root/food.md": "# Food\na loaf in the oven\n",
    "root/plan.py": "def driving_plan():\n    return 1\n",
}


class Semantics:
    """The vectors of one index, as a daemon would give them."""

    def __init__(self, filler: Filler, embedder: MeaningEmbedder) -> None:
        self.filler, self.embedder = filler, embedder
        self.fusion: Fusion = "score"
        self.weight = 1.0
        self.fault: str | None = None

    @property
    def pending(self) -> int:
        return self.filler.pending

    def vectors(self, text: str, seconds: float) -> Vectors | None:
        assert seconds > 0
        if self.fault is not None:
            raise EmbedderUnavailable(self.fault)
        return Vectors(self.filler.store.index, self.embedder.embed(text), self.weight, self.fusion)


@pytest.fixture
def semantics(indexed: Indexed) -> Iterator[Semantics]:
    embedder = MeaningEmbedder()
    store = VectorStore(str(indexed.folder / "vectors.db"), "meanings-1", DIMENSIONS)
    filler = Filler(indexed.pool, store, embedder, lambda: indexed.roots, 8)
    filler.compare()
    while filler.step():
        pass
    made = Semantics(filler, embedder)
    indexed.semantics = made
    yield made
    store.close()


def test_words_that_the_text_does_not_hold_find_it(indexed: Indexed, semantics: Semantics) -> None:
    answer = indexed.ask("sailing boat")
    assert (answer.mode, answer.hits[0]["relative_path"]) == ("hybrid", "sea.md")
    assert indexed.ask("sailing boat", mode="keyword").hits == []
    assert answer.extras["vectors_pending"] == 0


@pytest.mark.parametrize("query", ["boat", '"boat trip" sailing', "driving_plan", "a/b sailing", "sailing -boat::x"])
def test_a_name_a_path_and_a_phrase_stay_keyword(indexed: Indexed, semantics: Semantics, query: str) -> None:
    assert not is_prose(query)
    assert indexed.ask(query).mode != "hybrid"


@pytest.mark.parametrize("mode", ["auto", "hybrid", "semantic"])
def test_vectors_that_cannot_be_read_are_named(indexed: Indexed, semantics: Semantics, mode: str) -> None:
    vector_database.remove(semantics.filler.store.path)
    answer = indexed.ask("the vessel harbour", mode=mode)
    assert (answer.mode, answer.hits[0]["relative_path"]) == ("keyword", "sea.md")
    (warned,) = answer.warnings
    assert warned["code"] == "embedder_unavailable" and "vectors cannot be read" in warned["message"]


def test_both_lists_are_put_together(indexed: Indexed, semantics: Semantics) -> None:
    hits = indexed.search("vessel baking", explain=True)
    assert {hit["relative_path"] for hit in hits[:2]} == {"sea.md", "food.md"}
    for hit in hits:
        parts = hit["explain"]["parts"]
        assert sum(part["value"] for part in parts) == pytest.approx(hit["score"])
    explained = {hit["relative_path"]: hit["explain"]["ranks"] for hit in hits}
    assert explained["sea.md"]["keyword"] == 1
    assert explained["food.md"]["keyword"] is None


def test_vectors_change_nothing_of_what_words_are_worth(
    indexed: Indexed, semantics: Semantics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "EXAMINED", 2)
    indexed.write("root/first.md", "vessel harbour\n")
    indexed.write("root/second.md", "a vessel harbour map\n")
    indexed.write("root/third.md", "much else is in the text that only vectors lead to, and a vessel harbour\n")
    semantics.filler.compare()
    while semantics.filler.step():
        pass
    semantics.weight = 0.0
    by_words = indexed.search("vessel harbour", mode="keyword", explain=True)[:2]
    by_both = indexed.search("vessel harbour", mode="hybrid", explain=True)[:2]
    assert [(hit["relative_path"], hit["explain"]["parts"]) for hit in by_both] == [
        (hit["relative_path"], hit["explain"]["parts"]) for hit in by_words
    ]


def _similar(hits: list[dict[str, Any]], path: str) -> float:
    """What the part `similar` gives a file."""
    parts = next(hit["explain"]["parts"] for hit in hits if hit["relative_path"] == path)
    return next((part["value"] for part in parts if part["name"] == "similar"), 0.0)


def test_what_resembles_the_best_file_by_words_is_near_too(indexed: Indexed, semantics: Semantics) -> None:
    """No word of the query has a meaning: the file that has them tells it, the more of them it has."""
    indexed.write("root/recipe.md", "# Xylograph notes\nbaking dough for bread\n")
    semantics.filler.compare()
    while semantics.filler.step():
        pass
    hits = indexed.search("xylograph notes", explain=True)
    assert [hit["relative_path"] for hit in hits[:2]] == ["recipe.md", "food.md"]
    half = indexed.search("xylograph notes left return", explain=True)
    assert half[0]["relative_path"] == "recipe.md"
    assert _similar(hits, "food.md") > _similar(half, "food.md") + 0.05 > 0.2
    alone = indexed.search("xylograph notes", mode="semantic")
    assert alone[0]["score"] < 0.5, "by meaning alone, nothing but the query counts"


def test_semantic_orders_by_the_cosine_alone(indexed: Indexed, semantics: Semantics) -> None:
    answer = indexed.ask("vessel baking dough", mode="semantic", explain=True)
    assert answer.mode == "semantic"
    assert answer.hits[0]["relative_path"] == "food.md"
    assert [part["name"] for part in answer.hits[0]["explain"]["parts"]] == ["similar"]
    scores = [hit["score"] for hit in answer.hits]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ('vessel "the harbour"', {"sea.md"}),
        ('vessel -"the harbour"', {"travel.md", "food.md"}),
        ("vessel -harbour", {"travel.md", "food.md"}),
    ],
)
def test_phrases_and_what_is_excluded_count_for_what_meaning_finds(
    indexed: Indexed, semantics: Semantics, query: str, found: set[str]
) -> None:
    answer = indexed.ask(query, mode="semantic", kinds=["markdown_text"])
    assert (answer.mode, {hit["relative_path"] for hit in answer.hits}) == ("semantic", found)
    assert "did_you_mean" not in answer.extras


def test_reciprocal_ranks_are_a_fusion_too(indexed: Indexed, semantics: Semantics) -> None:
    semantics.fusion = "rrf"
    hits = indexed.search("vessel baking", explain=True)
    assert hits[0]["relative_path"] == "sea.md"
    ranks = hits[0]["explain"]["ranks"]
    assert hits[0]["score"] == pytest.approx(1 / (60 + ranks["keyword"]) + 1 / (60 + ranks["semantic"]))


@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
def test_filters_count_for_what_meaning_finds(indexed: Indexed, semantics: Semantics, mode: str) -> None:
    assert indexed.found("sailing boat", mode=mode, languages=["python"]) == ["plan.py"]
    assert "sea.md" not in indexed.found("sailing boat -path:sea.md", mode=mode)
    indexed.remove("root/sea.md")
    assert "sea.md" not in indexed.found("sailing boat", mode=mode)


def test_what_has_no_vector_yet_is_found_by_its_words(indexed: Indexed, semantics: Semantics) -> None:
    indexed.write("root/new.md", "the vessel sank\n")
    semantics.filler.look()
    answer = indexed.ask("vessel harbour")
    assert "new.md" in {hit["relative_path"] for hit in answer.hits}
    assert answer.extras["vectors_pending"] == 1


@pytest.mark.parametrize("mode", ["auto", "hybrid", "semantic"])
def test_a_dead_embedder_costs_a_warning(indexed: Indexed, semantics: Semantics, mode: str) -> None:
    semantics.fault = "the gateway localhost does not answer"
    answer = indexed.ask("vessel harbour", mode=mode)
    assert (answer.mode, answer.hits[0]["relative_path"]) == ("keyword", "sea.md")
    assert [(w["code"], w["message"]) for w in answer.warnings] == [("embedder_unavailable", semantics.fault)]


def test_without_an_embedder_only_an_explicit_mode_warns(indexed: Indexed) -> None:
    assert indexed.ask("vessel harbour").warnings == []
    answer = indexed.ask("vessel harbour", mode="hybrid")
    assert (answer.mode, answer.warnings[0]["code"]) == ("keyword", "embedder_unavailable")
    assert "vectors_pending" not in answer.extras


def test_a_query_without_words_is_no_question_of_meaning(indexed: Indexed, semantics: Semantics) -> None:
    assert indexed.ask("lang:python", mode="hybrid").mode == "keyword"


def test_vectors_that_others_replace_in_the_middle_cost_no_hit(indexed: Indexed, semantics: Semantics) -> None:
    """A search got the vectors just before they were closed."""
    former = VectorStore(str(indexed.folder / "former.db"), "former-1", DIMENSIONS)
    former.close()
    given = [former.index, semantics.filler.store.index]

    class Switching:
        pending = 0

        def vectors(self, text: str, seconds: float) -> Vectors:
            return Vectors(given.pop(0), semantics.embedder.embed(text), 1.0, "score")

    indexed.semantics = Switching()
    answer = indexed.ask("sailing boat", mode="semantic")
    assert answer.hits[0]["relative_path"] == "sea.md" and given == []


class Backend:
    """A backend that ranks by the number of words found, with scores of its own."""

    def __init__(self, indexed: Indexed) -> None:
        self.indexed = indexed
        self.asked: list[Query] = []

    def search(self, query: Query) -> list[Hit]:
        self.asked.append(query)
        words = query.text.split()
        root = self.indexed.folder / "root"
        counts = {str(path): sum(map(path.read_text().count, words)) for path in sorted(root.iterdir())}
        return [Hit(path, 0, 1000.0 * count) for path, count in counts.items() if count]

    def nearest(self, query: Query, model: VectorModel, vector: Sequence[float]) -> list[Hit] | None:
        return None


@pytest.mark.parametrize("group", ["chunk", "file"])
def test_a_backend_is_put_together_with_vectors_by_places(indexed: Indexed, semantics: Semantics, group: str) -> None:
    indexed.backend = Backend(indexed)
    assert indexed.found("vessel baking", mode="keyword") == ["sea.md"]
    answer = indexed.ask("vessel baking", group=group, explain=True)
    assert (answer.mode, [hit["relative_path"] for hit in answer.hits[:2]]) == ("hybrid", ["sea.md", "food.md"])
    first, second = (hit["explain"]["ranks"] for hit in answer.hits[:2])
    assert (first, second) == ({"keyword": 1, "semantic": 1}, {"keyword": None, "semantic": 2})
    assert [hit["score"] for hit in answer.hits[:2]] == pytest.approx([2 / 61, 1 / 62])
    pages = [indexed.found("vessel baking", limit=1, offset=n, group=group)[0] for n in range(len(answer.hits))]
    assert pages == [hit["relative_path"] for hit in answer.hits]
    assert len({query.limit for query in indexed.backend.asked[1:]}) == 1, "each page is of the same order"


def test_of_copies_that_a_backend_ranks_alike_the_shortest_path_is_shown(indexed: Indexed) -> None:
    indexed.backend = Backend(indexed)
    indexed.write("root/a_longer_name.md", FILES["root/sea.md"])
    (hit,) = indexed.search("vessel", mode="keyword")
    assert (hit["relative_path"], len(hit["also_at"])) == ("sea.md", 1)


def test_what_resembles_the_best_hit_of_a_backend_is_near_too(indexed: Indexed, semantics: Semantics) -> None:
    indexed.backend = Backend(indexed)
    indexed.write("root/recipe.md", "xylograph notes\nbaking dough for bread\n")
    semantics.filler.compare()
    while semantics.filler.step():
        pass
    assert indexed.found("xylograph notes", mode="keyword") == ["recipe.md"]
    assert indexed.found("xylograph notes")[:2] == ["recipe.md", "food.md"]


def test_meaning_alone_asks_no_backend(indexed: Indexed, semantics: Semantics) -> None:
    indexed.backend = Backend(indexed)
    answer = indexed.ask("vessel baking dough", mode="semantic")
    assert (answer.mode, answer.hits[0]["relative_path"], indexed.backend.asked) == ("semantic", "food.md", [])
    semantics.fault = "the gateway localhost does not answer"
    answer = indexed.ask("vessel baking dough", mode="semantic")
    assert (answer.mode, len(indexed.backend.asked)) == ("keyword", 1)
