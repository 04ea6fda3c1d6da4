"""A name with hyphens leads to the line that defines it, not to its words or its uses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import LINES, Indexed
from livedex_indexing.query.hyphenated_name import hyphenated_name

FILLER = "".join(f"# step {number}\n" for number in range(2 * LINES))


@pytest.fixture(scope="module")
def canal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("canal")) as made:
        made.write("root/canal.py", f"{FILLER}(defun open-lock (gate)\n  def open_lock(gate): pass\n{FILLER}")
        for number in range(12):
            made.write(f"root/trip{number}.py", f"def open_lock(it):  # open-lock\n    (open-lock {number})\n" * 2)
        yield made


@pytest.mark.parametrize("query", ["open-lock", "(open-lock gate)", "#'open-lock"])
def test_the_definition_comes_first(canal: Indexed, query: str) -> None:
    assert hyphenated_name(query) is not None
    assert canal.found(query)[0] == "canal.py"


def test_a_compound_that_nothing_defines_is_text(canal: Indexed) -> None:
    canal.write("root/notes.py", "A bank-side walk, bank side.\n")
    canal.write("root/other.py", f"def bank_side(): pass\n{FILLER}")
    assert canal.found("bank-side")[0] == "notes.py"
