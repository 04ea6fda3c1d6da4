"""What people type for other tools finds what they look for: regular expressions, scripts to run, globs, qualifiers."""

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


@pytest.mark.parametrize(
    ("query", "meant", "names"),
    [
        ("hu*.py", "path:hu*.py", ["hull.py"]),
        ("*.json", "path:*.json", ["package.json"]),
        ("**/package.*son", "path:**/package.*son", ["package.json"]),
        ("./p*.{json,yaml}", "path:p*.json path:p*.yaml", ["package.json"]),
        ("filename:hull.py", "hull.py", ["hull.py"]),
        ("symbol:scrub_hull", "scrub_hull", ["hull.py"]),
        ("scrub_hull language:py", "scrub_hull lang:py", ["hull.py"]),
        ("scrub extension:json", "scrub ext:json", ["package.json"]),
        ("scrub file:package", "scrub path:package", ["package.json"]),
        ("scrub_hull -file:day*", "scrub_hull -path:day*", ["hull.py"]),
    ],
)
def test_a_glob_and_qualifiers_are_read_as_terms(boat: Indexed, query: str, meant: str, names: list[str]) -> None:
    answer = boat.ask(query)
    assert [hit["relative_path"] for hit in answer.hits][: len(names)] == names
    assert answer.extras["did_you_mean"]["query"] == meant


@pytest.mark.parametrize("query", ["h*.rb", "scrub language:scrubbing", "scrub extension:rb", "scrub file:rudder"])
def test_what_no_file_passes_stays_a_text(boat: Indexed, query: str) -> None:
    assert "did_you_mean" not in boat.ask(query).extras


def test_a_file_with_a_qualifier_as_typed_has_it(boat: Indexed) -> None:
    boat.write("root/search.md", "To search, type: scrub language:python\n")
    assert boat.found("scrub language:python")[0] == "search.md"


@pytest.mark.parametrize("term", ["lang:py", "ext:py", "-path:day", "path:hull lang:python"])
def test_a_name_leads_to_its_definition_with_terms_too(boat: Indexed, term: str) -> None:
    for query in (f"scrub_hull {term}", f"{term} scrub_hull()", f"where is scrub_hull defined {term}"):
        assert "def scrub_hull" in boat.search(query)[0]["snippet"], query
