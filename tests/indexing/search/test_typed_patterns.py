"""What people type for other tools finds what they look for: regular expressions, scripts to run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import LINES, Indexed

FILLER = "".join(f"    float_step = {number}  # float\n" for number in range(2 * LINES))
SCRIPTS = '{\n  "name": "boat",\n  "scripts": {\n    "lint": "scrub .",\n    "float": "launch ."\n  }\n}\n'


@pytest.fixture(scope="module")
def boat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("boat")) as made:
        made.write("root/hull.py", f"{FILLER}def scrub_hull(mop):\n    pass\n{FILLER}")
        made.write("root/package.json", SCRIPTS)
        for number in range(12):
            made.write(f"root/use{number}.py", f"def b{number}(hull):\n    scrub(hull).hull\n")
            made.write(f"root/day{number}.md", f"npm lint, npm run lint {number}, and run b\n")
        yield made


@pytest.mark.parametrize(
    ("query", "line", "meant"),
    [
        (r"\bscrub_hull\b", "def scrub_hull", "scrub_hull"),
        (r"def scrub_hull\(", "def scrub_hull", "def scrub_hull("),
        (r"def\s+scrub_hull", "def scrub_hull", "def scrub_hull"),
        (r"^def scrub_hull", "def scrub_hull", "def scrub_hull"),
        (r"scrub_hull\b", "def scrub_hull", "scrub_hull"),
    ],
)
def test_a_regular_expression_finds_what_it_looks_for(boat: Indexed, query: str, line: str, meant: str) -> None:
    answer = boat.ask(query)
    assert line in answer.hits[0]["snippet"]
    assert answer.extras["did_you_mean"]["query"] == meant


def test_a_file_with_the_regular_expression_comes_first(boat: Indexed) -> None:
    boat.write("root/pattern.py", f'{FILLER}    NAME = r"\\bscrub_hull\\s+of\\b"\n')
    assert boat.found(r"\bscrub_hull\s+of\b")[0] == "pattern.py"


@pytest.mark.parametrize("query", ["npm run float", "yarn float", "pnpm run-script float"])
def test_a_script_to_run_finds_its_line(boat: Indexed, query: str) -> None:
    hit = boat.search(query)[0]
    assert (hit["relative_path"], '"float"' in hit["snippet"]) == ("package.json", True)
