"""Looks up typed words in one index: their tokens and stems, how many chunks and files have them, and the FTS5
expression that finds these.

Invariant: every expression is valid FTS5, whatever was typed: it is built from tokens that the tokenizer itself found,
each in quotes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from livedex_indexing.query.index_names import Names
from livedex_indexing.query.inflections import with_forms
from livedex_indexing.query.path_terms import as_path
from livedex_indexing.query.query_parser import is_prefix
from livedex_indexing.query.query_terms import Phrase, QueryTerm
from livedex_indexing.query.word_counts import WordCounts
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.text.unsegmented import RUN, folded, query_bigrams


class TermIndex(NamedTuple):
    """What a query is compiled against."""

    reader: Reader
    counts: WordCounts
    names: Callable[[], Names]

    def whole(self, word: str) -> QueryTerm | None:
        """Return the tokens of a word as one term; None when it has none (``->``)."""
        prefix = is_prefix(word)
        word = folded(word)[0]
        unsegmented = word if RUN.search(word) else ""
        if unsegmented:
            word, begins = query_bigrams(word)
            prefix = begins or (prefix and not RUN.match(unsegmented[-2]))
        encoded = word.encode("utf-8", "replace")
        tokens = tuple(token for _, _, token in self.reader.words(encoded))
        if not tokens:
            return None
        stems = tuple(token for _, _, token in self.reader.stems(encoded))
        match = f'"{" ".join(tokens)}"{" *" if prefix else ""}'
        paths, name = ("", frozenset[str]()) if unsegmented else as_path(self.reader, word, match)
        rows, files = self.counts.of(self.reader, match, stems, prefix, paths or match)
        idf = self.counts.idf(self.reader, rows, files)
        return QueryTerm(match, tokens, stems, prefix, rows, files, idf, unsegmented, paths, name)

    def inflected(self, word: str) -> QueryTerm | None:
        """Return the tokens of a word as one term, with its other forms."""
        whole = self.whole(word)
        return whole if whole is None else with_forms(self.reader, self.counts, whole, word)

    def wholes(self, words: Iterable[str]) -> list[QueryTerm]:
        """Return one term for each word that has tokens."""
        return [term for word in words if (term := self.whole(word)) is not None]

    def phrases(self, texts: Iterable[str]) -> list[Phrase]:
        """Return a phrase for each text that has tokens."""
        return [phrase for text in texts if (phrase := self._phrase(text)) is not None]

    def _phrase(self, text: str) -> Phrase | None:
        term = self.whole(text.rstrip("*"))
        return None if term is None else Phrase(text, term)

    def surfaces(self, word: str) -> list[str]:
        """Return the tokens of a word as they are written."""
        encoded = word.encode("utf-8", "replace")
        return [encoded[start:end].decode("utf-8", "replace") for start, end, _ in self.reader.words(encoded)]
