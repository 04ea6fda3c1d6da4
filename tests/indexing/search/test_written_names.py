"""A name that nothing declares is found where it is written, whole and in its case, not where its words are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import LINES, Indexed

FILLER = "".join(f"# step {number}\n" for number in range(2 * LINES))
QUERIES = (
    "${BREAD_RACK}",
    "$BREAD_RACK",
    "BREAD_RACK",
    "environment variable BREAD_RACK",
    "BREAD_RACK=1 npm bake",
    "export BREAD_RACK=1",
)


@pytest.fixture(scope="module")
def bakery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("bakery")) as made:
        made.write("root/oven.txt", f'{FILLER}ls "$BREAD_RACK/fresh"\n{FILLER}')
        for number in range(12):  # more of its words, and a name in another case
            made.write(f"root/notes{number}.txt", f"A rack of bread, and the bread_rack.\n{FILLER}")
        made.write("root/shelf.txt", f"{FILLER}CRUMB_SIZE=3\n{FILLER}")
        made.write("root/crumb/size.txt", "crumb size: $CRUMB_SIZE, crumb-size\n" * 9)
        yield made


@pytest.mark.parametrize("query", QUERIES)
def test_it_is_found_where_it_is_written(bakery: Indexed, query: str) -> None:
    hit = bakery.search(query)[0]
    assert (hit["relative_path"], "$BREAD_RACK" in hit["snippet"]) == ("oven.txt", True)


@pytest.mark.parametrize("query", [query.replace("BREAD_RACK", "CRUMB_SIZE") for query in QUERIES])
def test_the_line_that_sets_it_comes_first(bakery: Indexed, query: str) -> None:
    assert bakery.search(query)[0]["relative_path"] == "shelf.txt"
