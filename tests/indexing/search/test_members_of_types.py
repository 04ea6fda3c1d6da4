"""A field, or a member of an enumeration, that was typed with its type leads to the line that declares it there."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import LINES, Indexed

FILLER = "".join(f"    step({number})\n" for number in range(LINES))
FILES = {
    "colour.py": "class Sail(Enum):\n    AZURE = 1\n    ALL = 2\n\n\nclass Flag(Enum):\n    RED = 7\n",
    "crew.py": "class Crew:\n    def __init__(self):\n        self.rations: int = 3\n",
    "mast.js": "class Mast {\n  height = 1;\n}\n",
    "hull.cpp": "class hull_part {\n  struct list_head *bolts, rivets;\n  u32 depth[4];\n};\n",
}
USES = [
    "Sail.AZURE",
    "Sail.ALL",
    "Flag.RED",
    "Crew.rations",
    "Mast.height",
    "hull_part->bolts",
    "hull_part->rivets",
    "hull_part.depth",
]


@pytest.fixture(scope="module")
def yard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("yard")) as made:
        for name, text in FILES.items():
            made.write(f"root/{name}", text)
        for number in range(6):
            lines = "".join(f"    take({use}, {use})  # {use}\n" for use in USES)
            made.write(f"root/use{number}.py", f"def use{number}():\n{lines}{FILLER}")
        yield made


@pytest.mark.parametrize(
    ("query", "line"),
    [
        ("Sail.AZURE", "AZURE = 1"),
        ("Sail::ALL", "ALL = 2"),
        ("Flag.RED", "RED = 7"),
        ("Crew.rations", "self.rations: int"),
        ("Mast.height", "height = 1"),
        ("hull_part->bolts", "*bolts"),
        ("hull_part->rivets", "rivets;"),
        ("hull_part.depth", "depth[4]"),
    ],
)
def test_the_line_that_declares_a_member_comes_first(yard: Indexed, query: str, line: str) -> None:
    hit = yard.search(query)[0]
    assert (line in hit["snippet"], "take(" in hit["snippet"]) == (True, False)


def test_a_variable_called_like_a_function_has_no_members(yard: Indexed) -> None:
    yard.write("root/hoist.py", f"{FILLER}def hoist(x):\n    speed = x\n")
    yard.write("root/sea.py", f"{FILLER}def other(hoist):\n    return hoist.speed\n")
    assert yard.found("hoist.speed")[0] == "sea.py"


@pytest.mark.parametrize("query", ['os.environ["SAIL_V2_SIZE"]', 'os.getenv("SAIL_V2_SIZE")'])
def test_a_name_in_quotes_and_brackets_is_no_error(yard: Indexed, query: str) -> None:
    assert yard.ask(query).mode
