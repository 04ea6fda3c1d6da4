"""Which rows the full-text index proposes: the best by BM25 over all words, in whichever way they are read."""

from __future__ import annotations

import random

import pytest

from helpers.indexed_folder import Indexed, expressions
from livedex_indexing.model import Query
from livedex_indexing.query.filters import build_filters, resolve_filters
from livedex_indexing.query.query_compiler import compile_query
from livedex_indexing.query.query_terms import QueryTerm, match_any
from livedex_indexing.query.word_counts import WordCounts
from livedex_indexing.rank import postings
from livedex_indexing.store.read_pool import Reader

BEST = 10
QUERY = "quokka okapi lemur river meadow"
_SCORED = """SELECT rowid, -bm25(postings) FROM postings WHERE postings MATCH ? AND rowid NOT IN (SELECT id FROM dead)
             ORDER BY 2 DESC, rowid"""


@pytest.fixture
def many(index: Indexed, monkeypatch: pytest.MonkeyPatch) -> Indexed:
    """302 files of one chunk each: the first words of the query are rare, the last two common."""
    chosen = random.Random(4)
    shares = {"quokka": 0.04, "okapi": 0.06, "lemur": 0.2, "river": 0.4, "meadow": 0.5}
    for number in range(300):
        held = [word for word, share in shares.items() for _ in range(3) if chosen.random() < share]
        filler = ["filler"] * chosen.randint(1, 40)
        index.write(f"root/{number:03}.txt", " ".join(chosen.sample(held + filler, len(held) + len(filler))) + "\n")
    index.write("root/300.txt", "lemur lemur lemur lemur\n")
    index.write("root/301.txt", f"lemur {'filler ' * 200} meadow\n")
    monkeypatch.setattr(postings, "LIST_ROWS", BEST)
    return index


def proposed(index: Indexed, reader: Reader, text: str, *, typing: bool = False) -> dict[int, float]:
    query = Query(text, unfinished=typing)
    resolved = resolve_filters(reader, build_filters(reader, query, index.roots, None), 0)
    return postings.collect(reader, compile_query(reader, query, WordCounts(0)), resolved).chunks


def terms(reader: Reader, text: str) -> tuple[QueryTerm, ...]:
    return compile_query(reader, Query(text), WordCounts(0)).terms


def with_one_of(reader: Reader, words: str, text: str, limit: int) -> dict[int, float]:
    """Return the best rows by all words of a text that contain one of ``words``, each scored by BM25 on its own."""
    scores = dict(reader.rows(_SCORED, (match_any(terms(reader, text)),)))
    holding = [row for row, _ in reader.rows(_SCORED, (match_any(terms(reader, words)),))]
    ordered = sorted(holding, key=lambda row: (-scores[row], row))
    return {row: scores[row] for row in ordered[:limit]}


@pytest.mark.parametrize("edited", [False, True], ids=["all alive", "one not used any more"])
def test_the_best_rows_with_a_rare_word_come_with_the_score_of_all_words(
    many: Indexed, monkeypatch: pytest.MonkeyPatch, edited: bool
) -> None:
    with many.pool.connection() as reader:
        rare = terms(reader, "quokka okapi")
        monkeypatch.setattr(postings, "ROW_BUDGET", sum(term.rows for term in rare))
        if edited:
            first = next(iter(with_one_of(reader, "quokka okapi", QUERY, 1)))
            many.write(f"root/{first - 1:03}.txt", "another text\n")
        expected = with_one_of(reader, "quokka okapi", QUERY, BEST)
        assert proposed(many, reader, QUERY) == pytest.approx(expected)


def test_a_word_over_the_budget_is_asked_for_alone_only_where_too_few_rows_have_another(
    many: Indexed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postings, "ROW_BUDGET", 1)
    with many.pool.connection() as reader:
        with_it = with_one_of(reader, "lemur", "lemur river meadow", 1000)
        another = dict(reader.rows(_SCORED, ('"river" OR "meadow"',)))
        with_both = [row for row in with_it if row in another]
        assert with_both != list(with_it)[: len(with_both)], "some with it alone say more than some with another"
        monkeypatch.setattr(postings, "LIST_ROWS", len(with_both))
        assert list(proposed(many, reader, "lemur river meadow")) == with_both
        monkeypatch.setattr(postings, "LIST_ROWS", len(with_it))
        assert proposed(many, reader, "lemur river meadow").keys() == with_it.keys()


def test_a_word_and_its_beginning_are_walked_along_once(many: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    with many.pool.connection() as reader:
        (word,) = terms(reader, "okapi")
        monkeypatch.setattr(postings, "ROW_BUDGET", word.rows)
        best = reader.rows(_SCORED, ('"okapi" AND "okapi" *',))[:BEST]
        searched = expressions(monkeypatch)
        assert proposed(many, reader, "okapi", typing=True) == pytest.approx(dict(best))
    assert '("okapi") AND ("okapi" *)' in searched
    assert '"okapi"' not in searched


def test_another_rare_word_than_the_one_begun_is_looked_for_alone(
    many: Indexed, monkeypatch: pytest.MonkeyPatch
) -> None:
    with many.pool.connection() as reader:
        rare = terms(reader, "quokka okapi")
        monkeypatch.setattr(postings, "ROW_BUDGET", sum(term.rows for term in rare))
        alone = [row for row, _ in reader.rows(_SCORED, ('"quokka" NOT "okapi" *',))]
        monkeypatch.setattr(postings, "LIST_ROWS", sum(term.rows for term in rare))
        assert proposed(many, reader, "quokka okapi", typing=True).keys() >= set(alone)


def test_the_best_rows_of_prose_may_lack_the_rarest_word(many: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postings, "ROW_BUDGET", 1)
    monkeypatch.setattr(postings, "LIST_ROWS", 4 * BEST)
    with many.pool.connection() as reader:
        best = with_one_of(reader, QUERY, QUERY, 4 * BEST)
        assert proposed(many, reader, f"the {QUERY}") == pytest.approx(best)
        rarest = with_one_of(reader, "quokka", QUERY, 4 * BEST)
        assert rarest.keys() != best.keys()
        assert proposed(many, reader, QUERY).keys() >= rarest.keys(), "a list of words may be a name"
