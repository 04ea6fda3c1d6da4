"""A sentence, a log line or a title finds something if a file has a word of it, whatever signs it has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.indexed_folder import Indexed
from helpers.support import examples
from livedex_indexing.model import TermName

SOURCE = Path(__file__).parents[3] / "indexing" / "livedex_indexing" / "query"
WORDS = sorted(
    {word for file in SOURCE.glob("*.py") for word in re.findall(r"(?<!\w)[a-z]{2,}(?!\w)", file.read_text())}
    - {*get_args(TermName)}  # `ext:py` is a filter
)
SIGNS = (
    " ",
    " ",
    " ",
    ": ",
    ":",
    " - ",
    " -",
    " -- ",
    " – ",
    ' "',
    '" ',
    "' ",
    " “",
    "” ",
    "; ",
    ", ",
    " (",
    ") ",
    "=",
)
ABSENT = ("qqxv", "zzwkj", "2026-11-25", "10:07:59,123", "/tmp/r7.q", "0x7f")


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("pasted")) as made:
        for file in sorted(SOURCE.glob("*.py")):
            made.write(f"root/{file.name}", file.read_text())
        yield made


@given(
    st.sampled_from(WORDS),
    st.lists(st.tuples(st.sampled_from(SIGNS), st.one_of(st.sampled_from(WORDS), st.sampled_from(ABSENT))), min_size=2),
)
@settings(max_examples=examples(100))
def test_a_pasted_text_with_a_known_word_finds_something(
    code: Indexed, first: str, others: list[tuple[str, str]]
) -> None:
    text = first + "".join(sign + word for sign, word in others)
    assert code.search(text, limit=1), f"a file has {first!r}"


@pytest.mark.parametrize(
    ("typed", "path"),
    [
        (".stack_size = stack_size,", "table.c"),  # the other file has the words in its name, too
        ("The Stack Size Manager", "b.md"),  # and here as well, in another case
        ("RawMIDI Callbacks", "c.md"),  # a word of several parts
    ],
)
def test_the_only_file_with_the_line_comes_first(index: Indexed, typed: str, path: str) -> None:
    words = "See the stack size manager: RawMIDI, stack size, raw midi, manager. Callbacks by RawMIDI.\n"
    index.write("root/stack-size/stack-size-manager.md", f"# Stack size manager\n\n{words * 4}")
    index.write("root/rawmidi/raw_midi_callbacks.c", f"/* {words * 2} */\n")
    filler = "".join(f"line {number}\n" for number in range(40))
    index.write("root/table.c", f"{filler}    .stack_size = stack_size,\n{filler}")
    index.write("root/b.md", f"{filler}\n# The Stack Size Manager\n\n{filler}")
    index.write("root/c.md", f"{filler}\n# RawMIDI Callbacks\n\n{filler}")
    hit = index.search(typed)[0]
    assert (hit["relative_path"], hit["text"].strip(" #")) == (path, typed)
