"""Questions in sentences: who asks does not know the words of the text, nor the name of its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.indexed_folder import Indexed

QUESTION = "how is the lantern dimmed by its relays"


def test_documents_come_with_code_where_a_sentence_asks(tmp_path: Path) -> None:
    text = "the lantern is dimmed by a relay\n"
    with Indexed(tmp_path) as index:
        index.write("root/notes", text)
        for name in ("signalling_x.c", "signalling_y.c", "signalling_z.c"):
            index.write(f"root/{name}", f"// {name} {text}")
        assert index.found("dim lantern relays")[-1] == "notes", "for a few words, code answers"
        assert index.found(QUESTION)[0] == "notes"


def test_a_question_to_somebody_is_a_sentence_with_what_is_left_out_of_it(tmp_path: Path) -> None:
    text = "the lantern is dimmed by a relay\n"
    with Indexed(tmp_path) as index:
        index.write("root/notes", text)
        for name in ("signalling_x.c", "signalling_y.c", "signalling_z.c"):
            index.write(f"root/{name}", f"// {name} {text}")
        assert index.found("how do I find out about dim lantern relays")[0] == "notes"


def test_a_word_of_a_sentence_in_a_name_says_less_than_the_text(tmp_path: Path) -> None:
    with Indexed(tmp_path) as index:
        index.write("root/harbour.c", "/* Shut the harbour while it is broken. */\n")
        index.write("root/patching.c", "/* A winch that is broken at the harbour is replaced. */\n")
        for number in range(30):
            broken = f"/* the winch is replaced while ship {number} is broken */\n"
            index.write(f"root/other{number}.c", broken if number < 8 else f"/* Nothing {number} */\n")
        assert index.found("harbour winch")[0] == "harbour.c", "of a few words, the name tells"
        question = "how can a winch be replaced that is broken while it is at the harbour"
        assert index.found(question)[0] == "patching.c"


SECTION = "A winch pulls the ferry.\n\nStorms delay it.\n"
FILLER = "Nothing of this is about it.\n" * 60
CODE = f"/* The winch pulls the ferry when a storm delays it. */\n{FILLER}"
DELAYED = "what does the winch pull when a storm delays the ferry"


def test_a_document_with_the_words_in_all_of_its_sections_comes_first(tmp_path: Path) -> None:
    with Indexed(tmp_path) as index:
        index.write("root/guide.txt", f"{SECTION}\n{FILLER}" * 4)
        index.write("root/a.c", CODE)
        assert index.found("ferry winch storm")[0] == "a.c", "for a few words, one place tells"
        best = index.search(DELAYED, explain=True)[0]
        assert best["relative_path"] == "guide.txt"
        assert sum(part["value"] for part in best["explain"]["parts"]) == pytest.approx(best["score"])


def test_other_files_gain_nothing_by_their_sections(tmp_path: Path) -> None:
    with Indexed(tmp_path) as index:
        index.write("root/guide.types", f"{SECTION}\n{FILLER}" * 4)
        index.write("root/a.c", CODE)
        assert index.found(DELAYED)[0] == "a.c"


def test_a_name_that_prose_mentions_counts_as_much_as_its_words(tmp_path: Path) -> None:
    with Indexed(tmp_path) as index:
        index.write("root/defined.py", "def berth(ship):\n    return ship.name\n")
        body = "    members = composite.canonical_members\n    return [berth for berth in members]\n"
        index.write("root/meant.py", f"def moor(composite):\n{body}")
        for number in range(30):
            index.write(f"root/other{number}.py", f"def sail{number}(berth):\n    return berth + {number}\n")
        assert index.found("error: no member named `berth`")[0] == "defined.py"
        assert index.found("assemble a composite of all the canonical members that are in `berth`")[0] == "meant.py"
