"""Each content that a path waits for has a message, whatever came of the one before."""

from __future__ import annotations

import pytest

from helpers.fakes import online_root
from livedex_daemon.documents.conversions import Conversions, Document
from livedex_indexing.model import DocumentText

CONTENT = (b"a hash", b"a plan")
ONE, OTHER = (Document(online_root(b"/r", 1), path, "p", ".html", False) for path in (b"one.html", b"other.html"))


def messages(conversions: Conversions) -> int:
    """How many messages are published now."""
    return len(list(conversions.unpublished()))


@pytest.fixture
def conversions() -> Conversions:
    """Two paths wait for one content, and a lane has it in hand."""
    made = Conversions()
    made.request(CONTENT, ONE)
    made.request(CONTENT, OTHER)
    assert messages(made) == 1
    assert made.begin(CONTENT) == [ONE, OTHER]
    return made


def test_one_that_no_path_had_any_more_is_asked_for_again_though_another_path_waits(conversions: Conversions) -> None:
    assert conversions.end(CONTENT, None) == [ONE, OTHER]
    conversions.request(CONTENT, ONE)
    conversions.request(CONTENT, OTHER)
    assert messages(conversions) == 1 and conversions.needs_lane()


def test_one_that_a_follow_up_asks_for_is_not_asked_for_twice(conversions: Conversions) -> None:
    conversions.end(CONTENT, None, again=True)
    conversions.request(CONTENT, ONE)
    assert messages(conversions) == 0


def test_a_path_that_waits_for_what_is_converted_is_to_be_read_again(conversions: Conversions) -> None:
    conversions.end(CONTENT, DocumentText("p", b"words\n", []))
    assert conversions.request(CONTENT, ONE) and not conversions.needs_lane()
    conversions.settled(ONE.key)
    conversions.settled(OTHER.key)
    assert not conversions.request(CONTENT, ONE) and messages(conversions) == 1
