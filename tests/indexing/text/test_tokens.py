"""Where in a text a word may be: what every word with a stem begins with."""

from __future__ import annotations

from helpers.indexed_folder import Indexed
from livedex_indexing.text.tokens import beginning_of

# Some lose more than their end, or have another letter there.
WORDS = """
sizing sizes sized ties tied dies says ays flies fly happy happily possibility sensibility ability relational rational
conditional valency digitizer radically differently analogously operator feudalism decisiveness formality hopping
tanned falling hissing fizzed failing filing agreed plastered motoring caresses ponies skies dying as is use used the
"""


def test_a_word_begins_as_each_beginning_of_its_stem(index: Indexed) -> None:
    with index.pool.connection() as reader:
        stems = {word: reader.stems(word.encode())[0][2] for word in WORDS.split()}
    for word, stem in stems.items():
        for length in range(1, len(stem) + 1):
            assert word.encode().startswith(beginning_of(stem[:length])), (word, stem[:length])


def test_a_beginning_is_as_long_as_it_can_be() -> None:
    assert [beginning_of(stem) for stem in ("so", "ai", "size", "sizer", "r")] == [b"so", b"a", b"siz", b"size", b"r"]
