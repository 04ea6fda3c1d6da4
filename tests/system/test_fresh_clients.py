"""Several clients that change files and search at the same time: each sees its own changes at once, none disturbs."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from helpers import change_scenarios
from helpers.support import Daemon, Tree, add_root

if TYPE_CHECKING:
    from livedex_ipc.client import Client

CLIENTS = 3
ROUNDS = int(os.environ.get("LIVEDEX_ROUNDS", "60"))


def test_several_clients_at_once(daemon: Daemon, client: Client, tree: Tree) -> None:
    tree.write("first.txt", "the first file\n")
    add_root(client, tree)

    def work(connection: Client, number: int) -> list[str]:
        return change_scenarios.rounds(connection, Tree(tree / f"of {number}"), ROUNDS, seed=number)

    assert change_scenarios.at_once(daemon.client, [partial(work, number=number) for number in range(CLIENTS)]) == []
