"""How much a file is called like a typed path."""

from __future__ import annotations

import pytest

from livedex_indexing.query.typed_place import TypedPlace
from livedex_indexing.rank.called_files import (
    CalledFiles,
    as_spelt,
    called_by,
    is_one_of,
    is_spelt,
    joined_words,
)


@pytest.mark.parametrize(
    ("typed", "folders", "least", "most"),
    [
        ("lib/net/Make", 2, 1.0, 1.0),
        ("srv/lib/net/Make", 2, 0.8, 0.99),  # two of three folders
        ("other/net/Make", 1, 0.8, 0.99),
        ("other/Make", 0, 0.7, 0.7),
        ("app/lib/net/Make", 3, 0.1, 0.3),  # more folders are above another file
        ("https://example.com/app/lib/net/Make", 2, 0.7, 0.99),
        ("https://example.com/app/Make", 0, 0.0, 0.0),  # a page
        ("lib/net/Makefile", 0, 0.0, 0.0),
    ],
)
def test_folders_above_a_file(typed: str, folders: int, least: float, most: float) -> None:
    place = TypedPlace(typed, 0, typed, folders=folders)
    assert least <= called_by(place, b"lib/net", b"Make") <= most


@pytest.mark.parametrize(
    ("typed", "name", "least", "most"),
    [
        (".gitignore", ".gitignore", 1.0, 1.0),
        ("gitignore", ".gitignore", 0.5, 0.7),  # less than a definition
        ("form.html", "_form.html", 0.5, 0.7),
        ("form", "_form.html", 0.5, 0.7),
        ("form", "_forms.html", 0.0, 0.0),
        ("_form", "form.html", 0.0, 0.0),
    ],
)
def test_a_sign_before_a_name_may_be_left_out(typed: str, name: str, least: float, most: float) -> None:
    assert least <= called_by(TypedPlace(typed, 0, typed), b"", name.encode()) <= most


def test_a_page_with_a_line_names_a_file_anywhere() -> None:
    page = "https://example.com/app/blob/main/Make"
    assert called_by(TypedPlace(page, 12, page), b"", b"Make") > 0


@pytest.mark.parametrize(
    ("typed", "path", "expected"),
    [
        ("base events", "lib/base_events.py", True),
        ("base events py", "lib/base_events.py", True),
        ("Base Events.py", "lib/base_events.py", True),
        ("base events", "lib/BaseEvents.java", True),
        ("lib base events", "src/lib/base-events.py", True),
        ("src lib base events", "src/lib/base_events.py", True),
        ("package json", "web/package.json", True),
        ("error context", "src/error/context.rs", True),
        ("src base events", "src/lib/base_events.py", False),  # not right above it
        ("base events in lib", "lib/base_events.py", False),
        ("events", "lib/events.py", False),  # one word is a place
        ("base", "lib/base_events.py", False),
        ("se events", "lib/base_events.py", False),
        ("git ignore", "lib/.gitignore", True),
        ("lib events", ".events/lib", False),
        ("one two three four five six seven eight nine", "one_two_three_four_five_six_seven_eight_nine", False),
    ],
)
def test_words_spell_a_name(typed: str, path: str, expected: bool) -> None:
    folder, _, name = path.encode().rpartition(b"/")
    words = as_spelt(typed)
    assert (bool(words) and is_spelt(words, folder, name)) is expected


@pytest.mark.parametrize(
    ("typed", "name", "expected"),
    [
        ("Kernel driver i2c-tiny", "i2c-tiny.rst", True),
        ("auto-HTTPS: sort routes", "autohttps.go", True),
        ("fix map_while.", "map_while.rs", True),
        ("v-model (checked)", "vModel.ts", True),
        ("i2c-tiny", "i2c-tiny.rst", False),  # a place
        ("driver i2c-tiny", "i2c-tiny-usb.rst", False),
        ("pass --map-while to it", "map_while.rs", False),
        ("see src/map_while for it", "map_while.rs", False),
        ("see map_while.md for it", "map_while.rs", False),
        ("where map_while() ends", "map_while.rs", False),
        ("use map_while::Ended", "map_while.rs", False),
        ("a lookup by __map_while", "map_while.rs", False),
        ("map while", "map_while.rs", False),
    ],
)
def test_a_joined_word_among_others_names_a_file(typed: str, name: str, expected: bool) -> None:
    assert is_one_of(joined_words(typed), name.encode()) is expected


@pytest.mark.parametrize("is_defined", [False, True])
def test_a_file_called_like_a_joined_word_comes_behind_the_definition(is_defined: bool) -> None:
    called = CalledFiles("struct crane_ops {", None, is_sentence=False)
    value = called.rate(b"doc", b"crane_ops.rst", has_words=True, has_text=False, is_defined=is_defined)
    assert (value > 0) is not is_defined
