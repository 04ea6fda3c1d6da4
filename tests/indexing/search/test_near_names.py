"""A name that is nowhere finds the one that was likely meant: with a wrong part, shortened, or with a star inside."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from helpers.indexed_folder import LINES, Indexed
from livedex_indexing.rank.near_names import find_near


@pytest.fixture(scope="module")
def yard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("yard")) as made:
        filler = "".join(f"    step = {number}\n" for number in range(2 * LINES))
        for number, name in enumerate(("read_crane_load_limit", "WinchDrumBrake", "measure_quay", "heave_anchor_up")):
            made.write(f"root/part{number}.py", f"def {name}(value):\n{filler}")
        made.write("root/sum.py", f"{filler}    weight = berths*measure\n{filler}")
        words = "read limit crane file drum brake winch quay measure deep berth heave "
        for number in range(6):
            made.write(f"root/log{number}.md", f"{words * 9}\n")
        made.write("root/berths.py", f"def berths_to_measure():\n{filler}")
        pilots = "class HarbourPilotRoster:\n    ROOM = 2\n"
        made.write("root/fleet.py", f"def moor():\n    return 1\n\n\n{pilots}{filler}")
        made.write("root/keys.md", "MIIHPRzq4 and other letters of a key, har and ros of it\n")
        for number in range(6):
            made.write(f"root/list{number}.md", "harbour harbour, pilot pilot, pil pil\n" * 9)
        yield made


@pytest.mark.parametrize(
    ("typed", "path", "meant"),
    [
        ("read_crane_file_limit", "part0.py", "read_crane_load_limit"),
        ("read_crane_load_berth_limit", "part0.py", "read_crane_load_limit"),
        ("raed_crane_load_limmit", "part0.py", "read_crane_load_limit"),
        ("recraloli", "part0.py", "read_crane_load_limit"),
        ("read_cran_lo_limi", "part0.py", "read_crane_load_limit"),
        ("rd_crn_ld_lmt", "part0.py", "read_crane_load_limit"),
        ("read*limit", "part0.py", "read_crane_load_limit"),
        ("WDB", "part1.py", "WinchDrumBrake"),
        ("WinchDrumBreak", "part1.py", "WinchDrumBrake"),
        ("Winch*Brake", "part1.py", "WinchDrumBrake"),
        ("winchdrbra", "part1.py", "WinchDrumBrake"),
        ("msr_qy", "part2.py", "measure_quay"),
        ("heave_anchor_down", "part3.py", "heave_anchor_up"),
    ],
)
def test_a_name_that_is_nowhere_finds_the_nearest(yard: Indexed, typed: str, path: str, meant: str) -> None:
    answer = yard.ask(typed)
    assert answer.hits[0]["relative_path"] == path
    assert answer.extras["did_you_mean"] == {"query": meant, "applied": True}


@pytest.mark.parametrize(
    "typed",
    ["HPR", "hpr", "HaPiRo", "HarPilRos", "HPRost", "HarbourPR", "HPRoster", "hapiro", "harpilros", "har_pil_ros"],
)
def test_beginnings_of_the_parts_find_a_name_that_is_not_the_first_of_its_chunk(yard: Indexed, typed: str) -> None:
    answer = yard.ask(typed)
    assert answer.hits[0]["relative_path"] == "fleet.py"
    assert answer.extras["did_you_mean"] == {"query": "HarbourPilotRoster", "applied": True}


@pytest.mark.parametrize("typed", ["HaPiRo", "HarPilR", "HarbourPR", "hapiro"])
def test_beginnings_find_it_while_they_are_typed(yard: Indexed, typed: str) -> None:
    assert yard.found(typed, typing=True)[0] == "fleet.py"


@pytest.mark.parametrize("typed", ["har pil ros", "harbour pilot ros", "Harbour Pilot Rost"])
def test_words_that_begin_the_parts_find_the_name(yard: Indexed, typed: str) -> None:
    assert yard.found(typed)[0] == "fleet.py"


def test_two_words_begin_the_parts_of_a_name_if_one_is_nowhere(yard: Indexed) -> None:
    assert yard.found("meas qua")[0] == "part2.py"


@pytest.mark.parametrize("typed", ["wrong_other_name", "recralolimo", "rd_crn", "quay_anchor"])
def test_no_other_name_is_near(yard: Indexed, typed: str) -> None:
    meant = yard.ask(typed).extras.get("did_you_mean")
    assert meant is None or "_" not in meant["query"]


def test_a_product_as_it_was_typed_comes_before_a_name(yard: Indexed) -> None:
    assert yard.found("berths*measure")[0] == "sum.py"


def test_many_stars_take_no_time_that_grows_with_their_number() -> None:
    """A name with a hyphen, as Lisp has them, ends as the typed one does and does not match: all ways were tried."""
    reader: Any = SimpleNamespace(rows=lambda *_: [("a" * 5_000 + "-a",), ("a" * 50,)])
    view: Any = SimpleNamespace(reader=reader)
    assert find_near(view, "a*" * 20 + "a") == ["a" * 50]
