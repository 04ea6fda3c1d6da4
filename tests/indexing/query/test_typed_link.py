"""Links of notes and pages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedex_indexing.query.typed_link import is_heading, typed_link


@pytest.mark.parametrize(
    ("text", "paths", "heading"),
    [
        ("[[Old Ships]]", ["Old Ships.md", "Old Ships"], ""),
        ("![[Old Ships|ships]]", ["Old Ships.md", "Old Ships"], ""),
        ("[[sea/Ships#Masts and Sails]]", ["sea/Ships.md", "sea/Ships"], "Masts and Sails"),
        ("[[Ships#Masts#Sails|them]]", ["Ships.md", "Ships"], "Sails"),
        ("[[file:ships.org::*Masts][see]]", ["ships.org"], "Masts"),
        ("file:ships.org::*Masts and Sails", ["ships.org"], "Masts and Sails"),
        ("[them](../ships.md#masts-and-sails)", ["../ships.md"], "masts-and-sails"),
        ("![them](a%20b.md)", ["a b.md"], ""),
        ("sea/ships.md#masts-and-sails", ["sea/ships.md"], "masts-and-sails"),
        ("https://example.com/sea/ships.rst#masts", ["https://example.com/sea/ships.rst"], "masts"),
        ("obsidian://open?vault=v&file=sea%2FShips", ["sea/Ships.md", "sea/Ships"], ""),
    ],
)
def test_a_link(text: str, paths: list[str], heading: str) -> None:
    found = typed_link(text)
    assert [place.path for place in found] == paths
    assert {place.heading for place in found} == {heading}
    assert found[0].is_whole == (heading == "")


@pytest.mark.parametrize("page", ["ships.html", "ships/", "ships"])
def test_a_page_may_be_made_of_a_text(page: str) -> None:
    found = typed_link(f"https://example.com/sea/{page}#masts")
    assert "https://example.com/sea/ships.rst" in [place.path for place in found]
    assert found[0].path == f"https://example.com/sea/{page}".rstrip("/")


@pytest.mark.parametrize(
    "text", ["", "a", "a b", "[x]", "[[]]", "[[#here]]", "see [[Ships]]", "#tag", "a.md#", "run(x)"]
)
def test_no_link(text: str) -> None:
    assert typed_link(text) == []


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("winch --brake", ["winch.1", "winch.8"]),
        ("winch --brake=on flag", ["winch.1", "winch.8"]),
        ("crane lift --slow option", ["crane-lift.1", "crane-lift.8", "crane.1", "crane.8"]),
    ],
)
def test_an_option_of_a_command(text: str, paths: list[str]) -> None:
    found = typed_link(text)
    assert [place.path for place in found] == paths
    assert {(place.option[:2], place.is_whole) for place in found} == {("--", False)}


@pytest.mark.parametrize("text", ["--brake", "winch -brake", "Winch --brake", "winch --brake is slow", "a b c --brake"])
def test_no_option_of_a_command(text: str) -> None:
    assert typed_link(text) == []


def test_the_form_of_a_heading_in_a_link() -> None:
    assert is_heading("What's new: `tkinter.tix` --- v2", "whats-new-tkintertix-----v2")
    assert is_heading("Über alles", "über-alles")
    assert not is_heading("Masts and Sails", "masts")


@given(st.text("ab.:/()#|[]*%!\n é", max_size=40))
def test_any_text(text: str) -> None:
    for place in typed_link(text):
        assert place.path in place.text
        assert place.line == 0
