"""A key of a file of settings is found below the section that was typed, however it was typed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import LINES, Indexed

FILLER = "".join(f"# step {number}\n" for number in range(2 * LINES))


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("settings")) as made:
        made.write("root/baker.toml", f"{FILLER}[tool.oven]\nheat = 200\n{FILLER}")
        made.write("root/oven.toml", "[tool.shelf]\nheat = 20  # not in tool.oven\n" * 4)
        made.write("root/oven.py", "def heat(tool, oven):\n    return tool.oven.shelf.heat\n")
        yield made


@pytest.mark.parametrize("query", ["[tool.oven] heat", "tool.oven.heat", "heat in [tool.oven]", "[tool.oven] heat=200"])
def test_a_key_is_found_in_its_section(settings: Indexed, query: str) -> None:
    assert settings.search(query)[0]["relative_path"] == "baker.toml"
