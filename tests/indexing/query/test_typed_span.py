"""Where a text has a query as it was typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedex_indexing.model import Query
from livedex_indexing.query import typed_span
from livedex_indexing.query.typed_span import TypedSpan

HEADER = """/* The lift of a crane, see LIFT_MAX. */
#define LIFT_MIN 1
#define lift_max 2
#define LIFT_MAX 3
int lift(struct crane  *crane);
int lifts;
İstanbul: lift(crane)
int hoist(struct crane *crane) {
"""


RUST = """/// As `Crane::lift` with Motion::Slow; cranes.Crane has Crane::height.
/// See [`Crane::hoist`].
pub struct Crane {
    height: u32,
}

enum Motion {
    Slow,
}

impl Crane {
    /// Lifts, as Crane::lift(2) does.
    pub fn lift(&self) {
        move_by(Motion::Slow);
    }
}
"""


def found(typed: str, text: str = HEADER, query: Query | None = None) -> str | None:
    span = TypedSpan(typed, query or Query(typed)).find(text)
    return None if span is None else text[slice(*span)]


@pytest.mark.parametrize(
    ("typed", "place"),
    [
        ("#define LIFT_MAX", "#define LIFT_MAX"),
        ("#define lift_max", "#define lift_max"),
        ("#DEFINE lift_min", "#define LIFT_MIN"),
        ("int  lift(struct\tcrane *crane)", "int lift(struct crane  *crane)"),
        ("3 int lift", "3\nint lift"),
        ("lift(crane)", "lift(crane)"),
        ("see LIFT_MAX.", "see LIFT_MAX."),
        ("where is lift_max defined", "lift_max"),
        ("int lif", None),
        ("ift", None),
        ("crane lift", None),
        ("crane hoist", "hoist"),
        (" ", None),
    ],
)
def test_all_that_was_typed_or_the_name_in_it(typed: str, place: str | None) -> None:
    assert found(typed) == place


def test_the_case_that_was_typed_comes_first() -> None:
    span = TypedSpan("lift_max", Query("lift_max")).find(HEADER)
    assert span is not None and span[0] == HEADER.index("lift_max"), "not the LIFT_MAX of the comment before it"


def test_a_lower_case_word_has_any_case() -> None:
    assert found("lift", "LIFT = 3\nlift") == "LIFT"
    assert found("Lift", "LIFT = 3\nLift") == "Lift"
    assert found("lift_max", "LIFT_MAX = 3\nlift_max") == "lift_max"


def test_a_word_that_may_go_on() -> None:
    assert found("int lif", query=Query("int lif", unfinished=True)) == "int lif"


def test_the_words_of_a_query_with_filters_and_phrases() -> None:
    assert found("lang:c int lifts", query=Query("int lifts")) == "int lifts"
    assert found('"see lift_max" crane', query=Query("crane", phrases=("see lift_max",))) == "see LIFT_MAX"


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("Crane::lift", "    pub fn lift(&self) {"),
        ("Motion::Slow", "    Slow,"),
        ("cranes.Crane", "pub struct Crane {"),
        ("Crane::height", "    height: u32,"),
        ("Crane::hoist", "/// See [`Crane::hoist`]."),
        ("Crane::lift(2)", "    /// Lifts, as Crane::lift(2) does."),  # a call that was pasted
    ],
)
def test_the_line_that_defines_a_name_comes_before_its_mention_with_the_owner(typed: str, line: str) -> None:
    span = TypedSpan(typed, Query(typed)).find(RUST)
    assert span is not None
    assert RUST[RUST.rfind("\n", 0, span[0]) + 1 :].partition("\n")[0] == line


WORDS = st.lists(st.sampled_from(["lift", "Lift", "LIFT", "lift_max", "#lift", "->", "crane.", "ß", "İ"]), min_size=1)


@given(before=WORDS, words=WORDS, behind=WORDS, gap=st.sampled_from([" ", "\n", "\t  "]))
def test_words_that_are_there_are_found(before: list[str], words: list[str], behind: list[str], gap: str) -> None:
    text = gap.join([*before, *words, *behind])
    typed = " ".join(words)
    place = found(typed, text)
    assert place is not None
    is_any_case = len(words) == 1 and words[0].isalpha() and words[0].islower()
    assert place.split() == words or (is_any_case and place.lower() == typed)


def test_a_text_that_repeats_the_beginning_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    typed, text = "crane " * 30 + "lift", "crane " * 100 + "lift"
    assert found(typed, text) == typed
    monkeypatch.setattr(typed_span, "COMPARED", 30 * 60)
    assert found(typed, text) is None


@pytest.mark.parametrize(
    ("typed", "text"),
    [("the crew’s “lamp”", 'see the crew\'s "lamp"'), ("it's - ours", "so it’s – ours"), ("a crane's", "A crane’s")],
)
def test_quotes_and_dashes_may_be_those_of_a_page(typed: str, text: str) -> None:
    assert (found(typed, text) or "").lower() == text[-len(typed) :].lower()


@pytest.mark.parametrize(
    ("typed", "place"),
    [
        ("lift max", "LIFT_MAX"),
        ("liftMax", "lift_max"),
        ("value of type 'Motion' has no member 'Slow'", "Slow"),
    ],
)
def test_a_name_in_other_words_is_where_it_is_defined(typed: str, place: str) -> None:
    text = "// lift max, or LIFT_MAX\n#define LIFT_MAX 3\n" if place == "LIFT_MAX" else "see lift_max\nint lift_max;\n"
    text = "enum Other {\n  Slow,\n}\nenum Motion {\n  Slow,\n}\n" if place == "Slow" else text
    span = TypedSpan(typed, Query(typed)).find(text)
    assert span is not None and span[0] == text.rindex(place)


@pytest.mark.parametrize("typed", ["lift max", "liftMax"])
def test_while_it_is_typed_a_name_is_not_looked_for_in_other_words(typed: str) -> None:
    text = "// lift max, liftMax\n#define LIFT_MAX 3\n"
    span = TypedSpan(typed, Query(typed, unfinished=True)).find(text)
    assert span is not None and span[0] == text.index(typed)


@pytest.mark.parametrize(
    "typed", ["#before-2x", "notes.md#before-2x", '<a id="before-2x">', "[see](notes.md#before-2x)"]
)
def test_a_link_leads_to_the_line_of_its_heading(typed: str) -> None:
    text = f"## After 2.x\n\nBefore 2.x they broke, see {typed}.\n\n## Before 2.x\n\nThey were ropes.\n"
    span = TypedSpan(typed.strip("<a >"), Query(typed)).find(text)
    assert span is not None and text[slice(*span)] == "Before 2.x" and text[: span[0]].endswith("## ")
