"""A hit of a name that was typed in words, in another convention or as a link has it points at the line that defines
it, in languages with a grammar and without."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.daemon_over import daemon_over
from helpers.support import Daemon

DART = """import 'hull.dart';

/// How the tow line holds: a tow line is made of rope.
class TowLine extends Line {
  /// The breaking load, in tons. A breaking load is never zero.
  final double breakingLoad;

  double safeLoad(double factor) {
    return breakingLoad / factor;
  }
}
"""
ERLANG = """-module(tow_line).
-export([safe_load/2, tighten/1]).

%% A safe load is less than the breaking load; see safe_load below.
-type load_limit() :: non_neg_integer().

tighten(Line) ->
    safe_load(Line, 2).

safe_load(#{load := Load}, Factor) when Factor > 0 ->
    Load div Factor.
"""
JULIA = """module Tow

const BREAKING_LOAD = 3

# the taut rope of a line, as taut_rope says
tighten(line) = taut_rope(line, 2)

function taut_rope(line, factor)
    return line.load / factor
end

end
"""
PYTHON = '''"""How a tow line is tightened: the slack rope is known."""


def tighten(line):
    """Uses the slack rope of the line."""
    return slack_rope(line, 2)


def slack_rope(line, factor):
    return line.load / factor
'''
SWIFT = """class TowTests {
    // test that a line holds its safe load when the sea is calm
    func testThatALineHoldsItsSafeLoadWhenTheSeaIsCalm() {
        check(safeLoad)
    }
}
"""
HCL = """# The tow line id, as the output tow_line_id has it.
output "line" {
  value = tow_line_id
}

output "tow_line_id" {
  value = 3
}
"""
NOTES = """# Tow lines

How to tow: before 2.x, lines were ropes.

## After 2.x

Before 2.x they broke.

## Before 2.x

They were ropes.
"""


ANCHOR = """int anchor_chain(struct ship *ship, struct chain *chain)
{
\tship->chain = chain; ship->anchor = chain->anchor; chain->ship = ship;
\tread(chain); read(ship); read(ship->chain);
\tfor (int i = 0; i < chain->length; i++) {
\t\tif (!link(i))
\t\t\tfail("cannot read the anchor chain %d of ship %s", i, ship->name);
\t}
\tship->chain = chain; ship->anchor = chain->anchor; chain->ship = ship;
\tread(chain); read(ship); read(ship->chain);
}
"""
VALUES = """cabin:
  image:
    tag: "1"
hold:
  crates:
    image:
      tag: "2"
      color: red
"""
TEMPLATE = """kind: Pod
spec:
  image: {{ .Values.hold.crates.image.tag }}
  color: {{ .Values.hold.crates.image.color }}
"""
PHP = """<?php

namespace Sea\\Harbour;

class QuayWall
{
}
"""
USES_OF_PHP = """<?php

use Sea\\Harbour\\QuayWall;

$wall = new QuayWall();
"""
FILES = {
    "values.yaml": VALUES,
    "templates/pod.yaml": TEMPLATE,
    "src/QuayWall.php": PHP,
    "src/Ships.php": USES_OF_PHP,
    "anchor.c": ANCHOR,
    "tow.dart": DART,
    "tow_line.erl": ERLANG,
    "tow.jl": JULIA,
    "tow.py": PYTHON,
    "outputs.tf": HCL,
    "notes.md": NOTES,
    "TowTests.swift": SWIFT,
    "words.md": "# Lines\n\n## Safe load\n\nAs follows:\n\n    safe_load = 3\n",
}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with daemon_over(tmp_path_factory.mktemp("ships") / "root", FILES) as made:
        yield made


@pytest.mark.parametrize(
    ("file", "query", "line"),
    [
        ("tow.dart", "tow line", "class TowLine extends Line {"),
        ("tow.dart", "tow_line", "class TowLine extends Line {"),
        ("tow.dart", "breaking_load", "  final double breakingLoad;"),
        ("tow.dart", "safe_load", "  double safeLoad(double factor) {"),
        ("tow.dart", "[TowLine.safeLoad]", "  double safeLoad(double factor) {"),
        ("tow_line.erl", "safe load", "safe_load(#{load := Load}, Factor) when Factor > 0 ->"),
        ("tow_line.erl", "safe_load", "safe_load(#{load := Load}, Factor) when Factor > 0 ->"),
        ("tow_line.erl", "tow_line:tighten/1", "tighten(Line) ->"),
        ("tow_line.erl", "undefined function tow_line:tighten/1", "tighten(Line) ->"),
        ("tow_line.erl", "load_limit()", "-type load_limit() :: non_neg_integer()."),
        ("tow_line.erl", '{tow_line,x,2,[{file,"src/tow_line.erl"},{line,8}]}', "    safe_load(Line, 2)."),
        ("tow.jl", "tautRope", "function taut_rope(line, factor)"),
        ("tow.jl", "tighten", "tighten(line) = taut_rope(line, 2)"),
        ("tow.jl", "breaking load", "const BREAKING_LOAD = 3"),
        ("tow.py", "slack rope", "def slack_rope(line, factor):"),
        ("tow.py", "slackRope", "def slack_rope(line, factor):"),
        (
            "TowTests.swift",
            "test that a line holds its safe load when the sea is calm",
            "    func testThatALineHoldsItsSafeLoadWhenTheSeaIsCalm() {",
        ),
        ("outputs.tf", "tow line id", 'output "tow_line_id" {'),
        ("notes.md", "#before-2x", "## Before 2.x"),
    ],
)
def test_the_hit_is_the_line_that_defines_it(daemon: Daemon, file: str, query: str, line: str) -> None:
    assert first_line(daemon, file, query) == line


@pytest.mark.parametrize(
    ("query", "line"),
    [("safe load", "## Safe load"), ("safe_load", "    safe_load = 3"), ("as follows", "As follows:")],
)
def test_words_of_a_text_and_names_as_typed_stay_where_they_are(daemon: Daemon, query: str, line: str) -> None:
    assert first_line(daemon, "words.md", query) == line


def first_line(daemon: Daemon, file: str, query: str) -> str:
    with daemon.client() as client:
        hits = client.call("search", {"query": query, "globs": [file]})["hits"]
    return str(hits[0]["text"])


def test_a_message_with_its_values_is_shown_at_its_line(daemon: Daemon) -> None:
    query = "cannot read the anchor chain 17 of ship Nina"
    with daemon.client() as client:
        hits = client.call("search", {"query": query, "globs": ["anchor.c"], "max_snippet_chars": 120})["hits"]
    assert hits[0]["text"].strip() == 'fail("cannot read the anchor chain %d of ship %s", i, ship->name);'


@pytest.mark.parametrize(
    ("query", "path", "line"),
    [
        (".Values.hold.crates.image.tag", "values.yaml", '      tag: "2"'),
        ("{{ .Values.hold.crates.image.color | quote }}", "values.yaml", "      color: red"),
        ("helm upgrade ship ./ship --set hold.crates.image.tag=3", "values.yaml", '      tag: "2"'),
        ("--set cabin.image.tag=3", "values.yaml", '    tag: "1"'),
        ("cabin.image.tag", "values.yaml", '    tag: "1"'),
        ('Class "Sea\\Harbour\\QuayWall" not found', "src/QuayWall.php", "class QuayWall"),
        ('"quayWall"', "src/QuayWall.php", "class QuayWall"),
    ],
)
def test_what_others_write_otherwise_is_found_where_it_is_set(daemon: Daemon, query: str, path: str, line: str) -> None:
    with daemon.client() as client:
        first = client.call("search", {"query": query})["hits"][0]
    assert (first["relative_path"], first["text"]) == (path, line)
