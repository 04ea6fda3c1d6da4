"""The line that declares a name is told from the lines that use it."""

from __future__ import annotations

import time

import pytest

from livedex_indexing.query.declaring_line import (
    declared_at,
    declares,
    defined_at,
    defines,
    introduced_at,
    is_in_section,
    labels,
)
from livedex_indexing.query.member_line import member_at


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("$width", "$width: 1px !default;"),
        ("width", "  $width: 1px;"),
        (".tabs", ".tabs {"),
        (".tabs", ".tabs,\n.pills {"),
        ("tabs", ".tabs,\n.pills {"),
        ("grid-cell", "@mixin grid-cell("),
        ("semver", '    "semver": "^7.0.0"'),
        ("walks", "  has_many :walks, through: :trees"),
        ("walked_at", '    t.datetime "walked_at", null: false'),
        ("walked", "    field(:walked, :boolean)"),
        ("LIMITS", "static const int LIMITS[] = {"),
        ("LIMIT", "LIMIT: int = 3"),
        ("LIMIT", "x = os.environ.get('LIMIT')"),
        ("LIMIT", "if (process.env.LIMIT) {"),
        ("LIMIT", "#define LIMIT 3"),
        ("NET_SCHED", "menuconfig NET_SCHED"),
        ("sec:walk", "\\section{Walking}\\label{sec:walk}"),
        ("\\walk", "\\newcommand{\\walk}[1]{#1}"),
        ("--quiet", ".. option:: --quiet"),
        ("ExecStart", "ExecStart=/usr/bin/walk"),
        ("walk-label", ".. _walk-label:"),
        ("walk:1999", "@book{walk:1999,"),
        ("_walk", "[[_walk]]"),
        ("walk", "## Walking {#walk}"),
        ("walk", '<h2 class="a" id="walk">'),
        ("walk", "  :CUSTOM_ID: walk"),
        ("walk", "  attr_reader :tree, :walk"),
        ("walk", "mattr_accessor :walk, default: 1"),
        ("walk", "module.exports.walk = (tree) => {"),
        ("walk", "Tree.prototype.walk = function () {"),
    ],
)
def test_a_line_declares_a_name(name: str, line: str) -> None:
    assert declares(f"before\n{line}\n", name)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("$width", "  height: $width;"),
        ("$width", "$width-small: 1px;"),
        ("grid-cell", "@include grid-cell(2);"),
        ("grid-cell", "@mixin grid-cell-base("),
        ("LIMIT", "if (LIMIT == 3)"),
        ("LIMIT", "LIMIT == 3"),
        ("LIMIT", "self.LIMIT = 3"),
        ("LIMIT", "return LIMIT = 3"),
        ("NET_SCHED", "config NET_SCHED is needed for this"),
        ("walk", "walk(tree)"),
        ("LIMIT", "  case LIMIT: int x = 1;"),
        ("Walk", "  Walk => step(),"),
        ("walk", "exports.walk = walk;"),
        ("walk", "delegate :walk, to: :tree"),
    ],
)
def test_a_line_only_uses_a_name(name: str, line: str) -> None:
    assert not declares(f"before\n{line}\n", name)


SETTINGS = """[tool.oven]
heat = 200
[[tool.oven.rack]]
size = 3
[tool.shelf]
size = 4
# heat
"""


@pytest.mark.parametrize(
    ("section", "key", "is_there"),
    [
        ("tool.oven", "heat", True),
        ("tool.oven.rack", "size", True),
        ("tool.oven", "size", False),
        ("tool.shelf", "heat", False),
        ("oven", "heat", False),
    ],
)
def test_a_key_is_below_the_heading_of_its_section(section: str, key: str, is_there: bool) -> None:
    assert is_in_section(SETTINGS, section, key) is is_there


