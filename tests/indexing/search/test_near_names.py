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
        ("msr_qy", "part2.py", "measure_quay"),
        ("heave_anchor_down", "part3.py", "heave_anchor_up"),
    ],
)
def test_a_name_that_is_nowhere_finds_the_nearest(yard: Indexed, typed: str, path: str, meant: str) -> None:
    answer = yard.ask(typed)
    assert answer.hits[0]["relative_path"] == path
    assert answer.extras["did_you_mean"] == {"query": meant, "applied": True}


@pytest.mark.parametrize("typed", ["wrong_other_name", "recralolimo", "rd_crn", "quay_anchor"])
def test_no_other_name_is_near(yard: Indexed, typed: str) -> None:
    meant = yard.ask(typed).extras.get("did_you_mean")
    assert meant is None or "_" not in meant["query"]


def test_a_product_as_it_was_typed_comes_before_a_name(yard: Indexed) -> None:
    assert yard.found("berths*measure")[0] == "sum.py"


def test_many_stars_take_no_time_that_grows_with_their_number() -> None:
    """A name with a hyphen, as Lisp has them, ends as the typed one does and does not match: all ways were tried."""
    reader: Any = SimpleNamespace(rows=lambda *_: [("a" * 5_000 + "-a",), ("a" * 50,)])
    unused: Any = None
    assert find_near(reader, unused, unused, "a*" * 20 + "a") == ["a" * 50]
