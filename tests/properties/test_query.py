"""Any text is a query: parsing never raises, and no part of the text is lost."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from livedex_indexing.query.query_parser import QUERY_BYTES, parse

PIECES = st.sampled_from(
    ['"', "-", "*", " ", "\t", ":", "path:", "ext:", "lang:", "kind:", "meta:", "tag:", "=", "a", "foo", "é",
     "Ümlaut", "日本語", "\0", "(", "NEAR", "AND", "^", "{", "}", "'", "\\", "🙂", "\u0301", "\ud800",
     "-path:", '-"', "\u2028"]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=60).map("".join))


@given(TEXTS)
@example('-path:"')
@example('""""-"')
@example("foo foo -a -a")
def test_every_text_is_a_query(text: str) -> None:
    parsed = parse(text)
    assert parsed == parse(text)
    for words in (parsed.words, parsed.excluded, parsed.phrases):
        assert all(word.strip() for word in words)
    for once in (parsed.excluded, parsed.phrases, parsed.terms):
        assert len(set(once)) == len(once)
    assert all(not any(char.isspace() for char in word) for word in parsed.words)


@given(TEXTS)
def test_no_letter_is_lost(text: str) -> None:
    """Every letter is in some part; only blanks, quotes and signs of the syntax may go."""
    parsed = parse(text)
    parts = [*parsed.words, *parsed.excluded, *parsed.phrases]
    parts += [text for term in parsed.terms for text in (term.name, term.value)]
    spoken = re.sub(r'(path|ext|lang|kind|tag|meta):"\s*"', "", text)  # a term without a value selects nothing
    for char in {char for char in spoken if char.isalnum()}:
        assert any(char in part for part in parts)


@given(st.text(alphabet=st.characters(exclude_categories=("Z", "C", "P", "S")), min_size=1, max_size=30))
def test_a_plain_word_is_itself(word: str) -> None:
    assert parse(word).words == (word,)


@given(st.integers(1, 3 * QUERY_BYTES), st.sampled_from(["a", "é", "日", "🙂", "a "]))
def test_what_counts_is_bounded(count: int, char: str) -> None:
    parsed = parse(char * count)
    assert parsed.cut is (len((char * count).encode()) > QUERY_BYTES)
    assert sum(len(word.encode()) for word in parsed.words) <= QUERY_BYTES
