"""A chonkie Pipeline fits through the adapter; one with wrong offsets does not."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from chonkie import Pipeline

from livedex_indexing.conformance import check_pipeline
from livedex_indexing.plugins import ChonkiePipeline


def test_a_chonkie_pipeline_conforms() -> None:
    made = Pipeline().chunk_with("recursive", tokenizer="character", chunk_size=64)
    assert check_pipeline(lambda: ChonkiePipeline(made)) == []
    spans = ChonkiePipeline(made, kind="plain").chunk("One sentence. " * 20, ".txt")
    assert len(spans) > 1 and spans[-1].end == 280 and spans[0].kind == "plain"


@pytest.mark.parametrize(("start", "end", "text"), [(1, 3, "ab"), (0, 99, "abc"), (-1, 1, "c"), (2, 1, "")])
def test_wrong_offsets_are_an_error(start: int, end: int, text: str) -> None:
    piece = SimpleNamespace(start_index=start, end_index=end, text=text)
    runner = SimpleNamespace(run=lambda *, texts: SimpleNamespace(chunks=[piece]))
    with pytest.raises(ValueError, match="is not that part of the text"):
        ChonkiePipeline(runner).chunk("abc", ".txt")