@pytest.mark.parametrize(
    ("line", "is_defined"),
    [
        ("macro_rules! walk {", True),
        ("class walk:", True),
        ("  def self.walk(tree)", True),
        ("function M.walk(tree)", True),
        ("func Tree.walk(n: Int) {", True),
        ("    def walk(tree):", True),
        ("func (t *Tree) walk(n int) {", True),
        ("static int *walk(struct tree *t)", True),
        ("  public List<Node> walk() {", True),
        ("  walk(tree) {", True),
        ("#define walk(t) (t)", True),
        ("int walk(struct tree *t);", False),
        ("    return walk(tree)", False),
        ("    walk(tree);", False),
        ("    check_walk(tree, walk)", False),
        ("def check(walk, tree):", False),
        ("u32 walk[4];", False),
        ("void Tree::walk(int steps) {", True),
        ("std::vector<int> Tree<T>::walk() const {", True),
        ("class LAMP_EXPORT walk : public Tree {", True),
        ("struct Tree<Key>::walk {", True),
        ("typedef struct tree walk;", True),
        ("typedef std::map<int, Tree*> walk;", True),
        ("} walk;", True),
        ("typedef int (*walk)(int steps);", True),
        ("struct __packed walk {", True),
        ("class walk::Step {", False),
        ("fun walk.step() {", False),
        ("const walk* step = start;", False),
        ("friend class walk;", False),
        (" * struct walk - how to walk", False),
        ("// class walk is of trees", False),
        ("  defp walk(tree) do", True),
        ("defmodule walk do", True),
        ("default walk", False),
        ("struct walk step = {", False),
        ("    std::walk(tree,", False),
        ("typedef int (*step)(int walk);", False),
        ("# the walk of a tree", False),
        ("walk <- function(tree) {", True),
        ("walk = function(tree)", True),
        ("walk :: Tree -> Int", True),
        ("function(walk tree)", True),
        ("(defun walk (tree)", True),
        ("(define (walk tree)", True),
        ("message walk {", True),
        ("  rpc walk (Tree) returns (Tree);", True),
        ("walk::step();", False),
        ("send(function(walk) {", False),
        ("a message walk", False),
        ("(walk tree)", False),
    ],
)
def test_the_line_that_defines_a_name(line: str, is_defined: bool) -> None:
    assert defines(f"first\n{line}\nlast", "walk", is_member=False) is is_defined


def test_a_member_may_be_a_field() -> None:
    assert defines("struct tree {\n\tu32 walk[4];\n};", "walk", is_member=True)
    assert not defines("struct tree {\n\tu32 walked;\n};", "walk", is_member=True)


@pytest.mark.parametrize(
    ("line", "is_introduced"),
    [
        ("  private val walk: Int", True),
        ("let mut walk;", True),
        ("  let walk = 3", True),
        ("export WALK=3 walk=2", False),
        ("static int walk = 3;", True),
        ("attr_reader :step, :walk", True),
        ("walk = 3", False),
        ("  walk: 3", False),
        ("let step = walk;", False),
    ],
)
def test_a_line_that_introduces_a_name_and_one_that_sets_it(line: str, is_introduced: bool) -> None:
    assert (introduced_at(f"before\n{line}\n", "walk") is not None) is is_introduced


def test_a_key_is_no_label() -> None:
    assert labels("walk::\n.. _walk:\n", "walk")
    assert not labels("walk: 3\nwalk = 3\n", "walk")


@pytest.mark.parametrize("unit", ["walk ", "walk, ", "walk* ", "class walk. ", "a=", "&", "*", "(", "walk.", " "])
def test_a_long_line_takes_no_longer_than_a_short_one(unit: str) -> None:
    text = f"{unit * 20_000}walk{unit * 20_000}"
    began = time.process_time()
    for place in (defined_at, declared_at, member_at):
        place(text, "walk")
    assert time.process_time() - began < 0.5


def test_a_part_of_a_long_line_is_not_taken_for_a_line() -> None:
    assert defined_at(f"{'x; ' * 999}function walk(tree) {{ {'x; ' * 999}", "walk") is not None
    assert declared_at(f"x({' ' * 999}walk = 3", "walk") is None
    assert declared_at(f"x\n{' ' * 99}walk = 3", "walk") is not None
    assert defined_at(f"walk(tree) {{{' ' * 999}}}", "walk") is None
