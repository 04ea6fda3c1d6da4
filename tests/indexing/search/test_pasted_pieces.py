"""A log line with other values, a piece of a diff, a quotation with something left out or a command with its prompt
finds what most of it comes from."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import LINES, Indexed

FILLER = "".join(f"// step {number}\n" for number in range(2 * LINES))


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("kitchen")) as made:
        made.write("root/oven.c", f'{FILLER}warn("oven %d: too hot to be opened, %s", number, name);\n{FILLER}')
        made.write("root/hot.c", "opened(hot_oven, too);  // be hot, oven\n" * 3)
        made.write("root/rack.c", f"{FILLER}item = next(rack);\nwipe(item, cloth);\nput(item, shelf);\n{FILLER}")
        made.write("root/cloth.c", "item(cloth, wipe); // rack, shelf: put next item\n" * 9)
        made.write("root/next.c", "next(rack);  // next rack\n" * 9)
        made.write("root/fan.c", "code = -22;  // or -EAGAIN\nreturn fan_failed_to_start(code);\n")
        made.write("root/fans.md", "fans fail at their start\n")
        made.write("root/quoted.md", f"{FILLER}Let the dough rest a while, then put it on the tray.\n{FILLER}")
        made.write("root/dough.md", "Dough: let rest, put tray. The rest of dough, on a tray, let the rest put.\n" * 9)
        made.write("root/run.md", f"{FILLER}Type `bake -m tray` and look at the oven.\n{FILLER}")
        made.write("root/baking.md", "Bake a tray, bake trays: bake the host.\n" * 9)
        yield made


@pytest.mark.parametrize(
    ("query", "path", "line"),
    [
        ("[12.345] oven 7: too hot to be opened, grill", "oven.c", "warn("),
        ("oven 7: too hot to be opened, grill", "oven.c", "warn("),
        (" item = next(rack);\n-wipe(item, cloth);\n+wipe(cloth, item);\n put(item, shelf);", "rack.c", "wipe("),
    ],
)
def test_a_pasted_text_with_other_parts_is_found(kitchen: Indexed, query: str, path: str, line: str) -> None:
    hit = kitchen.search(query)[0]
    assert (hit["relative_path"], line in hit["snippet"]) == (path, True)


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("item = next(ra…", "item = next(ra"),
        ("wipe(item, cl...", "wipe(item, cl"),
        ("... = next(rack);", "= next(rack);"),
        ("... let(the, dough)", None),  # a file has it so
        ("item rack ...", None),  # a pause, not a line
    ],
)
def test_a_line_that_was_cut_short_is_found(kitchen: Indexed, query: str, meant: str | None) -> None:
    """As terminals, chats and lists of search results show a long line."""
    kitchen.write("root/pause.c", "// ... let(the, dough)\n")
    answer = kitchen.ask(query)
    assert answer.extras.get("did_you_mean") == (meant and {"query": meant, "applied": True})
    assert meant is None or meant.lower() in answer.hits[0]["snippet"].lower()


@pytest.mark.parametrize("sign", ["-", "+", " -", "-    "])
def test_a_line_of_a_diff_is_found_without_its_sign(kitchen: Indexed, sign: str) -> None:
    answer = kitchen.ask(f"{sign}item = next(rack);")
    assert answer.hits[0]["relative_path"] == "rack.c"
    assert answer.extras["did_you_mean"] == {"query": "item = next(rack);", "applied": True}


def test_a_dash_excludes_a_word_where_no_file_has_the_line(kitchen: Indexed) -> None:
    assert kitchen.found("-item cloth(rack);") == ["next.c"]
    assert "rack.c" not in kitchen.found("-item wipe"), "words without a sign of code"
    kitchen.write("root/list.c", f"{FILLER}-item = next(rack);\n")
    assert kitchen.search("-item = next(rack);")[0]["relative_path"] == "list.c", "a file with the sign too"
    kitchen.remove("root/list.c")


@pytest.mark.parametrize("query", ["the fan failed to start -22", "the fan failed to start: -EAGAIN"])
def test_the_number_of_an_error_excludes_nothing(kitchen: Indexed, query: str) -> None:
    assert kitchen.search(query)[0]["relative_path"] == "fan.c"


@pytest.mark.parametrize("left_out", ["...", "…", "[...]", "(…)"])
def test_a_quotation_with_something_left_out(kitchen: Indexed, left_out: str) -> None:
    for query in (f"let the dough rest {left_out} put it on the tray", f'"Let the dough rest {left_out} on the tray"'):
        assert kitchen.search(query)[0]["relative_path"] == "quoted.md"


@pytest.mark.parametrize("prompt", ["", "host@bake:~$ ", "[host@bake host]# ", "PS C:\\bake> ", "% "])
def test_a_command_is_found_with_its_options_and_its_prompt(kitchen: Indexed, prompt: str) -> None:
    assert kitchen.search(f"{prompt}bake -m tray")[0]["relative_path"] == "run.md"


def test_a_query_of_a_prompt_alone_stays(kitchen: Indexed) -> None:
    assert kitchen.found("host@bake:~$ ") == ["baking.md"]
