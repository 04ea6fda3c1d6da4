"""docs/architecture.md names every room of the house, and none that is not there."""

from __future__ import annotations

import re

import pytest

from helpers.support import CHECKOUT

PACKAGES = {
    "livedex_daemon": "daemon",
    "livedex_indexing": "indexing",
    "livedex_ipc": "ipc",
    "livedex_service": "service",
}


def described(package: str) -> str:
    """The part of the document about one package."""
    text = (CHECKOUT / "docs" / "architecture.md").read_text()
    _before, _title, rest = text.partition(f"**`{package}`")
    return re.split(r"^(?:\*\*`|## )", rest, flags=re.MULTILINE)[0]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_is_named(package: str) -> None:
    modules = {path.stem for path in (CHECKOUT / PACKAGES[package] / package).glob("*.py")} - {"__init__"}
    assert modules <= set(re.findall(r"`(\w+)`", described(package)))


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_is_named_that_is_not_there(package: str) -> None:
    commands = {"status", "why"}
    modules = {path.stem for path in (CHECKOUT / PACKAGES[package] / package).glob("*.py")}
    assert set(re.findall(r"`(\w+)`", described(package))) - commands <= modules
