"""docs/glossary.md and the names in the code are one language: the terms are used, and private words stay out."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from helpers.support import CHECKOUT

GLOSSARY = CHECKOUT / "docs" / "glossary.md"
ROOTS = ("daemon", "indexing", "ipc", "service")
# Words that say nothing to a newcomer; each had another, usual name before it was dropped.
PRIVATE = {
    *("anew", "ask", "asked", "asks", "beside", "calm", "door", "glance", "hand", "held", "hold", "lately", "looker"),
    *("mend", "mends", "owed", "owes", "remains", "room", "said", "stands", "tally", "tell", "tells", "told"),
    *("unsteady", "untold", "void"),
}


def words(name: str) -> set[str]:
    """The lower-case words of a name in snake or camel case: ``HTTPServer_pool`` has http, server and pool."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}


def sources() -> list[Path]:
    return [path for root in ROOTS for path in sorted((CHECKOUT / root).rglob("*.py"))]


def names_in(path: Path) -> set[str]:
    """The module and its folder; the classes, functions, attributes, parameters and variables it defines or uses."""
    found = {path.stem, path.parent.name}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name):
            found.add(node.id)
    return found


@cache
def identifiers() -> set[str]:
    """Every name that the product defines or uses."""
    return set().union(*map(names_in, sources()))


def terms() -> list[str]:
    entries = [line.partition(":")[0] for line in GLOSSARY.read_text().splitlines() if line.startswith("- **")]
    return [term for entry in entries for term in re.findall(r"\*\*(.+?)\*\*", entry)]


def test_the_glossary_is_short() -> None:
    assert len(GLOSSARY.read_text().splitlines()) <= 40
    assert len(terms()) >= 20
    assert len(set(terms())) == len(terms())


@pytest.fixture(scope="module")
def known() -> set[str]:
    return {word for name in identifiers() for word in words(name)}


@pytest.mark.parametrize("term", terms())
def test_a_term_is_a_name_in_the_code(term: str, known: set[str]) -> None:
    missing = {word for word in words(term) if not {word, word + "s", word + "d", word.rstrip("s")} & known}
    assert not missing


def test_names_speak_no_private_language() -> None:
    assert not {name for name in identifiers() if words(name) & PRIVATE}
