"""What is a sentence, and what is rather a title, a list of words, or code."""

from __future__ import annotations

import pytest

from livedex_indexing.query.sentence import is_prose, is_sentence


@pytest.mark.parametrize(
    "text",
    [
        "how do I stop a process that does not answer",
        "Why does the lamp flicker when it is cold?",
        "the lower deck is flooded after a storm",
        "which crane should I choose for a harbour",
        "what happens to an ext4 partition without its journal",
    ],
)
def test_prose_with_stop_words_is_a_sentence(text: str) -> None:
    assert is_sentence(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "what is it",
        "tell me more about access control",
        "which crane should I choose",
        "flooded lower deck storm pump alarm cellar",
        "Add missing includes to the parser",
        "how does launchRocket know that it is on",
        "how does launch_rocket know that it is on",
        "why is it not in net/core when it is on",
        "if (it is on) return what it was before;",
        'the phrase "as it was" is in the text',
        "this is what it was as it is " * 20,
    ],
)
def test_other_texts_are_no_sentences(text: str) -> None:
    assert not is_sentence(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if (the lamp is on) return what the ship was;", True),
        ("how does launch_rocket know that the lamp is on", True),
        ("module 'harbour' has no attribute 'launch'", False),
        ("what is it", False),
    ],
)
def test_prose_may_have_signs_of_code(text: str, expected: bool) -> None:
    assert is_prose(text) is expected
