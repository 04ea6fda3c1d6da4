"""Each method of the protocol is a method of both clients, with the type of its result."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from helpers.method_call_source import path, source
from helpers.support import Daemon, Tree, add_root
from helpers.wire_types import RESULTS
from livedex_ipc.async_client import connect_async
from livedex_ipc.client import Client
from livedex_ipc.methods import METHODS


@pytest.mark.parametrize("asynchronous", [False, True])
def test_they_are_those_of_the_table(asynchronous: bool) -> None:
    hint = "PYTHONPATH=tests python -m helpers.method_call_source"
    assert Path(path(asynchronous)).read_text() == source(asynchronous), hint


def test_every_method_with_a_typed_result_is_there() -> None:
    assert set(RESULTS) == set(METHODS) - {"rpc.discover"}
    assert all(hasattr(Client, name.replace("/", "_")) for name in RESULTS)


def test_both_clients_answer_alike(daemon: Daemon, tree: Tree) -> None:
    tree.write("a.txt", "zither\n")
    with daemon.client() as client:
        add_root(client, tree)
        hits = client.search(query="zither", limit=5, timeout_s=60)["hits"]
        assert [hit["relative_path"] for hit in hits] == ["a.txt"]
        assert client.files_retrieve(path=f"{tree}/a.txt")["chunks"][0]["text"] == "zither\n"
        assert client.server_ping() == {}

    async def same() -> None:
        async with await connect_async(spawn=False, path=str(daemon.home.socket)) as other:
            assert (await other.search(query="zither", limit=5, timeout_s=60))["hits"] == hits

    asyncio.run(same())
