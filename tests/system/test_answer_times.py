"""Every method answers within its ``timeout_ms``, whatever other clients do and whichever file system hangs."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from helpers.fault_injection import with_code
from helpers.support import Daemon, Tree, add_root, examples, wait_until
from livedex_ipc.errors import LivedexError

if TYPE_CHECKING:
    from livedex_ipc.client import Client

SLACK_S = 1.5  # on a busy machine; the promise is 0.1 s, which the printed figures show
LONG: dict[str, Any] = {"query": "[a-z]", "mode": "regex", "facets": ["kinds"], "fresh": False, "limit": 1}


def timed(client: Client, method: str, params: dict[str, Any] | None = None) -> tuple[float, Any]:
    """Return the wall time of a call in seconds, and its result or error."""
    began = time.monotonic()
    try:
        result: Any = client.call(method, params or {})
    except LivedexError as error:
        result = error
    return time.monotonic() - began, result


@pytest.fixture
def busy_tree(tree: Tree) -> Tree:
    line = "abcdefgh " * 20 + "\n"
    tree.write_all({f"big{number}.txt": f"{number}\n" + line * 6000 for number in range(4)})
    tree.write("small.txt", "okapi\n")
    return tree


@contextmanager
def busy(daemon: Daemon, clients: int, each: int = 2) -> Iterator[None]:
    """That many clients run long searches, again and again, until the end of the block."""
    ending = threading.Event()

    def search() -> None:
        with daemon.client() as client:
            while not ending.is_set():
                client.call("search", {**LONG, "timeout_ms": 1000})

    threads = [threading.Thread(target=search) for _ in range(clients * each)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ending.set()
        for thread in threads:
            thread.join()


METHODS: dict[str, dict[str, Any]] = {
    "search": {"query": "okapi", "timeout_ms": 500},
    "search/subscribe": {"query": "okapi", "timeout_ms": 500},
    "files/list": {"timeout_ms": 500},
    "files/find": {"query": "oka", "timeout_ms": 500},
    "files/explain": {"timeout_ms": 500},
    "files/retrieve": {"timeout_ms": 500},
    "sync": {"timeout_ms": 500},
}
PROMPT = ("status", "roots/list", "server/ping", "server/info")


def test_eight_busy_clients_delay_nobody(busy_tree: Tree, daemon: Daemon) -> None:
    worst: dict[str, float] = {}
    with daemon.client() as client, ExitStack() as stack:
        add_root(client, busy_tree)
        stack.enter_context(busy(daemon, 8))
        small = str(busy_tree / "small.txt")
        for method in (*METHODS, *PROMPT) * examples(3):
            params = dict(METHODS.get(method, {}))
            if method in ("files/explain", "files/retrieve"):
                params["path"] = small
            took, result = timed(client, method, params)
            worst[method] = max(took, worst.get(method, 0.0))
            assert took < params.get("timeout_ms", 0) / 1000 + SLACK_S, (method, took)
            assert not isinstance(result, LivedexError) or result.code == 3, (method, result)
    print("slowest, s:", {method: round(took, 3) for method, took in worst.items()})


def test_a_query_of_megabytes_costs_no_more_than_its_first_part(busy_tree: Tree, client: Client) -> None:
    add_root(client, busy_tree)
    query = "okapi " + "a(line) of_a.log\n" * 200_000
    took, answer = timed(client, "search", {"query": query, "timeout_ms": 2000, "limit": 1})
    assert took < 2 + SLACK_S
    assert [warning["code"] for warning in answer["warnings"]] == ["query_cut"]
    assert answer["hits"] == client.call("search", {"query": query[:4097], "limit": 1})["hits"]


def test_one_clients_long_searches_delay_no_other(busy_tree: Tree, daemon: Daemon) -> None:
    with daemon.client() as client, socket.socket(socket.AF_UNIX) as many:
        add_root(client, busy_tree)
        many.connect(str(daemon.home.socket))
        for number in range(6):
            request = {"jsonrpc": "2.0", "id": number, "method": "search", "params": {**LONG, "timeout_ms": 3000}}
            many.sendall(json.dumps(request).encode() + b"\n")
        for _ in range(3):
            took, answer = timed(client, "search", {"query": "okapi", "timeout_ms": 2000})
            assert [hit["relative_path"] for hit in answer["hits"]] == ["small.txt"] and answer["fresh"], answer
            assert took < SLACK_S
            took, _ = timed(client, "status")
            assert took < SLACK_S
        with many.makefile("rb") as answers:
            results = [json.loads(answers.readline())["result"] for _ in range(6)]
        assert all(result["took_ms"] < 3000 + SLACK_S * 1000 for result in results)
        assert all("query_deadline" in [warning["code"] for warning in result["warnings"]] for result in results)


# Like a share that does not answer, mounted on `hung`: a call on it waits.
HANGS = """
import os, time
from livedex_indexing.disk import mounts

readlink, mount_point = os.readlink, mounts.mount_point

def of_share(path):
    above, share, _ = path.partition(b"/hung")
    return above + share if share else mount_point(path)

def hang(path, **words):
    if b"/hung" in os.fsencode(path):
        time.sleep(4)
    return readlink(path, **words)

os.readlink, mounts.mount_point = hang, of_share
"""


def test_a_path_on_a_hung_file_system_delays_only_its_own_request(
    start_daemon: Callable[..., Daemon], tree: Tree, tmp_path: Path
) -> None:
    tree.write("a.txt", "okapi\n")
    daemon = start_daemon(**with_code(tmp_path / "seam", HANGS))
    with daemon.client() as other:
        add_root(other, tree)
        hung = str(tmp_path / "hung" / "x")
        waiting = {"query": "okapi", "path": hung, "timeout_ms": 300}
        with socket.socket(socket.AF_UNIX) as many:
            many.connect(str(daemon.home.socket))
            for number in range(4):
                request = {"jsonrpc": "2.0", "id": number, "method": "search", "params": waiting}
                many.sendall(json.dumps(request).encode() + b"\n")
            many.makefile("rb").readline()
        for is_known_to_hang in (False, True):
            if is_known_to_hang:
                wait_until(lambda: is_refused(other, waiting), what="a refusal of the share")
            for _ in range(5):
                took, _ = timed(other, "server/ping")
                assert took < SLACK_S
                took, answer = timed(other, "search", {"query": "okapi", "path": str(tree), "timeout_ms": 2000})
                assert took < SLACK_S and len(answer["hits"]) == 1 and answer["fresh"]


def is_refused(client: Client, params: dict[str, Any]) -> bool:
    """Whether a search of a share is refused at once; until it is known to hang, the time limit ends the search."""
    took, answer = timed(client, "search", params)
    assert took < params["timeout_ms"] / 1000 + SLACK_S
    if isinstance(answer, LivedexError):
        return answer.code == 4 and "does not answer" in answer.message
    assert (answer["hits"], answer["fresh"], answer["reason"]) == ([], False, "deadline")
    assert [warning["code"] for warning in answer["warnings"]] == ["query_deadline"]
    return False
