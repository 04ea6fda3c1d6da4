"""A message as it was printed, with values in quotes or at its ends, leads to the line with its template; a variable of
the environment to the line that reads it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import LINES, Indexed

FILLER = "".join(f"    step = {number}\n" for number in range(2 * LINES))


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("fleet")) as made:
        made.write("root/cargo.py", f"{FILLER}    fail(f'too many crates aboard: \"{{name}}\"')\n{FILLER}")
        made.write(
            "root/berth.py", f'{FILLER}    check(f"barge berth = \\"{{a}}\\", want ballast \\"{{b}}\\"")\n{FILLER}'
        )
        made.write("root/store.py", f'{FILLER}    fail(f"Could not find a lamp store with ID {{lamp}}")\n{FILLER}')
        made.write("root/wind.py", f'{FILLER}    speed = os.environ["SAIL_SPEED"]\n{FILLER}')
        for number in range(12):
            made.write(f"root/note{number}.md", f"Heron {number}: a heron, many crates, want a berth. SAIL_SPEED\n" * 3)
            made.write(
                f"root/lamp{number}.md", f"To find a lamp, a store of lamps: heron barge with ID {number}.\n" * 3
            )
        yield made


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ('too many crates aboard: "heron"', "cargo.py"),
        ('barge berth = "heron", want ballast "lamp"', "berth.py"),
        ("Could not find a lamp store with ID heron", "store.py"),
    ],
)
def test_a_message_with_other_values_finds_its_line(fleet: Indexed, query: str, path: str) -> None:
    assert fleet.search(query)[0]["relative_path"] == path


def test_a_quoted_word_is_required_where_no_message_is_around_it(fleet: Indexed) -> None:
    assert "cargo.py" not in fleet.found('many crates of the "heron"')
    assert fleet.found('many crates want "Heron 3"') == ["note3.md"]


@pytest.mark.parametrize("query", ["process.env.SAIL_SPEED", 'os.getenv("SAIL_SPEED")'])
def test_a_variable_of_the_environment_is_searched_for_alone(fleet: Indexed, query: str) -> None:
    answer = fleet.ask(query)
    assert (answer.hits[0]["relative_path"], answer.extras["did_you_mean"]["query"]) == ("wind.py", "SAIL_SPEED")


@pytest.mark.parametrize("query", ["$SAIL_SPEED", "SAIL_SPEED", "SAIL_SPEED environment variable"])
def test_a_variable_of_the_environment_finds_what_reads_it(fleet: Indexed, query: str) -> None:
    assert fleet.search(query)[0]["relative_path"] == "wind.py"
