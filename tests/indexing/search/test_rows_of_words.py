"""Plain words in the order in which a file has them, without quotes: what has them in a row comes first."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from helpers.indexed_folder import Indexed

WORDS = ["crane", "brake", "lift", "rope", "the", "of", "with", "before", "each", "is"]
OTHER = "Then we went home, ate soup, and wrote some letters to people who live far away.\n" * 3
WRAPPED = "rope before each crane"
ROWS = [
    "rope of each brake",
    "before the lift is",
    "crane with each rope",
    "the brake before lift of each crane",
    "is with before",
]


@pytest.fixture(scope="module")
def cranes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    """Files with all the words, in their titles and more often than those that have the rows: so many that these are
    not among the ones that are compared."""
    with Indexed(tmp_path_factory.mktemp("cranes")) as made:
        for number in range(500):
            words = random.Random(number).sample(WORDS, len(WORDS))
            text = f"# {' '.join(words)}\n\n" + f"{' '.join(words)}. " * 3
            if not any(row in " ".join(text.split()) for row in (*ROWS, WRAPPED)):
                made.write(f"root/{'-'.join(words[:4])}-{number}.md", text)
        for number, row in enumerate(ROWS):
            made.write(f"root/other/day{number}.md", f"# Monday\n\nWe looked at it: {row} and so on.\n{OTHER}")
        made.write("root/other/wrapped.md", f"# Tuesday\n\nWe saw the Rope\nbefore Each crane there.\n{OTHER}")
        yield made


@pytest.mark.parametrize("row", ROWS)
def test_the_file_with_the_row_comes_first(cranes: Indexed, row: str) -> None:
    hit = cranes.search(row)[0]
    assert hit["relative_path"] == f"other/day{ROWS.index(row)}.md"
    assert (hit["line"], hit["column"]) == (3, 18)


def test_the_case_and_the_line_breaks_do_not_count(cranes: Indexed) -> None:
    assert cranes.search(WRAPPED)[0]["relative_path"] == "other/wrapped.md"


def test_a_question_with_a_name_is_found_where_it_is_written(index: Indexed) -> None:
    index.write("root/module.py", "def module():\n    return 1\n")
    index.write("root/with-module.py", "from module import module\n\nmodule()\n")
    index.write("root/bindings.txt", "Each module is used together with the error correction of the driver.\n")
    assert index.search("module is used together with")[0]["relative_path"] == "bindings.txt"
