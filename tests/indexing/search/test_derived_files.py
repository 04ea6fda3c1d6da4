"""What a program made of other files, and has their text, comes after them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import Indexed
from livedex_indexing.rank.auxiliary import auxiliary_degree

SOURCE = "@mixin open-menu($gate) {\n  color: red;\n}\n"
FILLER = "".join(f"$gate-{number}: red;\n" for number in range(80))


@pytest.fixture(scope="module")
def sheets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("sheets")) as made:
        made.write("root/source/doors-and-menus.scss", f"{FILLER}{SOURCE}{FILLER}")
        made.write("root/out/menu.css.map", f"{SOURCE}@include open-menu(1)\n")
        made.write("root/out/menu.min.js", f"{SOURCE}@include open-menu(2)\n")
        made.write("root/made/api/door.generated.js", FILLER)
        made.write("root/made/api/door.generated.js.map", '{"file": "door.generated.js", "sources": ["api/door.js"]}')
        yield made


@pytest.mark.parametrize("query", ["@mixin open-menu($gate) {", "@mixin open-menu", "open-menu($gate)"])
def test_a_source_comes_first(sheets: Indexed, query: str) -> None:
    assert sheets.search(query)[0]["relative_path"] == "source/doors-and-menus.scss"


def test_one_that_is_typed_is_meant(sheets: Indexed) -> None:
    assert sheets.search("menu.css.map")[0]["relative_path"] == "out/menu.css.map"


@pytest.mark.parametrize("query", ["api/door.generated.js", "made/api/door.generated.js"])
def test_the_very_name_comes_before_one_with_another_suffix(sheets: Indexed, query: str) -> None:
    assert sheets.found(query)[0] == "made/api/door.generated.js"


@pytest.mark.parametrize(
    ("path", "degree"),
    [
        (b"a.js.map", 2),
        (b"a.d.ts.map", 2),
        (b"a.min.css", 2),
        (b"a-min.js", 2),
        (b"a.test.js", 1),
        (b"a.d.ts", 1),
        (b"a.d.mts", 1),
        (b"ad.ts", 0),
        (b"world.map", 0),
        (b"admin.js", 0),
    ],
)
def test_the_name_tells_it(path: bytes, degree: int) -> None:
    assert auxiliary_degree(b"", path, is_code=True) == degree


def test_only_code_is_auxiliary() -> None:
    assert auxiliary_degree(b"tests", b"a.txt", is_code=False) == 0
    assert auxiliary_degree(b"tests", b"a.css.map", is_code=False) == 2
