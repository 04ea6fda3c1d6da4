"""The parts of the extension for VS Code that need no editor, by Node's own test runner and with a real daemon."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from helpers.support import CHECKOUT, LIVEDEX, Home, Tree

TESTS = sorted((CHECKOUT / "tests" / "editors" / "vscode").glob("*.test.js"))
OLDEST_NODE = 20


@pytest.mark.needs("node")
@pytest.mark.parametrize("tests", TESTS, ids=lambda tests: tests.name.removesuffix(".test.js"))
def test_part(home: Home, tree: Tree, tests: Path) -> None:
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.removeprefix("v").partition(".")[0]) < OLDEST_NODE:
        pytest.skip(f"Node {version.strip()} is too old: {OLDEST_NODE} is needed")
    tree.write("today.md", "A xylophone in 東京 😀\n")
    home.run_json("up", str(tree))
    extension = home.run("editor", "vscode").stdout.strip()
    env = {**home.env, "EXTENSION": extension, "LIVEDEX": str(LIVEDEX), "TREE": str(tree)}
    done = subprocess.run(
        ["node", "--test", str(tests)], env=env, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
