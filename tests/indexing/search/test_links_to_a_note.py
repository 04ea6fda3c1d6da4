"""Notes that link to a note, and works of several authors, are found as people name them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import Indexed


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("links")) as made:
        made.write("root/Old Mill.md", "# Old Mill\n\nThe old mill links the river to the gate.\n")
        made.write("root/river.md", "Down at the [[Old Mill]] there are links.\n")
        made.write("root/gate.md", "See [[old mill|there]].\n")
        made.write("root/wheel.md", "The old mill has links to a wheel, links to the old mill's oven.\n")
        made.write("root/refs.bib", "@book{k,\n  author = {Miller, Ann and Baker, Bo},\n  year = {1984}\n}\n")
        made.write("root/et.md", "Gardner et al. (1984) grow pears, et al.\n" * 3)
        yield made


@pytest.mark.parametrize(
    "query",
    ["links to Old Mill", "backlinks Old Mill", "what links to [[Old Mill]]?", "which notes link to old mill"],
)
def test_the_notes_with_the_link_are_found(index: Indexed, query: str) -> None:
    assert set(index.found(query)) == {"river.md", "gate.md"}


def test_what_nothing_links_to_is_words(index: Indexed) -> None:
    assert "wheel.md" in index.found("links to a wheel")


def test_other_authors_are_left_out_where_none_has_them_so(index: Indexed) -> None:
    assert index.found("Miller et al. 1984")[0] == "refs.bib"
    assert index.found("Gardner et al. 1984")[0] == "et.md"
    assert "did_you_mean" not in index.ask("Gardner et al. 1984").extras
