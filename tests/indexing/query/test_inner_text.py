"""What is inside a report or a question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedex_indexing.query.inner_text import messages_inside, texts_inside

MESSAGE = "no room for the tree"


@pytest.mark.parametrize(
    "report",
    [
        "error: {}",
        "{}.",
        "Error: {}.",
        '"{}"',
        "panic: {}",
        "[    1.234567] {}",
        "[    1.234567] eth0: {}",
        "2026-01-02 03:04:05 ERROR main: {}",
        "2026-01-02T03:04:05.678Z [info] {}",
        "Jan 02 03:04:05 host sshd[12]: {}",
        "INFO:root:{}",
        "WARN  [main] a.b.C - {}",
        "E0102 03:04:05.678901 123 a.cc:12] {}",
        "ValueError: {}",
        "Caused by: a.b.TreeException: {}",
        'Exception in thread "main" java.lang.IllegalStateException: {}',
        "thread 'main' panicked at '{}', src/main.rs:12:5",
        "error[E0382]: {}",
        "Uncaught TypeError: {}",
    ],
)
def test_a_report_has_a_message(report: str) -> None:
    text = report.format(MESSAGE)
    if text == f"{MESSAGE}.":
        assert messages_inside(text) == []  # a sentence
    else:
        assert MESSAGE in messages_inside(text)


@pytest.mark.parametrize(
    ("question", "inside"),
    [
        ("where is the code that returns a new tree", "returns a new tree"),
        ("How do I return a new tree?", "return a new tree"),
        ("is there a helper to return a new tree", "return a new tree"),
        ("which function returns a new tree?", "returns a new tree"),
    ],
)
def test_a_question_is_about_something(question: str, inside: str) -> None:
    assert messages_inside(question) == []
    assert inside in texts_inside(question)


@pytest.mark.parametrize(
    "text", ["def walk(tree): return tree", "a tree of words", "https://a.b/c d e", "error: one", ""]
)
def test_other_texts_have_nothing_inside(text: str) -> None:
    assert texts_inside(text) == []


@pytest.mark.parametrize("unit", ["a: ", "1.", "what ", "1:1 ", "Error: "])
def test_a_long_text_is_no_report(unit: str) -> None:
    """A log or a page: to look at all of its beginnings would take seconds."""
    assert len(texts_inside(f"{unit * 20}{MESSAGE}")) <= 3
    assert texts_inside(f"{unit * 5_000}{MESSAGE}") == []


@given(st.text())
def test_what_is_inside_is_a_part_of_the_text(text: str) -> None:
    for inside in texts_inside(text):
        assert inside in text
        assert inside != text
