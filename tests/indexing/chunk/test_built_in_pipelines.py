"""The built-in pipelines keep the promises of plugins, and plugins cannot take their names."""

from __future__ import annotations

import pytest

from livedex_indexing.chunk import built_in_pipelines
from livedex_indexing.chunk.chunk_plan import PIPELINES
from livedex_indexing.conformance import check_pipeline
from livedex_indexing.plugins import BUILT_IN, PIPELINE, NameTaken, Registry


def registry() -> Registry:
    made = Registry()
    built_in_pipelines.register(made.owned_by(BUILT_IN))
    return made


@pytest.mark.parametrize("name", PIPELINES)
def test_it_conforms(name: str) -> None:
    assert check_pipeline(lambda: registry().create(PIPELINE, name, {})) == []


def test_it_is_the_one_of_its_name() -> None:
    text = "# One\n\ntext\n\n```python\nprint(1)\n```\n"
    kinds = [span.kind for span in registry().create(PIPELINE, "markdown", {}).chunk(text, ".org")]
    assert kinds == ["markdown_text", "markdown_code"]
    assert [span.kind for span in registry().create(PIPELINE, "plain", {}).chunk(text, ".md")] == ["plain"]


def test_no_plugin_takes_its_name() -> None:
    with pytest.raises(NameTaken, match="the pipeline 'code' of 'mine' is already that of 'livedex'"):
        registry().owned_by("mine").register_pipeline("code", lambda config: None)
