"""What the probe denies is in no heading and no name; what is there, it never denies."""

from __future__ import annotations

from itertools import pairwise
from unittest.mock import Mock

import pytest

from helpers.indexed_folder import Indexed
from livedex_indexing.rank import outline_probe
from livedex_indexing.rank.outline_probe import OutlineProbe
from livedex_indexing.rank.postings import RowCounts

NOTE = "# Feed the okapi\n\nlemur river meadow\n\n## In the river of meadow\n\nokapi quokka\n"
CODE = "def feed_every_lemur(river):\n    return meadow_of(river)\n"
NOWHERE = ["lemur river", "river meadow", "okapi quokka", "meadow of", "the lemur", "okapi every"]


def _counted(rows: int | None) -> RowCounts:
    """As if each expression had been counted."""
    return RowCounts(lambda _: 0, lambda _: rows)


@pytest.fixture
def noted(index: Indexed) -> Indexed:
    index.write("root/note.md", NOTE)
    index.write("root/feed.py", CODE)
    return index


def test_only_what_is_in_no_heading_and_no_name_is_denied(noted: Indexed) -> None:
    with noted.pool.connection() as reader:
        probe = OutlineProbe(reader, _counted(outline_probe.FEW + 1))
        outlines = [line.strip("# ") for line in NOTE.splitlines() if line.startswith("#")]
        for line in (*outlines, "feed every lemur"):
            for first, second in pairwise(reader.tokens(line)):
                assert probe.may_be_outlined([first, second]), (first, second)
        assert [text for text in NOWHERE if probe.may_be_outlined(text.split())] == []


def test_a_heading_is_no_name(noted: Indexed) -> None:
    with noted.pool.connection() as reader:
        probe = OutlineProbe(reader, _counted(None))
        assert probe.is_in_a_name(["every", "lemur"])
        assert not probe.is_in_a_name(["the", "okapi"])
        assert probe.may_begin_a_name(["feed", "every", "lem"])
        assert not probe.may_begin_a_name(["the", "okapi", "lem"])


def test_a_rare_word_is_not_looked_up_twice(noted: Indexed) -> None:
    with noted.pool.connection() as reader:
        probe = OutlineProbe(reader, _counted(outline_probe.FEW))
        assert probe.may_be_outlined(["lemur", "river"])


def test_one_look_serves_headings_and_names(noted: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    with noted.pool.connection() as reader:
        look = Mock(wraps=reader.one)
        monkeypatch.setattr(reader, "one", look)
        probe = OutlineProbe(reader, _counted(outline_probe.FEW + 1))
        for _search in range(3):
            assert not probe.may_be_outlined(["lemur", "river"])
            assert not probe.may_be_named(["lemur", "river"])
        assert look.call_count == 1
