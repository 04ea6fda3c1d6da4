"""Letters that people type as others are the same in the index, and a text that cannot be meant otherwise is known."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.indexed_folder import Indexed
from livedex_indexing.text.letters import fold_bytes, fold_letters, loses_letters

PLAIN = apsw.Connection(":memory:").fts5_tokenizer("unicode61", ["remove_diacritics", "2"])
CODES = (*range(0x80, 0xD800), *range(0xE000, 0x32000), *range(0xE0000, 0xE0200))


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Indexed]:
    with Indexed(tmp_path) as made:
        yield made


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("Straße", "strasse"), ("Łukaszewicz", "lukaszewicz"), ("smørrebrød", "smorrebrod"), ("Đorđe", "dorde"),
        ("ısı", "isi"), ("cæsar", "caesar"), ("œuvre", "oeuvre"), ("Þingvellir", "thingvellir"), ("ﬁnﬂow", "finflow"),
        ("GROẞE", "grosse"), ("ħobża", "hobza"), ("Ελλάδα", "ελλαδα"), ("Ἑλλάς", "ελλας"), ("самолёт", "самолет"),
        ("أحمد", "احمد"), ("مَكْتَبَة", "مكتبه"), ("کتاب", "كتاب"), ("שָׁלוֹם", "שלום"), ("हिन्दी", "हिंदी"), ("१२३४", "1234"),
        ("co\xadoperate", "cooperate"), ("রবীন্দ্র\u200cনাথ", "রবীন্দ্রনাথ"),
    ],
)  # fmt: skip
def test_words_are_found_as_typed_and_as_written(index: Indexed, written: str, typed: str) -> None:
    index.write("root/a.txt", f"one {written} there\n")
    index.write("root/b.txt", f"one {typed} there\n")
    for query in (written, typed, typed.upper(), f'"{typed} there"', f"{typed[:4]}*"):
        assert set(index.found(query)) == {"a.txt", "b.txt"}, query
    hits = {hit["relative_path"]: hit for hit in index.search(typed)}
    for name, word in (("a.txt", written), ("b.txt", typed)):
        hit = hits[name]
        assert [hit["snippet"][start:end] for start, end in hit["highlights"]] == [word]
    assert [hit["relative_path"] for hit in index.search(written, mode="exact")] == ["a.txt"]
    assert [hit["relative_path"] for hit in index.search(typed, mode="exact", letter_case="sensitive")] == ["b.txt"]


def test_a_word_with_vowel_signs_is_one_word(index: Indexed) -> None:
    index.write("root/a.txt", "यह तस्वीर बदलें\n")
    index.write("root/b.txt", "तस वर\n")
    (hit,) = index.search("तस्वीर")
    assert [hit["snippet"][start:end] for start, end in hit["highlights"]] == ["तस्वीर"]
    assert index.found("वर") == ["b.txt"]
    assert index.found("तस्वर") == ["a.txt"]  # with a spelling mistake


def test_a_joint_of_another_script_parts_words(index: Indexed) -> None:
    index.write("root/a.txt", "می\u200cخواهم\n")
    assert index.found("خواهم") == ["a.txt"]


def test_a_line_is_found_with_and_without_its_signs(index: Indexed) -> None:
    index.write("root/a.txt", "रवीन्द्र\u200cनाथ और शָלום, co\xadoperate, самолёт\n")
    for text in ("रवीन्द्र\u200cनाथ", "न्द्र\u200c", "नाथ और", "ָלום", "co\xadoperate", "олёт"):
        assert [hit["relative_path"] for hit in index.search(text, mode="exact")] == ["a.txt"], text
    assert not index.search("олет", mode="exact")


def test_names_of_files_too(index: Indexed) -> None:
    index.write("root/Gießen/Łódź.txt", "x\n")
    assert index.found("lodz") == index.found("giessen") == index.found("Łódź") == ["Gießen/Łódź.txt"]


def test_a_mistake_in_such_a_word_is_corrected(index: Indexed) -> None:
    index.write("root/a.txt", "by Łukaszewicz\n")
    assert index.found("lukaszewitz") == index.found("łukaszewitz") == ["a.txt"]


@given(st.text(st.sampled_from("aßłæﬃ é日ss\U0001f642άהָкा़ী\u200c"), max_size=12))
def test_places_are_those_of_the_bytes(text: str) -> None:
    data = text.encode()
    folded, place_of = fold_bytes(data)
    assert folded == fold_letters(text).encode()
    if place_of is None:
        assert folded == data
        return
    beginnings = [text[:length] for length in range(len(text) + 1)]
    # Where letters are left out, the last of these places counts.
    places = {len(fold_letters(begin).encode()): len(begin.encode()) for begin in beginnings}
    for end, at in places.items():
        assert place_of(end) == at


def test_a_text_that_loses_no_letters_has_each_ascii_word_of_the_index() -> None:
    """Else `search/files` would name a file without reading it that has no such line."""
    for start in range(0, len(CODES), 4096):
        kept = [chr(code) for code in CODES[start : start + 4096] if not loses_letters(chr(code))]
        if not ascii_runs(" ".join(map(around, kept))) <= {"qa", "bz", "x"}:
            raise AssertionError([ascii(char) for char in kept if not ascii_runs(around(char)) <= {"qa", "bz", "x"}])


def around(char: str) -> str:
    return f"qa{char}bz{char}{char}x"


def ascii_runs(text: str) -> set[str]:
    """The pieces in ASCII of the words that the index has of a text."""
    found: Any = PLAIN(fold_letters(text).encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None)
    return {run for _, _, token in found for run in re.findall("[a-z0-9]+", token)}


def test_ordinary_signs_lose_nothing() -> None:
    assert not loses_letters("plain")
    assert not loses_letters("“quoted” — and … → ✓ 日本語 Привет 🙂")
    assert loses_letters("caf\xe9") and loses_letters("e\u0301") and loses_letters("ﬁ") and loses_letters("ß")
