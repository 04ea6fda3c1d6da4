"""Snippets and highlights: slices of the text, with ranges for the matches of the index."""

from __future__ import annotations

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedex_indexing.hits.snippet import cut
from livedex_indexing.hits.text_lines import CONTEXT_CHARS, Lines, byte_length
from livedex_indexing.query.highlight import Highlighter, WrittenPhrase, merged
from livedex_indexing.query.query_terms import QueryTerm
from livedex_indexing.text.decoder import decode_slice
from livedex_indexing.text.tokens import Runs, candidates, in_code_points

_DB = apsw.Connection(":memory:")
_PORTER = _DB.fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])
_PLAIN = _DB.fts5_tokenizer("unicode61", ["remove_diacritics", "2"])


def stems(text: bytes) -> list[tuple[int, int, str]]:
    return list(_PORTER(text, apsw.FTS5_TOKENIZE_DOCUMENT, None))  # type: ignore[arg-type]


def words(text: bytes) -> list[tuple[int, int, str]]:
    return list(_PLAIN(text, apsw.FTS5_TOKENIZE_DOCUMENT, None))  # type: ignore[arg-type]


def term(text: str, *, prefix: bool = False) -> QueryTerm:
    found = text.encode()
    return QueryTerm(
        "", tuple(t for *_, t in words(found)), tuple(t for *_, t in stems(found)), prefix, rows=1, files=0, idf=1.0
    )


def marked(text: str, *terms: QueryTerm, phrases: tuple[str, ...] = ()) -> list[str]:
    highlighter = Highlighter(terms, [WrittenPhrase(phrase, words) for phrase in phrases], stems)
    return [text[start:end] for start, end in highlighter.spans(text)]


@pytest.mark.parametrize(
    ("text", "asked", "expected"),
    [
        ("Connecting, connected; CONNECTION!", "connect", ["Connecting", "connected", "CONNECTION"]),
        ("日本 Größe café CAFE\u0301 naïve", "cafe", ["café", "CAFE\u0301"]),
        ("🙂🙂 x größe 日本語 größe", "größe", ["größe", "größe"]),
        ("getHTTPResponse and HTTPResponses", "response", ["Response", "Responses"]),
        ("snd_soc_dai snd_soc snd soc dai", "snd_soc_dai", ["snd_soc_dai", "snd soc dai"]),
        ("cat concat catalog", "cat", ["cat"]),
        ("é Read-Only, read-only-memory readonly", "readonly", ["Read-Only", "readonly"]),
        ("a\0b", "b", ["b"]),
    ],
)
def test_what_is_highlighted(text: str, asked: str, expected: list[str]) -> None:
    assert marked(text, term(asked)) == expected


def test_prefixes_and_phrases_are_highlighted() -> None:
    assert marked("configure config con", term("conf", prefix=True)) == ["configure", "config"]
    assert marked("Red foxes, red fox; red\n// fox", phrases=("red fox",)) == ["red fox", "red\n// fox"]
    assert marked("run red fox", term("fox"), phrases=("red fox",)) == ["red fox"]


def test_a_phrase_keeps_its_punctuation() -> None:
    for text, there in (("x foo -> bar", True), ("foo->bar", True), ("foo.bar", False), ("foo bar", False)):
        assert bool(WrittenPhrase("foo->bar", words).places(text)) is there, text
    assert WrittenPhrase("->foo", words).places("a -> foo") == [(5, 8)]
    assert WrittenPhrase("->foo", words).places("foo") == []
    assert WrittenPhrase("c++", words).places("C, C ++") == [(3, 4)]


@given(st.text(max_size=80))
def test_a_run_read_alone_has_the_words_of_its_text(text: str) -> None:
    data = text.encode()
    assert list(Runs(words).tokens(data)) == words(data)
    assert list(Runs(stems).tokens(data)) == stems(data)


@given(st.text(max_size=80), st.data())
def test_no_word_is_passed_over(text: str, data: st.DataObject) -> None:
    found = words(text.encode())
    if found:
        _, _, word = data.draw(st.sampled_from(found))
        runs = candidates(text.encode(), [word.encode()])
        assert all(any(a <= start and end <= b for a, b in runs) for start, end, token in found if token == word)


@given(st.text(max_size=60), st.data())
def test_places_in_bytes_are_places_in_characters(text: str, data: st.DataObject) -> None:
    edges = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=10)))
    spans = [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=False) if a < b]
    encoded = [(len(text[:a].encode()), len(text[:b].encode())) for a, b in spans]
    assert in_code_points(text.encode(), encoded) == spans


def test_overlapping_places_become_one() -> None:
    assert merged([(4, 6), (0, 3), (2, 4), (4, 5)]) == [(0, 4), (4, 6)]


def test_a_short_text_is_its_own_snippet() -> None:
    snippet = cut("\n  \n def f():\n   pass\n\n", [(9, 10)], 400)
    assert snippet == (4, 21, 2, [(5, 6)])


