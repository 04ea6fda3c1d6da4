"""docs/glossary.md and the names in the code are one language: the terms are used, and private words stay out."""

from __future__ import annotations

import ast
import re
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


def names_of_modules_and_classes() -> set[str]:
    found = set()
    for path in sources():
        found |= {path.stem, path.parent.name}
        found |= {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ClassDef)}
    return found


def names_in(tree: ast.AST) -> set[str]:
    """The functions, attributes, parameters and variables that a module defines or uses."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name):
            found.add(node.id)
    return found


def identifiers() -> set[str]:
    """Every name that the product defines or uses."""
    return names_of_modules_and_classes().union(*(names_in(ast.parse(path.read_text())) for path in sources()))


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
