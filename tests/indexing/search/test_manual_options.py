"""An option of a command, or a section, is found in the command's manual page, if that has it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import LINES, Indexed

FILLER = "".join(f".PP\nstep {number}\n" for number in range(2 * LINES))


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("manual")) as made:
        made.write("root/man/grill.1", f"{FILLER}.SH OPTIONS\n.PP\n\\fB\\-\\-no\\-fan\\fR\n{FILLER}")
        made.write("root/man/grill-clean.8", f"{FILLER}.PP\n\\fB\\-\\-wet\\fR\n{FILLER}")
        made.write("root/complete/grill", "# grill\ncomplete grill clean --no-fan --lid --wet\n" * 9)
        yield made


@pytest.mark.parametrize(
    ("query", "path", "text"),
    [
        ("grill --no-fan", "man/grill.1", r"\fB\-\-no\-fan\fR"),
        ("grill --no-fan=now option", "man/grill.1", r"\fB\-\-no\-fan\fR"),
        ("grill clean --wet", "man/grill-clean.8", r"\fB\-\-wet\fR"),
        ("grill clean --no-fan", "man/grill.1", r"\fB\-\-no\-fan\fR"),
    ],
)
def test_an_option_of_a_command(manual: Indexed, query: str, path: str, text: str) -> None:
    hit = manual.search(query)[0]
    assert (hit["relative_path"], hit["text"]) == (path, text)


@pytest.mark.parametrize("query", ["grill OPTIONS", "grill(1) OPTIONS", "grill(1) options"])
def test_a_section_of_a_page(manual: Indexed, query: str) -> None:
    hit = manual.search(query)[0]
    assert (hit["relative_path"], hit["text"]) == ("man/grill.1", ".SH OPTIONS")


@pytest.mark.parametrize("query", ["grill --lid", "oven --no-fan"])
def test_a_page_without_the_option_is_not_meant(manual: Indexed, query: str) -> None:
    assert manual.search(query)[0]["relative_path"] == "complete/grill"
