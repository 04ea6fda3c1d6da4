"""docs/architecture.md shows every package and no other; module names are unique."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from helpers.support import CHECKOUT

PACKAGES = {
    "livedex_daemon": "daemon",
    "livedex_indexing": "indexing",
    "livedex_ipc": "ipc",
    "livedex_service": "service",
}
TEXT = (CHECKOUT / "docs" / "architecture.md").read_text()


def top(package: str) -> Path:
    return CHECKOUT / PACKAGES[package] / package


def drawn(package: str) -> list[str]:
    """The folders in the document's tree of a package, as relative paths."""
    trees = re.findall(r"^```\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    (tree,) = [tree for tree in trees if tree.startswith(f"{package}/")]
    return re.findall(r"^  ([\w/]+)/ ", tree, re.MULTILINE)


@pytest.mark.parametrize("package", PACKAGES)
def test_the_tree_is_that_of_the_folders(package: str) -> None:
    folders = [str(path.parent.relative_to(top(package))) for path in top(package).rglob("__init__.py")]
    assert sorted([*drawn(package), "."]) == sorted(folders)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_next_to_the_folders_is_named(package: str) -> None:
    modules = {path.stem for path in top(package).glob("*.py")} - {"__init__", "__main__"}
    assert modules <= set(re.findall(r"`(\w+)`", TEXT.partition("## The rooms inside the rooms")[2]))


def test_no_folder_is_without_a_story() -> None:
    """A folder without ``__init__.py`` would be missing from the drawing, and would have no first sentence."""
    for package in PACKAGES:
        folders = {path.parent for path in top(package).rglob("*.py")}
        assert not [folder for folder in folders if not (folder / "__init__.py").is_file()]


def test_no_two_modules_have_the_same_name() -> None:
    """A name says which file to open: in a traceback, in a log, in the file search of an editor."""
    names = Counter(path.stem for package in PACKAGES for path in top(package).rglob("*.py"))
    assert not {name for name, times in names.items() if times > 1} - {"__init__", "__main__"}
