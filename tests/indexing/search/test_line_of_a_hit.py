"""Where a hit points: at the line with what was typed, not at the first line that has a word of it."""

from __future__ import annotations

import pytest

from helpers.indexed_folder import Indexed

NAMES = ["lift", "hoist", "lower", "swing", "brake"]
HEADER = "".join(
    f"/* The {name} of a crane. */\n#define CRANE_{name.upper()}_MAX {number}\nint crane_{name}(struct crane *crane);\n"
    for number, name in enumerate(NAMES, 1)
)
NOTE = "# Cranes\n\nNotes on cranes.\n\n- the lift of a crane\n- the brake of each crane\n\n> brake, then lift\n"


@pytest.fixture
def cranes(index: Indexed) -> Indexed:
    index.write("root/crane.h", HEADER)
    index.write("root/note.md", NOTE)
    return index


LINES = [
    *((f"#define CRANE_{name.upper()}_MAX", "crane.h") for name in NAMES),
    *((f"int crane_{name}(struct crane *crane);", "crane.h") for name in NAMES),
    *((f"/* The {name} of a crane. */", "crane.h") for name in NAMES),
    ("the brake of each crane", "note.md"),
    ("> brake, then lift", "note.md"),
]


@pytest.mark.parametrize(("typed", "file"), LINES)
@pytest.mark.parametrize("letters", [60, 1500], ids=["a short snippet", "all of it"])
def test_it_points_at_the_line_that_was_typed(cranes: Indexed, typed: str, file: str, letters: int) -> None:
    hit = next(hit for hit in cranes.search(typed, max_snippet_chars=letters) if hit["relative_path"] == file)
    text = HEADER if file == "crane.h" else NOTE
    wanted = next(number for number, line in enumerate(text.splitlines(), 1) if typed in line)
    line = text.splitlines()[wanted - 1]
    assert (hit["line"], hit["text"]) == (wanted, line)
    assert hit["column"] == line.index(typed) + 1
    assert typed in hit["snippet"]


def test_of_lines_with_one_word_each_the_first_counts(cranes: Indexed) -> None:
    hit = next(hit for hit in cranes.search("brake hoist") if hit["relative_path"] == "note.md")
    assert (hit["line"], hit["text"]) == (6, "- the brake of each crane")


@pytest.mark.parametrize("query", ["lift brake", "lifts braked", "hoist lift brake"])
def test_without_it_the_line_with_most_of_the_words_counts(cranes: Indexed, query: str) -> None:
    hit = next(hit for hit in cranes.search(query) if hit["relative_path"] == "note.md")
    assert (hit["line"], hit["column"], hit["text"]) == (8, 3, "> brake, then lift")


def test_forms_of_one_word_are_no_two_words(cranes: Indexed) -> None:
    cranes.write("root/forms.txt", "a jib\nthe jib and its jibs\nits cable\n")
    hit = next(hit for hit in cranes.search("cable jib") if hit["relative_path"] == "forms.txt")
    assert hit["line"] == 1


def test_a_word_points_at_itself_not_at_another_form(cranes: Indexed) -> None:
    hit = next(hit for hit in cranes.search("crane") if hit["relative_path"] == "note.md")
    assert (hit["line"], hit["text"]) == (5, "- the lift of a crane")


def test_a_byte_is_counted_in_the_encoding_of_the_file(cranes: Indexed) -> None:
    cranes.write("root/old.txt", "Kräne\nDer Kran hebt\nDer Kran senkt\n".encode("utf-16"))
    hit = cranes.search("Kran senkt")[0]
    assert (hit["line"], hit["column"], hit["text"]) == (3, 5, "Der Kran senkt")
