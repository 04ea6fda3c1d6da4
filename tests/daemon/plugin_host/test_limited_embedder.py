"""The embedder of a plugin: what it is and what it answers is taken apart within its calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from livedex_daemon.plugin_host.limited_embedder import LimitedEmbedder
from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable
from livedex_indexing.plugins.time_limit import LimitedCalls


class Odd(BaseException):
    """What a plugin raises that is no ``Exception``."""


class Answers:
    """An embedder that answers what it is told to."""

    dimensions = 2

    def __init__(self, answer: object, identity: str = "answers") -> None:
        self.answer = answer
        self.identity = identity

    def embed(self, text: str) -> Any:
        return self.answer

    def embed_batch(self, texts: list[str]) -> Any:
        return [self.answer for _ in texts]


def limited(answer: object, identity: str = "answers") -> LimitedEmbedder:
    return LimitedEmbedder(Answers(answer, identity), LimitedCalls("answers"), 5.0)


def raising() -> Iterator[float]:
    raise Odd("odd fault")
    yield 0.0


class Number:
    def __float__(self) -> float:
        raise ZeroDivisionError("no number")


@pytest.mark.parametrize(("answer", "reason"), [(raising, "Odd: odd fault"), (lambda: [Number()], "no number")])
def test_a_vector_that_raises_is_a_fault_of_the_embedder(answer: Any, reason: str) -> None:
    for call in (lambda one: one.embed("text"), lambda one: one.embed_batch(["text"])):
        with pytest.raises(EmbedderUnavailable, match=reason):
            call(limited(answer()))


@pytest.mark.parametrize("answer", [None, 3, "ab", [10**400, 0], ["a", "b"]])
def test_what_is_no_vector_is_left_to_the_check(answer: object) -> None:
    assert limited(answer).embed_batch(["one", "two"]) == [None, None]


def test_any_numbers_are_a_vector() -> None:
    assert limited(value for value in (1, 2.5)).embed("text") == [1.0, 2.5]


def test_a_name_can_be_stored() -> None:
    assert limited([1.0, 0.0], "half \udcff").identity == "half \\udcff"