def test_the_densest_lines_are_shown() -> None:
    lines = [f"line number {number}" for number in range(40)]
    lines[20] = lines[22] = "the walrus here"
    lines[5] = "walrus"
    text = "\n".join(lines) + "\n"
    spans = [(at, at + 6) for at in range(len(text)) if text.startswith("walrus", at)]
    snippet = cut(text, spans, 100)
    piece = text[snippet.start : snippet.end]
    assert piece.count("walrus") == 2
    assert [piece[start:end] for start, end in snippet.highlights] == ["walrus", "walrus"]
    assert piece.startswith("line number 19")
    assert snippet.line == 19


def test_one_long_line_is_cut_around_its_matches() -> None:
    text = "x" * 5000 + " walrus and walrus " + "y" * 5000
    snippet = cut(text, [(5001, 5007), (5012, 5018)], 60)
    assert snippet.end - snippet.start <= 60
    assert [text[snippet.start + a : snippet.start + b] for a, b in snippet.highlights] == ["walrus"] * 2


def test_crlf_lines_end_before_their_return() -> None:
    text = "one\r\ntwo\r\n"
    assert text[slice(*cut(text, [], 400)[:2])] == "one\r\ntwo"


@given(st.text(alphabet="ab \n\r\u00e9🙂", max_size=300), st.integers(1, 80), st.data())
def test_a_snippet_is_a_slice_and_its_marks_lie_inside(text: str, limit: int, data: st.DataObject) -> None:
    edges = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=12)))
    spans = [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=False) if a < b]
    snippet = cut(text, spans, limit)
    assert 0 <= snippet.start <= snippet.end <= len(text)
    assert snippet.end - snippet.start <= limit
    assert snippet.line == text[: snippet.start].count("\n")
    at = 0
    for start, end in snippet.highlights:
        assert at <= start < end <= snippet.end - snippet.start
        at = end
    if text.strip():
        assert snippet.end > snippet.start


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "cp1252", "shift_jis"])
def test_lines_of_bytes_in_any_encoding(encoding: str) -> None:
    text = "first\nsecond \u00b1\nthird\n\nfifth" if encoding != "shift_jis" else "first\nsecond 日本\nthird\n\nfifth"
    data = text.encode(encoding)
    lines = Lines(data, encoding)
    at = byte_length(text[: text.index("ird")], encoding)
    assert lines.column(at) == byte_length("th", encoding) + 1
    assert lines.before(at, 1) == text.split("\n")[1] + "\n"
    assert lines.before(at, 9) == "".join(text.splitlines(keepends=True)[:2])
    assert lines.after(at, 2) == "\nfifth"
    assert lines.after(at, 1) == "\n"
    assert lines.after(len(data), 3) == lines.before(0, 3) == ""


def test_a_mark_before_the_first_line_is_no_column() -> None:
    lines = Lines("\ufeffone\ntwo".encode(), "utf-8")
    assert (lines.column(3), lines.column(4), lines.column(7)) == (1, 2, 1)
    assert lines.before(8, 2) == "one\n"
    wide = Lines("\ufeffone\ntwo".encode("utf-16-le"), "utf-16-le")
    assert (wide.column(2), wide.column(4), wide.column(10)) == (1, 3, 1)


def test_a_line_feed_across_two_characters_is_none() -> None:
    text = "\u0a41\u0a00\u000a\u0a0a"  # in UTF-16 the bytes 0A 00 may also span two characters
    data = text.encode("utf-16-be")
    lines = Lines(data, "utf-16-be")
    assert lines.column(len(data)) == 3
    assert lines.after(0, 1) == decode_slice(data, "utf-16-be", 6, 8)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-be"])
@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\r\n", "\r\r\n"])
def test_a_line_ends_with_its_line_feed_and_the_carriage_return_before_it(encoding: str, end: str) -> None:
    lines = Lines(f"one{end}".encode(encoding), encoding)
    assert lines.around(0) == ("", "one\r" if end == "\r\r\n" else "one")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_of_a_long_line_around_a_snippet_the_first_characters_and_the_end_are_shown(encoding: str, end: str) -> None:
    long = "äb" * 5_000
    text = f"{long}{end}middle{end}short{end}{long}"
    data = text.encode(encoding)
    at = byte_length(text[: text.index("middle")], encoding)
    lines = Lines(data, encoding)
    assert lines.after(at, 1) == f"short{end}" and not lines.is_cut
    assert lines.after(at, 2) == f"short{end}{long[:CONTEXT_CHARS]}" and lines.is_cut
    lines = Lines(data, encoding)
    assert lines.before(at, 1) == long[:CONTEXT_CHARS] + end and lines.is_cut
    exact = Lines(f"{long[:CONTEXT_CHARS]}{end}x".encode(encoding), encoding)
    assert exact.before(byte_length(long[:CONTEXT_CHARS] + end, encoding), 1) == long[:CONTEXT_CHARS] + end
    assert not exact.is_cut
