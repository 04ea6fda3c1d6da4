"""The page about security names only existing tests and covers every threat."""

from __future__ import annotations

import re

from helpers.support import CHECKOUT

TEXT = (CHECKOUT / "docs" / "security.md").read_text()


def threats() -> list[tuple[str, str, str]]:
    """Each threat's number, the defence against it and its proof (empty if there is none)."""
    parts = re.split(r"^## (T\d+): .*\n", TEXT, flags=re.MULTILINE)[1:]
    found = []
    for number, body in zip(parts[::2], parts[1::2], strict=True):
        built, _, proof = body.partition("\n- Proven by: ")
        found.append((number, " ".join(built.split()), proof))
    return found


def test_every_threat_has_its_row() -> None:
    assert [row[0] for row in threats()] == [f"T{number}" for number in range(1, 21)]


def test_the_tests_that_it_names_are_there() -> None:
    there = {path.stem for path in (CHECKOUT / "tests").rglob("test_*.py")}
    for threat, built, proof in threats():
        named = set(re.findall(r"`(test_\w+)`", proof))
        assert named <= there, threat
        assert named or "not built" in built, f"{threat} says neither a test nor why not"
