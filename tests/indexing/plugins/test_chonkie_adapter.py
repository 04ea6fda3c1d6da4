"""A chonkie Pipeline fits through the adapter; one with wrong offsets does not."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from chonkie import Pipeline

from livedex_indexing.conformance import check_pipeline
from livedex_indexing.plugins import ChonkiePipeline


class Piece(NamedTuple):
    start_index: int
    end_index: int
    text: str


class Document(NamedTuple):
    chunks: list[Piece]


class Runner:
    """A chonkie Pipeline that returns a document made by the test."""

    def __init__(self, document: Document) -> None:
        self._document = document

    def run(self, *, texts: str) -> Document:
        return self._document


def test_a_chonkie_pipeline_conforms() -> None:
    made = Pipeline().chunk_with("recursive", tokenizer="character", chunk_size=64)
    assert check_pipeline(lambda: ChonkiePipeline(made)) == []
    spans = ChonkiePipeline(made, kind="plain").chunk("One sentence. " * 20, ".txt")
    assert len(spans) > 1 and spans[-1].end == 280 and spans[0].kind == "plain"


@pytest.mark.parametrize(("start", "end", "text"), [(1, 3, "ab"), (0, 99, "abc"), (-1, 1, "c"), (2, 1, "")])
def test_wrong_offsets_are_an_error(start: int, end: int, text: str) -> None:
    runner = Runner(Document([Piece(start, end, text)]))
    with pytest.raises(ValueError, match="is not that part of the text"):
        ChonkiePipeline(runner).chunk("abc", ".txt")
