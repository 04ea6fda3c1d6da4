"""Which words of names express a word of the query differently."""

from __future__ import annotations

import pytest

from livedex_indexing.rank.synonyms import expand


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("representation", {"str"}),
        ("removes", {"delete", "pop"}),  # as it is inflected in a sentence
        ("zebra", set()),
        ("is", set()),  # names lead to nothing: the table is one way
    ],
)
def test_a_word_leads_to_words_of_names(asked: str, names: set[str]) -> None:
    assert expand([asked]) == names
    assert expand([asked, "square"]) == names | {"sqrt"}


def test_no_word_leads_to_itself() -> None:
    assert "get" not in expand(["get"])
    assert expand([]) == frozenset()
    assert all(word not in expand([word]) for word in ("add", "append", "check", "create", "find", "run", "set"))
