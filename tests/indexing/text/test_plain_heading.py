"""Headings without the targets of their links."""

from __future__ import annotations

import time

import pytest

from helpers.indexed_folder import Indexed
from livedex_indexing.text.plain_heading import plain_heading


@pytest.mark.parametrize(
    ("heading", "plain"),
    [
        ("Changes > [1.2.0](https://a.example/v1...v2) - 2024-05-01", "Changes > 1.2.0 - 2024-05-01"),
        ('IDLE[¶](#idle "Permalink to this heading") > Menus[¶](#menus)', "IDLE > Menus"),
        ("lamp [![CI](https://a.example/ci.svg)](https://a.example/ci) `code`", "lamp CI `code`"),
        ("[#](#lamp) Lamp", " Lamp"),
        ("`call[0](y)` of [`lamp`](#lamp), array[1] (2)", "`call[0](y)` of `lamp`, array[1] (2)"),
        ("[ref][1], [[Wiki]], [text](half", "[ref][1], [[Wiki]], [text](half"),
        ("", ""),
    ],
)
def test_links_are_their_texts(heading: str, plain: str) -> None:
    assert plain_heading(heading) == plain


@pytest.mark.parametrize(
    "unit", ["[", "](", "[](", "[a](b", '[](a "', "[]( ", "![", "[a](b)", "[[a](b)](c)", "`", "`]("]
)
def test_it_takes_no_time(unit: str) -> None:
    began = time.process_time()
    plain_heading(unit * 10_000)
    assert time.process_time() - began < 0.5


def test_a_hit_has_it(index: Indexed) -> None:
    index.write("root/changes.md", "# [1.2.0](https://a.example/compare)\n\nA zither.\n")
    for mode in ("auto", "exact"):
        assert [hit["heading"] for hit in index.search("zither", mode=mode)] == ["1.2.0"]
