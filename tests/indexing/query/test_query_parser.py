"""Parsing a query: each form, and text that only resembles one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedex_indexing.model import Term
from livedex_indexing.query.query_parser import (
    QUERY_BYTES,
    ParsedQuery,
    is_phrase,
    is_prefix,
    parse,
    without_signs,
    without_terms,
)


def parsed(
    words: str = "",
    excluded: tuple[str, ...] = (),
    phrases: tuple[str, ...] = (),
    terms: tuple[Term, ...] = (),
) -> ParsedQuery:
    return ParsedQuery(tuple(words.split()), excluded, phrases, terms, cut=False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", parsed()),
        (" \t\n\u3000", parsed()),
        ("two  words", parsed("two words")),
        ("again again", parsed("again again")),
        ('"a phrase" after', parsed("after", phrases=("a phrase",))),
        ('"a"b', parsed("b", phrases=("a",))),
        ('"never closed', parsed('"never closed')),
        ('it"s', parsed('it"s')),
        ('"" "  "', parsed()),
        ("-without", parsed(excluded=("without",))),
        ('-"two words" x', parsed("x", excluded=('"two words"',))),
        ("- -- --flag -> a-b a -", parsed("- -- --flag -> a-b a -")),
        ("-pre*", parsed(excluded=("pre*",))),
        ('to -"never closed', parsed('to -"never closed')),
        ("path:src ext:py lang:c kind:code", parsed(terms=tuple(
            Term(name, value) for name, value in (("path", "src"), ("ext", "py"), ("lang", "c"), ("kind", "code"))  # type: ignore[arg-type]
        ))),
        ('-path:"my docs" x', parsed("x", terms=(Term("path", "my docs", excluded=True),))),
        ('path:"open', parsed(terms=(Term("path", '"open'),))),
        ("path: x", parsed("path: x")),
        ('path:"" x', parsed("x")),
        ("PATH:x http://a:b x:y meta: meta:=v", parsed("PATH:x http://a:b x:y meta: meta:=v")),
        ("meta:k=v -tag:t meta:a.b meta:k=", parsed(terms=(
            Term("meta", "k=v"), Term("tag", "t", excluded=True), Term("meta", "a.b"), Term("meta", "k=")
        ))),
        ('meta:author="Jane Doe" meta:"a key"=x=y tag:"to do" -meta:"p q"', parsed(terms=(
            Term("meta", "author=Jane Doe"), Term("meta", "a key=x=y"), Term("tag", "to do"),
            Term("meta", "p q", excluded=True),
        ))),
        ('meta:k="open', parsed(terms=(Term("meta", 'k="open'),))),
        ('meta:"open', parsed(terms=(Term("meta", '"open'),))),
        ("C++ foo-bar a.b 日本 🙂 a\0b", parsed("C++ foo-bar a.b 日本 🙂 a\0b")),
        ("NEAR( AND OR NOT ^x {a}:x ' ; *", parsed("NEAR( AND OR NOT ^x {a}:x ' ; *")),
    ],
)  # fmt: skip
def test_forms(text: str, expected: ParsedQuery) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    ("word", "prefix"),
    [("ab*", True), ("a*", False), ("*", False), ("**", False), ("*ab*", False), ("**bold**", False), ("foo_ba*", True),
     ("a->*", False), ("日本*", True), ("ab", False), ("", False)],
)  # fmt: skip
def test_what_is_a_prefix(word: str, prefix: bool) -> None:
    assert is_prefix(word) is prefix


def test_an_excluded_phrase_differs_from_a_word() -> None:
    assert is_phrase('"a b"')
    assert not is_phrase('"')
    assert not is_phrase("word")


def test_only_the_first_4_kib_count() -> None:
    exact = parse("a" * QUERY_BYTES)
    assert not exact.cut
    assert exact.words == ("a" * QUERY_BYTES,)
    longer = parse("é" * QUERY_BYTES)
    assert longer.cut
    assert longer.words == ("é" * (QUERY_BYTES // 2),)
    assert parse("x " * 50_000).words == ("x",) * (QUERY_BYTES // 2)


def test_a_text_read_plainly_keeps_every_word_and_its_terms() -> None:
    plain = without_signs('fetch -1 of "the last" ext:py -"old ones" -x --y')
    assert plain[:2] == ("fetch 1 of the last old ones x --y", "fetch 1 of the last old ones x --y ext:py")
    assert without_signs('-path:"my docs" it"s').query == 'it s -path:"my docs"'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a field in the path:without a tag: of it", "a field in the path without a tag: of it"),
        ("ext:py a field in the path without it", None),
        ("a field in the path without lang:rust", None),
        ("one field path:docs other fields", None),
    ],
)
def test_a_term_inside_a_text_may_be_words(text: str, words: str | None) -> None:
    plain = without_terms(text)
    assert (None if plain is None else plain.words) == words


@pytest.mark.parametrize(
    ("text", "is_text"),
    [
        ('of -"closed"', False),
        (":  -By", True),
        ("-By", False),
        ('Re: "Is:Deferred"', True),
        ("worker -spawn", False),
        ("process worker -spawn", True),
        ('"Directories: Up"', False),
        ('Re: "Is:Deferred" ext:py', False),
    ],
)
def test_what_may_be_a_text(text: str, is_text: bool) -> None:
    assert without_signs(text).may_be_text is is_text


@given(st.text(st.sampled_from('ab -":*x\n'), max_size=30))
def test_a_text_read_plainly_has_words_alone(text: str) -> None:
    plain = without_signs(text)
    assert parse(plain.words) == ParsedQuery(tuple(plain.words.split()), (), (), (), cut=False)
    assert parse(plain.query).words == tuple(plain.words.split())


@pytest.mark.parametrize(("words", "sentence", "text"), [(5, False, False), (6, False, True), (10, True, True)])
def test_terms_make_no_sentence(words: int, sentence: bool, text: bool) -> None:
    plain = without_signs(" ".join(["-a", *["b"] * (words - 1), *["ext:py"] * 9]))
    assert (plain.is_sentence, plain.may_be_text) == (sentence, text)


@pytest.mark.parametrize(
    ("text", "is_piece"),
    [
        ("reading it failed with -22", True),
        ("reading it failed: -EINVAL)", True),
        ("reading failed -22", False),
        ("reading it failed -2024", False),
        ("reading it failed -22 -foo", False),
        ("tar -x", True),
        ("gcc -Wall -O2 lamp.c", True),
        ("gcc lamp.c -std=c99", True),
        ("$ gcc -shared lamp.c", True),
        ("go test ./... -race", True),
        ('find . -name "*.pyc" -delete', True),
        ("java -jar lamp.jar", True),
        ("go lamp -generic", False),
        ("lamp -run", False),
        ("-x lamp", False),
        ("lamp -x86", False),
        ('reading it "failed"', False),
        ("read(it)\n-x", True),
        ("read it -all\n", False),
    ],
)
def test_what_was_copied_excludes_nothing(text: str, is_piece: bool) -> None:
    assert without_signs(text).is_sentence is is_piece


@pytest.mark.parametrize("text", ["path::join", "kind::Lamp", "tag::a lamp"])
def test_two_colons_make_no_term(text: str) -> None:
    assert parse(text).terms == ()


@pytest.mark.parametrize(
    ("text", "is_piece"),
    [
        ('Class "App\\Tree" not found', True),
        ('no member "Tree::walk" here', True),
        ('tests "App\\Tree"', False),
        ('tests of "the tree"', False),
        ('tests of "tree"', False),
    ],
)
def test_a_name_with_its_owner_in_quotes_is_that_of_a_message(text: str, is_piece: bool) -> None:
    assert without_signs(text).is_piece is is_piece


@pytest.mark.parametrize(
    ("text", "may_be"),
    [('"addressLines"', True), ('"lines"', False), ('"日本語"', False), ('"the lines"', False), ('-a "lines"', False)],
)
def test_a_name_in_quotes_may_be_written_otherwise(text: str, may_be: bool) -> None:
    assert without_signs(text).may_be_text is may_be
