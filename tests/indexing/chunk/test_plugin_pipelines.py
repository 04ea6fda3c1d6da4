"""The pipeline of a plugin cuts a file, or the built-in one does and says why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedex_indexing.chunk import chunk_plan
from livedex_indexing.chunk.chunk_plan import ChunkSettings, PluginPipeline
from livedex_indexing.chunk.chunker import LONGEST, chunk_content
from livedex_indexing.model import ChunkedContent
from livedex_indexing.plugins import Span
from livedex_indexing.span_check import span_fault

LINES = """
from livedex_indexing.plugins import Span

class Lines:
    def chunk(self, text, suffix):
        spans, at = [], 0
        for line in text.splitlines(keepends=True):
            spans.append(Span(at, at + len(line), None, {"line": len(spans)}))
            at += len(line)
        return spans

def register(registry):
    registry.register_pipeline("lines", lambda config: Lines())
"""


def settings(folder: Path, text: str = LINES, suffix: str = ".txt", version: str = "1") -> ChunkSettings:
    (folder / "mine.py").write_text(text)
    config = json.dumps({"plugin": {}}).encode()
    pipeline = PluginPipeline("lines", "mine", (str(folder),), config, f"{version}{hash(text)}")
    return ChunkSettings(pipelines={suffix: "lines"}, plugins={"lines": pipeline})


def texts(content: ChunkedContent) -> list[str]:
    return [chunk.text for chunk in content.chunks]


def test_its_spans_are_the_chunks(tmp_path: Path) -> None:
    content = chunk_content("one\ntwö\nthree".encode(), b"a.txt", settings(tmp_path))
    assert texts(content) == ["one\n", "twö\n", "three"]
    assert [(chunk.start_line, chunk.start_byte) for chunk in content.chunks] == [(1, 0), (2, 4), (3, 9)]
    assert [chunk.metadata for chunk in content.chunks] == [{"line": 0}, {"line": 1}, {"line": 2}]
    assert (content.pipeline, content.plugin_fault, content.fallback) == ("plain", None, None)


def test_headings_and_definitions_are_those_of_the_language(tmp_path: Path) -> None:
    markdown = chunk_content(b"# Top\nalpha\n## Low\nbeta\n", b"a.md", settings(tmp_path, suffix=".md"))
    assert [chunk.heading for chunk in markdown.chunks] == ["Top", "Top", "Top > Low", "Top > Low"]
    assert {chunk.kind for chunk in markdown.chunks} == {"markdown_text"}
    code = chunk_content(b"class A:\n    def run(self):\n        return 1\n", b"a.py", settings(tmp_path, suffix=".py"))
    assert [chunk.symbol for chunk in code.chunks] == ["A", "A.run", "A.run"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise ValueError(text)", "ValueError in mine.py:6"),
        ("return None", "it returns NoneType, not a list"),
        ("return [(0, 1)]", "it returns a list of tuple, not of Span"),
        ("return [Span(0, 99)]", "outside a text of 9 characters"),
        ("return [Span(-1, 2)]", "outside"),
        ("return [Span(4, 9), Span(0, 4)]", "overlaps"),
        ("return [Span(0.0, 9)]", "a span's offsets are not numbers"),
        ("return [Span(0, 9, 'prose')]", "the kind 'prose'"),
        ("return [Span(0, 9, None, {'x': object()})]", "metadata is no JSON"),
        ("raise SystemExit(3)", "SystemExit in mine.py:6"),
        ("raise MemoryError", "MemoryError"),
    ],
)
def test_a_pipeline_that_fails_leaves_its_file_to_the_built_in_one(body: str, reason: str, tmp_path: Path) -> None:
    text = LINES.replace("spans, at = [], 0", body)
    content = chunk_content(b"one\nwords", b"a.txt", settings(tmp_path, text))
    assert texts(content) == ["one\nwords"] and content.fallback == "pipeline"
    assert content.plugin_fault is not None and reason in content.plugin_fault
    assert "words" not in content.plugin_fault, "a message that quotes the file"


@pytest.mark.parametrize(
    ("factory", "reason"),
    [
        ("lambda config: None", "its factory returned None"),
        ("lambda config: 1 / 0", "ZeroDivisionError"),
        ("lambda config: object()", "lacks a method of Pipeline"),
    ],
)
def test_a_factory_that_gives_nothing(factory: str, reason: str, tmp_path: Path) -> None:
    text = LINES.replace("lambda config: Lines()", factory)
    content = chunk_content(b"one\n", b"a.txt", settings(tmp_path, text))
    assert texts(content) == ["one\n"] and reason in str(content.plugin_fault)


def test_a_module_that_others_may_write_is_not_run_there_either(tmp_path: Path) -> None:
    asked = settings(tmp_path, LINES + f"\nopen({str(tmp_path / 'ran')!r}, 'w')\n")
    (tmp_path / "mine.py").chmod(0o606)
    content = chunk_content(b"one\n", b"a.txt", asked)
    assert "others may write" in str(content.plugin_fault) and not (tmp_path / "ran").exists()


def test_a_long_span_is_cut_and_a_gap_is_filled(tmp_path: Path) -> None:
    text = LINES.replace("spans, at = [], 0", "return [Span(1, len(text) - 1)]")
    words = "ab " * (LONGEST // 2)
    content = chunk_content(words.encode(), b"a.txt", settings(tmp_path, text))
    assert "".join(texts(content)) == words and content.plugin_fault is None
    assert max(map(len, texts(content))) <= LONGEST + 2


def test_its_version_is_in_the_signature(tmp_path: Path) -> None:
    one, other = settings(tmp_path, version="1"), settings(tmp_path, version="2")
    plain = ChunkSettings()
    names = {chunk_plan.choose(b"a.txt", b"x", each).signature for each in (plain, one, other)}
    assert len(names) == 3
    assert chunk_plan.possible(b"a.txt", one) == {chunk_plan.choose(b"a.txt", b"x", one).signature}
    assert chunk_plan.choose(b"a.rst", b"x", one) == chunk_plan.choose(b"a.rst", b"x", plain)
    assert len({chunk_plan.fingerprint(each) for each in (plain, one, other)}) == 3


def test_chonkie_by_configuration() -> None:
    steps = [{"chunk": "sentence", "tokenizer": "character", "chunk_size": 40, "chunk_overlap": 0}]
    config = json.dumps({"plugin": {"steps": steps}}).encode()
    pipeline = PluginPipeline("chonkie", "livedex", (), config, "1")
    asked = ChunkSettings(pipelines={".txt": "chonkie"}, plugins={"chonkie": pipeline})
    text = "One short sentence is here. Another sentence follows it. And a third one ends.\n"
    content = chunk_content(text.encode(), b"a.txt", asked)
    assert content.plugin_fault is None and "".join(texts(content)) == text and len(content.chunks) > 1
    broken = PluginPipeline("chonkie", "livedex", (), b'{"plugin": {}}', "2")
    asked = ChunkSettings(pipelines={".txt": "chonkie"}, plugins={"chonkie": broken})
    assert "steps is missing" in str(chunk_content(text.encode(), b"a.txt", asked).plugin_fault)


@given(st.lists(st.tuples(st.integers(-2, 12), st.integers(-2, 12)), max_size=5))
def test_only_spans_in_order_and_inside_pass(pairs: list[tuple[int, int]]) -> None:
    text = "ten chars."
    spans = [Span(start, end) for start, end in pairs]
    flat = [offset for pair in pairs for offset in pair]
    right = flat == sorted(flat) and all(0 <= offset <= len(text) for offset in flat)
    assert (span_fault(spans, text) is None) == right


HOSTILE = """
from livedex_indexing.plugins import Span
from livedex_indexing.span_check import span_fault

