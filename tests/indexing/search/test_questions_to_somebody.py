"""A question that is put as to somebody finds what its words alone find."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import Indexed

QUESTION = "can you show me the note that says something about ripening crates"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("questions")) as made:
        made.write("root/pears.md", "Pears go into crates in autumn. There they ripen, stacked in the cellar.\n")
        made.write("root/talk.md", "Someone can say something. You show notes, and I note: pears in crates again.\n")
        made.write("root/cellar.md", "The cellar is dry. Crates are outside, and cherries ripen early in summer.\n")
        for number in range(30):
            made.write(f"root/{number}.md", f"Bread and flour, number {number}.\n")
        yield made


def test_it_is_found_by_its_words(index: Indexed) -> None:
    answer = index.ask("hey, where did I write something about the pears, cellar and crates again?")
    assert [hit["relative_path"] for hit in answer.hits][:1] == ["pears.md"]
    answer = index.ask("what did I write about pears in the crates, stacked?")
    assert answer.extras["did_you_mean"] == {"query": "pears in the crates stacked", "applied": True}


def test_a_file_with_the_very_question_comes_first(index: Indexed) -> None:
    index.write("root/chat.md", f"Anna: {QUESTION}\n")
    answer = index.ask(QUESTION)
    assert [hit["relative_path"] for hit in answer.hits][:1] == ["chat.md"]
    assert "did_you_mean" not in answer.extras
