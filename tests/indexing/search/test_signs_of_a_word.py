"""A word that was typed with signs around it finds where it has these signs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.indexed_folder import LINES, Indexed

FILLER = "".join(f"step {number}\n" for number in range(2 * LINES))


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("shelf")) as made:
        made.write("root/a.md", f"{FILLER}Fixes: the lamp\n{FILLER}")
        made.write("root/b.txt", f"{FILLER}TODO: oil the winch\n{FILLER}")
        made.write("root/c.txt", f"{FILLER}the value of `crane` counts\n{FILLER}")
        made.write("root/d.txt", f"{FILLER}Return values: none\n{FILLER}")
        made.write("root/e.py", f"class Berth:\n    pass\n{FILLER}")
        made.write("root/f.txt", f"{FILLER}the `Berth` of a ship\n{FILLER}")
        made.write("root/g.txt", f"{FILLER}winch_load: 30\n{FILLER}")
        made.write("root/h.txt", f"{FILLER}mount it at /dev/mapper/clone and read it\n{FILLER}")
        made.write("root/mapper.py", f"def mapper(a):\n    clone = a\ndef clone(a):\n    return a\n{FILLER}")
        made.write("root/i.py", f"def check_mast(mast):\n    return mast, mast, mast\n{FILLER}")
        made.write("root/j.txt", f"{FILLER}the `mast` of a ship\n{FILLER}")
        made.write("root/use.py", f"def winch_load(a):\n    return a\n{FILLER}")
        made.write("root/m.md", "Fixes, fixes; fixes of fixes.\n" * 3)
        made.write("root/n.py", "def todo():\n    for todo in todo: todo(todo)\n" * 3)
        made.write("root/o.md", "crane crane, the crane; a crane\n" * 3)
        made.write("root/p.md", "values return, return a value, return.\n" * 3)
        yield made


@pytest.mark.parametrize(
    ("typed", "path"),
    [
        ("Fixes:", "a.md"),
        ("TODO:", "b.txt"),
        ("`crane`", "c.txt"),
        ("Return values:", "d.txt"),
        ("winch_load:", "g.txt"),
        ("/dev/mapper/clone", "h.txt"),
        ("`mast`", "j.txt"),
    ],
)
def test_the_text_with_its_signs_comes_first(shelf: Indexed, typed: str, path: str) -> None:
    hit = shelf.search(typed)[0]
    assert hit["relative_path"] == path
    assert typed in hit["text"]


@pytest.mark.parametrize(
    ("typed", "path"), [("`Berth`", "e.py"), ("winch_load()", "use.py"), ("`winch_load`", "use.py")]
)
def test_the_definition_of_a_name_in_quotes_comes_first(shelf: Indexed, typed: str, path: str) -> None:
    assert shelf.search(typed)[0]["relative_path"] == path


def test_a_word_in_lower_case_may_have_another_case(shelf: Indexed) -> None:
    assert "b.txt" in [hit["relative_path"] for hit in shelf.search("todo:")][:3]


def test_lines_are_read_where_words_do_not_lead_to_the_signs(tmp_path: Path) -> None:
    with Indexed(tmp_path) as made:
        for number in range(120):
            made.write(f"root/{number}.txt", f"brake, brake and brake {number}\n" * 2)
        made.write("root/zz.txt", f"{FILLER}BRAKE: wanted\n{FILLER}")
        assert made.search("BRAKE:")[0]["relative_path"] == "zz.txt"
