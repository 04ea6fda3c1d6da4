"""Random histories under a running daemon: the notifications of standing queries add up to the first answer of a new
one.

The length is LIVEDEX_HISTORIES (histories, 3) times 12 steps.
"""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from helpers.subscription_client import Following, now
from helpers.support import Daemon, Tree, add_root
from livedex_ipc.client import Client

HISTORIES = int(os.environ.get("LIVEDEX_HISTORIES", "3"))
STEPS = 12
WORDS = ("alpha", "beta", "gamma", "the", "delta_x", "\n" * 12)
QUERIES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("alpha", {}),
    ("alpha beta", {"group": "file"}),
    ('"alpha beta"', {}),
    ("alpha -gamma", {"globs": ["!*.md"]}),
    ("delta_x path:sub", {}),
)
NAMES = ("a.txt", "b.md", "sub/c.txt", "sub/d.py", "sub/deep/e.txt")


class History:
    def __init__(self, tree: Tree, client: Client, seed: int) -> None:
        self.tree = tree
        self.client = client
        self.random = random.Random(seed)

    def step(self) -> None:
        steps = (self.write, self.write, self.save, self.move, self.remove, self.ignore, self.index_again)
        self.random.choice(steps)(self.random.choice(NAMES))

    def text(self) -> str:
        return " ".join(self.random.choices(WORDS, k=self.random.randint(0, 40)))

    def write(self, name: str) -> None:
        self.tree.write(name, self.text())

    def save(self, name: str) -> None:
        self.tree.save(name, self.text())

    def move(self, name: str) -> None:
        if (self.tree / name).exists():
            self.tree.rename(name, self.random.choice(NAMES))

    def remove(self, name: str) -> None:
        top: Path = self.tree / name.partition("/")[0]
        if top.is_dir() and self.random.random() < 0.5:
            shutil.rmtree(top)
        elif (self.tree / name).exists():
            self.tree.remove(name)

    def ignore(self, name: str) -> None:
        self.tree.write(".gitignore", self.random.choice(["", f"{name}\n", "*.md\n", "sub/\n"]))

    def index_again(self, _name: str) -> None:
        self.client.call("index/run", {"force": self.random.random() < 0.3})


@pytest.mark.timeout(60 + 60 * HISTORIES)
def test_what_is_sent_adds_up(daemon: Daemon, tree: Tree) -> None:
    with daemon.client() as client:
        add_root(client, tree)
        for number in range(HISTORIES):
            connections = [daemon.client() for _ in QUERIES]
            followers = [
                Following(connection, query, **params)
                for connection, (query, params) in zip(connections, QUERIES, strict=True)
            ]
            history = History(tree, client, number)
            for _ in range(STEPS):
                history.step()
            for follower, (query, params) in zip(followers, QUERIES, strict=True):
                follower.until(now(client, query, **params))
            for connection in connections:
                connection.close()
