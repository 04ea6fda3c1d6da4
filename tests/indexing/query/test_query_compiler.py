"""Which terms of a typed query count: without stop words, the rarest of many, each once."""

from __future__ import annotations

from helpers.indexed_folder import Indexed
from livedex_indexing.model import Query
from livedex_indexing.query.query_compiler import compile_query, compile_strict
from livedex_indexing.query.query_terms import CompiledQuery, QueryTerm
from livedex_indexing.query.term_selection import MAX_WORDS
from livedex_indexing.query.word_counts import WordCounts


def compiled(index: Indexed, query: Query) -> CompiledQuery:
    with index.pool.connection() as reader:
        return compile_query(reader, query, WordCounts(0))


def words(terms: tuple[QueryTerm, ...]) -> str:
    return " ".join(term.tokens[0] for term in terms)


def test_the_words_of_a_sentence_count_without_stop_words(index: Indexed) -> None:
    """Return the example of `_select`."""
    index.write("root/a.txt", "parse the response that you get by http\n")
    found = compiled(index, Query("how to parse getHTTPResponse"))
    assert words(found.spoken) == "how to parse gethttpresponse get http response"
    assert words(found.terms) == "parse gethttpresponse http response"
    assert not found.cut


def test_stop_words_count_where_there_are_no_others(index: Indexed) -> None:
    index.write("root/a.txt", "to be or not to be\n")
    assert words(compiled(index, Query("to be")).terms) == "to be"
    assert words(compiled(index, Query("to be", phrases=("or not",))).terms) == ""


def test_of_many_words_the_rarest_count(index: Indexed) -> None:
    typed = [f"word{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(MAX_WORDS + 1)]
    index.write("root/a.txt", " ".join(typed) + "\n")
    index.write("root/b.txt", typed[0] + "\n")
    found = compiled(index, Query(" ".join(typed)))
    assert words(found.terms).split() == typed[1:]
    assert found.cut


def test_a_standing_query_means_the_same_whatever_the_index_has(index: Indexed) -> None:
    query = Query("the getHTTPResponse walrsu", excluded=("tusk", '"red fox"'))
    with index.pool.connection() as reader:
        before = compile_strict(reader, query)
    index.write("root/a.txt", "the walrus tusk, get http response\n")
    with index.pool.connection() as reader:
        assert compile_strict(reader, query) == before
    assert words(before.terms) == "gethttpresponse walrsu"
    assert (words(before.excluded), [phrase.text for phrase in before.excluded_phrases]) == ("tusk", ["red fox"])
