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
