"""The page about security names only tests that are there, and leaves out no threat."""

from __future__ import annotations

import re

from helpers.support import CHECKOUT

ROWS = re.findall(
    r"^\| (T\d+) \| (.+?) \| (.+) \| (.+?) \|$", (CHECKOUT / "docs" / "security.md").read_text(), re.MULTILINE
)


def test_every_threat_has_its_row() -> None:
    assert [row[0] for row in ROWS] == [f"T{number}" for number in range(1, 20)]


def test_the_tests_that_it_names_are_there() -> None:
    there = {path.stem for path in (CHECKOUT / "tests").rglob("test_*.py")}
    for threat, _, built, proof in ROWS:
        named = set(re.findall(r"`(test_\w+)`", proof))
        assert named <= there, threat
        assert named or "not built" in built or "later work" in built, f"{threat} says neither a test nor why not"
