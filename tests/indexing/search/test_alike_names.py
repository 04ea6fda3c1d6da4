"""A name that is nowhere finds those with all of its parts, in another order or with one or two more."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import LINES, Indexed


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("harbour")) as made:
        filler = "".join(f"    step = {number}\n" for number in range(2 * LINES))
        names = (
            "read_crane_load_limit",
            "test_serial_07_berth",
            "WinchDrumBrake",
            "measure_quay_wall",
            "is_berth_deep",
        )
        for number, name in enumerate(names):
            made.write(f"root/part{number}.py", f"def {name}(value):\n{filler}")
        words = "read limit read limit crane serial berth drum brake winch quay wall measure deep berth 07 "
        for number in range(6):
            made.write(f"root/log{number}.md", f"{words * 9}\n")
            made.write(f"root/winch_{number}.py", f"def drum():\n    brake = winch = crane = berth = quay\n{filler}")
        yield made


@pytest.mark.parametrize(
    ("typed", "path"),
    [
        ("read_crane_limit", "part0.py"),
        ("crane_read_limit", "part0.py"),
        ("readLimitCrane", "part0.py"),
        ("test_07_berth", "part1.py"),
        ("berth_serial_07", "part1.py"),
        ("BrakeWinchDrum", "part2.py"),
        ("WinchBrake", "part2.py"),
        ("wall_quay_measure", "part3.py"),
        ("deep_is_berth", "part4.py"),
    ],
)
def test_a_name_finds_the_definition_with_all_its_parts(harbour: Indexed, typed: str, path: str) -> None:
    assert harbour.search(typed)[0]["relative_path"] == path


@pytest.mark.parametrize(
    ("typed", "path"),
    [("limit read crane load", "part0.py"), ("read crane limit", "part0.py"), ("wall measure quay", "part3.py")],
)
def test_words_of_a_name_find_it_in_any_order(harbour: Indexed, typed: str, path: str) -> None:
    assert harbour.search(typed)[0]["relative_path"] == path


@pytest.mark.parametrize("typed", ["limit_berth_brake", "test_serial_08_berth", "quay_winch"])
def test_other_names_are_not_alike(harbour: Indexed, typed: str) -> None:
    assert not any(hit["relative_path"].startswith("part") for hit in harbour.search(typed)[:1])


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("slip_measure_2_quay_wall_wide", "slip measure quay wall wide"),
        ("V5_slipMeasureQuay_wall", "slip measure quay wall"),
    ],
)
def test_a_long_name_that_is_nowhere_is_read_as_words(harbour: Indexed, typed: str, words: str) -> None:
    answer = harbour.ask(typed)
    assert "part3.py" in [hit["relative_path"] for hit in answer.hits]
    assert answer.extras["did_you_mean"] == {"query": words, "applied": True}


@pytest.mark.parametrize("typed", ["deep_berth_slip_5", "deep4_berth5_cafe6_is7", '"slip_deep_berth_2_is_wide"'])
def test_what_is_no_long_name_finds_nothing(harbour: Indexed, typed: str) -> None:
    assert harbour.ask(typed).hits == []


def test_a_long_name_is_no_words_in_a_folder_without_it(harbour: Indexed) -> None:
    harbour.write("root/other/slip.py", "def slip_deep_berth_2_wide():\n    pass\n")
    assert harbour.found("slip_deep_berth_2_wide") == ["other/slip.py"]
    assert harbour.ask("slip_deep_berth_2_wide", globs=["*.md"]).hits == []
    harbour.remove("root/other/slip.py")
