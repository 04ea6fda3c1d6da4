"""What a whole query may be: a name, a line of a file, a pasted text."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from livedex_indexing.query.typed_name import (
    TypedName,
    in_words,
    joined_names,
    name_inside,
    plain_name_inside,
    typed_name,
    typed_text,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("url_for", TypedName("url_for")),
        ("  Proxy ", TypedName("Proxy")),
        ("foo()", TypedName("foo")),
        ("foo();", TypedName("foo")),
        ("Foo.bar", TypedName("bar", "Foo")),
        ("Foo::bar()", TypedName("bar", "Foo")),
        ("foo:::bar", TypedName("bar", "foo")),
        ("p->next", TypedName("next", "p")),
        ("a/b/C#dim", TypedName("dim", "C", package="b")),
        ("@app.route", TypedName("route", "app")),
        ("--verbose", None),
        ("save!", TypedName("save!")),
        ("größe", TypedName("größe")),
        ("process worker", TypedName("process worker")),
        ("a b c d e f g", TypedName("a b c d e f g")),
        ("a b c d e f g h", None),
        ("process, worker", None),
        ("x", None),
        ("12.34", None),
        ("", None),
    ],
)
def test_names(text: str, expected: TypedName | None) -> None:
    assert typed_name(text) == expected


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        (TypedName("url_for"), "def url_for(", True),
        (TypedName("url_for"), "def url_forms(", False),
        (TypedName("url_for"), "my_url_for url_for", True),
        (TypedName("Proxy"), "proxy = 1", False),
        (TypedName("Proxy", any_case=True), "proxy = 1", True),
        (TypedName("process worker"), "_process_worker", True),
        (TypedName("process worker"), "ProcessWorker()", True),
        (TypedName("process worker"), "processes workers", False),
    ],
)
def test_whole_names(name: TypedName, text: str, found: bool) -> None:
    assert name.whole(text) is found


@pytest.mark.parametrize(
    ("text", "longer"),
    [
        ("def FuzzyMatchV2(", ["FuzzyMatchV2"]),
        ("my_fuzzymatch_x", ["my_fuzzymatch_x"]),
        ("unfuzzymatched", []),
        ("unfuzzymatched_fuzzymatch myFuzzyMatch", ["unfuzzymatched_fuzzymatch", "myFuzzyMatch"]),
        ("größeFuzzyMatch", ["größeFuzzyMatch"]),
    ],
)
def test_pieces_of_names(text: str, longer: list[str]) -> None:
    assert list(TypedName("fuzzyMatch").longer(text)) == longer


def test_what_may_be_a_piece() -> None:
    assert TypedName("fuzzyMatch").may_be_piece
    assert not TypedName("abc").may_be_piece
    assert not TypedName("two words").may_be_piece


@given(st.text("abAB_1!", min_size=1, max_size=4), st.text("abAB_1 !.", max_size=60))
def test_a_letter_beyond_ascii_next_to_a_text_changes_no_longer_name(name: str, text: str) -> None:
    """ASCII text is searched in another way, because that is faster."""
    assume(typed_name(name) == TypedName(name))
    assert list(TypedName(name).longer(text)) == list(TypedName(name).longer(f"{text} é"))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("self.ext4_link", ["self", "ext4_link"]),
        ("read-utf8", ["read", "utf8"]),
        ("ubuntu-22.04", []),
        ("12.34.507", []),
        ("ext4_link", []),
    ],
)
def test_names_that_a_word_joins(text: str, names: list[str]) -> None:
    assert joined_names(text) == names


def test_pasted_texts() -> None:
    finder = typed_text("if x  ==\n -1: RETURN")
    assert finder is not None
    assert finder("a\nif x == -1:   return y")
    assert not finder("if x == 1: return")
    assert typed_text("two words") is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("def run", "run"),
        ("where is run defined?", "run"),
        ("field run_task", "run_task"),
        ("the RunTask variant", "RunTask"),
        ("run variant", None),  # prose
        ("What does runTask do?", "runTask"),
        ("how is run_task() implemented", "run_task"),
        ("what is run", None),  # prose
        ("run implemented", None),
        ("Running it", None),  # a sentence begins with a capital
        ("def run and stop", None),
        ("run_task(1, two)", "run_task"),
        ("run(x);", "run"),
        ("runs[0]", "runs"),
        ("Run<T, U>", "Run"),
        ("do_exit+0x1a/0x30", "do_exit"),
        ("run_task (see below)", None),
        ("run()", None),  # that is the name
        ("if (x)", None),
        ("run_task", None),
        ("", None),
    ],
)
def test_names_in_questions(text: str, name: str | None) -> None:
    assert name_inside(text) == (None if name is None else TypedName(name))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("parseHeader", "parse Header"),
        ("parse_header", "parse header"),
        ("parse-header", "parse header"),
        ("parse", None),
        ("parse header", None),
        ("1.2.3", None),
        ("", None),
    ],
)
def test_names_in_words(text: str, words: str | None) -> None:
    assert in_words(text) == (None if words is None else TypedName(words))


@pytest.mark.parametrize(
    ("text", "other", "has"),
    [
        ("--all", "use --all, or", True),
        ("--all", "use --all-files", False),
        ("--all", "use all", False),
        ("a.size", "data.size and a.size", True),
        ("a.size", "data.size and a.sizes", False),
        ("(x)|y", "f(X)|y", True),
    ],
)
def test_words_with_signs(text: str, other: str, *, has: bool) -> None:
    finder = typed_text(text)
    assert finder is not None
    assert finder(other) is has


@pytest.mark.parametrize("text", ["run_task", "run()", "->", "all", ""])
def test_names_and_signs_alone_are_no_texts(text: str) -> None:
    assert typed_text(text) is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("how does walk work?", "walk"),
        ("show me the implementation of walk", "walk"),
        ("the method walk is slow", "walk"),
        ("what is in this class walker that fails", "walker"),
        ("the function of the walk", "walk"),
        ("compare the hash in constant time", None),  # no kind of definition
        ("fix order of struct fields", None),
        ("how does it walk and run", None),
        ("walk function", None),  # no question
        ("how does runTask work?", None),  # is_shaped: `name_inside`
        ("how does it work", None),
    ],
)
def test_a_plain_name_is_told_from_the_words_of_a_question(text: str, name: str | None) -> None:
    found = plain_name_inside(text)
    assert (found.name if found is not None else None) == name


def test_quotes_and_dashes_may_be_those_of_a_page() -> None:
    finder = typed_text("the crew’s “lamp” — ours")
    assert finder is not None
    assert finder('it is the crew\'s "lamp" - ours')
