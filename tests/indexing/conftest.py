"""The fixtures for tests of the user's tree, its rules and the index."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from helpers.ignore_verdicts import Rules
from helpers.indexed_folder import Indexed
from helpers.support import Tree
from livedex_indexing.disk import beneath
from livedex_indexing.ignore.rules import RuleTree


@pytest.fixture
def root(tmp_path: Path) -> bytes:
    """An empty folder, as bytes."""
    return os.fsencode(tmp_path.resolve())


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Indexed]:
    """An index of a root that has no files yet."""
    with Indexed(tmp_path) as made:
        yield made


@pytest.fixture
def indexed(index: Indexed, request: pytest.FixtureRequest) -> Indexed:
    """An index with the ``FILES`` of the test's module."""
    for path, text in request.module.FILES.items():
        index.write(path, text)
    return index


@pytest.fixture(params=["openat2", "by components"])
def both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the test with the kernel's call and with the replacement that every other system uses."""
    way = str(request.param)
    if way == "openat2" and not beneath.has_openat2():
        pytest.skip("this kernel has no openat2")
    monkeypatch.setattr(beneath, "has_openat2", lambda: way == "openat2")
    return way


@pytest.fixture
def user(tmp_path: Path) -> Tree:
    """The home of a user with no git configuration."""
    return Tree(tmp_path / "home")


@pytest.fixture
def environ(user: Tree) -> Mapping[str, str]:
    return {"HOME": str(user), "GIT_CONFIG_NOSYSTEM": "1"}


@pytest.fixture
def rules(tree: Tree, environ: Mapping[str, str]) -> Rules:
    """Make the rules of the test's folder, or of another root."""

    def make(*patterns: str, root: Path | None = None, **options: Any) -> RuleTree:
        return RuleTree(os.fsencode(root or tree.path), patterns, environ=environ, **options)

    return make
