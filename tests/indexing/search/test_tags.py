"""A tag of several parts is found as it is written, also behind the word `tag`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import Indexed


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("tags")) as made:
        made.write("root/hut.txt", f"tags: [trip, winter-plan, house]\n\n{'The hut has a stove. ' * 6}\n")
        for number in range(12):
            made.write(f"root/trip{number}.txt", "tags: [winter-trip, tag, plan]\n\nA plan for winter, winter plans.\n")
            made.write(f"root/other{number}.txt", "tags: [house]\n\nA house.\n")
        yield made


@pytest.mark.parametrize("query", ["#winter-plan", "tag winter-plan", "tags: winter-plan", "tagged winter-plan"])
def test_the_note_with_the_tag_comes_first(notes: Indexed, query: str) -> None:
    assert notes.found(query)[0] == "hut.txt"
