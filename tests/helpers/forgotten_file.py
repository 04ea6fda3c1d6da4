"""An index of some files, one of them forgotten, which no later state of the index may bring back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from helpers.support import Tree, add_root

if TYPE_CHECKING:
    from livedex_ipc.client import Client

FORGOTTEN = "forgotten.txt"
FORGOTTEN_WORD = "canaryword"  # only in that file


def index_and_forget(client: Client, tree: Tree, folders: Iterable[str]) -> None:
    """Index one file per element of ``folders``, ``f0.txt``, ``f1.txt`` …: ``some words and number0``, and so on."""
    tree.write_all(
        {f"{folder}/f{number}.txt": f"some words and number{number}\n" for number, folder in enumerate(folders)}
    )
    tree.write(FORGOTTEN, f"{FORGOTTEN_WORD}\n")
    add_root(client, tree)
    assert client.call("files/delete", {"path": str(tree / FORGOTTEN)}) == {"deleted": 1}
