"""If no word leads to the text of a query, the lines that contain it are the answer."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.indexed_folder import Indexed
from helpers.support import examples
from livedex_indexing.query.typed_name import may_be_pasted
from livedex_indexing.query.typed_pattern import text_of_pattern

FILES = {
    "routing.py": "import os\n\n\ndef url_for(endpoint):\n    return '/'.join(('app', endpoint)) != ''\n",
    "versions.txt": "release v12.34.507-rc2 of the parser\nrelease v12.34.508 of the parser\n",
    "arrows.c": "int f(struct s *p)\n{\n\treturn p->count != 0x7f && p->next == NULL;\n}\n",
    "notes.md": "# Sleepwalking\n\nThe sleepwalker walked. Straße, Ærø and \u0130zmir.\n\n- [ ] ask the *moth*\n",
    "spelling.txt": "either one or the other\n",
    "odd.txt": "zitherlike music\n",
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("lines")) as made:
        for name, text in FILES.items():
            made.write(f"root/{name}", text)
        yield made


@pytest.mark.parametrize(
    ("query", "path", "line"),
    [
        ("eepwalk", "notes.md", 1),  # inside a word
        ("EEPWALKER", "notes.md", 3),
        ("->", "arrows.c", 3),
        ("!= 0x7", "arrows.c", 3),
        ("in((", "routing.py", 5),
        ("2.34.507", "versions.txt", 1),
        ("[ ]", "notes.md", 5),
        ("RAßE", "notes.md", 3),
    ],
)
def test_what_a_line_has_is_found(app: Indexed, query: str, path: str, line: int) -> None:
    answer = app.ask(query)
    hit = answer.hits[0]
    assert (hit["relative_path"], hit["start_line"]) == (path, line)
    assert query.lower() in hit["snippet"].lower()
    assert (answer.mode, [one["code"] for one in answer.warnings]) == ("exact", ["query_as_lines"])


def test_lines_come_instead_of_a_correction(app: Indexed) -> None:
    """``zither`` is not a word by itself, and would be corrected to ``either``."""
    answer = app.ask("itherlik")
    assert [hit["relative_path"] for hit in answer.hits] == ["odd.txt"]
    assert "did_you_mean" not in answer.extras


def test_the_definition_of_a_corrected_name_hides_no_line(tmp_path: Path) -> None:
    """``port`` is part of ``import``; no word is ``port``, and ``part`` is the nearest that is defined."""
    with Indexed(tmp_path) as index:
        index.write("root/a.py", "import math\n")
        index.write("root/b.py", "def part() -> None: ...\n")
        answer = index.ask("port")
        assert ([hit["relative_path"] for hit in answer.hits], answer.mode) == (["a.py"], "exact")


def test_a_piece_of_a_line_is_found_among_many_files_with_its_words(tmp_path: Path) -> None:
    with Indexed(tmp_path) as index:
        for number in range(40):
            index.write(f"root/{number}.py", f"words = []\nkept_{number} = None\n")
        index.write("root/last.py", "names = ()\nkept = None\nwords = {1: names}\n")
        answer = index.ask("words = {")
        assert ([hit["relative_path"] for hit in answer.hits], answer.mode) == (["last.py"], "exact")


AS_WORDS = (
    "url_for",
    "walked",
    "routing.py",
    "p->count",
    "walkedd",
    "sleepwalker walked",
    "url_for(endpoin",
    "e *moth*",
)


@pytest.mark.parametrize("query", AS_WORDS)
def test_words_answer_where_they_find_what_was_typed(app: Indexed, query: str) -> None:
    answer = app.ask(query)
    assert answer.hits and answer.mode == "keyword" and not answer.warnings


def test_terms_are_no_part_of_what_was_typed(index: Indexed) -> None:
    index.write("root/a/one.txt", "walrus " + "among many other words " * 40 + "\n")
    for number in range(12):
        index.write(f"root/a/walrus{number} walrus.txt", f"nothing of it {number}\n")
    answer = index.ask("walrus path:a path:/a", group="file", limit=20)
    assert (len(answer.hits), answer.mode) == (13, "keyword")


@pytest.mark.parametrize("params", [{"mode": "keyword"}, {"languages": ["c"]}, {"globs": ["*.txt"]}])
def test_filters_and_the_mode_hold(app: Indexed, params: dict[str, Any]) -> None:
    assert app.ask("eepwalk", **params).hits == []


def test_the_terms_of_a_query_hold(app: Indexed) -> None:
    assert {hit["relative_path"] for hit in app.search("ext:md eepwalk")} == {"notes.md"}
    assert app.search("ext:py eepwalk") == []
    assert app.search("-ext:md eepwalk") == []
    assert app.search("ext:md walked -sleepwalker") == []
    assert app.search('ext:md eepwalk "the moth walked"') == []


def test_nothing_is_still_nothing(app: Indexed) -> None:
    answer = app.ask("xyzzyplugh")
    assert (answer.hits, answer.mode, answer.warnings) == ([], "keyword", [])
    assert [one["code"] for one in app.ask("%% ^^").warnings] == ["query_no_words"]


def test_pages_go_on_and_facets_count_the_lines(tmp_path: Path) -> None:
    with Indexed(tmp_path) as index:
        for number in range(12):
            index.write(f"root/f{number:02}.txt", "the overcaterpillared garden\n" * 2)
        first = index.ask("ercaterpill", limit=10, facets=["kinds"])
        second = index.ask("ercaterpill", limit=20, offset=first.next_offset)
        places = [(hit["relative_path"], hit["start_line"]) for hit in (*first.hits, *second.hits)]
        assert places == [(f"f{number:02}.txt", line) for number in range(12) for line in (1, 2)]
        assert first.extras["facets"] == {"kinds": {"plain": 12}}
        assert second.next_offset is None


def test_pieces_of_two_letters_do_not_limit_the_files(tmp_path: Path) -> None:
    with Indexed(tmp_path) as index:
        for number in range(40):
            index.write(f"root/f{number:02}.txt", "ss grass walk\n")
        index.write("root/words.py", "class _Word:\n    pass\n")
        answer = index.ask("ss _W")
        assert [(hit["relative_path"], hit["start_line"]) for hit in answer.hits] == [("words.py", 1)]
        assert answer.mode == "exact"


def test_lines_of_a_changed_file_are_not_shown(tmp_path: Path) -> None:
    with Indexed(tmp_path) as index:
        index.write("root/a.txt", "the overcaterpillared garden\n")
        Path(tmp_path / "root/a.txt").write_text("the garden\n")
        answer = index.ask("ercaterpill")
        assert answer.hits == [] and answer.stale


@pytest.mark.parametrize(
    ("text", "pasted"),
    [
        ("url_for(endpoint)", True),
        ("x = y", True),
        ("call(one two", True),
        ("zither", True),
        ("how to parse a file, quickly?", False),
        ('the "usual" way (in short) - don\u2019t', False),
    ],
)
def test_what_may_be_pasted(text: str, pasted: bool) -> None:
    assert may_be_pasted(text) is pasted


SOURCE = Path(__file__).parents[3] / "indexing" / "livedex_indexing" / "query"


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("code")) as made:
        for file in sorted(SOURCE.glob("*.py")):
            made.write(f"root/{file.name}", file.read_text())
        yield made


def _shortens(piece: str, name: str) -> bool:
    parts, own = piece.lower().strip("_").split("_"), name.split("_")
    return len(parts) == len(own) > 1 and all(map(str.startswith, own, parts))


@given(st.integers(0, 1 << 30), st.integers(3, 40))
@settings(max_examples=examples(100))
def test_any_piece_of_a_line_is_found(code: Indexed, seed: int, length: int) -> None:
    """As `rg -i -F` finds it: one of the first ten hits contains it, unless the text reads like prose."""
    chance = random.Random(seed)
    lines = [line for file in sorted(SOURCE.glob("*.py")) for line in file.read_text().splitlines()]
    line = chance.choice(lines)
    at = chance.randrange(max(1, len(line) - length))
    piece = line[at : at + length].strip()
    if not piece or piece.startswith(("-", '"')) or not may_be_pasted(piece) or re.search(r"\b\w+:", piece):
        return
    if text_of_pattern(piece):
        return  # of a regular expression, cut inside a word: what it looks for is found
    if re.search(r"\w(\.|::)\w|\w\(\w+$", piece):
        return  # it may find the definition of the member or the function in any file
    if any(_shortens(piece, file.stem) for file in SOURCE.glob("*.py")):
        return  # that file is found: d_lin for declaring_line.py
    answer = code.ask(piece, limit=100)
    held = [hit for hit in answer.hits if piece.lower() in text_of(hit).lower() or piece in hit["relative_path"]]
    assert held, (piece, answer.mode, len(answer.hits))


def text_of(hit: dict[str, Any]) -> str:
    lines = (SOURCE / hit["relative_path"]).read_text().splitlines()
    return "\n".join(lines[hit["start_line"] - 1 : hit["end_line"]])
