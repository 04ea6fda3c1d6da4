"""How much of a pasted text another text has, and by which rows of words the text is looked up."""

from __future__ import annotations

import pytest

from livedex_indexing.query.pasted_pieces import lines_of, may_have_other_parts, share_of, windows

CODE = '    log.warning("%s: cannot open the shelf of %d\\n", name, number)\n    shelf.close(now)\n'


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("rack7: cannot open the shelf of 12", 1.0),
        ("Nov 12 10:02:33 host kernel: [123.45] rack7: cannot open the shelf of 12", 1.0),
        ("12: somebody cannot open the shelf of them", 5 / 7),
        ("12: somebody and others cannot reach the shelf of them", 0),  # three words in a row are too few
        ("12: open the shelf", 0),  # so are three alone
        ("12: those shelves cannot open the gate to any place or to the shelf of all", 0),  # that is less than half
        ("cannot open the 'shelf of 7' of 'oak'", 5 / 6),  # a number and a word in quotes are values
        ("keeper: cannot open the shelf of 'oak wood'", 5 / 7),  # two words are none
        ("keeper: cannot open the shelf of /home/oak/wood", 1.0),  # the report and the path do not count
        (" log.warning(name, number)\n-    shelf.close(now)\n+    shelf.close()", 5 / 9),
    ],
)
def test_the_share_of_a_text(text: str, share: float) -> None:
    told = share_of(text)
    assert (told(CODE) if told is not None else 0) == pytest.approx(share)


def test_what_was_left_out_does_not_count() -> None:
    told = share_of("cannot open the shelf ... name, number)")
    assert told is not None
    assert told(CODE) == pytest.approx(4 / 6)
    assert may_have_other_parts("open … shelf")
    assert not may_have_other_parts("open the shelf...")
    assert lines_of("open ... shelf\nof … it") == ["open ", " shelf", "of ", " it"]


@pytest.mark.parametrize("text", ["cannot open the shelf of mine", "add tests for mpsc::channel on ext4"])
def test_a_line_without_a_number_is_not_compared_by_pieces(text: str) -> None:
    assert share_of(text) is None


@pytest.mark.parametrize(
    ("line", "rows"),
    [
        ("a b c d e", ["a b c d", "b c d e"]),
        ("1 a b c 2 d e", ["a b c"]),
        ("0x1 a 2 b", ["0x1 a 2 b"]),
        ("a b", []),
    ],
)
def test_rows_of_words_between_values_are_looked_up(line: str, rows: list[str]) -> None:
    assert [" ".join(row) for row in windows([line.split()])] == rows
