"""A name with the file that it is in, as Perl, Haskell and others write it, leads to its definition there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import LINES, Indexed

FILLER = "".join(f"    step = {number}\n" for number in range(2 * LINES))


@pytest.fixture(scope="module")
def ship(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("ship")) as made:
        for number in range(12):
            made.write(f"root/deck/crew{number}.py", f"def haul(net):\n    pass\n{FILLER}")
            made.write(f"root/log{number}.md", f"The Winch of the deck may haul: Winch haul {number}.\n")
        winch = f"# Winch of the deck\n{FILLER}def turn(it):\n    pass\ndef haul(net):\n    pass\n"
        made.write("root/deck/Winch.py", winch)
        made.write("root/shore/Winch.py", f"# Winch of the shore\n{FILLER}def haul(net):\n    pass\n")
        made.write("root/parts.py", f"class Winch:\n    pass\n{FILLER}")
        yield made


@pytest.mark.parametrize("query", ["deck::Winch->haul", "deck.Winch.haul", "deck::Winch::haul()", r"deck\Winch::haul"])
def test_the_definition_in_the_file_comes_first(ship: Indexed, query: str) -> None:
    hit = ship.search(query)[0]
    assert (hit["relative_path"], "def haul" in hit["snippet"]) == ("deck/Winch.py", True)


def test_a_type_with_the_member_comes_before_a_file(ship: Indexed) -> None:
    ship.write("root/tools.py", f"{FILLER}class Pump:\n    def haul(self):\n        pass\n")
    ship.write("root/Pump.py", f"{FILLER}def haul(net):\n    pass\n")
    assert ship.found("Pump.haul")[0] == "tools.py"


def test_a_class_with_its_packages_leads_to_the_line_that_defines_it(ship: Indexed) -> None:
    ship.write("root/deck/gear/Davit.py", f"# Of the deck.\n{FILLER}class Davit:\n    pass\n{FILLER}")
    assert "class Davit" in ship.search("deck.gear.Davit")[0]["snippet"]
