"""A quoted word is found in the files where `rg -l -w -F` finds it; only the tokenizer explains differences."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from helpers import ripgrep_words
from helpers.chunk_coverage import TEXTS_ONLY, write_odd_files
from helpers.disk_inventory import listed
from helpers.support import CHECKOUT, Tree, add_root, wait_converted

if TYPE_CHECKING:
    from livedex_ipc.client import Client

pytestmark = pytest.mark.shares_daemon

WORDS = int(os.environ.get("LIVEDEX_WORDS", "40"))
PLAIN = 5  # every n-th word is searched for without quotes too
SEED = 3


@pytest.mark.needs("rg")
def test_words_are_found_where_ripgrep_finds_them(client: Client, tree: Tree) -> None:
    write_odd_files(tree / "odd")
    for folder in ("docs", "ipc"):
        shutil.copytree(CHECKOUT / folder, tree / folder, ignore=TEXTS_ONLY)
    shutil.copytree(tree / "docs", tree / "docs-again")  # the same contents at two places each
    add_root(client, tree)
    wait_converted(client)  # a document among them is a failure always, not now and then
    records, text_of = listed(client, tree.path), ripgrep_words.texts(tree.path)
    words = ripgrep_words.sample(records, text_of, WORDS, SEED)
    found = ripgrep_words.compare(client, tree.path, words, records, text_of)
    assert found.unexplained == []
    assert found.both > 3 * WORDS
    copies = ripgrep_words.copies_of(records)
    for word in words[::PLAIN]:
        quoted = ripgrep_words.by_livedex(client, tree.path, f'"{word}"', copies)
        assert quoted <= ripgrep_words.by_livedex(client, tree.path, word, copies), word


@pytest.mark.needs("rg")
def test_where_livedex_and_ripgrep_differ(client: Client, tree: Tree) -> None:
    tree.write_all({"plain.txt": "the value here", "case.txt": "The VALUE here", "stem.txt": "values valued"})
    tree.write_all({"joined.txt": "a my_value here", "name.txt": "myValue", "marks.txt": "válue", "value.txt": "none"})
    tree.write("strokes.txt", "a vałue here")
    add_root(client, tree)
    found = ripgrep_words.by_livedex(client, tree.path, '"value"', {})
    assert found == {b"plain.txt", b"case.txt", b"joined.txt", b"marks.txt", b"strokes.txt"}
    difference = ripgrep_words.compare(
        client, tree.path, ["value"], listed(client, tree.path), ripgrep_words.texts(tree.path)
    )
    assert difference.unexplained == []
    assert difference.both == 1
    assert sorted(difference.explained.values()) == [1, 1, 1, 1]


def test_an_explanation_is_looked_up_in_the_text() -> None:
    assert ripgrep_words.why_found("value", "values, myvalue", b"values, myvalue") is None
    assert ripgrep_words.why_found("value", "a value here", b"a value here") is None
    assert ripgrep_words.why_found("my_value", "my value", b"my value") is None
    assert ripgrep_words.why_missed("value", "a value here", b"a value here") is None


def test_words_of_short_lines_are_whole(client: Client, tree: Tree) -> None:
    """Lists of words, tables of numbers: no word may cross the border of two chunks."""
    words = [f"{'abcdefghij'[number % 10]}{number:06d}" for number in range(600)]
    tree.write("list.txt", "\n".join(words))
    add_root(client, tree)
    assert [
        word for word in words if ripgrep_words.by_livedex(client, tree.path, f'"{word}"', {}) != {b"list.txt"}
    ] == []
