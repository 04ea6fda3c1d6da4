"""The definition of a member of a type, found by its bare name: it comes before what uses it."""

from __future__ import annotations

import pytest

from helpers.indexed_folder import Indexed

JAVA = """package crane;

/** How a crane moves. As {@link #SLOW_LIFT} says, it is slow. */
public enum Motion implements Speed {
    /** Nothing moves. */
    AT_REST(0),

    /** The SLOW_LIFT of heavy loads. */
    SLOW_LIFT(1, Unit.of("m/s")),

    FAST_LIFT;
}
"""
HEADER = """#ifndef CRANE_H
#define CRANE_H

enum crane_state {
\tCRANE_STATE_IDLE,
\tCRANE_STATE_BRAKED,
};

/**
 * struct crane - a crane
 * @load_cell_gain: gain of the load cell
 */
struct crane {
\tu32 height;
\tu16 load_cell_gain;
};

#endif
"""
USES = {
    "Lift.java": "class Lift {\n  Object at(int speed) {\n    switch (speed) {\n      case SLOW_LIFT: int up = 1;\n"
    "        return SLOW_LIFT;\n    }\n    return move(\n        SLOW_LIFT,\n        SLOW_LIFT);\n  }\n}\n",
    "lift.c": "int lift(struct crane *crane)\n{\n\tif (crane->load_cell_gain > crane->load_cell_gain_old)\n"
    "\t\treturn state(CRANE_STATE_BRAKED,\n\t\t\tCRANE_STATE_BRAKED);\n\treturn crane->load_cell_gain;\n}\n",
    "notes.md": "# The load cell gain\n\nThe load cell gain, a slow lift, and crane state braked.\n",
}
GO = """package crane

// Hoist lifts a load. Hoist is not safe for two cranes.
//
// Use Hoist with care.
func (c *Crane) Hoist(load int) error {
\treturn c.lift(load)
}
"""


@pytest.fixture
def cranes(index: Indexed) -> Indexed:
    index.write("root/Motion.java", JAVA)
    index.write("root/crane.h", HEADER)
    for path, text in USES.items():
        index.write(f"root/{path}", text)
    return index


@pytest.mark.parametrize(
    ("name", "file", "line"),
    [
        ("SLOW_LIFT", "Motion.java", '    SLOW_LIFT(1, Unit.of("m/s")),'),
        ("CRANE_STATE_BRAKED", "crane.h", "\tCRANE_STATE_BRAKED,"),
        ("load_cell_gain", "crane.h", "\tu16 load_cell_gain;"),
    ],
)
def test_its_line_comes_before_what_uses_it(cranes: Indexed, name: str, file: str, line: str) -> None:
    first = cranes.search(name)[0]
    assert (first["relative_path"], first["text"]) == (file, line)
    assert first["column"] == line.index(name) + 1


def test_a_constant_comes_before_a_function_with_its_words(index: Indexed) -> None:
    index.write("root/locale.py", "import os\n\nSHOW_NAME = 0\n")
    index.write("root/names.py", "def getShowName(of):\n    return show(of, SHOW_NAME)\n")
    assert index.search("SHOW_NAME")[0]["relative_path"] == "locale.py"


def test_a_hit_points_at_the_definition_and_not_at_its_comment(index: Indexed) -> None:
    index.write("root/crane.go", GO)
    for query in ("Hoist", "(*Crane).Hoist", "Crane.Hoist"):
        hit = index.search(query)[0]
        assert hit["text"] == "func (c *Crane) Hoist(load int) error {", query
        assert hit["line"] == 6


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("func (x *Hull) End() int { return 1 }\nfunc (x *Mast) End() int { return 2 }\n", "func (x *Mast)"),
        ("class Hull:\n    def End(self): ...\n\nclass Mast:\n    def End(self): ...\n", "    def End"),
    ],
)
def test_of_two_definitions_in_a_chunk_it_points_at_that_of_the_owner(index: Indexed, text: str, line: str) -> None:
    index.write("root/ship.go" if "func" in text else "root/ship.py", text)
    for query in ("Mast.End", "(*Mast).End"):
        hit = index.search(query)[0]
        assert hit["text"].startswith(line), query
        assert hit["line"] == len(text.splitlines())


@pytest.mark.parametrize("query", ["[]*Mast", "[]Mast", "[4]Mast"])
def test_a_type_in_a_slice_of_go_is_found(index: Indexed, query: str) -> None:
    index.write("root/a_crew.go", "package ship\n\nfunc haul(mast Mast, other Mast) Mast {\n\treturn mast\n}\n")
    index.write("root/hull.go", "package ship\n\n// A Mast is high.\ntype Mast struct {\n\tHeight int\n}\n")
    hit = index.search(query)[0]
    assert (hit["relative_path"], hit["text"]) == ("hull.go", "type Mast struct {")


@pytest.mark.parametrize(
    "command",
    ["pytest tests -k test_hoist", "$ go test -v -run=test_hoist .", "go test -race ./... -run '^test_hoist$'"],
)
def test_the_command_that_runs_a_test_leads_to_it(index: Indexed, command: str) -> None:
    index.write("root/test_crane.py", "import crane\n\ndef test_hoist():\n    assert crane.hoist()\n")
    for number in range(4):
        line = f"{number} go test run, race, v; pytest tests k: test_hoist, test_hoist\n"
        index.write(f"root/runs{number}.txt", line * 4)
    hit = index.search(command)[0]
    assert (hit["relative_path"], hit["line"]) == ("test_crane.py", 3)


def test_a_command_with_long_options_excludes_nothing(index: Indexed) -> None:
    index.write("root/notes.md", "Delete what Python made: `find . -name __pycache__ -exec rm {} +`\n")
    index.write("root/other.md", "To find out about Python, rm this.\n")
    assert index.found("find src -name lamp")[0] == "notes.md"


@pytest.mark.parametrize(
    ("name", "declaring", "setting"),
    [
        ("lampGain", "export interface Lamp {\n  lampGain?: number;\n}\n", "use({\n  lampGain: 3,\n});\n"),
        ("lamp_gain", "struct lamp {\n\tu16 lamp_gain;\n};\n", "struct lamp red = {\n\t.lamp_gain = 3,\n};\n"),
    ],
)
def test_its_type_comes_before_what_sets_it(index: Indexed, name: str, declaring: str, setting: str) -> None:
    for number in range(3):
        index.write(f"root/a{number}.txt", f"{setting * 3}{number}\n")
    index.write("root/lamp.txt", f"// Lamps\n{declaring}")
    hit = index.search(name)[0]
    assert (hit["relative_path"], name in hit["text"]) == ("lamp.txt", True)