class Odd(BaseException):
    pass

class Hostile:
    def __hash__(self):
        raise Odd
    def __str__(self):
        raise Odd

def raises(fault):
    raise fault

class Lines:
    def chunk(self, text, suffix):
        return {answer}

def register(registry):
    registry.register_pipeline("lines", lambda config: Lines())
"""


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("raises(Odd)", "Odd in mine.py"),
        ("raises(KeyboardInterrupt)", "KeyboardInterrupt in mine.py"),
        ("[Span(0, len(text), Hostile())]", "Odd in mine.py"),
        ("[Span(0, len(text), ['kind'])]", "has the kind"),
        ("[Span(0, len(text), None, {1: 2})]", "metadata is no JSON"),
    ],
)
def test_whatever_it_does_its_text_is_cut(answer: str, reason: str, tmp_path: Path) -> None:
    content = chunk_content(b"one\ntwo\n", b"a.txt", settings(tmp_path, HOSTILE.replace("{answer}", answer)))
    assert texts(content) == ["one\ntwo\n"] and content.fallback == "pipeline"
    assert content.plugin_fault is not None and reason in content.plugin_fault


def test_a_factory_that_raises_no_exception_is_named(tmp_path: Path) -> None:
    text = HOSTILE.replace("lambda config: Lines()", "lambda config: raises(Odd('odd fault'))")
    content = chunk_content(b"one\n", b"a.txt", settings(tmp_path, text))
    assert content.plugin_fault == "the pipeline 'lines' of 'mine' cannot be made: Odd: odd fault"
