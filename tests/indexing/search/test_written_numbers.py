"""A number or an address is found as files have it, whatever its signs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import Indexed

FILES = {
    "size.txt": "the hold takes 14,153 barrels and 20000 bags",
    "load.txt": "a bag has 4KB of flour, a barrel 3.5 kg of salt",
    "call.txt": "the miller: +1 604 555-0199, the baker: 0301234567",
    "page.txt": "see http://example.com/mill/wheels for it, and example.org/oven",
    "codes.txt": "pay to DE41 3743 4909 3119 8020 43, book 978-4-233-96229-7, card 2f:f0:dd:c6:f3:de",
    "keys.txt": "key 769aa80edbfac791593472e328d2d3cc of mill v2.15.3, oven version 1.4.2 and gate 7.0.9",
    "other.txt": "4 bags, 604 barrels, 555 loaves, 14 ovens, 153 KB, kg, www, mill, wheels, oven, https",
}


@pytest.fixture(scope="module")
def mill(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("mill")) as made:
        for name, text in FILES.items():
            made.write(f"root/{name}", text)
        yield made


@pytest.mark.parametrize(
    ("query", "name", "meant"),
    [
        ("14153", "size.txt", "14,153"),
        ("20,000 bags", "size.txt", "20000 bags"),
        ("4 KB", "load.txt", "4KB"),
        ("3.5kg", "load.txt", "3.5 kg"),
        ("+16045550199", "call.txt", "1 604 555 0199"),
        ("16045550199", "call.txt", "1 604 555 0199"),
        ("030 123 4567", "call.txt", "0301234567"),
        ("DE41374349093119802043", "codes.txt", "DE41 3743 4909 3119 8020 43"),
        ("9784233962297", "codes.txt", "978 4 233 96229 7"),
        ("2FF0DDC6F3DE", "codes.txt", "2F F0 DD C6 F3 DE"),
        ("769aa80e-dbfa-c791-5934-72e328d2d3cc", "keys.txt", "769aa80edbfac791593472e328d2d3cc"),
        ("2.15.3", "keys.txt", "v2.15.3"),
        ("version 2.15.3", "keys.txt", "v2.15.3"),
        ("oven v1.4.2", "keys.txt", "oven 1.4.2"),
        ("http://example.org/oven", "page.txt", "example.org/oven"),
        ("https://www.example.org/oven", "page.txt", "example.org/oven"),
    ],
)
def test_it_is_searched_for_as_a_file_has_it(mill: Indexed, query: str, name: str, meant: str) -> None:
    answer = mill.ask(query)
    assert answer.hits[0]["relative_path"] == name
    assert answer.extras["did_you_mean"]["query"] == meant


@pytest.mark.parametrize(
    "query",
    ["14,153", "20000", "4KB", "3.5 kg", "+1 604 555-0199", "version 1.4.2", "7.0.9", "http://example.com/mill/wheels"],
)
def test_it_stays_as_typed_where_a_file_has_it_so(mill: Indexed, query: str) -> None:
    assert "did_you_mean" not in mill.ask(query).extras
