"""What no grammar names is found where a line declares it; so are uses, sections, manual pages and quoted lines."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import LINES, Indexed

FILLER = "".join(f"// step {number}\n" for number in range(2 * LINES))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("site")) as made:
        made.write("root/variables.scss", f"{FILLER}$toast-color: red;\n.toast-body {{\n  margin: 0;\n}}\n{FILLER}")
        made.write("root/toasts.scss", "color: $toast-color; // $toast-color\n" * 8 + "@extend .toast-body;\n" * 8)
        made.write("root/Kconfig", f"{FILLER}config TOAST_TIMER\n\tbool\n{FILLER}")
        made.write("root/timer.c", "#ifdef CONFIG_TOAST_TIMER\nuse(CONFIG_TOAST_TIMER);\n#endif\n" * 3)
        made.write("root/package.json", f'{{\n"dependencies": {{\n{FILLER}"toaster": "^1.0"\n}}\n}}\n')
        made.write("root/toaster.js", 'import toaster from "toaster";\n' * 9)
        made.write("root/bread.py", f"def heat_up(bread):\n    return bread\n{FILLER}")
        made.write("root/kitchen.py", f"{FILLER}done = heat_up(slice)\n{FILLER}")
        made.write("root/guide.md", f"{FILLER}# Toasters\n\nBread.\n\n## Browning control\n\nTurn it.\n{FILLER}")

        for number in range(30):  # the words are everywhere, but in a row
            made.write(
                f"root/talk{number}.md", f"Tell {number}: see toasters.\nBrowning has a control.\nChapter, overview.\n"
            )
        made.write("root/other.md", f"# Ovens\n\n{FILLER}\n## Browning levels\n\nTurn it.\n{FILLER}")
        made.write("root/man/toast.1", f"{FILLER}.SH NAME\ntoast\n")
        made.write("root/toast", "complete -F _toast toast\n" * 9)
        made.write("root/names.md", "Jane Doe 2019-05-19 13:08:55 +0100. Jane Doe wrote it, 2019-05-19.\n" * 9)
        made.write("root/slot.c", f"{FILLER}\tslot = &rack->bread + 1;\n{FILLER}")
        yield made


@pytest.mark.parametrize(
    ("query", "path", "line"),
    [
        ("$toast-color", "variables.scss", "$toast-color: red;"),
        (".toast-body", "variables.scss", ".toast-body {"),
        ("css class toast-body", "variables.scss", ".toast-body {"),
        ("CONFIG_TOAST_TIMER", "Kconfig", "config TOAST_TIMER"),
        ("what does CONFIG_TOAST_TIMER do", "Kconfig", "config TOAST_TIMER"),
        ("# CONFIG_TOAST_TIMER is not set", "Kconfig", "config TOAST_TIMER"),
        ("dependencies.toaster", "package.json", '"toaster": "^1.0"'),
    ],
)
def test_the_line_that_declares_a_name_is_found(site: Indexed, query: str, path: str, line: str) -> None:
    hit = site.search(query)[0]
    assert hit["relative_path"] == path
    assert line in hit["snippet"]


@pytest.mark.parametrize("query", ["what calls heat_up", "callers of heat_up()", "where is heat_up used?"])
def test_who_asks_for_uses_gets_them(site: Indexed, query: str) -> None:
    hit = site.search(query)[0]
    assert (hit["relative_path"], "done = heat_up(slice)" in hit["snippet"]) == ("kitchen.py", True)


@pytest.mark.parametrize(
    "query",
    [
        "tell me more about browning control",
        'see "Browning control"',
        "the chapter on browning control",
        "Toasters > Browning control",
        "Browning control in Toasters",
        "an overview of browning control",
    ],
)
def test_a_heading_among_words_that_ask_for_it(site: Indexed, query: str) -> None:
    hit = site.search(query)[0]
    assert (hit["relative_path"], "## Browning control" in hit["snippet"]) == ("guide.md", True)


@pytest.mark.parametrize("query", ["toast(1)", "man toast", "man 1 toast", "toast manual page"])
def test_a_manual_page_is_a_file(site: Indexed, query: str) -> None:
    assert site.search(query)[0]["relative_path"] == "man/toast.1"


def test_a_line_with_more_in_front_of_it_is_found(site: Indexed) -> None:
    blamed = "5eb15062db90 (Jane Doe 2019-05-19 13:08:55 +0100 21) \tslot = &rack->bread + 1;"
    hit = site.search(blamed)[0]
    assert (hit["relative_path"], "slot = &rack->bread + 1;" in hit["snippet"]) == ("slot.c", True)
