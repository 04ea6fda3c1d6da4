"""A message and a line of code lead to the definition of the name in them, or to the file that has the message."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.indexed_folder import LINES, Indexed

FILLER = "".join(f"    step = {number}\n" for number in range(3 * LINES))
MANY = 20  # files that say what the messages say


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("messages")) as made:
        for number in range(MANY):
            made.write(f"root/notes{number}.md", f"An error: the name of value {number} is not defined.\n" * 3)
            made.write(
                f"root/uses{number}.py", f"wanderer(wanderer, Rover)  # error: name of value {number} undefined\n"
            )
            made.write(f"root/queue{number}.js", f"const queue = {number}; queue.wander(); // undefined symbol: type\n")
        walks = "def wanderer(tree):\n    return meadow  # wanderer\n\n\n"
        made.write("root/walks.py", f"{FILLER}{walks}{FILLER}name = defined\n")
        made.write("root/rovers.py", f"{FILLER}class Rover(Walk):\n    def drive(self):\n        pass\n")
        made.write("root/width.py", f"{FILLER}def width(text):\n    pass\n")
        made.write("root/kinds.py", f'{FILLER}    raise ValueError(f"no such kind of line {{kind}}")\n{FILLER}')
        made.write("root/bad.py", f'{FILLER}    raise ValueError(f"bad hue {{hue}}")\n{FILLER}')
        made.write("root/returned.py", f"{FILLER}    if True: return wanderer(meadow) or wanderer\n{FILLER}")
        made.write("root/pasted.py", f"{FILLER}    found = wanderer(forest)\n{FILLER}")
        made.write("root/far.py", f"{FILLER}def wander_far(tree):\n    pass\n")
        made.write(
            "root/said.py",
            f"""{FILLER}    message = "TypeError: roam() got an unexpected keyword argument 'x'"
    other = "AttributeError: 'Hut' object has no attribute 'roof'"
{FILLER}""",
        )
        made.write("root/boxes.py", f"{FILLER}class Box(Lid):\n    pass\n\n\ndef isinstance(x, y):\n    pass\n{FILLER}")
        for number in range(MANY):
            made.write(f"root/boxing{number}.py", f"boxes: list[Box] = isinstance({number}, Box)\n")
        made.write("root/lanterns.py", f"{FILLER}class Lantern(Light):\n    pass\n")
        yield made


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("error[E0425]: cannot find value `wanderer` in this scope", "walks.py"),
        ("NameError: name 'wanderer' is not defined", "walks.py"),
        ("undefined: wanderer", "walks.py"),
        ("'Rover' object has no attribute 'wanderer'", "walks.py"),
        ("public static void wanderer(", "walks.py"),
        ("from errors import wanderer", "walks.py"),
        ("wanderer('name')", "walks.py"),
        ("x.wanderer(", "walks.py"),
        ("TypeError: wander_far() got an unexpected keyword argument 'y'", "far.py"),
        ("AttributeError: 'Tree' object has no attribute 'wander_far'", "far.py"),
        ("TypeError: roam() got an unexpected keyword argument 'z'", "said.py"),
        ("no matching function for call to 'wander_far(int)'", "far.py"),
        ("Box<Lantern>", "lanterns.py"),
        ("Box[str, Lantern]", "lanterns.py"),
        ("isinstance(x, Lantern)", "lanterns.py"),
        ("class Thing extends Rover", "rovers.py"),
        ("class Thing(Rover):", "rovers.py"),
        ("Rover.name", "rovers.py"),
        ("no such kind of line 'width'", "kinds.py"),
        ("ValueError: no such kind of line 'width'", "kinds.py"),
        ("error: bad hue 'width'", "bad.py"),
        ("error: no such kind of line 'width'", "kinds.py"),
        ("found = wanderer(forest)", "pasted.py"),
        ("return wanderer(meadow)", "returned.py"),
    ],
)
def test_what_a_message_or_a_line_is_about_comes_first(app: Indexed, query: str, path: str) -> None:
    assert app.search(query)[0]["relative_path"] == path


@pytest.mark.parametrize(
    "line",
    [
        "found = roamer(forest, deep_water, 12)",
        "found = wanderer(forest, deep_water, 13)",
        "found = wanderer(forest, deep_wtaer, 12)",
        "found = wanderer(forest, 12)",
        "found = wanderer[forest, deep_water, 12]",
    ],
)
def test_a_pasted_line_with_a_change_finds_the_line(app: Indexed, line: str) -> None:
    app.write("root/changed.py", f"{FILLER}    found = wanderer(forest, deep_water, 12)\n{FILLER}")
    assert app.search(line)[0]["relative_path"] == "changed.py"
    app.remove("root/changed.py")


def test_a_line_with_three_common_words_of_a_sentence_is_not_the_line(tmp_path: Path) -> None:
    with Indexed(tmp_path) as made:
        for number in range(MANY):
            made.write(f"root/notes{number}.md", f"Use it {number} times.\n\nHere {number} of it stand instead.\n")
        made.write("root/hints.md", f"{FILLER}Use a map instead of a list.\n{FILLER}")
        made.write("root/clock.c", f"{FILLER}    set_clock(path);  /* lantern, meadow */\n{FILLER}")
        assert made.search("use lantern instead of meadow")[0]["relative_path"] == "clock.c"


def test_the_definition_of_a_phrase_is_the_hit_in_a_file_with_the_words(app: Indexed) -> None:
    hit = app.search('error: Name "wanderer" is not defined')[0]
    assert (hit["relative_path"], "def wanderer" in hit["snippet"]) == ("walks.py", True)


def test_a_definition_comes_before_equal_texts(tmp_path: Path) -> None:
    with Indexed(tmp_path) as made:
        for number in range(3):
            made.write(f"root/calls{number}.py", f"wanderer(wanderer(wanderer({number})))\n")
        made.write("root/longer/walks.py", f"{FILLER}def wanderer(tree):\n    pass\n")
        assert made.search("wanderer(")[0]["relative_path"] == "longer/walks.py"
