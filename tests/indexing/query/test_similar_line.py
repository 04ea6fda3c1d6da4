"""How alike a pasted line is to the lines of a text: the words of both in their order decide."""

from __future__ import annotations

import pytest

from livedex_indexing.query.similar_line import likeness_of_line

LINE = "steps = walk_tree(forest, deep=True)"


@pytest.mark.parametrize(
    "typed",
    [
        "steps = roam_tree(forest, deep=True)",
        "steps = walk_tree(forest)",
        "  steps = walk_tree( forest , deep = 7 )",
        "steps = walk_tree(forest, 12, deep=True)",
    ],
)
def test_a_line_with_most_of_the_words_in_their_order_is_alike(typed: str) -> None:
    likeness = likeness_of_line(typed)
    assert likeness is not None
    assert likeness(f"def run():\n    {LINE}\n    return steps\n") > 0.6


@pytest.mark.parametrize(
    "other", ["True deep forest walk_tree steps", "steps = walk_tree(\nforest,\ndeep=True)", "steps walk", ""]
)
def test_words_in_another_order_or_in_several_lines_are_not(other: str) -> None:
    likeness = likeness_of_line(LINE)
    assert likeness is not None
    assert likeness(other) == 0


def test_of_two_lines_with_the_same_words_that_with_fewer_others_is_more_alike() -> None:
    likeness = likeness_of_line("no file called width")
    assert likeness is not None
    assert likeness("no file called {name}") > likeness("say(no file called {name} in the folder)")


@pytest.mark.parametrize("typed", ["walk tree", "1 2 3 4 5", "steps = walk_tree(\nforest, deep=True)", ""])
def test_few_words_and_several_lines_are_no_line(typed: str) -> None:
    assert likeness_of_line(typed) is None


def test_of_five_words_more_than_three_can_be_wanted() -> None:
    typed, other = "use maps instead of lists", "use water instead of wine"
    few, more = likeness_of_line(typed), likeness_of_line(typed, 4)
    assert few is not None
    assert more is not None
    assert (few(other) > 0, more(other), more("use sheets instead of lists") > 0) == (True, 0, True)


def test_of_four_words_three_suffice_however_many_of_more_are_wanted() -> None:
    likeness = likeness_of_line("use maps of lists", 4)
    assert likeness is not None
    assert likeness("use maps and lists") > 0
