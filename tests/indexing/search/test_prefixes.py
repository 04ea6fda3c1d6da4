"""``prefix*``: words that begin so, also where their stems do not."""

from __future__ import annotations

import pytest

from helpers.indexed_folder import Indexed


@pytest.mark.parametrize("typed", ["renew*", "renewa*", "renewal*", "universit*", "xylophones renewa*"])
def test_words_that_begin_so_are_found(index: Indexed, typed: str) -> None:
    """The stem of `renewal` is `renew`, and that of `university` is `univers`."""
    index.write("root/a.md", "The renewal of a lease at a university.\n")
    index.write("root/b.md", "zebra\n")
    [hit] = index.search(typed)
    (start, end), *_ = hit["highlights"]
    assert hit["snippet"][start:end] in ("renewal", "university")


@pytest.mark.parametrize("typed", ["renewab*", "universalist*"])
def test_others_are_not(index: Indexed, typed: str) -> None:
    index.write("root/a.md", "The renewal of a lease at a university.\n")
    assert index.search(typed) == []


@pytest.mark.parametrize("typed", ["-renew*", "-renewa*", "-universit*"])
def test_what_they_exclude_begins_so(index: Indexed, typed: str) -> None:
    index.write("root/a.md", "The renewal of a lease at a university.\n")
    index.write("root/b.md", "A lease of a zebra.\n")
    assert [hit["relative_path"] for hit in index.search(f"lease {typed}")] == ["b.md"]
