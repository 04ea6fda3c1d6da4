"""A file or a folder is found by its shortened path, if no path and no text has it as it was typed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import Indexed


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("files")) as made:
        for path in (
            "quay/berths/mooring_lines.py",
            "quay/berths/moorings.txt",
            "quay/TideTable.java",
            "quay/pilotage.md",
            "sea/breakwater.md",
            "sea/hoist_all_saints.md",
            "sea/wind_force.c",
            "sea/wind_force.h",
            "sea/x-powers,axle.yaml",
            "sea/deep/__init__.py",
        ):
            made.write(f"root/{path}", "depth 3\n")
        made.write("root/crews.py", "def hoist_all_sails():\n    return 1\n")
        for number in range(30):
            made.write(f"root/notes/{number}.md", f"Page {number} of mooring, lines, tide, wind, quay, sea.\n" * 3)
        yield made


@pytest.mark.parametrize(
    ("query", "path", "meant"),
    [
        ("moolin", "quay/berths/mooring_lines.py", "berths/mooring_lines.py"),
        ("mooringlines", "quay/berths/mooring_lines.py", "berths/mooring_lines.py"),
        ("mooring_li", "quay/berths/mooring_lines.py", "berths/mooring_lines.py"),
        ("moorng_lnes", "quay/berths/mooring_lines.py", "berths/mooring_lines.py"),
        ("moorng_lines.py", "quay/berths/mooring_lines.py", "berths/mooring_lines.py"),
        ("moorinh_lines.py", "quay/berths/mooring_lines.py", "berths/mooring_lines.py"),
        ("tidtab", "quay/TideTable.java", "quay/TideTable.java"),
        ("brkwtr", "sea/breakwater.md", "sea/breakwater.md"),
        ("pilotge.md", "quay/pilotage.md", "quay/pilotage.md"),
        ("windforce.h", "sea/wind_force.h", "sea/wind_force.h"),
        ("winfor", "sea/wind_force.c", "sea/wind_force"),
        ("x-powers,ax.yaml", "sea/x-powers,axle.yaml", "sea/x-powers,axle.yaml"),
        ("be/moorings", "quay/berths/moorings.txt", "berths/moorings.txt"),
        ("qua/moori", "quay/berths/moorings.txt", "quay/berths/moorings.txt"),
        ("qu/ber", "quay/berths/moorings.txt", "quay/berths"),
    ],
)
def test_the_file_comes_first(port: Indexed, query: str, path: str, meant: str) -> None:
    answer = port.ask(query)
    assert answer.extras["did_you_mean"] == {"query": meant, "applied": True}
    assert answer.hits[0]["relative_path"] == path


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("moorings", "quay/berths/moorings.txt"),
        ("quay/berths", "quay/berths/moorings.txt"),
        ("hoallsai", "crews.py"),
    ],
)
def test_what_is_somewhere_is_meant_itself(port: Indexed, query: str, path: str) -> None:
    answer = port.ask(query)
    assert answer.hits[0]["relative_path"] == path
    assert "/" not in answer.extras.get("did_you_mean", {}).get("query", "")


def test_signs_alone_are_no_path(port: Indexed) -> None:
    assert port.ask("______").hits == []


@pytest.mark.parametrize(("typed", "meant"), [("moring", "mooring"), ("tidde", "tide"), ("pagge", "page")])
def test_a_word_with_a_mistake_is_no_path(port: Indexed, typed: str, meant: str) -> None:
    assert port.ask(typed).extras["did_you_mean"]["query"] == meant


@pytest.mark.parametrize(
    ("typed", "path"),
    [
        ("moolin", "quay/berths/mooring_lines.py"),
        ("mooring_li", "quay/berths/mooring_lines.py"),
        ("qu/ber", "quay/berths/moorings.txt"),
        ("moori", "quay/berths/moorings.txt"),
    ],
)
def test_while_it_is_typed_what_begins_so_comes_first(port: Indexed, typed: str, path: str) -> None:
    answer = port.ask(typed, typing=True)
    assert answer.hits[0]["relative_path"] == path
