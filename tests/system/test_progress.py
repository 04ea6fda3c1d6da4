"""How far a long command has come: the notifications, and what the command makes of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from helpers.answer_shapes import faults
from helpers.support import Home, Tree
from livedex_ipc.client import Client, connect

SIZE = len("alpha" + "beta")


@pytest.fixture
def indexed(home: Home, tree: Tree) -> Tree:
    tree.write_all({"a.txt": "alpha", "sub/b.txt": "beta"})
    home.run("up", str(tree))
    return tree


def test_with_json_each_step_is_an_object_a_line(home: Home, indexed: Tree) -> None:
    for words in (["audit"], ["index", "--force"]):
        *steps, result = map(json.loads, home.run(*words, "--progress", "--json").stdout.splitlines())
        assert [step["progress"]["kind"] for step in (steps[0], steps[-1])] == ["begin", "end"]
        assert steps[-1]["progress"]["done"] == 2
        assert "progress" not in result


def test_what_is_done_and_what_is_still_to_be_read_add_up(client: Client, tree: Tree) -> None:
    texts = {f"{number:03}.txt": f"word{number} " * 500 for number in range(400)}
    tree.write_all(texts)
    whole, sums = sum(map(len, texts.values())), list[int]()
    client.call("roots/add", {"path": str(tree)})
    while (status := client.call("status"))["state"] != "ready":
        sums.append(status["work"]["bytes_done"] + status["pending_bytes"])
    assert (status["work"]["bytes_done"], status["pending_bytes"]) == (whole, 0)
    assert sums == sorted(sums)
    assert all(part <= whole for part in sums)


@pytest.mark.parametrize(("method", "params"), [("index/run", {"force": True}), ("index/audit", {})])
def test_the_progress_of_a_long_method(home: Home, indexed: Tree, method: str, params: dict[str, Any]) -> None:
    reported: list[Any] = []
    with connect(spawn=False, path=str(home.socket)) as client:
        client.call(method, params, on_progress=reported.append)
    counts = {"percentage": int, "done": int, "total": int, "done_bytes": int, "total_bytes": int}
    shape = {"kind": str, "message": str, **counts, "path": (str, None)}
    assert faults(reported, [shape]) == []
    assert [reported[0]["kind"], reported[-1]["kind"]] == ["begin", "end"]
    assert all(value["kind"] == "report" for value in reported[1:-1])
    assert reported[-1]["percentage"] == 100
    assert [reported[-1][name] for name in counts if name != "percentage"] == [2, 2, SIZE, SIZE]
