"""The parts of the extension for VS Code that need no editor, by Node's own test runner and with a real daemon."""

from __future__ import annotations

import subprocess

import pytest

from helpers.support import CHECKOUT, LIVEDEX, Home, Tree

TESTS = CHECKOUT / "tests" / "editors" / "vscode"
OLDEST_NODE = 20


@pytest.mark.needs("node")
def test_parts(home: Home, tree: Tree) -> None:
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.removeprefix("v").partition(".")[0]) < OLDEST_NODE:
        pytest.skip(f"Node {version.strip()} is too old: {OLDEST_NODE} is needed")
    tree.write("today.md", "A xylophone in 東京 😀\n")
    home.run_json("up", str(tree))
    env = {**home.env, "LIVEDEX": str(LIVEDEX), "TREE": str(tree)}
    done = subprocess.run(
        ["node", "--test", *map(str, sorted(TESTS.glob("*.test.js")))],
        env=env, capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
