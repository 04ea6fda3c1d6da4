"""What people put around the words that they look for is left out."""

from __future__ import annotations

import pytest

from livedex_indexing.query.chat_words import without_chat


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("hey, where do I find the thing about log rotation?", "log rotation"),
        ("Hi! can you show me the note that says something about salt, bread and flour please", "salt bread flour"),
        ("I remember there was a note where somebody wrote about salt and bread", "salt bread"),
        ("what did I write about the old mill?", "the old mill"),
        ("how do I renew the passport again?", "renew the passport"),
        ("how do you read a file with pears", "read a file with pears"),
        ("how do I search files on disk", "search files on disk"),
        ("I’m looking for the config of the proxy", "config of the proxy"),
        ("is there a note on log rotation?", "log rotation"),
        ("which file mentions something about salt", "salt"),
        ("find the note that mentions salt", "salt"),
        ("what was that thing with the old mill", "the old mill"),
        ("hey, where is run_task defined?", "where is run_task defined"),
        ("do you know where the keys are", "keys are"),
    ],
)
def test_the_words_are_left(question: str, words: str) -> None:
    assert without_chat(question) == words


@pytest.mark.parametrize(
    "query",
    [
        "where is run_task defined?",
        "hello world",
        "so close is the gate",
        "please run git add first",
        "tell me more about widgets",
        "try it again",
        "for i in range",
        "how can I do it",
        "is there a way to walk",
        "write text to the file",
        "find files in a folder",
        "release notes for version 2",
        "log rotation?",
        'can you show me "log rotation"',
        "can you show me (x)",
        "",
    ],
)
def test_other_queries_stay(query: str) -> None:
    assert without_chat(query) is None
